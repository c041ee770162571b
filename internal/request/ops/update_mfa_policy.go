package ops

import (
	"context"
	"slices"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
)

// UpdateMfaPolicy changes what is given of a multi-factor policy.
var UpdateMfaPolicy = activity.Op[UpdateMfaPolicyParams, MfaPolicyResult]{
	Spec: activity.Spec{
		Name: "update_mfa_policy", Version: 1,
		Summary: "Change a multi-factor policy. What is left out stays as it is. Of its own user it demands its factors first.",
		Govern:  activity.Govern{Resource: activity.ResourceMFAPolicy, Action: activity.ActionUpdate},
	},
	OwnUser: func(p *UpdateMfaPolicyParams) string { return p.UserID },
	Facts: func(f activity.Facts, p *UpdateMfaPolicyParams) error {
		f.Activity.Params.UserID = &p.UserID
		return nil
	},
	Exec: updateMfaPolicy,
}

// UpdateMfaPolicyParams are the parameters of update_mfa_policy.
type UpdateMfaPolicyParams struct {
	UserID                        string                  `json:"userId" check:"required,uuid" doc:"User of whom it demands factors."`
	MfaPolicyID                   string                  `json:"mfaPolicyId" check:"required,uuid" doc:"Multi-factor policy to change."`
	MfaPolicyName                 string                  `json:"mfaPolicyName,omitzero" check:"label" doc:"New name."`
	Condition                     string                  `json:"condition,omitzero" check:"max=20000" doc:"New condition." example:"true"`
	RequiredAuthenticationMethods []RequiredMethodsParams `json:"requiredAuthenticationMethods,omitzero" check:"max=10" doc:"New steps, in place of all that it had; leave out or empty to keep them."`
	Order                         *int32                  `json:"order,omitzero" check:"min=0" doc:"New place."`
	Notes                         *string                 `json:"notes,omitzero" check:"max=10000" doc:"New notes."`
}

// Check compiles the condition.
func (p *UpdateMfaPolicyParams) Check(problems *schema.Problems) {
	checkMFA(problems, p.Condition, p.RequiredAuthenticationMethods)
}

func updateMfaPolicy(_ context.Context, e activity.Env, p *UpdateMfaPolicyParams) (MfaPolicyResult, error) {
	return MfaPolicyResult{MfaPolicyID: p.MfaPolicyID}, editMFAPolicies(e, p.UserID, func(u *domain.User) error {
		i := slices.IndexFunc(u.MFAPolicies, func(q domain.MFAPolicy) bool { return q.ID == p.MfaPolicyID })
		if i < 0 {
			return noMFAPolicy(u.ID, p.MfaPolicyID)
		}
		changed := &u.MFAPolicies[i]
		if p.MfaPolicyName != "" {
			changed.Name = p.MfaPolicyName
		}
		if p.Condition != "" {
			changed.Condition = p.Condition
		}
		if p.Order != nil {
			changed.Order = *p.Order
		}
		if p.Notes != nil {
			changed.Notes = *p.Notes
		}
		changed.UpdatedAt = e.Now
		if len(p.RequiredAuthenticationMethods) == 0 {
			return nil
		}
		changed.Steps = mfaSteps(p.RequiredAuthenticationMethods)
		return requireMethods(e, u, changed.Steps)
	})
}

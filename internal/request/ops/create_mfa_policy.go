package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
)

// CreateMfaPolicy demands several proofs of a user.
var CreateMfaPolicy = activity.Op[CreateMfaPolicyParams, MfaPolicyResult]{
	Spec: activity.Spec{
		Name: "create_mfa_policy", Version: 1,
		Summary: "Demand further factors of a user for what a condition says.",
		Govern:  activity.Govern{Resource: activity.ResourceMFAPolicy, Action: activity.ActionCreate},
	},
	OwnUser: func(p *CreateMfaPolicyParams) string { return p.UserID },
	Facts: func(f activity.Facts, p *CreateMfaPolicyParams) error {
		f.Activity.Params.UserID = &p.UserID
		return nil
	},
	Exec: createMfaPolicy,
}

// CreateMfaPolicyParams are the parameters of create_mfa_policy.
type CreateMfaPolicyParams struct {
	UserID                        string                  `json:"userId" check:"required,uuid" doc:"User of whom it demands them."`
	MfaPolicyName                 string                  `json:"mfaPolicyName" check:"required,label" doc:"Name, which no other multi-factor policy of the user has."`
	Condition                     string                  `json:"condition" check:"required,max=20000" doc:"For what, as in the condition of a policy. One that cannot be evaluated demands the factors." example:"activity.action == 'SIGN'"`
	RequiredAuthenticationMethods []RequiredMethodsParams `json:"requiredAuthenticationMethods" check:"required,min=1,max=10" doc:"Steps, all of which must be met, in any order, each with a credential of its own."`
	Order                         int32                   `json:"order" check:"required,min=0" doc:"The lowest is asked first; only the first whose condition holds counts. Ties go by id."`
	Notes                         string                  `json:"notes,omitzero" check:"max=10000" doc:"Human-readable notes."`
}

// Check compiles the condition.
func (p *CreateMfaPolicyParams) Check(problems *schema.Problems) {
	checkMFA(problems, p.Condition, p.RequiredAuthenticationMethods)
}

// MfaPolicyResult is the result of what changes a multi-factor policy.
type MfaPolicyResult struct {
	MfaPolicyID string `json:"mfaPolicyId" check:"required,uuid" doc:"Id of the multi-factor policy."`
}

func createMfaPolicy(_ context.Context, e activity.Env, p *CreateMfaPolicyParams) (MfaPolicyResult, error) {
	made := domain.MFAPolicy{
		ID: e.NewID(), Name: p.MfaPolicyName, Condition: p.Condition, Steps: mfaSteps(p.RequiredAuthenticationMethods),
		Order: p.Order, Notes: p.Notes, CreatedAt: e.Now, UpdatedAt: e.Now,
	}
	return MfaPolicyResult{MfaPolicyID: made.ID}, editMFAPolicies(e, p.UserID, func(u *domain.User) error {
		if len(u.MFAPolicies) >= maxMFAPolicies {
			return fault.Exhausted("the user has reached the maximum of %d multi-factor policies", maxMFAPolicies)
		}
		u.MFAPolicies = append(u.MFAPolicies, made)
		return requireMethods(e, u, made.Steps)
	})
}

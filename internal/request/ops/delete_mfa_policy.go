package ops

import (
	"context"
	"slices"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
)

// DeleteMfaPolicy removes a multi-factor policy.
var DeleteMfaPolicy = activity.Op[DeleteMfaPolicyParams, MfaPolicyResult]{
	Spec: activity.Spec{
		Name: "delete_mfa_policy", Version: 1,
		Summary: "Delete a multi-factor policy. Of its own user it demands its factors first.",
		Govern:  activity.Govern{Resource: activity.ResourceMFAPolicy, Action: activity.ActionDelete},
	},
	OwnUser: func(p *DeleteMfaPolicyParams) string { return p.UserID },
	Facts: func(f activity.Facts, p *DeleteMfaPolicyParams) error {
		f.Activity.Params.UserID = &p.UserID
		return nil
	},
	Exec: deleteMfaPolicy,
}

// DeleteMfaPolicyParams are the parameters of delete_mfa_policy.
type DeleteMfaPolicyParams struct {
	UserID      string `json:"userId" check:"required,uuid" doc:"User of whom it demands factors."`
	MfaPolicyID string `json:"mfaPolicyId" check:"required,uuid" doc:"Multi-factor policy to delete."`
}

func deleteMfaPolicy(_ context.Context, e activity.Env, p *DeleteMfaPolicyParams) (MfaPolicyResult, error) {
	return MfaPolicyResult{MfaPolicyID: p.MfaPolicyID}, editMFAPolicies(e, p.UserID, func(u *domain.User) error {
		i := slices.IndexFunc(u.MFAPolicies, func(q domain.MFAPolicy) bool { return q.ID == p.MfaPolicyID })
		if i < 0 {
			return noMFAPolicy(u.ID, p.MfaPolicyID)
		}
		u.MFAPolicies = slices.Delete(u.MFAPolicies, i, i+1)
		return nil
	})
}

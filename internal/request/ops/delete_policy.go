package ops

import (
	"context"

	"latchkey/internal/request/activity"
)

// DeletePolicy deletes one policy.
var DeletePolicy = activity.Op[DeletePolicyParams, DeletePolicyResult]{
	Spec: activity.Spec{
		Name: "delete_policy", Version: 1,
		Summary: "Delete a policy.",
		Govern:  activity.Govern{Resource: activity.ResourcePolicy, Action: activity.ActionDelete},
	},
	Exec: deletePolicy,
}

// DeletePolicyParams are the parameters of delete_policy.
type DeletePolicyParams struct {
	PolicyID string `json:"policyId" check:"required,uuid" doc:"Policy to delete."`
}

// DeletePolicyResult is the result of delete_policy.
type DeletePolicyResult struct {
	PolicyID string `json:"policyId" check:"required,uuid" doc:"Policy that was deleted."`
}

func deletePolicy(_ context.Context, e activity.Env, p *DeletePolicyParams) (DeletePolicyResult, error) {
	return DeletePolicyResult(*p), e.Tx.Policies().Delete(p.PolicyID)
}

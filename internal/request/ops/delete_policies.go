package ops

import (
	"context"

	"latchkey/internal/request/activity"
)

// DeletePolicies deletes several policies, all or none.
var DeletePolicies = activity.Op[DeletePoliciesParams, DeletePoliciesResult]{
	Spec: activity.Spec{
		Name: "delete_policies", Version: 1,
		Summary: "Delete several policies, all or none.",
		Govern:  activity.Govern{Resource: activity.ResourcePolicy, Action: activity.ActionDelete},
	},
	Exec: deletePolicies,
}

// DeletePoliciesParams are the parameters of delete_policies.
type DeletePoliciesParams struct {
	PolicyIDs []string `json:"policyIds" check:"required,min=1,max=100,unique,each=uuid" doc:"Policies to delete."`
}

// DeletePoliciesResult is the result of delete_policies.
type DeletePoliciesResult struct {
	PolicyIDs []string `json:"policyIds" check:"required,each=uuid" doc:"Policies that were deleted."`
}

func deletePolicies(_ context.Context, e activity.Env, p *DeletePoliciesParams) (DeletePoliciesResult, error) {
	for _, id := range p.PolicyIDs {
		if err := e.Tx.Policies().Delete(id); err != nil {
			return DeletePoliciesResult{}, err
		}
	}
	return DeletePoliciesResult{PolicyIDs: p.PolicyIDs}, nil
}

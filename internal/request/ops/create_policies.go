package ops

import (
	"context"

	"latchkey/internal/request/activity"
)

// CreatePolicies creates several policies, all or none.
var CreatePolicies = activity.Op[CreatePoliciesParams, CreatePoliciesResult]{
	Spec: activity.Spec{
		Name: "create_policies", Version: 1,
		Summary: "Create several policies, all or none.",
		Govern:  activity.Govern{Resource: activity.ResourcePolicy, Action: activity.ActionCreate},
	},
	Exec: createPolicies,
}

// CreatePoliciesParams are the parameters of create_policies.
type CreatePoliciesParams struct {
	Policies []PolicyParams `json:"policies" check:"required,min=1,max=100" doc:"Policies to create."`
}

// CreatePoliciesResult is the result of create_policies.
type CreatePoliciesResult struct {
	PolicyIDs []string  `json:"policyIds" check:"required,each=uuid" doc:"Ids of the new policies, in the order of the request."`
	Findings  []Finding `json:"findings,omitzero" doc:"Probable mistakes in the policies."`
}

func createPolicies(_ context.Context, e activity.Env, p *CreatePoliciesParams) (CreatePoliciesResult, error) {
	var result CreatePoliciesResult
	for i := range p.Policies {
		id, err := addPolicy(e, &p.Policies[i])
		if err != nil {
			return CreatePoliciesResult{}, err
		}
		result.PolicyIDs = append(result.PolicyIDs, id)
	}
	var err error
	result.Findings, err = lint(e, result.PolicyIDs...)
	return result, err
}

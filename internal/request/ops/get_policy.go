package ops

import (
	"context"

	"latchkey/internal/request/activity"
)

// GetPolicy reads one policy.
var GetPolicy = activity.Query[GetPolicyParams, GetPolicyReply]{
	Name:    "get_policy",
	Summary: "Read one policy.",
	Read:    getPolicy,
}

// GetPolicyParams are the parameters of get_policy.
type GetPolicyParams struct {
	OrganizationID string `json:"organizationId" check:"required" doc:"Organization to read."`
	PolicyID       string `json:"policyId" check:"required,uuid" doc:"Policy to read."`
}

// GetPolicyReply is the reply of get_policy.
type GetPolicyReply struct {
	Policy Policy `json:"policy" check:"required" doc:"The policy."`
}

func getPolicy(_ context.Context, r activity.Reader, p *GetPolicyParams) (GetPolicyReply, error) {
	found, err := r.Tx.Policies().Get(p.PolicyID)
	if err != nil {
		return GetPolicyReply{}, err
	}
	return GetPolicyReply{Policy: policyRecord(found)}, nil
}

package ops

import (
	"context"

	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
)

// GetMfaPolicies reads the multi-factor policies of a user.
var GetMfaPolicies = activity.Query[GetMfaPoliciesParams, GetMfaPoliciesReply]{
	Name:    "get_mfa_policies",
	Summary: "Read the multi-factor policies of a user.",
	Read:    getMfaPolicies,
}

// GetMfaPoliciesParams are the parameters of get_mfa_policies.
type GetMfaPoliciesParams struct {
	OrganizationID string `json:"organizationId" check:"required" doc:"Organization to read."`
	UserID         string `json:"userId" check:"required,uuid" doc:"The user."`
}

// GetMfaPoliciesReply is the reply of get_mfa_policies.
type GetMfaPoliciesReply struct {
	MfaPolicies []record.MfaPolicy `json:"mfaPolicies" check:"required" doc:"Multi-factor policies, in the order in which they are asked."`
}

func getMfaPolicies(_ context.Context, r activity.Reader, p *GetMfaPoliciesParams) (GetMfaPoliciesReply, error) {
	user, err := r.Tx.Users().Get(p.UserID)
	if err != nil {
		return GetMfaPoliciesReply{}, err
	}
	return GetMfaPoliciesReply{MfaPolicies: record.Each(user.MFAPolicies, record.OfMfaPolicy)}, nil
}

package ops

import (
	"context"

	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
)

// GetMfaPolicy reads one multi-factor policy.
var GetMfaPolicy = activity.Query[GetMfaPolicyParams, GetMfaPolicyReply]{
	Name:    "get_mfa_policy",
	Summary: "Read a multi-factor policy of a user.",
	Read:    getMfaPolicy,
}

// GetMfaPolicyParams are the parameters of get_mfa_policy.
type GetMfaPolicyParams struct {
	OrganizationID string `json:"organizationId" check:"required" doc:"Organization to read."`
	UserID         string `json:"userId" check:"required,uuid" doc:"The user."`
	MfaPolicyID    string `json:"mfaPolicyId" check:"required,uuid" doc:"Multi-factor policy to read."`
}

// GetMfaPolicyReply is the reply of get_mfa_policy.
type GetMfaPolicyReply struct {
	MfaPolicy record.MfaPolicy `json:"mfaPolicy" check:"required" doc:"The multi-factor policy."`
}

func getMfaPolicy(_ context.Context, r activity.Reader, p *GetMfaPolicyParams) (GetMfaPolicyReply, error) {
	user, err := r.Tx.Users().Get(p.UserID)
	if err != nil {
		return GetMfaPolicyReply{}, err
	}
	found, ok := user.MFAPolicy(p.MfaPolicyID)
	if !ok {
		return GetMfaPolicyReply{}, noMFAPolicy(p.UserID, p.MfaPolicyID)
	}
	return GetMfaPolicyReply{MfaPolicy: record.OfMfaPolicy(found)}, nil
}

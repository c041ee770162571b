package ops

import (
	"context"

	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
)

// GetAuthenticators reads the passkeys of a user.
var GetAuthenticators = activity.Query[GetAuthenticatorsParams, GetAuthenticatorsReply]{
	Name:    "get_authenticators",
	Summary: "Read the passkeys of one user.",
	Read:    getAuthenticators,
}

// GetAuthenticatorsParams are the parameters of get_authenticators.
type GetAuthenticatorsParams struct {
	OrganizationID string `json:"organizationId" check:"required" doc:"Organization to read."`
	UserID         string `json:"userId" check:"required,uuid" doc:"User whose passkeys to read."`
}

// GetAuthenticatorsReply is the reply of get_authenticators.
type GetAuthenticatorsReply struct {
	Authenticators []record.Authenticator `json:"authenticators" check:"required" doc:"Passkeys."`
}

func getAuthenticators(_ context.Context, r activity.Reader, p *GetAuthenticatorsParams) (GetAuthenticatorsReply, error) {
	user, err := r.Tx.Users().Get(p.UserID)
	if err != nil {
		return GetAuthenticatorsReply{}, err
	}
	return GetAuthenticatorsReply{Authenticators: record.Each(user.Authenticators, record.OfAuthenticator)}, nil
}

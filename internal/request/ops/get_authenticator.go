package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
)

// GetAuthenticator reads one passkey.
var GetAuthenticator = activity.Query[GetAuthenticatorParams, GetAuthenticatorReply]{
	Name:    "get_authenticator",
	Summary: "Read one passkey.",
	Read:    getAuthenticator,
}

// GetAuthenticatorParams are the parameters of get_authenticator.
type GetAuthenticatorParams struct {
	OrganizationID  string `json:"organizationId" check:"required" doc:"Organization to read."`
	AuthenticatorID string `json:"authenticatorId" check:"required,uuid" doc:"Passkey to read."`
}

// GetAuthenticatorReply is the reply of get_authenticator.
type GetAuthenticatorReply struct {
	Authenticator record.Authenticator `json:"authenticator" check:"required" doc:"The passkey."`
}

func getAuthenticator(_ context.Context, r activity.Reader, p *GetAuthenticatorParams) (GetAuthenticatorReply, error) {
	found, err := findCredential(r, "authenticator", p.AuthenticatorID,
		func(u *domain.User) []domain.Authenticator { return u.Authenticators }, func(a domain.Authenticator) string { return a.ID })
	return GetAuthenticatorReply{Authenticator: record.OfAuthenticator(found)}, err
}

package ops

import (
	"context"

	"latchkey/internal/request/activity"
)

// GetOauth2Credential reads one OAuth 2.0 credential.
var GetOauth2Credential = activity.Query[GetOAuth2CredentialParams, GetOAuth2CredentialReply]{
	Name:    "get_oauth2_credential",
	Summary: "Read an OAuth 2.0 credential.",
	Read:    getOauth2Credential,
}

// GetOAuth2CredentialParams are the parameters of get_oauth2_credential.
type GetOAuth2CredentialParams struct {
	OrganizationID     string `json:"organizationId" check:"required" doc:"Organization to read."`
	Oauth2CredentialID string `json:"oauth2CredentialId" check:"required,uuid" doc:"Credential to read."`
}

// GetOAuth2CredentialReply is the reply of get_oauth2_credential.
type GetOAuth2CredentialReply struct {
	Oauth2Credential OAuth2Credential `json:"oauth2Credential" check:"required" doc:"The credential."`
}

func getOauth2Credential(_ context.Context, r activity.Reader, p *GetOAuth2CredentialParams) (GetOAuth2CredentialReply, error) {
	c, err := findOAuth2Credential(r.Tx, p.Oauth2CredentialID)
	if err != nil {
		return GetOAuth2CredentialReply{}, err
	}
	return GetOAuth2CredentialReply{Oauth2Credential: oauth2CredentialRecord(r.Tx.Org(), c)}, nil
}

package ops

import (
	"context"

	"latchkey/internal/request/activity"
)

// DeleteOauth2Credential ends logins at a provider of OAuth 2.0.
var DeleteOauth2Credential = activity.Op[OAuth2CredentialID, OAuth2CredentialResult]{
	Spec: activity.Spec{
		Name: "delete_oauth2_credential", Version: 1,
		Summary: "Delete an OAuth 2.0 credential, with its client secret. Users keep their accounts.",
		Govern:  activity.Govern{Resource: activity.ResourceAuth, Action: activity.ActionDelete},
	},
	Exec: deleteOauth2Credential,
}

// OAuth2CredentialID are the parameters of delete_oauth2_credential.
type OAuth2CredentialID struct {
	Oauth2CredentialID string `json:"oauth2CredentialId" check:"required,uuid" doc:"Credential to delete."`
}

func deleteOauth2Credential(_ context.Context, e activity.Env, p *OAuth2CredentialID) (OAuth2CredentialResult, error) {
	if _, err := findOAuth2Credential(e.Tx, p.Oauth2CredentialID); err != nil {
		return OAuth2CredentialResult{}, err
	}
	if err := e.Tx.OAuth2Credentials().Delete(p.Oauth2CredentialID); err != nil {
		return OAuth2CredentialResult{}, err
	}
	return OAuth2CredentialResult(*p), e.Vault.Destroy(p.Oauth2CredentialID)
}

package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
)

// UpdateOauth2Credential replaces what an organization is known by to a provider.
var UpdateOauth2Credential = activity.Op[UpdateOAuth2CredentialParams, OAuth2CredentialResult]{
	Spec: activity.Spec{
		Name: "update_oauth2_credential", Version: 1,
		Summary: "Replace the provider, client id and client secret of an OAuth 2.0 credential.",
		Govern:  activity.Govern{Resource: activity.ResourceAuth, Action: activity.ActionUpdate},
	},
	Exec: updateOauth2Credential,
}

// UpdateOAuth2CredentialParams are the parameters of update_oauth2_credential.
type UpdateOAuth2CredentialParams struct {
	Oauth2CredentialID string `json:"oauth2CredentialId" check:"required,uuid" doc:"Credential to change."`
	OAuth2CredentialParams
}

func updateOauth2Credential(_ context.Context, e activity.Env, p *UpdateOAuth2CredentialParams) (OAuth2CredentialResult, error) {
	if _, err := findOAuth2Credential(e.Tx, p.Oauth2CredentialID); err != nil {
		return OAuth2CredentialResult{}, err
	}
	err := e.Tx.OAuth2Credentials().Edit(p.Oauth2CredentialID, func(c *domain.OAuth2Credential) error {
		c.Provider, c.ClientID, c.Envelope, c.UpdatedAt = p.Provider, p.ClientID, p.EncryptedClientSecret, e.Now
		return nil
	})
	if err != nil {
		return OAuth2CredentialResult{}, err
	}
	return OAuth2CredentialResult{Oauth2CredentialID: p.Oauth2CredentialID}, keepClientSecret(e, p.Oauth2CredentialID, &p.OAuth2CredentialParams)
}

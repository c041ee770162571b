package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
)

// CreateOauth2Credential lets users log in at a provider of OAuth 2.0.
var CreateOauth2Credential = activity.Op[OAuth2CredentialParams, OAuth2CredentialResult]{
	Spec: activity.Spec{
		Name: "create_oauth2_credential", Version: 1,
		Summary: "Store the client id and secret of the organization at a provider of OAuth 2.0.",
		Govern:  activity.Govern{Resource: activity.ResourceAuth, Action: activity.ActionCreate},
	},
	Exec: createOauth2Credential,
}

func createOauth2Credential(_ context.Context, e activity.Env, p *OAuth2CredentialParams) (OAuth2CredentialResult, error) {
	if err := checkLimit(maxOAuth2Credentials, "OAuth 2.0 credentials", func(n int) (int, error) {
		list, err := e.Tx.OAuth2Credentials().List("", n)
		return len(list), err
	}); err != nil {
		return OAuth2CredentialResult{}, err
	}
	c := &domain.OAuth2Credential{
		ID: e.NewID(), Provider: p.Provider, ClientID: p.ClientID, Envelope: p.EncryptedClientSecret,
		CreatedAt: e.Now, UpdatedAt: e.Now,
	}
	if err := e.Tx.OAuth2Credentials().Insert(c); err != nil {
		return OAuth2CredentialResult{}, err
	}
	return OAuth2CredentialResult{Oauth2CredentialID: c.ID}, keepClientSecret(e, c.ID, p)
}

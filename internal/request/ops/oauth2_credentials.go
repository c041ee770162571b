package ops

import (
	"encoding/hex"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
	"latchkey/internal/store"
)

// This file holds what the operations on OAuth 2.0 credentials have in common.

// maxOAuth2Credentials is how many an organization has at most: they are listed
// together.
const maxOAuth2Credentials = 100

// OAuth2CredentialParams is how an organization is known to a provider.
type OAuth2CredentialParams struct {
	Provider              domain.OAuth2Provider `json:"provider" check:"required" doc:"Provider of OAuth 2.0."`
	ClientID              string                `json:"clientId" check:"required,max=255" doc:"Client id that the provider issued; with the provider unique in the organization." example:"client-1"`
	EncryptedClientSecret string                `json:"encryptedClientSecret" check:"required,hex,max=2400" doc:"Client secret that the provider issued, encrypted to oauth2ClientSecretPublicKey of /.well-known/latchkey.json (encryptOauth2ClientSecret of @turnkey/crypto)."`
}

// OAuth2CredentialResult is the result of the operations that change a credential.
type OAuth2CredentialResult struct {
	Oauth2CredentialID string `json:"oauth2CredentialId" check:"required,uuid" doc:"Id of the credential."`
}

// OAuth2Credential is a credential as clients read it.
type OAuth2Credential struct {
	Oauth2CredentialID    string                `json:"oauth2CredentialId" check:"required,uuid" doc:"Id of the credential."`
	OrganizationID        string                `json:"organizationId" check:"required,uuid" doc:"Organization that it belongs to."`
	Provider              domain.OAuth2Provider `json:"provider" check:"required" doc:"Provider of OAuth 2.0."`
	ClientID              string                `json:"clientId" check:"required" doc:"Client id at the provider."`
	EncryptedClientSecret string                `json:"encryptedClientSecret" check:"required" doc:"Client secret as it was sent: only the server can open it."`
	CreatedAt             record.Timestamp      `json:"createdAt" check:"required" doc:"When it was created."`
	UpdatedAt             record.Timestamp      `json:"updatedAt" check:"required" doc:"When it was last changed."`
}

func oauth2CredentialRecord(org string, c *domain.OAuth2Credential) OAuth2Credential {
	return OAuth2Credential{
		Oauth2CredentialID: c.ID, OrganizationID: org, Provider: c.Provider, ClientID: c.ClientID,
		EncryptedClientSecret: c.Envelope, CreatedAt: record.Time(c.CreatedAt), UpdatedAt: record.Time(c.UpdatedAt),
	}
}

// findOAuth2Credential finds a credential of the organization, which must be there.
func findOAuth2Credential(tx *store.Tx, id string) (*domain.OAuth2Credential, error) {
	c, err := tx.OAuth2Credentials().Lookup(id)
	if err == nil && c == nil {
		err = fault.New(fault.NotFound, fault.ReasonOAuth2Credential, "no OAuth 2.0 credential with id %s in this organization", id)
	}
	return c, err
}

// keepClientSecret opens the client secret that was sent, and seals it for the
// credential.
func keepClientSecret(e activity.Env, id string, p *OAuth2CredentialParams) error {
	envelope, err := hex.DecodeString(p.EncryptedClientSecret)
	if err != nil {
		return fault.Invalid("encryptedClientSecret is not hex") // its form was checked
	}
	return e.Vault.ImportClientSecret(id, e.ServerKeys, envelope)
}

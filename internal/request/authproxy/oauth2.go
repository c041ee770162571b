package authproxy

import (
	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/request/ops"
)

// OAuth2Request brings the code of a provider of OAuth 2.0.
type OAuth2Request struct {
	Provider     domain.OAuth2Provider `json:"provider" check:"required" doc:"Provider of OAuth 2.0."`
	AuthCode     string                `json:"authCode" check:"required,max=4096" doc:"Code that the provider gave the user."`
	RedirectURI  string                `json:"redirectUri" check:"required,max=2048" doc:"Where the provider sent the user back to, exactly."`
	CodeVerifier string                `json:"codeVerifier" check:"required,max=128" doc:"Verifier of PKCE."`
	Nonce        string                `json:"nonce" check:"required,max=256" doc:"Nonce of the token: the hex SHA-256 of the text of the client's public key."`
	ClientID     string                `json:"clientId" check:"required,max=255" doc:"Client id at the provider."`
}

// OAuth2Reply has a token of this server.
type OAuth2Reply struct {
	OidcToken string `json:"oidcToken" doc:"Token of this server, for signup and oauth_login."`
}

func (c *call) oauth2Authenticate(r *OAuth2Request) (OAuth2Reply, error) {
	if err := c.requireMethod(r.Provider.Method()); err != nil {
		return OAuth2Reply{}, err
	}
	credential, err := c.oauth2Credential(r)
	if err != nil {
		return OAuth2Reply{}, err
	}
	return submit[OAuth2Reply](c, "ACTIVITY_TYPE_OAUTH2_AUTHENTICATE", c.org.ID, &ops.OAuth2AuthenticateParams{
		Oauth2CredentialID: credential, AuthCode: r.AuthCode, RedirectURI: r.RedirectURI, CodeVerifier: r.CodeVerifier, Nonce: r.Nonce,
	})
}

// oauth2Credential finds the credential that the page means, which the organization
// must have.
func (c *call) oauth2Credential(r *OAuth2Request) (string, error) {
	reply, err := c.engine.QueryByAuthProxy(c.ctx, c.engine.Catalog.Query("list_oauth2_credentials"), c.config,
		&ops.InOrganization{OrganizationID: c.org.ID}, c.request)
	if err != nil {
		return "", err
	}
	var found ops.ListOAuth2CredentialsReply
	if err := json.Unmarshal(reply.Body, &found); err != nil {
		return "", err
	}
	for _, each := range found.Oauth2Credentials {
		if each.Provider == r.Provider && each.ClientID == r.ClientID {
			return each.Oauth2CredentialID, nil
		}
	}
	return "", fault.New(fault.NotFound, fault.ReasonOAuth2Unconfigured,
		"the organization has no credential for this clientId at %s; create_oauth2_credential makes one", r.Provider)
}

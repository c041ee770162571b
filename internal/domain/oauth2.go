package domain

import (
	"strings"
	"time"
)

// OAuth2Provider is a site that speaks OAuth 2.0 and issues no tokens of OpenID
// Connect.
type OAuth2Provider string

// The providers.
const (
	OAuth2X       OAuth2Provider = "OAUTH2_PROVIDER_X"
	OAuth2Discord OAuth2Provider = "OAUTH2_PROVIDER_DISCORD"
)

// Enum lists the providers for the schema.
func (OAuth2Provider) Enum() []string { return []string{string(OAuth2X), string(OAuth2Discord)} }

// Name is the provider in the words of the config and of tokens: x.
func (p OAuth2Provider) Name() string {
	return strings.ToLower(strings.TrimPrefix(string(p), "OAUTH2_PROVIDER_"))
}

// Method is the way to log in that it is to an auth proxy.
func (p OAuth2Provider) Method() AuthMethod { return AuthMethod(p.Name()) }

// OAuth2Credential is how an organization is known to a provider. The client
// secret is in the vault, under the same id.
type OAuth2Credential struct {
	ID       string         `json:"id"`
	Provider OAuth2Provider `json:"provider"`
	ClientID string         `json:"clientId"`
	// Envelope is the client secret as it was sent, sealed to the server, which
	// clients expect to read.
	Envelope  string    `json:"envelope"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
}

// Key is what a credential is unique by.
func (c *OAuth2Credential) Key() string { return OAuth2Client(c.Provider, c.ClientID) }

// OAuth2Client is the key by which a credential is found.
func OAuth2Client(p OAuth2Provider, clientID string) string { return string(p) + " " + clientID }

// OAuth2Code is what a user brings from a provider (RFC 6749 section 4.1), with
// what the organization is known by there.
type OAuth2Code struct {
	Provider     OAuth2Provider
	ClientID     string
	ClientSecret []byte
	Code         string
	Verifier     string // of PKCE, RFC 7636
	RedirectURI  string
}

// OAuth2Identity is who the provider says that the user is.
type OAuth2Identity struct {
	Subject string // begins with the provider's name
	Bearer  string // token that the provider issued for its interface
}

package server

import (
	"encoding/base64"
	"fmt"
	"net"
	"time"

	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
	"latchkey/internal/keys/vault"
	"latchkey/internal/outbox/notify"
	"latchkey/internal/proof/oauth2"
	"latchkey/internal/proof/oidc"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/api"
	"latchkey/internal/server/config"
	"latchkey/internal/webhook/target"
)

// issuer is the server as an issuer of OpenID Connect tokens.
type issuer struct {
	url  string // empty: it issues none
	keys []byte // as they are published
}

// newIssuer knows the issuer's address from the config; a server for development
// is one under the address that it listens on.
func newIssuer(b *Bound, keys *vault.ServerKeys) (issuer, error) {
	i := issuer{url: b.config.OAuth2.Issuer}
	if i.url == "" && b.config.Dev.LoopbackOAuth2 {
		i.url = urlOf(b.config, b.listeners[0].Addr().(*net.TCPAddr))
	}
	if i.url == "" {
		return i, nil
	}
	id, point, err := keys.IssuerPublicKey()
	if err != nil {
		return issuer{}, err
	}
	coordinate := func(from, to int) string { return base64.RawURLEncoding.EncodeToString(point[from:to]) }
	i.keys, err = json.Marshal(map[string][]jsonWebKey{"keys": {{
		ID: id, Type: "EC", Curve: "P-256", Algorithm: "ES256", Use: "sig", X: coordinate(1, 33), Y: coordinate(33, 65),
	}}})
	return i, err
}

// own is the issuer as tokens are verified by it.
func (i issuer) own() oidc.Own { return oidc.Own{Issuer: i.url, Keys: i.keys} }

// documents are what an issuer must publish (OpenID Connect Discovery section 3).
// Its tokens come from oauth2_authenticate alone: it has no pages for users.
func (i issuer) documents() (map[string][]byte, error) {
	if i.url == "" {
		return nil, nil
	}
	discovery, err := json.Marshal(struct {
		Issuer     string   `json:"issuer"`
		Keys       string   `json:"jwks_uri"`
		Types      []string `json:"response_types_supported"`
		Subjects   []string `json:"subject_types_supported"`
		Algorithms []string `json:"id_token_signing_alg_values_supported"`
	}{i.url, i.url + api.IssuerKeysPath, []string{"id_token"}, []string{"public"}, []string{"ES256"}})
	return map[string][]byte{api.IssuerPath: discovery, api.IssuerKeysPath: i.keys}, err
}

// oauth2Logins asks providers, for the issuer.
type oauth2Logins struct {
	*oauth2.Client
	issuer string
}

// Issuer implements [activity.OAuth2].
func (l *oauth2Logins) Issuer() string { return l.issuer }

// newOAuth2 wires what asks providers for the issuer; nil: the server is none.
func newOAuth2(providers *oauth2.Client, i issuer) activity.OAuth2 {
	if i.url == "" {
		return nil
	}
	return &oauth2Logins{providers, i.url}
}

// newProviders wires what asks providers of OAuth 2.0. It opens no connection.
func newProviders(c *config.Config) (*oauth2.Client, error) {
	roots, err := notify.LoadRoots(c.OAuth2.CA)
	if err != nil {
		return nil, fmt.Errorf("oauth2.ca: %w", err)
	}
	allowed := c.OAuth2.Allow
	if c.Dev.LoopbackOAuth2 {
		allowed = append(target.Loopback(), allowed...)
	}
	guard := target.NewGuard(allowed)
	providers := map[domain.OAuth2Provider]oauth2.Provider{
		domain.OAuth2X: oauth2.Provider(c.OAuth2.Providers.X), domain.OAuth2Discord: oauth2.Provider(c.OAuth2.Providers.Discord),
	}
	for name, p := range providers {
		for setting, url := range map[string]string{"tokenUrl": p.TokenURL, "userInfoUrl": p.UserInfoURL} {
			if guard.Check(url) != nil {
				return nil, fmt.Errorf("oauth2.providers.%s.%s must be a public https address, or in a network of oauth2.allow", name.Name(), setting)
			}
		}
	}
	client := target.NewClient(guard, target.Options{Timeout: c.OAuth2.Timeout, Roots: roots, Resolver: c.Dev.Resolver, Now: time.Now})
	return oauth2.New(providers, client, c.OAuth2.Timeout), nil
}

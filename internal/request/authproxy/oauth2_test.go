package authproxy_test

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"latchkey/internal/domain"
	"latchkey/internal/server/config"
	"latchkey/internal/test/oauth2test"
	. "latchkey/internal/test/servertest"
)

const (
	redirect = "https://app.example.com/"
	verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
)

// TestOAuth2 signs a user up and in who has logged in at a provider of OAuth 2.0, as
// the kit does.
func TestOAuth2(t *testing.T) {
	EachStore(t, func(t *testing.T, url string) {
		provider := oauth2test.Start(t)
		provider.Register("client-1", "the secret")
		c := config.Default()
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		c.AuthProxy.Limits.Logins = 12
		c.OAuth2.Providers.X = config.OAuth2Provider{TokenURL: provider.TokenURL(), UserInfoURL: provider.UserInfoURL(), SubjectField: "data.id"}
		s := Start(t, url, c)
		p := newPage(t, s, s.Root)
		key := newKey(t)
		bring := func(clientID string) m {
			return m{
				"provider": "OAUTH2_PROVIDER_X", "clientId": clientID, "redirectUri": redirect, "codeVerifier": verifier,
				"nonce": domain.NonceOf(key.public), "authCode": provider.LogIn("client-1", redirect, verifier, "77"),
			}
		}
		p.refused(t, http.StatusForbidden, "allowedAuthMethods", "oauth2_authenticate", bring("client-1"))
		p.root.Submit(t, "update_auth_proxy_config", m{"allowedAuthMethods": []any{"passkey", "x"}, "sessionExpirationSeconds": 1800})
		p.refused(t, http.StatusNotFound, "create_oauth2_credential", "oauth2_authenticate", bring("client-1"))
		p.root.Submit(t, "create_oauth2_credential", m{
			"provider": "OAUTH2_PROVIDER_X", "clientId": "client-1", "encryptedClientSecret": s.SealClientSecret(t, "the secret"),
		})
		p.refused(t, http.StatusNotFound, "create_oauth2_credential", "oauth2_authenticate", bring("client-2"))
		discord := bring("client-1")
		discord["provider"] = "OAUTH2_PROVIDER_DISCORD"
		p.refused(t, http.StatusForbidden, "discord", "oauth2_authenticate", discord)
		if asked := provider.Stats(); asked.Tokens != 0 {
			t.Errorf("the provider was asked %d times for what is refused", asked.Tokens)
		}
		wrong := bring("client-1")
		wrong["codeVerifier"] = "another"
		p.refused(t, http.StatusBadRequest, "invalid_grant", "oauth2_authenticate", wrong)

		token := p.ask(t, "oauth2_authenticate", bring("client-1")).Get("oidcToken").Text()
		if found := p.ask(t, "account", m{"filterType": "OIDC_TOKEN", "filterValue": token}); found.Has("organizationId") {
			t.Errorf("before the sign-up: %v", found)
		}
		created := p.ask(t, "signup_v2", m{
			"userName": "Ada", "organizationName": "sub-org", "apiKeys": []any{}, "authenticators": []any{},
			"oauthProviders": []any{m{"providerName": "x", "oidcToken": token}},
		})
		org := created.Get("organizationId").Text()
		p.entered(t, p.ask(t, "oauth_login", m{"oidcToken": token, "publicKey": key.public}), org, 1800)
		again := p.ask(t, "oauth2_authenticate", bring("client-1")).Get("oidcToken").Text()
		if found := p.ask(t, "account", m{"filterType": "OIDC_TOKEN", "filterValue": again}).Get("organizationId").Text(); found != org {
			t.Errorf("found %s", found)
		}

		// The proxy logs no user of the parent in, and its key reads nothing more.
		activities := p.root.Query(t, "list_activities", m{"filterByType": []any{"ACTIVITY_TYPE_OAUTH2_AUTHENTICATE"}}).Get("activities").List()
		if len(activities) != 3 || activities[0].Get("votes", 0, "user", "userName").Text() != "Auth proxy" || strings.Contains(activities[0].String(), token) {
			t.Errorf("recorded: %v", activities)
		}
		p.limitsOAuth2(t, bring)
	})
}

// limitsOAuth2 finds that codes of providers count as tries at codes do.
func (p *page) limitsOAuth2(t *testing.T, bring func(string) m) {
	for range 12 {
		if r := p.post(t, "oauth2_authenticate", bring("client-2")); r.Status == http.StatusTooManyRequests {
			if r.Header.Get("Retry-After") == "" {
				t.Errorf("no Retry-After: %v", r.Header)
			}
			return
		}
	}
	t.Error("there is no limit")
}

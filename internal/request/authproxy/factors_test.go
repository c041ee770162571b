package authproxy_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/test/oidctest"
	. "latchkey/internal/test/servertest"
)

// TestMissingFactors answers a login by a user whose multi-factor policy asks for
// more with 403 and what to approve. When the user has, the login is done; the page
// gets no session from it that it did not wait for.
func TestMissingFactors(t *testing.T) {
	issuer := oidctest.Start(t)
	EachStore(t, func(t *testing.T, url string) {
		s := start(t, url)
		p := newPage(t, s, s.Root)
		p.root.Submit(t, "update_auth_proxy_config", m{"allowedAuthMethods": []any{"wallet", "google"}})
		owner, key := p.Stranger(t, p.root), newKey(t)
		token := issuer.Mint(map[string]any{
			"aud": "client-1", "sub": "ada", "nonce": domain.NonceOf(key.public), "iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(),
		}, "ES256")
		signUp := signUpByKey(owner.Key.PublicKey())
		signUp["oauthProviders"] = []any{m{"providerName": "Issuer", "oidcToken": token}}
		created := p.ask(t, "signup_v2", signUp)
		owner.OrganizationID, owner.UserID = created.Get("organizationId").Text(), created.Get("userId").Text()
		owner.Submit(t, "create_mfa_policy", m{
			"userId": owner.UserID, "mfaPolicyName": "logins", "order": 0, "condition": "activity.resource == 'AUTH'",
			"requiredAuthenticationMethods": []any{m{"any": []any{m{"type": "AUTHENTICATION_TYPE_API_KEY"}}}},
		})

		logIn := m{"oidcToken": token, "publicKey": key.public}
		reply := p.post(t, "oauth_login", logIn)
		CheckError(t, reply, http.StatusForbidden)
		message := reply.JSON(t).Get("message").Text()
		fingerprint := regexp.MustCompile(`sha256:[0-9a-f]{64}`).FindString(message)
		if fingerprint == "" || !strings.Contains(message, "multi-factor policy") || !strings.Contains(message, owner.OrganizationID) {
			t.Fatalf("got %s", message)
		}
		if keys := len(owner.Query(t, "get_api_keys", m{"userId": owner.UserID}).Get("apiKeys").List()); keys != 1 {
			t.Errorf("%d keys before the factor", keys)
		}
		// No one else's approval is a factor.
		as := *p.root
		as.OrganizationID = owner.OrganizationID
		approved := as.MustPost(t, "approve_activity", as.Body(t, "approve_activity", m{"fingerprint": fingerprint}))
		if status := approved.Get("activity", "status").Text(); status != "ACTIVITY_STATUS_AUTHENTICATORS_NEEDED" {
			t.Errorf("another user's approval makes it %s", status)
		}

		done := owner.MustPost(t, "approve_activity", owner.Body(t, "approve_activity", m{"fingerprint": fingerprint})).Get("activity")
		if done.Get("status").Text() != "ACTIVITY_STATUS_COMPLETED" || done.Get("type").Text() != "ACTIVITY_TYPE_OAUTH_LOGIN" {
			t.Errorf("got %v", done)
		}
		if keys := owner.Query(t, "get_api_keys", m{"userId": owner.UserID}).Get("apiKeys").List(); len(keys) != 2 || keys[1].Get("credential", "publicKey").Text() != key.public {
			t.Errorf("keys: %v", keys)
		}
		// The next login is asked for the factor again.
		p.refused(t, http.StatusForbidden, "multi-factor policy", "oauth_login", logIn)
	})
}

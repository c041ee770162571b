package ops_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/test/oidctest"
	. "latchkey/internal/test/servertest"
)

// TestOAuth logs in by tokens of a real issuer.
func TestOAuth(t *testing.T) {
	issuer := oidctest.Start(t)
	Each(t, func(t *testing.T, s *Server) {
		o := &oauthStory{Server: s, issuer: issuer, recipient: NewRecipient(t)}
		o.child = newChild(t, s, s.Root, "Child", func(user, _ m) {
			user["oauthProviders"] = []any{m{"providerName": "Issuer", "oidcToken": issuer.Mint(o.claims(""), "ES256")}}
		})
		o.parent = as(s.Root, o.child.OrganizationID)
		o.logsInWithSealedKey(t)
		session := o.logsInWithOwnKey(t)
		o.logsInByAttestedStamp(t)
		o.refusesTokens(t, session)
		if n := o.keys(t); n != 4 {
			t.Errorf("%d keys after refusals", n)
		}
	})
}

// oauthStory is a sub-organization whose user has an identity at the issuer.
type oauthStory struct {
	*Server
	issuer    *oidctest.Issuer
	recipient *Recipient
	child     *Caller // the user
	parent    *Caller // the parent's root user, in the child
}

// claims are those of a token for the key.
func (o *oauthStory) claims(publicKey string) map[string]any {
	return map[string]any{"iss": o.issuer.URL, "aud": "app", "sub": "ada", "nonce": domain.NonceOf(publicKey), "iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix()}
}

// keys counts the keys of the user.
func (o *oauthStory) keys(t *testing.T) int {
	t.Helper()
	return len(o.child.Query(t, "get_api_keys", m{"userId": o.child.UserID}).Get("apiKeys").List())
}

func (o *oauthStory) logsInWithSealedKey(t *testing.T) {
	for _, alg := range []string{"RS256", "ES256"} {
		result := o.parent.Submit(t, "oauth", m{
			"oidcToken": o.issuer.Mint(o.claims(o.recipient.PublicKey()), alg), "targetPublicKey": o.recipient.PublicKey(), "invalidateExisting": true,
		}).Get("result", "oauthResult")
		session := o.recipient.LogIn(t, o.child, result.Get("credentialBundle").Text())
		if got := session.Query(t, "whoami", nil).Get("userId").Text(); got != o.child.UserID || result.Get("userId").Text() != o.child.UserID {
			t.Errorf("whoami: %s", got)
		}
		key := o.child.Query(t, "get_api_key", m{"apiKeyId": result.Get("apiKeyId").Text()}).Get("apiKey")
		if key.Get("credential", "type").Text() != "CREDENTIAL_TYPE_OAUTH_KEY_P256" || !strings.HasPrefix(key.Get("apiKeyName").Text(), "Oauth - ") ||
			key.Get("expirationSeconds").Text() != "900" {
			t.Errorf("key: %v", key)
		}
	}
	if n := o.keys(t); n != 2 {
		t.Errorf("%d keys, invalidateExisting should leave one of this kind", n)
	}
}

func (o *oauthStory) logsInWithOwnKey(t *testing.T) (session string) {
	key := o.Stranger(t, o.child)
	login := o.parent.Submit(t, "oauth_login", m{"oidcToken": o.issuer.Mint(o.claims(key.Key.PublicKey()), "ES256"), "publicKey": key.Key.PublicKey()})
	session = login.Get("result", "oauthLoginResult", "session").Text()
	checkSession(t, o.Server, session)
	key.Query(t, "whoami", nil)
	return session
}

// logsInByAttestedStamp needs nothing but the token and the parent's id.
func (o *oauthStory) logsInByAttestedStamp(t *testing.T) {
	fresh := o.Stranger(t, o.child)
	attested := as(fresh, o.Root.OrganizationID)
	attested.Stamper = attestedStamper{fresh, o.issuer.Mint(o.claims(fresh.Key.PublicKey()), "RS256"), "STAMP_ATTESTED_SCHEME_P256_OIDC"}
	attested.Submit(t, "stamp_login", m{"publicKey": fresh.Key.PublicKey()})
	if got := fresh.Query(t, "whoami", nil).Get("userId").Text(); got != o.child.UserID {
		t.Errorf("whoami: %s", got)
	}
	attested.Stamper = attestedStamper{fresh, o.issuer.Mint(o.claims("another key"), "RS256"), "STAMP_ATTESTED_SCHEME_P256_OIDC"}
	attested.Refused(t, http.StatusUnauthorized, "stamp_login", m{"publicKey": fresh.Key.PublicKey()})
}

func (o *oauthStory) refusesTokens(t *testing.T, session string) {
	with := func(name string, value any) string {
		changed := o.claims(o.recipient.PublicKey())
		changed[name] = value
		return o.issuer.Mint(changed, "ES256")
	}
	parts := strings.Split(o.issuer.Mint(o.claims(o.recipient.PublicKey()), "ES256"), ".")
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"JWT"}`))
	for name, c := range map[string]struct {
		status int
		token  string
	}{
		"expired":              {400, with("exp", time.Now().Add(-time.Hour).Unix())},
		"wrong nonce":          {400, with("nonce", "0")},
		"another audience":     {404, with("aud", "other app")},
		"another subject":      {404, with("sub", "eve")},
		"unsigned":             {400, parts[0] + "." + parts[1] + "."},
		"algorithm none":       {400, none + "." + parts[1] + "."},
		"an unknown issuer":    {400, with("iss", "http://127.0.0.1:1")},
		"not a token":          {400, "hello"},
		"signed by a login":    {400, session},
		"of a damaged payload": {400, parts[0] + "." + parts[1][:len(parts[1])-2] + "AA." + parts[2]},
	} {
		t.Run(name, func(t *testing.T) {
			refusal := o.parent.Refused(t, c.status, "oauth", m{"oidcToken": c.token, "targetPublicKey": o.recipient.PublicKey()})
			if strings.Contains(refusal.String(), parts[2]) {
				t.Error("the refusal repeats the token")
			}
		})
	}
}

package ops_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"latchkey/client"
	"latchkey/internal/domain"
	"latchkey/internal/proof/oidc"
	"latchkey/internal/server/config"
	"latchkey/internal/test/oauth2test"
	"latchkey/internal/test/pgtest"
	. "latchkey/internal/test/servertest"
	"latchkey/internal/test/testkit"
)

const (
	oauth2Redirect = "https://app.example.com/callback"
	oauth2Verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	oauth2Secret   = "secret that the provider issued and that is found nowhere"
)

// TestOAuth2 logs users in at a real provider.
func TestOAuth2(t *testing.T) {
	EachStore(t, func(t *testing.T, url string) {
		o := &oauth2Story{provider: oauth2test.Start(t)}
		o.Server = Start(t, url, o.config())
		o.provider.Register("client-1", oauth2Secret)
		o.managesCredentials(t)
		o.credential = o.create(t, "OAUTH2_PROVIDER_X", "client-1", oauth2Secret)
		token := o.authenticates(t)
		o.isAnIssuer(t, token)
		o.signsUpAndLogsIn(t)
		o.returnsBearer(t)
		o.refusesCodes(t)
		o.asksOnce(t)
		o.meetsPolicies(t)
		o.refusesForeignCredentials(t)
		o.updates(t)
		o.seesProvidersFail(t)
		o.keepsSecret(t)
	})
}

// oauth2Story is a server that knows a provider, in the place of X.
type oauth2Story struct {
	*Server
	provider   *oauth2test.Provider
	credential string
}

func (o *oauth2Story) config() config.Config {
	c := config.Default()
	c.OAuth2.Providers.X = config.OAuth2Provider{TokenURL: o.provider.TokenURL(), UserInfoURL: o.provider.UserInfoURL(), SubjectField: "data.id"}
	c.OAuth2.Providers.Discord = config.OAuth2Provider{TokenURL: o.provider.TokenURL(), UserInfoURL: o.provider.URL + "/users/@me", SubjectField: "id"}
	return c
}

func (o *oauth2Story) create(t *testing.T, provider, clientID, secret string) string {
	t.Helper()
	return o.Root.Submit(t, "create_oauth2_credential", m{"provider": provider, "clientId": clientID, "encryptedClientSecret": o.SealClientSecret(t, secret)}).
		Get("result", "createOauth2CredentialResult", "oauth2CredentialId").Text()
}

// code logs a user in at the provider, for the key.
func (o *oauth2Story) code(user, publicKey string) m {
	return m{
		"oauth2CredentialId": o.credential, "redirectUri": oauth2Redirect, "codeVerifier": oauth2Verifier, "nonce": domain.NonceOf(publicKey),
		"authCode": o.provider.LogIn("client-1", oauth2Redirect, oauth2Verifier, user),
	}
}

func (o *oauth2Story) token(t *testing.T, user, publicKey string) string {
	t.Helper()
	return o.Root.Submit(t, "oauth2_authenticate", o.code(user, publicKey)).Get("result", "oauth2AuthenticateResult", "oidcToken").Text()
}

func (o *oauth2Story) managesCredentials(t *testing.T) {
	sealed := o.SealClientSecret(t, oauth2Secret)
	id := o.Root.Submit(t, "create_oauth2_credential", m{"provider": "OAUTH2_PROVIDER_DISCORD", "clientId": "first", "encryptedClientSecret": sealed}).
		Get("result", "createOauth2CredentialResult", "oauth2CredentialId").Text()
	got := o.Root.Query(t, "get_oauth2_credential", m{"oauth2CredentialId": id}).Get("oauth2Credential")
	if got.Get("provider").Text() != "OAUTH2_PROVIDER_DISCORD" || got.Get("clientId").Text() != "first" || got.Get("organizationId").Text() != o.Root.OrganizationID ||
		got.Get("encryptedClientSecret").Text() != sealed || got.Get("createdAt", "seconds").Text() == "" {
		t.Errorf("got %v", got)
	}
	for name, c := range map[string]struct {
		status int
		params m
		text   string
	}{
		"taken":              {http.StatusConflict, m{"provider": "OAUTH2_PROVIDER_DISCORD", "clientId": "first", "encryptedClientSecret": sealed}, "already exists"},
		"unknown provider":   {http.StatusBadRequest, m{"provider": "OAUTH2_PROVIDER_FACEBOOK", "clientId": "c", "encryptedClientSecret": sealed}, "provider"},
		"another's envelope": {http.StatusBadRequest, m{"provider": "OAUTH2_PROVIDER_X", "clientId": "c", "encryptedClientSecret": sealed[:len(sealed)-2] + "00"}, "does not open"},
		"not an envelope":    {http.StatusBadRequest, m{"provider": "OAUTH2_PROVIDER_X", "clientId": "c", "encryptedClientSecret": "00ff"}, "not an envelope"},
		"not hex":            {http.StatusBadRequest, m{"provider": "OAUTH2_PROVIDER_X", "clientId": "c", "encryptedClientSecret": "secret"}, "encryptedClientSecret"},
		"empty":              {http.StatusBadRequest, m{"provider": "OAUTH2_PROVIDER_X", "clientId": "c", "encryptedClientSecret": o.SealClientSecret(t, "")}, "1 to 1024"},
		"long":               {http.StatusBadRequest, m{"provider": "OAUTH2_PROVIDER_X", "clientId": "c", "encryptedClientSecret": o.SealClientSecret(t, strings.Repeat("x", 1025))}, "1 to 1024"},
		"not text":           {http.StatusBadRequest, m{"provider": "OAUTH2_PROVIDER_X", "clientId": "c", "encryptedClientSecret": o.SealClientSecret(t, "a\r\nb")}, "printable"},
	} {
		if refusal := o.Root.Refused(t, c.status, "create_oauth2_credential", c.params); !strings.Contains(refusal.Get("message").Text(), c.text) {
			t.Errorf("%s: %v", name, refusal)
		}
	}
	if all := o.Root.Query(t, "list_oauth2_credentials", m{}).Get("oauth2Credentials").List(); len(all) != 1 {
		t.Errorf("refused ones are there: %v", all)
	}
	o.Root.Submit(t, "delete_oauth2_credential", m{"oauth2CredentialId": id})
	for _, refusal := range []Value{
		o.Root.Refused(t, http.StatusNotFound, "delete_oauth2_credential", m{"oauth2CredentialId": id}),
		o.Root.Refused(t, http.StatusNotFound, "get_oauth2_credential", m{"oauth2CredentialId": id}),
		o.Root.Refused(t, http.StatusNotFound, "update_oauth2_credential", m{"oauth2CredentialId": id, "provider": "OAUTH2_PROVIDER_X", "clientId": "c", "encryptedClientSecret": sealed}),
	} {
		if refusal.Get("turnkeyErrorCode").Text() != "OAUTH2_CREDENTIAL_NOT_FOUND" {
			t.Errorf("got %v", refusal)
		}
	}
}

// authenticates gets a token, which says what the provider said.
func (o *oauth2Story) authenticates(t *testing.T) string {
	token := o.token(t, "1001", "key")
	payload := string(testkit.Unbase64(t, strings.Split(token, ".")[1]))
	for _, want := range []string{`"iss":"` + o.URL + `"`, `"aud":"client-1"`, `"sub":"x:1001"`, `"nonce":"` + domain.NonceOf("key") + `"`} {
		if !strings.Contains(payload, want) {
			t.Errorf("no %s in %s", want, payload)
		}
	}
	discord := o.create(t, "OAUTH2_PROVIDER_DISCORD", "client-1", oauth2Secret)
	params := o.code("2002", "key")
	params["oauth2CredentialId"] = discord
	other := o.Root.Submit(t, "oauth2_authenticate", params).Get("result", "oauth2AuthenticateResult", "oidcToken").Text()
	if payload := string(testkit.Unbase64(t, strings.Split(other, ".")[1])); !strings.Contains(payload, `"sub":"discord:2002"`) {
		t.Errorf("got %s", payload)
	}
	return token
}

// isAnIssuer verifies the token as a stranger would: by what the server publishes.
func (o *oauth2Story) isAnIssuer(t *testing.T, token string) {
	stranger := oidc.New(oidc.Options{Loopback: true, Timeout: testkit.Patience})
	claims, err := stranger.Verify(t.Context(), token)
	if err != nil || claims.Issuer != o.URL || claims.Subject != "x:1001" {
		t.Errorf("got %+v, %v", claims, err)
	}
	parts := strings.Split(token, ".")
	forged := base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(string(testkit.Unbase64(t, parts[1])), "x:1001", "x:1002", 1)))
	for _, v := range []*oidc.Verifier{stranger} {
		if _, err := v.Verify(t.Context(), parts[0]+"."+forged+"."+parts[2]); err == nil {
			t.Error("a forged token is valid")
		}
	}
	o.Root.Refused(t, http.StatusBadRequest, "list_suborgs", m{"filterType": "OIDC_TOKEN", "filterValue": parts[0] + "." + forged + "." + parts[2]})
}

// signsUpAndLogsIn is what the token is for.
func (o *oauth2Story) signsUpAndLogsIn(t *testing.T) {
	if found := o.Root.Query(t, "list_suborgs", m{"filterType": "OIDC_TOKEN", "filterValue": o.token(t, "3003", "any")}).Get("organizationIds").List(); len(found) != 0 {
		t.Errorf("before the sign-up: %v", found)
	}
	child := newChild(t, o.Server, o.Root, "Child", func(user, _ m) {
		user["oauthProviders"] = []any{m{"providerName": "X", "oidcToken": o.token(t, "3003", "any")}}
	})
	if found := o.Root.Query(t, "list_suborgs", m{"filterType": "OIDC_TOKEN", "filterValue": o.token(t, "3003", "any")}).Get("organizationIds", 0).Text(); found != child.OrganizationID {
		t.Errorf("found %s", found)
	}
	key, parent := o.Stranger(t, child), as(o.Root, child.OrganizationID)
	token := o.token(t, "3003", key.Key.PublicKey())
	parent.Submit(t, "oauth_login", m{"oidcToken": token, "publicKey": key.Key.PublicKey()})
	if who := key.Query(t, "whoami", nil); who.Get("userId").Text() != child.UserID {
		t.Errorf("whoami: %v", who)
	}
	parent.Refused(t, http.StatusBadRequest, "oauth_login", m{"oidcToken": token, "publicKey": o.Stranger(t, child).Key.PublicKey()}) // nonce
	parent.Refused(t, http.StatusNotFound, "oauth_login", m{"oidcToken": o.token(t, "3004", key.Key.PublicKey()), "publicKey": key.Key.PublicKey()})
	fresh := o.Stranger(t, child)
	attested := as(fresh, o.Root.OrganizationID)
	attested.Stamper = attestedStamper{fresh, o.token(t, "3003", fresh.Key.PublicKey()), "STAMP_ATTESTED_SCHEME_P256_OIDC"}
	attested.Submit(t, "stamp_login", m{"publicKey": fresh.Key.PublicKey()})
}

func (o *oauth2Story) returnsBearer(t *testing.T) {
	recipient := NewRecipient(t)
	params := o.code("1001", "key")
	params["bearerTokenTargetPublicKey"] = recipient.PublicKey()
	token := o.Root.Submit(t, "oauth2_authenticate", params).Get("result", "oauth2AuthenticateResult", "oidcToken").Text()
	payload := Reply{Body: testkit.Unbase64(t, strings.Split(token, ".")[1])}.JSON(t)
	if bearer := recipient.OpenBundle(t, payload.Get("encrypted_bearer_token").Text()); len(bearer) != 26 {
		t.Errorf("got %q", bearer)
	}
	before := o.provider.Stats()
	params = o.code("1001", "key")
	params["bearerTokenTargetPublicKey"] = "04" + strings.Repeat("11", 64)
	o.Root.Refused(t, http.StatusBadRequest, "oauth2_authenticate", params)
	if o.provider.Stats() != before {
		t.Error("the code was used up by a request that is refused")
	}
}

func (o *oauth2Story) refusesCodes(t *testing.T) {
	used := o.code("1001", "key")
	o.Root.Submit(t, "oauth2_authenticate", used)
	for name, c := range map[string]struct {
		member, value, text string
	}{
		"used":             {"authCode", used["authCode"].(string), "invalid_grant"},
		"wrong":            {"authCode", "wrong", "invalid_grant"},
		"another verifier": {"codeVerifier", oauth2Verifier + "x", "invalid_grant"},
		"another redirect": {"redirectUri", oauth2Redirect + "/", "invalid_grant"},
		"no code":          {"authCode", "", "authCode"},
		"no verifier":      {"codeVerifier", "", "codeVerifier"},
	} {
		params := o.code("1001", "key")
		params[c.member] = c.value
		refusal := o.Root.Refused(t, http.StatusBadRequest, "oauth2_authenticate", params)
		if !strings.Contains(refusal.Get("message").Text(), c.text) {
			t.Errorf("%s: %v", name, refusal)
		}
	}
}

// asksOnce sends the same bytes again: after the answer, and before it.
func (o *oauth2Story) asksOnce(t *testing.T) {
	before := o.provider.Stats().Tokens
	body := o.Root.Body(t, "oauth2_authenticate", o.code("1001", "key"))
	first := o.Root.MustPost(t, "oauth2_authenticate", body).Get("activity")
	again := o.Root.MustPost(t, "oauth2_authenticate", body).Get("activity")
	if first.Get("id").Text() != again.Get("id").Text() || again.Get("result", "oauth2AuthenticateResult", "oidcToken").Text() == "" {
		t.Errorf("got %v, then %v", first, again)
	}
	if asked := o.provider.Stats().Tokens - before; asked != 1 {
		t.Errorf("asked %d times", asked)
	}

	o.provider.Behave("slow")
	body = o.Root.Body(t, "oauth2_authenticate", o.code("1001", "key"))
	const clients = 4
	replies := make(chan Reply, clients)
	for range clients {
		go func() { replies <- o.Root.Post(t, "oauth2_authenticate", body) }()
	}
	testkit.Until(t, "the provider is asked", func() bool { return o.provider.Stats().Tokens > before+1 })
	// The organization changes meanwhile: what was asked before is not asked again.
	o.Root.Submit(t, "create_user_tag", m{"userTagName": "meanwhile", "userIds": []any{}})
	o.provider.Behave("normal")
	for range clients {
		if r := <-replies; r.Status != http.StatusOK || !strings.Contains(string(r.Body), "ACTIVITY_STATUS_COMPLETED") {
			t.Errorf("HTTP %d: %s", r.Status, r.Body)
		}
	}
	if asked := o.provider.Stats().Tokens - before; asked != 2 {
		t.Errorf("asked %d times", asked)
	}
}

func (o *oauth2Story) meetsPolicies(t *testing.T) {
	ada := o.NewUser(t, o.Root, "Ada", client.P256)
	before := o.provider.Stats()
	ada.Refused(t, http.StatusForbidden, "oauth2_authenticate", o.code("1001", "key"))
	ada.Refused(t, http.StatusForbidden, "delete_oauth2_credential", m{"oauth2CredentialId": o.credential})
	if o.provider.Stats() != before {
		t.Error("the provider was asked for a user who may not")
	}
	o.Root.Submit(t, "create_policy", m{
		"policyName": "Ada logs users in", "effect": "EFFECT_ALLOW", "notes": "",
		"consensus": "approvers.any(user, user.id == '" + ada.UserID + "')",
		"condition": "activity.resource == 'AUTH' && activity.action == 'CREATE' && activity.type == 'ACTIVITY_TYPE_OAUTH2_AUTHENTICATE'",
	})
	done := ada.Submit(t, "oauth2_authenticate", o.code("1001", "key"))
	ada.Refused(t, http.StatusForbidden, "create_oauth2_credential", m{"provider": "OAUTH2_PROVIDER_X", "clientId": "ada", "encryptedClientSecret": o.SealClientSecret(t, "s")})
	// The token and the code are for the submitter alone.
	seen := o.Root.Query(t, "get_activity", m{"activityId": done.Get("id").Text()}).String()
	if token := done.Get("result", "oauth2AuthenticateResult", "oidcToken").Text(); strings.Contains(seen, token) || strings.Contains(seen, oauth2Verifier) {
		t.Errorf("another user sees %s", seen)
	}
}

func (o *oauth2Story) refusesForeignCredentials(t *testing.T) {
	other := o.CreateOrganization(t, "Other organization")
	for operation, params := range map[string]m{
		"oauth2_authenticate": o.code("1001", "key"), "get_oauth2_credential": {"oauth2CredentialId": o.credential},
		"delete_oauth2_credential": {"oauth2CredentialId": o.credential},
		"update_oauth2_credential": {"oauth2CredentialId": o.credential, "provider": "OAUTH2_PROVIDER_X", "clientId": "x", "encryptedClientSecret": o.SealClientSecret(t, "s")},
	} {
		if refusal := other.Refused(t, http.StatusNotFound, operation, params); refusal.Get("turnkeyErrorCode").Text() != "OAUTH2_CREDENTIAL_NOT_FOUND" {
			t.Errorf("%s: %v", operation, refusal)
		}
	}
	// It may have one for the same client: names are its own.
	other.Submit(t, "create_oauth2_credential", m{"provider": "OAUTH2_PROVIDER_X", "clientId": "client-1", "encryptedClientSecret": o.SealClientSecret(t, "s")})
}

// updates replaces the secret, with a wrong one and back; a name that another
// credential has is refused, and changes nothing.
func (o *oauth2Story) updates(t *testing.T) {
	change := func(clientID, secret string) m {
		return m{"oauth2CredentialId": o.credential, "provider": "OAUTH2_PROVIDER_X", "clientId": clientID, "encryptedClientSecret": o.SealClientSecret(t, secret)}
	}
	o.Root.Submit(t, "update_oauth2_credential", change("client-1", "wrong"))
	if refusal := o.Root.Refused(t, http.StatusBadRequest, "oauth2_authenticate", o.code("1001", "key")); !strings.Contains(refusal.Get("message").Text(), "update_oauth2_credential") {
		t.Errorf("got %v", refusal)
	}
	o.Root.Submit(t, "update_oauth2_credential", change("client-1", oauth2Secret))
	o.create(t, "OAUTH2_PROVIDER_X", "client-2", "another")
	o.Root.Refused(t, http.StatusConflict, "update_oauth2_credential", change("client-2", "another"))
	damaged := change("client-1", "another")
	damaged["encryptedClientSecret"] = hex.EncodeToString(make([]byte, 200))
	o.Root.Refused(t, http.StatusBadRequest, "update_oauth2_credential", damaged)
	o.token(t, "1001", "key")
}

// seesProvidersFail answers 503 where nothing is known of the code, and records
// nothing: the same bytes serve when the provider is back.
func (o *oauth2Story) seesProvidersFail(t *testing.T) {
	o.provider.Behave("error")
	body := o.Root.Body(t, "oauth2_authenticate", o.code("1001", "key"))
	o.Root.RefusedBody(t, http.StatusServiceUnavailable, "oauth2_authenticate", body)
	o.provider.Behave("normal")
	o.Root.MustPost(t, "oauth2_authenticate", body)
	for _, mode := range []string{"huge", "not-json", "users-empty"} {
		o.provider.Behave(mode)
		if refusal := o.Root.Refused(t, http.StatusBadRequest, "oauth2_authenticate", o.code("1001", "key")); refusal.Get("turnkeyErrorCode").Text() != "INVALID_OAUTH2_PROVIDER" {
			t.Errorf("%s: %v", mode, refusal)
		}
	}
	o.provider.Behave("normal")
}

// keepsSecret looks for the client secret in all that the server says.
func (o *oauth2Story) keepsSecret(t *testing.T) {
	said := o.Log.String() + o.Root.Query(t, "list_activities", m{"paginationOptions": m{"limit": "100"}}).String() +
		string(Send(t, http.MethodGet, o.URL+"/metrics", http.Header{}, nil).Body)
	for _, form := range []string{oauth2Secret, hex.EncodeToString([]byte(oauth2Secret)), strings.ReplaceAll(oauth2Secret, " ", "+")} {
		if strings.Contains(said, form) {
			t.Errorf("the client secret is in what the server says")
		}
	}
}

// TestOAuth2OfOldVersion: no provider is asked for what another server has forbidden
// since, neither by who submits nor by who votes.
func TestOAuth2OfOldVersion(t *testing.T) {
	url := pgtest.URL(t)
	o := &oauth2Story{provider: oauth2test.Start(t)}
	o.Server = Start(t, url, o.config())
	there := Start(t, url, o.config())
	o.provider.Register("client-1", oauth2Secret)
	o.credential = o.create(t, "OAUTH2_PROVIDER_X", "client-1", oauth2Secret)
	ada, bob := o.NewUser(t, o.Root, "Ada", client.P256), o.NewUser(t, o.Root, "Bob", client.P256)
	is := func(c *Caller) string { return fmt.Sprintf("approvers.any(user, user.id == '%s')", c.UserID) }
	for _, consensus := range []string{is(ada), is(ada) + " && " + is(bob)} {
		policy := o.Root.Submit(t, "create_policy", allowPolicy("logins", "activity.type == 'ACTIVITY_TYPE_OAUTH2_AUTHENTICATE'", consensus)).
			Get("result", "createPolicyResult", "policyId").Text()
		submit := func() Reply {
			c := there.As(ada)
			return c.Post(t, "oauth2_authenticate", c.Body(t, "oauth2_authenticate", o.code("1001", "key")))
		}
		// The policy is known there, and what it allows works.
		last := submit
		if reply := submit(); strings.Contains(string(reply.Body), "ACTIVITY_STATUS_CONSENSUS_NEEDED") {
			fingerprint := reply.JSON(t).Get("activity", "fingerprint").Text()
			there.As(bob).Submit(t, "approve_activity", m{"fingerprint": fingerprint})
			fingerprint = submit().JSON(t).Get("activity", "fingerprint").Text()
			last = func() Reply {
				c := there.As(bob)
				return c.Post(t, "approve_activity", c.Body(t, "approve_activity", m{"fingerprint": fingerprint}))
			}
		}
		before := o.provider.Stats().Tokens
		if before == 0 {
			t.Fatal("the provider was not asked at all")
		}
		o.Root.Submit(t, "delete_policy", m{"policyId": policy})
		if reply := last(); reply.Status != http.StatusForbidden {
			t.Errorf("%s: HTTP %d: %s", consensus, reply.Status, reply.Body)
		}
		if asked := o.provider.Stats().Tokens - before; asked != 0 {
			t.Errorf("%s: the provider was asked %d times", consensus, asked)
		}
	}
}

package authproxy_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"latchkey/client"
	"latchkey/internal/domain"
	"latchkey/internal/proof/passkey/passkeytest"
	"latchkey/internal/test/oidctest"
	. "latchkey/internal/test/servertest"
)

// TestSignUpAndLogIn opens accounts in all ways, and finds and enters them again.
func TestSignUpAndLogIn(t *testing.T) {
	issuer := oidctest.Start(t)
	EachStore(t, func(t *testing.T, url string) {
		s := start(t, url)
		p := newPage(t, s, s.Root)
		p.readsConfig(t)
		byMail := p.signsUpByMail(t)
		p.signsUpByPasskey(t)
		p.signsUpByWallet(t)
		p.signsUpByOIDC(t, issuer)
		p.usesOlderPaths(t)
		p.isRecorded(t, byMail)
	})
}

// readsConfig is what the kit does first: it posts nothing.
func (p *page) readsConfig(t *testing.T) {
	for _, path := range []string{"wallet_kit_config", "wallet_kit_client_params"} {
		if r := Send(t, http.MethodPost, p.URL+"/v1/"+path, p.header(), nil); r.Status != http.StatusOK {
			t.Fatalf("%s: %s", path, r.Body)
		}
	}
	kit := p.ask(t, "wallet_kit_config", m{})
	if kit.Get("organizationId").Text() != p.root.OrganizationID || kit.Get("sessionExpirationSeconds").Text() != "900" ||
		kit.Get("otpLength").Text() != "6" || kit.Get("otpAlphanumeric").Any != false || kit.Has("oauthClientIds") {
		t.Errorf("config: %v", kit)
	}
	p.root.Submit(t, "update_auth_proxy_config", m{
		"allowedAuthMethods": []any{"email", "sms", "passkey", "wallet"}, "sessionExpirationSeconds": 1800, "otpLength": 7, "otpAlphanumeric": true,
		"emailCustomizationParams": m{"appName": "Page"},
		"walletKitSettings": m{
			"enabledSocialProviders": []any{"google"}, "oauthClientIds": m{"google": "client-1"}, "oauthRedirectUrl": "https://app.example.com/",
		},
	})
	// What is left out stays as it is.
	p.root.Submit(t, "update_auth_proxy_config", m{"otpExpirationSeconds": 600})
	kit = p.ask(t, "wallet_kit_config", m{})
	var providers []string
	for _, each := range kit.Get("enabledProviders").List() {
		providers = append(providers, each.Text())
	}
	if !slices.Equal(providers, []string{"email", "sms", "passkey", "wallet", "google"}) || kit.Get("sessionExpirationSeconds").Text() != "1800" ||
		kit.Get("otpLength").Text() != "7" || kit.Get("otpAlphanumeric").Any != true || kit.Get("oauthClientIds", "google").Text() != "client-1" ||
		kit.Get("oauthRedirectUrl").Text() != "https://app.example.com/" {
		t.Errorf("config: %v", kit)
	}
}

// signsUpByMail proves an address, opens an account on it with a wallet, and logs
// in: by the same token, as the kit does, and by a new one.
func (p *page) signsUpByMail(t *testing.T) (org string) {
	const email = "ada@example.com"
	key := newKey(t)
	token := p.prove(t, email, key)
	letter := p.MailTo(t, email)
	if len(letter.Code) != 7 || !strings.Contains(letter.Header.Get("Subject"), "Page") {
		t.Errorf("letter: %+v", letter)
	}
	if found := p.ask(t, "account", m{"filterType": "EMAIL", "filterValue": email, "verificationToken": token}); found.Has("organizationId") {
		t.Errorf("before the sign-up: %v", found)
	}
	signUp := signUpByMail(t, email, token, key)
	signUp["wallet"] = m{"walletName": "First", "accounts": []any{m{
		"curve": "CURVE_SECP256K1", "pathFormat": "PATH_FORMAT_BIP32", "path": "m/44'/60'/0'/0/0", "addressFormat": "ADDRESS_FORMAT_ETHEREUM",
	}}}
	created := p.ask(t, "signup_v2", signUp)
	org = created.Get("organizationId").Text()
	if !strings.HasPrefix(created.Get("wallet", "addresses", 0).Text(), "0x") || len(created.Get("appProofs").List()) != 0 {
		t.Errorf("created: %v", created)
	}
	p.entered(t, p.ask(t, "otp_login_v2", logIn(t, token, key)), org, 1800)
	if found := p.ask(t, "account", m{"filterType": "EMAIL", "filterValue": "ADA@example.com"}).Get("organizationId").Text(); found != org {
		t.Errorf("found %s", found)
	}
	again := newKey(t)
	with := logIn(t, p.prove(t, email, again), again)
	with["organizationId"], with["invalidateExisting"] = org, true
	p.entered(t, p.ask(t, "otp_login_v2", with), org, 1800)
	return org
}

// entered checks a session.
func (p *page) entered(t *testing.T, reply Value, org string, seconds int64) {
	t.Helper()
	session := reply.Get("session").Text()
	if got := claim(t, session, "organization_id"); got != org {
		t.Errorf("the session is in %s, not %s", got, org)
	}
	as := *p.root
	as.OrganizationID = org
	keys := as.Query(t, "get_api_keys", m{"userId": claim(t, session, "user_id")}).Get("apiKeys").List()
	if got := keys[len(keys)-1].Get("expirationSeconds").Text(); got != "1800" || seconds != 1800 {
		t.Errorf("the session lasts %s", got)
	}
}

// signsUpByPasskey makes a passkey and a key for the first minute, as the kit
// does, and logs in by the passkey.
func (p *page) signsUpByPasskey(t *testing.T) {
	passkey, first := passkeytest.New(t, passkeytest.ES256), newKey(t)
	answer := passkey.Register("bGF0Y2hrZXkgdGVzdCBjaGFsbGVuZ2U", p.origin)
	created := p.ask(t, "signup_v2", m{
		"userName": "Grace", "organizationName": "sub-org", "oauthProviders": []any{},
		"apiKeys": []any{m{"apiKeyName": "first", "publicKey": first.public, "curveType": "API_KEY_CURVE_P256", "expirationSeconds": "60"}},
		"authenticators": []any{m{"authenticatorName": "passkey", "challenge": answer.Challenge, "attestation": m{
			"credentialId": answer.CredentialID, "clientDataJson": answer.ClientDataJSON, "attestationObject": answer.AttestationObject, "transports": []any{},
		}}},
	})
	found := p.ask(t, "account", m{"filterType": "CREDENTIAL_ID", "filterValue": passkey.CredentialID()}).Get("organizationId").Text()
	if found != created.Get("organizationId").Text() {
		t.Errorf("found %s, not %v", found, created)
	}
}

// signsUpByWallet opens an account on a key, which stamps its requests.
func (p *page) signsUpByWallet(t *testing.T) {
	owner := p.Stranger(t, p.root)
	created := p.ask(t, "signup_v2", signUpByKey(owner.Key.PublicKey()))
	owner.OrganizationID = created.Get("organizationId").Text()
	if who := owner.Query(t, "whoami", m{}); who.Get("userId").Text() != created.Get("userId").Text() {
		t.Errorf("whoami: %v", who)
	}
	owner.Submit(t, "create_wallet", m{"walletName": "Second", "accounts": []any{}})
}

func (p *page) signsUpByOIDC(t *testing.T, issuer *oidctest.Issuer) {
	key := newKey(t)
	claims := func(subject string) map[string]any {
		return map[string]any{
			"iss": issuer.URL, "aud": "client-1", "sub": subject + p.Kind, "nonce": domain.NonceOf(key.public),
			"iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(),
		}
	}
	token := issuer.Mint(claims("ada"), "ES256")
	if found := p.ask(t, "account", m{"filterType": "OIDC_TOKEN", "filterValue": token}); found.Has("organizationId") {
		t.Errorf("before the sign-up: %v", found)
	}
	created := p.ask(t, "signup_v2", m{
		"userName": "Ada", "organizationName": "sub-org", "apiKeys": []any{}, "authenticators": []any{},
		"oauthProviders": []any{m{"providerName": "Issuer", "oidcToken": token}},
	})
	org := created.Get("organizationId").Text()
	if found := p.ask(t, "account", m{"filterType": "OIDC_TOKEN", "filterValue": token}).Get("organizationId").Text(); found != org {
		t.Errorf("found %s, not %s", found, org)
	}
	p.entered(t, p.ask(t, "oauth_login", m{"oidcToken": token, "publicKey": key.public}), org, 1800)
	// A token that no issuer signed tells nothing about the account.
	p.refused(t, http.StatusBadRequest, "invalid", "account", m{"filterType": "OIDC_TOKEN", "filterValue": token[:len(token)-8] + "AAAAAAAA"})
	p.refused(t, http.StatusBadRequest, "invalid", "oauth_login", m{"oidcToken": token[:len(token)-8] + "AAAAAAAA", "publicKey": key.public})
	p.refused(t, http.StatusNotFound, "sign up first", "oauth_login", m{"oidcToken": issuer.Mint(claims("grace"), "ES256"), "publicKey": key.public})
	p.refused(t, http.StatusBadRequest, "nonce", "oauth_login", m{"oidcToken": token, "publicKey": newKey(t).public})
}

// usesOlderPaths proves an address by a code that travels in the open.
func (p *page) usesOlderPaths(t *testing.T) {
	const email = "older@example.com"
	key := newKey(t)
	sent := p.ask(t, "otp_init", m{"otpType": "OTP_TYPE_EMAIL", "contact": email})
	verify := m{"otpId": sent.Get("otpId").Text(), "otpCode": p.MailTo(t, email).Code, "publicKey": key.public}
	token := p.ask(t, "otp_verify", verify).Get("verificationToken").Text()
	p.refused(t, http.StatusBadRequest, "Invalid OTP code", "otp_verify", verify)
	org := p.ask(t, "signup", signUpByMail(t, email, token, key)).Get("organizationId").Text()
	p.entered(t, p.ask(t, "otp_login", m{"verificationToken": token, "publicKey": key.public}), org, 1800)
}

// isRecorded finds what the proxy did among the activities, signed by its key,
// which is no user's.
func (p *page) isRecorded(t *testing.T, child string) {
	proxy := p.root.Submit(t, "enable_auth_proxy", m{}).Get("result", "enableAuthProxyResult", "userId").Text()
	types := map[string]int{}
	var key string
	for _, a := range p.root.Query(t, "list_activities", m{"paginationOptions": m{"limit": "100"}}).Get("activities").List() {
		if vote := a.Get("votes", 0); vote.Get("userId").Text() == proxy {
			types[a.Get("type").Text()]++
			key = vote.Get("publicKey").Text()
			if vote.Get("user", "userName").Text() != "Auth proxy" || vote.Get("scheme").Text() != "SIGNATURE_SCHEME_TK_API_P256" {
				t.Errorf("vote: %v", vote)
			}
		}
	}
	for _, want := range []string{"INIT_OTP_V3", "VERIFY_OTP_V2", "CREATE_SUB_ORGANIZATION_V8", "INIT_OTP_V2", "VERIFY_OTP"} {
		if types["ACTIVITY_TYPE_"+want] == 0 {
			t.Errorf("no %s among %v", want, types)
		}
	}
	in := *p.root
	in.OrganizationID = child
	logins := in.Query(t, "list_activities", m{}).Get("activities").List()
	if len(logins) != 2 || logins[0].Get("votes", 0, "userId").Text() != proxy {
		t.Errorf("logins: %v", logins)
	}
	for _, u := range p.root.Query(t, "list_users", m{}).Get("users").List() {
		if u.Get("userId").Text() == proxy {
			t.Error("the proxy is listed as a user")
		}
	}
	p.root.Refused(t, http.StatusNotFound, "create_api_keys", m{"userId": proxy, "apiKeys": []any{m{
		"apiKeyName": "mine", "publicKey": p.NewUser(t, p.root, "Other", client.P256).Key.PublicKey(), "curveType": "API_KEY_CURVE_P256",
	}}})
	p.root.Refused(t, http.StatusNotFound, "get_user", m{"userId": proxy})
	// Its key is unknown to the interface.
	stamp := `{"publicKey":"` + key + `","scheme":"SIGNATURE_SCHEME_TK_API_P256","signature":"3006020101020101"}`
	CheckError(t, Send(t, http.MethodPost, p.URL+"/public/v1/query/whoami", http.Header{"X-Stamp": {base64url(stamp)}, "X-Forwarded-For": {p.address}},
		p.root.Body(t, "whoami", m{})), http.StatusUnauthorized)
}

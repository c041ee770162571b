package authproxy_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"latchkey/client"
	. "latchkey/internal/test/servertest"
)

// TestAbuse refuses what pages, and those who call as if they were one, must not
// do.
func TestAbuse(t *testing.T) {
	EachStore(t, func(t *testing.T, url string) {
		s := start(t, url)
		newPage(t, s, s.Root).refusesOrigins(t)
		p := newPage(t, s, s.CreateOrganization(t, "Own"))
		p.refusesConfigurations(t)
		p.refusesContent(t)
		p.refusesMethods(t)
		p.refusesUnprovedContacts(t)
		p.refusesReplay(t)
		p.refusesForeignOrganizations(t)
		p.hidesContacts(t)
		p.refusesKnownCredentials(t)
		p.meetsPolicies(t)
		p.ignoresAllowlist(t)
		p.keepsUsersOfParentOut(t)
		p.limits(t) // last: others look for short codes in the server's log
	})
}

func (p *page) refusesOrigins(t *testing.T) {
	if r := p.post(t, "wallet_kit_config", m{}); r.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("all origins are allowed at first: %v", r.Header)
	}
	for _, bad := range []any{[]any{}, []any{"https://*.example.com"}, []any{"https://app.example.com/"}, []any{"HTTPS://app.example.com"}, []any{"http://app.example.com"}, []any{"app.example.com"}} {
		p.root.Refused(t, http.StatusBadRequest, "update_auth_proxy_config", m{"allowedOrigins": bad})
	}
	p.root.Submit(t, "update_auth_proxy_config", m{"allowedOrigins": []any{"https://app.example.com", "http://localhost:3000"}})
	for _, origin := range []string{"https://app.example.com", "http://localhost:3000"} {
		p.origin = origin
		if r := p.post(t, "wallet_kit_config", m{}); r.Status != http.StatusOK || r.Header.Get("Access-Control-Allow-Origin") != origin || r.Header.Get("Vary") != "Origin" {
			t.Errorf("%s: %s, %v", origin, r.Body, r.Header)
		}
	}
	key := newKey(t).public
	for _, origin := range []string{"", "null", "https://evil.example.com", "https://app.example.com.evil.com", "http://app.example.com", "https://app.example.com:8443"} {
		p.origin = origin
		r := p.post(t, "signup_v2", signUpByKey(key))
		CheckError(t, r, http.StatusForbidden)
		if r.Header.Get("Access-Control-Allow-Origin") != "" || !strings.Contains(string(r.Body), "allowedOrigins") {
			t.Errorf("%q: %s, %v", origin, r.Body, r.Header)
		}
	}
	p.origin = "https://app.example.com"
	if found := p.ask(t, "account", m{"filterType": "PUBLIC_KEY", "filterValue": key}); found.Has("organizationId") {
		t.Error("a page of another origin has signed a user up")
	}
	preflight := Send(t, http.MethodOptions, p.URL+"/v1/signup_v2", http.Header{"Origin": {"https://app.example.com"}}, nil)
	if preflight.Status != http.StatusNoContent || !strings.Contains(preflight.Header.Get("Access-Control-Allow-Headers"), "X-Auth-Proxy-Config-ID") {
		t.Errorf("preflight: %d, %v", preflight.Status, preflight.Header)
	}
}

func (p *page) refusesConfigurations(t *testing.T) {
	for id, status := range map[string]int{
		"": http.StatusBadRequest, "nonsense": http.StatusBadRequest,
		"f9a31c64-d604-42e4-9bef-a773096afad7": http.StatusNotFound, p.root.OrganizationID: http.StatusNotFound,
	} {
		other := *p
		other.configID = id
		other.refused(t, status, "X-Auth-Proxy-Config-ID", "wallet_kit_config", m{})
	}
	p.root.Submit(t, "disable_auth_proxy", m{})
	p.refused(t, http.StatusForbidden, "disabled", "signup_v2", signUpByKey(newKey(t).public))
	p.root.Refused(t, http.StatusBadRequest, "disable_auth_proxy", m{})
	p.root.Refused(t, http.StatusBadRequest, "update_auth_proxy_config", m{"otpLength": 8})
	p.root.Refused(t, http.StatusBadRequest, "set_organization_feature", m{"name": "FEATURE_NAME_AUTH_PROXY", "value": "x"})
	p.root.Submit(t, "enable_auth_proxy", m{})
	if id := configID(t, p.root); id != p.configID {
		t.Errorf("the configuration has another id: %s", id)
	}
	p.ask(t, "wallet_kit_config", m{})
	member := p.NewUser(t, p.root, "Member", client.P256)
	member.Refused(t, http.StatusForbidden, "disable_auth_proxy", m{})
	for _, bad := range []m{
		{"captchaEnabled": true},
		{"socialLinkingClientIds": []any{"x"}},
		{"otpTemplateId": "x"},
		{"walletKitSettings": m{"oauthClientIds": m{"other": "x"}}},
		{"walletKitSettings": m{"oauthRedirectUrl": "nonsense"}},
		{"allowedAuthMethods": []any{"carrier pigeon"}},
		{"otpLength": 5},
		{"otpExpirationSeconds": 601},
	} {
		p.root.Refused(t, http.StatusBadRequest, "update_auth_proxy_config", bad)
	}
}

func (p *page) refusesContent(t *testing.T) {
	for body, status := range map[string]int{
		"nonsense": http.StatusBadRequest, "[]": http.StatusBadRequest, `"text"`: http.StatusBadRequest, "{}": http.StatusBadRequest,
		`{"otpType":"OTP_TYPE_EMAIL"}`:                                    http.StatusBadRequest,
		`{"otpType":"OTP_TYPE_PIGEON","contact":"ada@example.com"}`:       http.StatusBadRequest,
		`{"otpType":"OTP_TYPE_EMAIL","contact":"ada"}`:                    http.StatusBadRequest,
		`{"otpType":"OTP_TYPE_EMAIL","contact":7}`:                        http.StatusBadRequest,
		`{"otpType":"OTP_TYPE_EMAIL","contact":"a@example.com","x":1}`:    http.StatusBadRequest,
		`{"otpType":"OTP_TYPE_EMAIL","contact":"a@example.com"}{}`:        http.StatusBadRequest,
		`{"contact":"` + strings.Repeat("a", 1<<20) + `"}`:                http.StatusRequestEntityTooLarge,
		`{"otpType":"OTP_TYPE_EMAIL","contact":"` + "\xff@example.com\"}": http.StatusBadRequest,
	} {
		CheckError(t, Send(t, http.MethodPost, p.URL+"/v1/otp_init_v2", p.header(), []byte(body)), status)
	}
	CheckError(t, Send(t, http.MethodGet, p.URL+"/v1/wallet_kit_config", p.header(), nil), http.StatusMethodNotAllowed)
	CheckError(t, Send(t, http.MethodPost, p.URL+"/v1/nonsense", p.header(), nil), http.StatusNotFound)
	p.refused(t, http.StatusBadRequest, "templates are files", "otp_init_v2",
		m{"otpType": "OTP_TYPE_EMAIL", "contact": "ada@example.com", "emailCustomization": m{"templateId": "x"}})
}

// refusesMethods: what the configuration does not allow is refused, not only
// hidden.
func (p *page) refusesMethods(t *testing.T) {
	p.refused(t, http.StatusForbidden, "sms", "otp_init_v2", m{"otpType": "OTP_TYPE_SMS", "contact": "+14155550100"})
	p.root.Submit(t, "update_auth_proxy_config", m{"allowedAuthMethods": []any{"passkey"}})
	p.refused(t, http.StatusForbidden, "email", "otp_init_v2", m{"otpType": "OTP_TYPE_EMAIL", "contact": "ada@example.com"})
	p.refused(t, http.StatusForbidden, "wallet", "signup_v2", signUpByKey(newKey(t).public))
	p.refused(t, http.StatusForbidden, "another site", "oauth_login", m{"oidcToken": "x", "publicKey": newKey(t).public})
	p.root.Submit(t, "update_auth_proxy_config", m{"allowedAuthMethods": []any{"email", "passkey", "wallet"}})
}

// limits: one address gets 30 codes and 10 accounts, however many contacts it
// names; another address is not concerned. Those of one network of IPv6 are one.
func (p *page) limits(t *testing.T) {
	before := len(p.Mail(t))
	here := p.elsewhere()
	sent, began := 0, time.Now()
	for i := range 10_000 {
		r := here.post(t, "otp_init_v2", m{"otpType": "OTP_TYPE_EMAIL", "contact": fmt.Sprintf("contact-%d@example.com", i)})
		switch {
		case r.Status == http.StatusOK:
			sent++
		case r.Header.Get("Retry-After") != "120":
			t.Errorf("Retry-After: %v", r.Header)
		default:
			CheckError(t, r, http.StatusTooManyRequests)
		}
	}
	// And one more every two minutes, on a machine that takes so long.
	most := 30 + int(time.Since(began)/(2*time.Minute))
	if mails := len(p.Mail(t)) - before; sent < 30 || sent > most || mails != sent {
		t.Errorf("%d codes, %d mails, at most %d are allowed", sent, mails, most)
	}
	created := 0
	for range 13 {
		if r := here.post(t, "signup_v2", signUpByKey(newKey(t).public)); r.Status == http.StatusOK {
			created++
		}
	}
	if created != 10 {
		t.Errorf("%d accounts", created)
	}
	v6 := p.elsewhere()
	for i := range 11 {
		v6.address = fmt.Sprintf("2001:db8:0:1::%d", i)
		if r := v6.post(t, "signup_v2", signUpByKey(newKey(t).public)); (r.Status == http.StatusOK) != (i < 10) {
			t.Errorf("%d: %s", i, r.Body)
		}
	}
	p.elsewhere().ask(t, "signup_v2", signUpByKey(newKey(t).public))
	// One contact gets three codes, from whatever addresses.
	for i := range 4 {
		r := p.elsewhere().post(t, "otp_init_v2", m{"otpType": "OTP_TYPE_EMAIL", "contact": "flooded@example.com"})
		if (r.Status == http.StatusOK) != (i < 3) {
			t.Errorf("code %d: %s", i, r.Body)
		}
	}
}

func (p *page) refusesUnprovedContacts(t *testing.T) {
	p = p.elsewhere()
	for _, contact := range []m{{"userEmail": "victim@example.com"}, {"userPhoneNumber": "+14155550100"}} {
		signUp := signUpByKey(newKey(t).public)
		for name, value := range contact {
			signUp[name] = value
		}
		p.refused(t, http.StatusBadRequest, "verificationToken", "signup_v2", signUp)
	}
	key := newKey(t)
	token := p.prove(t, "proved@example.com", key)
	other := signUpByMail(t, "victim@example.com", token, key)
	p.refused(t, http.StatusBadRequest, "proves a contact that no root user has", "signup_v2", other)
	both := signUpByMail(t, "proved@example.com", token, key)
	both["userPhoneNumber"] = "+14155550100"
	p.refused(t, http.StatusBadRequest, "excludes userEmail", "signup_v2", both)
	tagged := signUpByKey(newKey(t).public)
	tagged["userTag"] = "x"
	p.refused(t, http.StatusBadRequest, "userTag", "signup_v2", tagged)
}

// refusesReplay: a token serves for one sign-up and one login, and its key alone
// uses it.
func (p *page) refusesReplay(t *testing.T) {
	p = p.elsewhere()
	const email = "replay@example.com"
	key, thief := newKey(t), newKey(t)
	sent := p.ask(t, "otp_init_v2", m{"otpType": "OTP_TYPE_EMAIL", "contact": email})
	for range 2 {
		p.refused(t, http.StatusBadRequest, "Invalid OTP code", "otp_verify_v2", p.code(t, sent, "000000x", thief))
	}
	verify := p.code(t, sent, p.MailTo(t, email).Code, key)
	token := p.ask(t, "otp_verify_v2", verify).Get("verificationToken").Text()
	p.refused(t, http.StatusBadRequest, "Invalid OTP code", "otp_verify_v2", verify)

	p.refused(t, http.StatusBadRequest, "client signature", "signup_v2", signUpByMail(t, email, token, thief))
	unsigned := signUpByMail(t, email, token, key)
	delete(unsigned, "clientSignature")
	p.refused(t, http.StatusBadRequest, "clientSignature", "signup_v2", unsigned)
	changed := signUpByMail(t, email, token, key)
	changed["apiKeys"] = signUpByKey(thief.public)["apiKeys"]
	p.refused(t, http.StatusBadRequest, "another user", "signup_v2", changed)
	p.ask(t, "signup_v2", signUpByMail(t, email, token, key))
	p.refused(t, http.StatusConflict, "exists already", "signup_v2", signUpByMail(t, email, token, key))

	p.refused(t, http.StatusBadRequest, "client signature", "otp_login_v2", logIn(t, token, thief))
	p.refused(t, http.StatusBadRequest, "bound to another public key", "otp_login", m{"verificationToken": token, "publicKey": thief.public})
	p.refused(t, http.StatusBadRequest, "invalid verification token", "otp_login_v2", logIn(t, token[:len(token)-6]+"AAAAAA", key))
	p.ask(t, "otp_login_v2", logIn(t, token, key))
	p.refused(t, http.StatusBadRequest, "used for a login already", "otp_login_v2", logIn(t, token, key))
	for _, secret := range []string{token, p.MailTo(t, email).Code} {
		if strings.Contains(p.Log.String(), secret) {
			t.Error("the log has a secret")
		}
	}
}

// refusesForeignOrganizations: the proxy reaches the children of its own
// organization, and tokens of one proxy count nowhere else.
func (p *page) refusesForeignOrganizations(t *testing.T) {
	neighbour := newPage(t, p.Server, p.CreateOrganization(t, "Neighbour"))
	key := newKey(t)
	theirs := neighbour.ask(t, "signup_v2", signUpByKey(key.public)).Get("organizationId").Text()
	mine := newKey(t)
	proof := p.elsewhere().prove(t, "visitor@example.com", mine)
	for _, org := range []string{theirs, neighbour.root.OrganizationID, p.root.OrganizationID, "f9a31c64-d604-42e4-9bef-a773096afad7"} {
		with := logIn(t, proof, mine)
		with["organizationId"] = org
		p.elsewhere().refused(t, http.StatusNotFound, "no sub-organization", "otp_login_v2", with)
	}
	neighbour.refused(t, http.StatusBadRequest, "another organization", "signup_v2", signUpByMail(t, "visitor@example.com", proof, mine))
	if found := p.ask(t, "account", m{"filterType": "PUBLIC_KEY", "filterValue": key.public}); found.Has("organizationId") {
		t.Errorf("found a neighbour's account: %v", found)
	}
}

// hidesContacts: where contacts need a token, an account that exists is refused
// like one that does not, to the byte.
func (p *page) hidesContacts(t *testing.T) {
	p = p.elsewhere()
	const known, unknown = "replay@example.com", "unknown@example.com"
	p.root.Submit(t, "update_auth_proxy_config", m{"verificationTokenRequiredForGetAccountPii": true})
	key := newKey(t)
	token := p.prove(t, known, key)
	var answers [][]byte
	for _, each := range []m{
		{"filterType": "EMAIL", "filterValue": known},
		{"filterType": "EMAIL", "filterValue": unknown},
		{"filterType": "EMAIL", "filterValue": unknown, "verificationToken": token},
		{"filterType": "EMAIL", "filterValue": known, "verificationToken": "nonsense"},
		{"filterType": "PHONE_NUMBER", "filterValue": "+14155550100"},
		{"filterType": "PHONE_NUMBER", "filterValue": "+14155550100", "verificationToken": token},
	} {
		r := p.post(t, "account", each)
		CheckError(t, r, http.StatusForbidden)
		answers = append(answers, r.Body)
	}
	for i := range answers {
		if !bytes.Equal(answers[i], answers[0]) {
			t.Errorf("%d tells more: %s", i, answers[i])
		}
	}
	if found := p.ask(t, "account", m{"filterType": "EMAIL", "filterValue": known, "verificationToken": token}); !found.Has("organizationId") {
		t.Error("the owner of the contact does not find the account")
	}
	// A code is sent to all who ask, in the same words.
	for _, contact := range []string{known, unknown} {
		mails := len(p.Mail(t))
		sent := p.elsewhere().ask(t, "otp_init_v2", m{"otpType": "OTP_TYPE_EMAIL", "contact": contact})
		if len(p.Mail(t)) != mails+1 || !sent.Has("otpId") || !sent.Has("otpEncryptionTargetBundle") {
			t.Errorf("%s: %v", contact, sent)
		}
	}
	p.root.Submit(t, "update_auth_proxy_config", m{"verificationTokenRequiredForGetAccountPii": false})
	if found := p.ask(t, "account", m{"filterType": "EMAIL", "filterValue": unknown}); found.Has("organizationId") {
		t.Errorf("found %v", found)
	}
}

// refusesKnownCredentials: a credential of another account, or of a user of the
// parent, would make its owner's logins ambiguous.
func (p *page) refusesKnownCredentials(t *testing.T) {
	p = p.elsewhere()
	key := newKey(t)
	p.ask(t, "signup_v2", signUpByKey(key.public))
	p.refused(t, http.StatusConflict, "exists already", "signup_v2", signUpByKey(key.public))
	p.refused(t, http.StatusConflict, "exists already", "signup_v2", signUpByKey(strings.ToUpper(key.public)))
	p.refused(t, http.StatusConflict, "exists already", "signup_v2", signUpByKey(p.root.Key.PublicKey()))
	again := newKey(t)
	token := p.prove(t, "replay@example.com", again)
	p.refused(t, http.StatusConflict, "exists already", "signup_v2", signUpByMail(t, "replay@example.com", token, again))
	none := signUpByKey(key.public)
	none["apiKeys"] = []any{}
	p.refused(t, http.StatusBadRequest, "user missing valid credential", "signup_v2", none)
}

// meetsPolicies: the organization's policies bind its proxy.
func (p *page) meetsPolicies(t *testing.T) {
	p = p.elsewhere()
	policy := func(effect, condition, consensus string) string {
		params := m{"policyName": "proxy", "effect": effect, "notes": ""}
		if condition != "" {
			params["condition"] = condition
		}
		if consensus != "" {
			params["consensus"] = consensus
		}
		return p.root.Submit(t, "create_policy", params).Get("result", "createPolicyResult", "policyId").Text()
	}
	id := policy("EFFECT_DENY", "activity.resource == 'ORGANIZATION'", "")
	p.refused(t, http.StatusForbidden, "policy engine denied", "signup_v2", signUpByKey(newKey(t).public))
	if r := p.post(t, "signup_v2", signUpByKey(newKey(t).public)); bytes.Contains(r.Body, []byte(id)) {
		t.Error("a stranger is told which policies there are")
	}
	p.root.Submit(t, "delete_policy", m{"policyId": id})
	id = policy("EFFECT_ALLOW", "activity.resource == 'ORGANIZATION'", fmt.Sprintf("approvers.any(user, user.id == '%s')", p.root.UserID))
	p.ask(t, "signup_v2", signUpByKey(newKey(t).public)) // it narrows nothing
	p.root.Submit(t, "delete_policy", m{"policyId": id})
}

// ignoresAllowlist: where pages are is no matter of the organization's networks.
func (p *page) ignoresAllowlist(t *testing.T) {
	p = p.elsewhere()
	home := p.root.From("192.0.2.7")
	home.Submit(t, "set_ip_allowlist", m{"enabled": true, "rules": []any{m{"cidr": "192.0.2.0/24"}}})
	p.root.Refused(t, http.StatusForbidden, "whoami", m{})
	p.ask(t, "signup_v2", signUpByKey(newKey(t).public))
	home.Submit(t, "set_ip_allowlist", m{"enabled": false, "rules": []any{}})
}

// keepsUsersOfParentOut: a person who reads the mail of a user of the organization
// itself has not become that user by what the proxy sends to all who ask.
func (p *page) keepsUsersOfParentOut(t *testing.T) {
	p = p.elsewhere()
	const email = "root@example.com"
	p.root.Submit(t, "update_user", m{"userId": p.root.UserID, "userEmail": email, "userTagIds": []any{}})
	thief := p.Stranger(t, p.root)
	sent := p.ask(t, "otp_init_v2", m{"otpType": "OTP_TYPE_EMAIL", "contact": email})
	token := p.ask(t, "otp_verify_v2", p.code(t, sent, p.MailTo(t, email).Code, &clientKey{public: thief.Key.PublicKey()})).Get("verificationToken").Text()
	stamper, err := thief.Key.VerificationStamper(token)
	if err != nil {
		t.Fatal(err)
	}
	thief.Stamper = stamper
	thief.Refused(t, http.StatusUnauthorized, "stamp_login", m{"publicKey": thief.Key.PublicKey()})
	for operation, params := range map[string]m{
		"otp_login": {
			"verificationToken": token, "publicKey": thief.Key.PublicKey(),
			"clientSignature": m{"publicKey": thief.Key.PublicKey(), "scheme": "CLIENT_SIGNATURE_SCHEME_API_P256", "message": "{}", "signature": "00"},
		},
		"update_user_email": {"userId": p.root.UserID, "userEmail": email, "verificationToken": token},
	} {
		if refusal := p.root.Refused(t, http.StatusBadRequest, operation, params); !strings.Contains(refusal.Get("message").Text(), "auth proxy") {
			t.Errorf("%s: %v", operation, refusal)
		}
	}
}

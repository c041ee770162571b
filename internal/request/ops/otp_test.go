package ops_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"latchkey/client"
	"latchkey/internal/domain"
	"latchkey/internal/store"
	. "latchkey/internal/test/servertest"
)

// TestOTP proves a contact by a code and logs in with it.
func TestOTP(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		o := &otpStory{Server: s}
		o.child = newChild(t, s, s.Root, "Child", func(user, _ m) { user["userEmail"] = "owner@example.com" })
		o.key = s.Stranger(t, o.child)
		o.parent = as(s.Root, o.child.OrganizationID)
		o.verifies(t)
		session := o.logsIn(t)
		other := newChild(t, s, s.Root, "Other")
		o.listsVerified(t)
		o.hidesToken(t)
		o.refusesLogins(t, other, session)
		o.logsInByAttestedStamp(t)
	})
}

// otpStory is a sub-organization whose user proves an address to the parent.
type otpStory struct {
	*Server
	child   *Caller // the user
	parent  *Caller // the parent's root user, in the child
	key     *Caller // what the user logs in with
	token   string  // the proof, bound to the key
	claims  Value   // of the token
	message string  // what the key signs to log in
}

// verifies sends a code and gets a token for it, once.
func (o *otpStory) verifies(t *testing.T) {
	init := o.Root.Submit(t, "init_otp", m{"otpType": "OTP_TYPE_EMAIL", "contact": "owner@example.com", "appName": "Test"}).Get("result", "initOtpResultV2")
	letter := o.MailTo(t, "owner@example.com")
	if len(letter.Code) != 9 {
		t.Fatalf("letter: %+v", letter)
	}
	target := openTarget(t, o.Server, init.Get("otpEncryptionTargetBundle").Text())
	verify := func(code string) m {
		return m{"otpId": init.Get("otpId").Text(), "encryptedOtpBundle": SealTo(t, target,
			fmt.Appendf(nil, `{"otp_code":%q,"public_key":%q}`, code, o.key.Key.PublicKey()))}
	}
	o.Root.Refused(t, http.StatusBadRequest, "verify_otp", verify("wrong"))
	o.token = o.Root.Submit(t, "verify_otp", verify(strings.ToLower(letter.Code))).Get("result", "verifyOtpResult", "verificationToken").Text()
	o.claims = claimsOf(t, o.token)
	if o.claims.Get("contact").Text() != "owner@example.com" || o.claims.Get("public_key").Text() != o.key.Key.PublicKey() ||
		o.claims.Get("organization_id").Text() != o.Root.OrganizationID || o.claims.Get("verification_type").Text() != "OTP_TYPE_EMAIL" {
		t.Errorf("claims: %v", o.claims)
	}
	o.Root.Refused(t, http.StatusBadRequest, "verify_otp", verify(letter.Code)) // used
	o.usesUpCode(t)
	o.message = fmt.Sprintf(`{"login":{"publicKey":%q},"tokenId":%q,"type":"USAGE_TYPE_LOGIN"}`, o.key.Key.PublicKey(), o.claims.Get("id").Text())
}

// usesUpCode sends a right code with a key that is none: the code is part of the
// recorded request, and serves no more.
func (o *otpStory) usesUpCode(t *testing.T) {
	init := o.Root.Submit(t, "init_otp", m{"otpType": "OTP_TYPE_EMAIL", "contact": "spoiled@example.com", "appName": "Test"}).Get("result", "initOtpResultV2")
	code, target := o.MailTo(t, "spoiled@example.com").Code, openTarget(t, o.Server, init.Get("otpEncryptionTargetBundle").Text())
	for _, key := range []string{"none", o.key.Key.PublicKey()} {
		refusal := o.Root.Refused(t, http.StatusBadRequest, "verify_otp", m{"otpId": init.Get("otpId").Text(), "encryptedOtpBundle": SealTo(t, target,
			fmt.Appendf(nil, `{"otp_code":%q,"public_key":%q}`, code, key))})
		if text := refusal.Get("message").Text(); strings.Contains(text, code) || !strings.Contains(text, "code") {
			t.Errorf("with the key %q: %s", key, text)
		}
	}
}

func (o *otpStory) login(t *testing.T, signer *Caller, message string) m {
	t.Helper()
	return o.loginBy(t, o.token, signer, message)
}

func (o *otpStory) loginBy(t *testing.T, token string, signer *Caller, message string) m {
	t.Helper()
	return m{"verificationToken": token, "publicKey": o.key.Key.PublicKey(), "clientSignature": clientSignature(t, signer, o.key, message)}
}

// logsIn has the parent log the child's user in by the token; the session is
// the child's.
func (o *otpStory) logsIn(t *testing.T) (session string) {
	a := o.parent.Submit(t, "otp_login", o.login(t, o.key, o.message))
	if a.Get("organizationId").Text() != o.child.OrganizationID {
		t.Errorf("activity: %v", a)
	}
	session = a.Get("result", "otpLoginResult", "session").Text()
	checkSession(t, o.Server, session)
	if got := o.key.Query(t, "whoami", nil).Get("userId").Text(); got != o.child.UserID {
		t.Errorf("whoami: %s", got)
	}
	return session
}

func (o *otpStory) listsVerified(t *testing.T) {
	for name, params := range map[string]m{"by the address": {"filterType": "EMAIL", "filterValue": "owner@example.com"}, "all": nil} {
		if got := o.Root.Query(t, "list_verified_suborgs", params).Get("organizationIds").List(); len(got) != 1 || got[0].Text() != o.child.OrganizationID {
			t.Errorf("verified, %s: %v", name, got)
		}
	}
	o.Root.Refused(t, http.StatusBadRequest, "list_verified_suborgs", m{"filterType": "NAME", "filterValue": "Child"})
}

// hidesToken: only the submitter reads the token in the activity.
func (o *otpStory) hidesToken(t *testing.T) {
	reads := func(c *Caller) bool { return strings.Contains(string(readActivities(t, c)), o.token) }
	if reads(o.NewUser(t, o.Root, "Ada", client.P256)) {
		t.Error("another user reads the verification token")
	}
	if !reads(o.Root) {
		t.Error("the submitter no longer reads the verification token")
	}
}

func (o *otpStory) refusesLogins(t *testing.T, other *Caller, session string) {
	instead := func(old, replacement string) m {
		return o.login(t, o.key, strings.Replace(o.message, old, replacement, 1))
	}
	for name, c := range map[string]struct {
		caller *Caller
		params m
	}{
		"a signature by another key":     {o.parent, o.login(t, o.Root, o.message)},
		"a message for another key":      {o.parent, instead(o.key.Key.PublicKey(), other.Key.PublicKey())},
		"a message for another token":    {o.parent, instead(o.claims.Get("id").Text(), o.child.UserID)},
		"a message for another use":      {o.parent, instead("LOGIN", "SIGNUP")},
		"a child without the contact":    {as(o.Root, other.OrganizationID), o.login(t, o.key, o.message)},
		"a forged token":                 {o.parent, o.loginBy(t, "a.b.c", o.key, o.message)},
		"a session instead of the token": {o.parent, o.loginBy(t, session, o.key, o.message)},
	} {
		t.Run(name, func(t *testing.T) {
			reply := c.caller.Post(t, "otp_login", c.caller.Body(t, "otp_login", c.params))
			if reply.Status != http.StatusBadRequest && reply.Status != http.StatusNotFound {
				t.Errorf("HTTP %d: %s", reply.Status, reply.Body)
			}
		})
	}
}

// logsInByAttestedStamp is what the newest client does: the stamp carries the
// token.
func (o *otpStory) logsInByAttestedStamp(t *testing.T) {
	o.token = verifiedToken(t, o.Server, o.Root, "owner@example.com", o.key.Key.PublicKey()) // the other was used to log in
	attested := attestedBy(o.key, o.Root.OrganizationID, o.token)
	fresh := o.Stranger(t, o.child)
	got := attested.Submit(t, "stamp_login", m{"publicKey": fresh.Key.PublicKey()})
	if got.Get("organizationId").Text() != o.child.OrganizationID {
		t.Errorf("by an attested stamp: %v", got)
	}
	fresh.Query(t, "whoami", nil)
	attested.Refused(t, http.StatusUnauthorized, "create_user_tag", m{"userTagName": "x", "userIds": []any{}})
	attested = attestedBy(fresh, o.Root.OrganizationID, o.token)
	attested.Refused(t, http.StatusUnauthorized, "stamp_login", m{"publicKey": fresh.Key.PublicKey()})
}

// TestOTPLimits guesses codes and asks for too many.
func TestOTPLimits(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		l := otpLimits{s}
		t.Run("three wrong guesses lock a code", l.locks)
		t.Run("the same bytes are one guess", l.countsBytesOnce)
		t.Run("wrong codes of a day slow down", l.slowsDown)
		t.Run("three codes at a time", l.limitsCodes)
		t.Run("parameters", l.refusesParameters)
		t.Run("features", l.needsFeatures)
		// No member may send codes without a policy.
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		ada.Refused(t, http.StatusForbidden, "init_otp", m{"otpType": "OTP_TYPE_SMS", "contact": "+14155550100", "appName": "x"})
	})
}

// otpLimits sends codes of six digits by the versions that take them plain.
type otpLimits struct{ *Server }

func (l otpLimits) init(t *testing.T, contact string) (id string) {
	t.Helper()
	return l.Root.MustPost(t, "init_otp", l.Root.BodyOf(t, "ACTIVITY_TYPE_INIT_OTP_V2", m{
		"otpType": "OTP_TYPE_EMAIL", "contact": contact, "appName": "Test", "otpLength": 6, "alphanumeric": false, "userIdentifier": contact,
	})).Get("activity", "result", "initOtpResult", "otpId").Text()
}

func (l otpLimits) verify(t *testing.T, id, code string) []byte {
	t.Helper()
	return l.Root.BodyOf(t, "ACTIVITY_TYPE_VERIFY_OTP", m{"otpId": id, "otpCode": code})
}

// otherCode is a code of the same form that was not sent.
func otherCode(code string) string {
	if code == "000000" {
		return "000001"
	}
	return "000000"
}

func (l otpLimits) locks(t *testing.T) {
	id := l.init(t, "guess@example.com")
	letter := l.MailTo(t, "guess@example.com")
	if len(letter.Code) != 6 || strings.Trim(letter.Code, "0123456789") != "" {
		t.Errorf("code %q", letter.Code)
	}
	for i := range 3 {
		// Spaces make it another request.
		reply := l.Root.Post(t, "verify_otp", append(l.verify(t, id, otherCode(letter.Code)), strings.Repeat(" ", i)...))
		CheckError(t, reply, http.StatusBadRequest)
		if !strings.Contains(string(reply.Body), "Invalid OTP code") {
			t.Errorf("reply: %s", reply.Body)
		}
	}
	CheckError(t, l.Root.Post(t, "verify_otp", l.verify(t, id, letter.Code)), http.StatusBadRequest)
}

func (l otpLimits) countsBytesOnce(t *testing.T) {
	id := l.init(t, "once@example.com")
	code := l.MailTo(t, "once@example.com").Code
	wrong := l.verify(t, id, otherCode(code))
	for range 5 {
		CheckError(t, l.Root.Post(t, "verify_otp", wrong), http.StatusBadRequest)
	}
	if reply := l.Root.Post(t, "verify_otp", l.verify(t, id, code)); reply.Status != http.StatusOK {
		t.Errorf("HTTP %d: %s", reply.Status, reply.Body)
	}
}

// slowsDown: after many wrong codes within a day, each further one delays the
// next code for the contact, and for no other.
func (l otpLimits) slowsDown(t *testing.T) {
	const contact = "Guessed@example.com"
	id := l.init(t, contact)
	wrong := otherCode(l.MailTo(t, contact).Code)
	CheckError(t, l.Root.Post(t, "verify_otp", l.verify(t, id, wrong)), http.StatusBadRequest)
	key, counted := domain.OTPContact(domain.OTPEmail, contact), 0
	err := l.Store.Update(t.Context(), l.Root.OrganizationID, func(tx *store.Tx) error { // the rest of a long day
		return tx.WrongCodes().Edit(key, func(w *domain.WrongCodes) error {
			counted, w.Count = w.Count, 14
			return nil
		})
	})
	if err != nil || counted != 1 {
		t.Fatalf("%d wrong codes were counted, %v", counted, err)
	}
	id = l.init(t, contact)
	CheckError(t, l.Root.Post(t, "verify_otp", l.verify(t, id, otherCode(l.MailTo(t, contact).Code))), http.StatusBadRequest)
	for _, asked := range []string{contact, strings.ToLower(contact)} {
		refusal := l.Root.Refused(t, http.StatusTooManyRequests, "init_otp", m{"otpType": "OTP_TYPE_EMAIL", "contact": asked, "appName": "Test"})
		if text := refusal.Get("message").Text(); !strings.Contains(text, "wrong codes came back") {
			t.Errorf("refusal: %s", text)
		}
	}
	l.init(t, "unguessed@example.com")
	if reply := l.Root.Post(t, "verify_otp", l.verify(t, id, l.MailTo(t, contact).Code)); reply.Status != http.StatusOK {
		t.Errorf("a code that was sent before: HTTP %d %s", reply.Status, reply.Body)
	}
}

func (l otpLimits) limitsCodes(t *testing.T) {
	for range 3 {
		l.init(t, "many@example.com")
	}
	refusal := l.Root.Refused(t, http.StatusTooManyRequests, "init_otp", m{"otpType": "OTP_TYPE_EMAIL", "contact": "many@example.com", "appName": "Test"})
	if !strings.Contains(refusal.Get("message").Text(), "Max number of OTPs have been initiated") {
		t.Errorf("refusal: %v", refusal)
	}
}

func (l otpLimits) refusesParameters(t *testing.T) {
	for _, bad := range []m{
		{"otpType": "OTP_TYPE_EMAIL", "contact": "nobody", "appName": "x"},
		{"otpType": "OTP_TYPE_SMS", "contact": "user@example.com", "appName": "x"},
		{"otpType": "OTP_TYPE_EMAIL", "contact": "a@example.com", "appName": "x", "otpLength": 5},
		{"otpType": "OTP_TYPE_EMAIL", "contact": "a@example.com", "appName": "x", "expirationSeconds": "601"},
		{"otpType": "OTP_TYPE_EMAIL", "contact": "a@example.com", "appName": "x", "emailCustomization": m{"magicLinkTemplate": "javascript:%s"}},
	} {
		l.Root.Refused(t, http.StatusBadRequest, "init_otp", bad)
	}
}

// needsFeatures: a parent has SMS switched off until it turns it on.
func (l otpLimits) needsFeatures(t *testing.T) {
	l.Root.Refused(t, http.StatusForbidden, "init_otp", m{"otpType": "OTP_TYPE_SMS", "contact": "+14155550100", "appName": "x"})
	l.Root.Submit(t, "set_organization_feature", m{"name": "FEATURE_NAME_SMS_AUTH", "value": ""})
	l.Root.Submit(t, "init_otp", m{"otpType": "OTP_TYPE_SMS", "contact": "+14155550100", "appName": "x", "smsCustomization": m{"template": "Code {{.OtpCode}}!"}})
	if sms := l.MailTo(t, "+14155550100"); !sms.SMS || sms.Code == "" {
		t.Errorf("sms: %+v", sms)
	}
	l.Root.Submit(t, "remove_organization_feature", m{"name": "FEATURE_NAME_OTP_EMAIL_AUTH"})
	l.Root.Refused(t, http.StatusForbidden, "init_otp", m{"otpType": "OTP_TYPE_EMAIL", "contact": "b@example.com", "appName": "x"})
}

// TestCodesAndMailsThatLogIn covers otp_auth and email_auth.
func TestCodesAndMailsThatLogIn(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		child := newChild(t, s, s.Root, "Child", func(user, _ m) { user["userEmail"] = "owner@example.com" })
		parent := as(s.Root, child.OrganizationID)
		recipient := NewRecipient(t)

		id := parent.Submit(t, "init_otp_auth", m{"otpType": "OTP_TYPE_EMAIL", "contact": "owner@example.com", "appName": "Test"}).Get("result", "initOtpAuthResultV2", "otpId").Text()
		code := s.MailTo(t, "owner@example.com").Code
		auth := func(code string) m {
			return m{"otpId": id, "otpCode": code, "targetPublicKey": recipient.PublicKey(), "expirationSeconds": "300"}
		}
		parent.Refused(t, http.StatusBadRequest, "otp_auth", auth("wrong"))
		// A code that logs in verifies nothing.
		s.Root.RefusedBody(t, http.StatusBadRequest, "verify_otp", s.Root.BodyOf(t, "ACTIVITY_TYPE_VERIFY_OTP", m{"otpId": id, "otpCode": code}))
		result := parent.Submit(t, "otp_auth", auth(code)).Get("result", "otpAuthResult")
		session := recipient.LogIn(t, child, result.Get("credentialBundle").Text())
		if got := session.Query(t, "whoami", nil).Get("userId").Text(); got != child.UserID {
			t.Errorf("whoami: %s", got)
		}
		parent.Refused(t, http.StatusBadRequest, "otp_auth", auth(code))
		parent.Refused(t, http.StatusNotFound, "init_otp_auth", m{"otpType": "OTP_TYPE_EMAIL", "contact": "stranger@example.com", "appName": "Test"})

		mail := m{"email": "owner@example.com", "targetPublicKey": recipient.PublicKey(), "emailCustomization": m{"appName": "Test", "magicLinkTemplate": "https://app.example.com/?bundle=%s"}}
		sent := parent.Submit(t, "email_auth", mail).Get("result", "emailAuthResult")
		bundle := s.MailTo(t, "owner@example.com").Bundle
		mailed := recipient.LogIn(t, child, bundle)
		if got := mailed.Query(t, "whoami", nil).Get("userId").Text(); got != child.UserID || sent.Get("userId").Text() != child.UserID {
			t.Errorf("whoami: %s", got)
		}
		key := child.Query(t, "get_api_key", m{"apiKeyId": sent.Get("apiKeyId").Text()}).Get("apiKey")
		if key.Get("credential", "type").Text() != "CREDENTIAL_TYPE_EMAIL_AUTH_KEY_P256" {
			t.Errorf("key: %v", key)
		}
		// A child that switched it off, and an old version.
		child.Submit(t, "remove_organization_feature", m{"name": "FEATURE_NAME_EMAIL_AUTH"})
		parent.Refused(t, http.StatusForbidden, "email_auth", mail)
		child.Submit(t, "set_organization_feature", m{"name": "FEATURE_NAME_EMAIL_AUTH", "value": ""})
		parent.MustPost(t, "email_auth", parent.BodyOf(t, "ACTIVITY_TYPE_EMAIL_AUTH", m{"email": "owner@example.com", "targetPublicKey": recipient.PublicKey()}))
	})
}

// openTarget reads the key to which a code is sealed.
func openTarget(t testing.TB, s *Server, bundle string) string {
	t.Helper()
	var envelope struct {
		Data string `json:"data"`
	}
	var target struct {
		TargetPublic string `json:"targetPublic"`
	}
	if err := json.Unmarshal([]byte(bundle), &envelope); err != nil {
		t.Fatal(err)
	}
	data, err := hex.DecodeString(envelope.Data)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &target); err != nil {
		t.Fatal(err)
	}
	return target.TargetPublic
}

// clientSignature signs the use of a token with a key, in the name of another.
func clientSignature(t testing.TB, signer, named *Caller, message string) m {
	t.Helper()
	_, value, err := signer.Stamper.Stamp([]byte(message)) // the same mathematics
	if err != nil {
		t.Fatal(err)
	}
	raw, err := base64.RawURLEncoding.DecodeString(value)
	if err != nil {
		t.Fatal(err)
	}
	var stamp struct {
		Signature string `json:"signature"`
	}
	if err := json.Unmarshal(raw, &stamp, json.RejectUnknownMembers(false)); err != nil {
		t.Fatal(err)
	}
	der, err := hex.DecodeString(stamp.Signature)
	if err != nil {
		t.Fatal(err)
	}
	r, v := derParts(t, der)
	return m{
		"publicKey": named.Key.PublicKey(), "scheme": "CLIENT_SIGNATURE_SCHEME_API_P256", "message": message,
		"signature": hex.EncodeToString(r) + hex.EncodeToString(v),
	}
}

package ops_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"latchkey/client"
	"latchkey/internal/domain"
	"latchkey/internal/proof/passkey/passkeytest"
	"latchkey/internal/test/oidctest"
	. "latchkey/internal/test/servertest"
)

// claimsOf reads the payload of a token, as clients do: as plain base64.
func claimsOf(t testing.TB, token string) Value {
	t.Helper()
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("not a token: %q", token)
	}
	raw, err := base64.RawStdEncoding.DecodeString(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	return Reply{Body: raw}.JSON(t)
}

func TestStampLogin(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.Ed25519)
		key := s.Stranger(t, ada)
		before := time.Now().Truncate(time.Second)
		session := ada.Submit(t, "stamp_login", m{"publicKey": key.Key.PublicKey(), "expirationSeconds": "3600"}).Get("result", "stampLoginResult", "session").Text()
		after := time.Now()
		claims := claimsOf(t, session)
		if claims.Get("user_id").Text() != ada.UserID || claims.Get("organization_id").Text() != ada.OrganizationID ||
			claims.Get("public_key").Text() != key.Key.PublicKey() || claims.Get("session_type").Text() != "SESSION_TYPE_READ_WRITE" {
			t.Errorf("claims: %v", claims)
		}
		if end := time.Unix(int64(claims.Get("exp").Number()), 0).Add(-time.Hour); end.Before(before) || end.After(after) {
			t.Errorf("it lasts until an hour after %v", end)
		}
		checkSession(t, s, session)
		if got := key.Query(t, "whoami", nil).Get("userId").Text(); got != ada.UserID {
			t.Errorf("whoami: %s", got)
		}
		stored := s.Root.Query(t, "get_api_keys", m{"userId": ada.UserID}).Get("apiKeys").List()
		if len(stored) != 2 || stored[1].Get("credential", "type").Text() != "CREDENTIAL_TYPE_LOGIN" {
			t.Errorf("keys: %v", stored)
		}
		// A session prolongs itself, with the same key.
		key.Submit(t, "stamp_login", m{"publicKey": key.Key.PublicKey(), "expirationSeconds": "7200"})
		// Another one ends the first, if asked to.
		other := s.Stranger(t, ada)
		ada.Submit(t, "stamp_login", m{"publicKey": other.Key.PublicKey(), "invalidateExisting": true})
		key.Refused(t, http.StatusUnauthorized, "whoami", nil)
		other.Query(t, "whoami", nil)
		ada.Query(t, "whoami", nil) // a lasting key is not of this kind
		// Bad keys, taken keys, ends beyond reason.
		ada.Refused(t, http.StatusBadRequest, "stamp_login", m{"publicKey": "02" + strings.Repeat("ff", 32)})
		ada.Refused(t, http.StatusBadRequest, "stamp_login", m{"publicKey": other.Key.PublicKey(), "expirationSeconds": "0"})
		ada.Refused(t, http.StatusBadRequest, "stamp_login", m{"publicKey": other.Key.PublicKey(), "expirationSeconds": "99999999999999"})
		ada.Refused(t, http.StatusConflict, "stamp_login", m{"publicKey": s.Root.Key.PublicKey()})
		ada.Refused(t, http.StatusNotFound, "stamp_login", m{"publicKey": other.Key.PublicKey(), "sessionProfileId": s.Root.OrganizationID})
	})
}

// checkSession verifies a session with the key that the server publishes.
func checkSession(t *testing.T, s *Server, session string) {
	t.Helper()
	signed, signature, _ := strings.Cut(session[strings.IndexByte(session, '.')+1:], ".")
	signed = session[:strings.IndexByte(session, '.')+1] + signed
	raw, err := base64.RawURLEncoding.DecodeString(signature)
	if err != nil || len(raw) != 64 {
		t.Fatalf("signature: %v", err)
	}
	public, err := hex.DecodeString(s.Keys.ServerKeys.SessionPublicKey())
	if err != nil {
		t.Fatal(err)
	}
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), public)
	if err != nil {
		t.Fatal(err)
	}
	once := sha256.Sum256([]byte(signed))
	twice := sha256.Sum256(once[:])
	if !ecdsa.Verify(key, twice[:], bigOf(raw[:32]), bigOf(raw[32:])) {
		t.Error("the session's signature is wrong")
	}
}

func TestReadWriteSession(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		s.Root.Submit(t, "update_user_email", m{"userId": ada.UserID, "userEmail": "ada@example.com"})
		recipient := NewRecipient(t)
		a := ada.Submit(t, "create_read_write_session", m{"targetPublicKey": recipient.PublicKey()})
		result := a.Get("result", "createReadWriteSessionResultV2")
		if result.Get("userId").Text() != ada.UserID || result.Get("username").Text() != "Ada" || result.Get("organizationName").Text() != "Test organization" {
			t.Errorf("result: %v", result)
		}
		session := recipient.LogIn(t, ada, result.Get("credentialBundle").Text())
		if got := session.Query(t, "whoami", nil).Get("userId").Text(); got != ada.UserID {
			t.Errorf("whoami: %s", got)
		}
		key := s.Root.Query(t, "get_api_key", m{"apiKeyId": result.Get("apiKeyId").Text()}).Get("apiKey")
		if key.Get("credential", "type").Text() != "CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256" || key.Get("expirationSeconds").Text() != "900" ||
			!strings.HasPrefix(key.Get("apiKeyName").Text(), "Read Write Session - ") {
			t.Errorf("key: %v", key)
		}
		// For another user one needs the right to; root has it, also by address.
		ada.Refused(t, http.StatusForbidden, "create_read_write_session", m{"targetPublicKey": recipient.PublicKey(), "userId": s.Root.UserID})
		first := s.Root.MustPost(t, "create_read_write_session", s.Root.BodyOf(t, "ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION",
			m{"targetPublicKey": recipient.PublicKey(), "email": "ADA@example.com"})).Get("activity", "result", "createReadWriteSessionResult")
		if first.Get("userId").Text() != ada.UserID {
			t.Errorf("version 1: %v", first)
		}
		s.Root.Refused(t, http.StatusBadRequest, "create_read_write_session", m{"targetPublicKey": "04" + strings.Repeat("00", 64)})
		s.Root.Refused(t, http.StatusNotFound, "create_read_write_session", m{"targetPublicKey": recipient.PublicKey(), "userId": s.Root.OrganizationID})

		// The eleventh session takes the place of the oldest.
		for range 10 {
			ada.Submit(t, "create_read_write_session", m{"targetPublicKey": recipient.PublicKey()})
		}
		session.Refused(t, http.StatusUnauthorized, "whoami", nil)
		ada.Submit(t, "create_read_write_session", m{"targetPublicKey": recipient.PublicKey(), "invalidateExisting": true})
		if n := len(s.Root.Query(t, "get_api_keys", m{"userId": ada.UserID}).Get("apiKeys").List()); n != 2 {
			t.Errorf("%d keys", n)
		}
	})
}

func TestReadOnlySession(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		result := ada.Submit(t, "create_read_only_session", m{}).Get("result", "createReadOnlySessionResult")
		session := http.Header{"X-Session": {result.Get("session").Text()}}
		read := func(operation string, org string) Reply {
			return Send(t, http.MethodPost, s.URL+Path(operation), session, fmt.Appendf(nil, `{"organizationId":%q}`, org))
		}
		reply := read("whoami", ada.OrganizationID)
		if reply.Status != http.StatusOK || reply.JSON(t).Get("userId").Text() != ada.UserID {
			t.Errorf("whoami: %s", reply.Body)
		}
		if reply := read("list_users", ada.OrganizationID); reply.Status != http.StatusOK {
			t.Errorf("list_users: %s", reply.Body)
		}
		// It does not write, and reads nothing elsewhere.
		body := ada.Body(t, "create_user_tag", m{"userTagName": "x", "userIds": []any{}})
		CheckError(t, Send(t, http.MethodPost, s.URL+Path("create_user_tag"), session, body), http.StatusUnauthorized)
		other := s.Found(t, "Other")
		CheckError(t, read("list_users", other.OrganizationID), http.StatusUnauthorized)
		damaged := result.Get("session").Text()
		CheckError(t, Send(t, http.MethodPost, s.URL+Path("whoami"), http.Header{"X-Session": {damage(damaged)}},
			fmt.Appendf(nil, `{"organizationId":%q}`, ada.OrganizationID)), http.StatusUnauthorized)
		// It ends with the credential that opened it.
		key := s.Root.Query(t, "get_api_keys", m{"userId": ada.UserID}).Get("apiKeys", 0, "apiKeyId").Text()
		s.Root.Submit(t, "update_user_email", m{"userId": ada.UserID, "userEmail": "ada@example.com"})
		s.Root.Submit(t, "delete_api_keys", m{"userId": ada.UserID, "apiKeyIds": []any{key}})
		CheckError(t, read("whoami", ada.OrganizationID), http.StatusUnauthorized)
	})
}

// TestOTP proves a contact by a code and logs in with it.
func TestOTP(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		child := newChild(t, s, s.Root, "Child", func(user, _ m) { user["userEmail"] = "owner@example.com" })
		key := s.Stranger(t, child)
		parentOnChild := *s.Root
		parentOnChild.OrganizationID = child.OrganizationID

		init := s.Root.Submit(t, "init_otp", m{"otpType": "OTP_TYPE_EMAIL", "contact": "owner@example.com", "appName": "Test"}).Get("result", "initOtpResultV2")
		letter := s.MailTo(t, "owner@example.com")
		if len(letter.Code) != 9 {
			t.Fatalf("letter: %+v", letter)
		}
		target := openTarget(t, s, init.Get("otpEncryptionTargetBundle").Text())
		verify := func(code string) m {
			return m{"otpId": init.Get("otpId").Text(), "encryptedOtpBundle": SealTo(t, target,
				fmt.Appendf(nil, `{"otp_code":%q,"public_key":%q}`, code, key.Key.PublicKey()))}
		}
		s.Root.Refused(t, http.StatusBadRequest, "verify_otp", verify("wrong"))
		token := s.Root.Submit(t, "verify_otp", verify(strings.ToLower(letter.Code))).Get("result", "verifyOtpResult", "verificationToken").Text()
		claims := claimsOf(t, token)
		if claims.Get("contact").Text() != "owner@example.com" || claims.Get("public_key").Text() != key.Key.PublicKey() ||
			claims.Get("organization_id").Text() != s.Root.OrganizationID || claims.Get("verification_type").Text() != "OTP_TYPE_EMAIL" {
			t.Errorf("claims: %v", claims)
		}
		s.Root.Refused(t, http.StatusBadRequest, "verify_otp", verify(letter.Code)) // used

		// The parent logs the child's user in by the token; the session is the
		// child's.
		login := func(signer *Caller, message string) m {
			return m{"verificationToken": token, "publicKey": key.Key.PublicKey(), "clientSignature": clientSignature(t, signer, key, message)}
		}
		message := fmt.Sprintf(`{"login":{"publicKey":%q},"tokenId":%q,"type":"USAGE_TYPE_LOGIN"}`, key.Key.PublicKey(), claims.Get("id").Text())
		a := parentOnChild.Submit(t, "otp_login", login(key, message))
		if a.Get("organizationId").Text() != child.OrganizationID {
			t.Errorf("activity: %v", a)
		}
		checkSession(t, s, a.Get("result", "otpLoginResult", "session").Text())
		if got := key.Query(t, "whoami", nil).Get("userId").Text(); got != child.UserID {
			t.Errorf("whoami: %s", got)
		}
		if got := s.Root.Query(t, "list_verified_suborgs", m{"filterType": "EMAIL", "filterValue": "owner@example.com"}).Get("organizationIds").List(); len(got) != 1 {
			t.Errorf("verified: %v", got)
		}
		other := newChild(t, s, s.Root, "Other")
		if got := s.Root.Query(t, "list_verified_suborgs", nil).Get("organizationIds").List(); len(got) != 1 || got[0].Text() != child.OrganizationID {
			t.Errorf("all verified: %v", got)
		}
		s.Root.Refused(t, http.StatusBadRequest, "list_verified_suborgs", m{"filterType": "NAME", "filterValue": "Child"})
		// Only the submitter reads the token.
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		if seen := string(ada.Post(t, "list_activities", ada.Body(t, "list_activities", m{"paginationOptions": m{"limit": "100"}})).Body); strings.Contains(seen, token) {
			t.Error("another user reads the verification token")
		}
		if seen := string(s.Root.Post(t, "list_activities", s.Root.Body(t, "list_activities", m{"paginationOptions": m{"limit": "100"}})).Body); !strings.Contains(seen, token) {
			t.Error("the submitter no longer reads the verification token")
		}
		for name, c := range map[string]struct {
			caller *Caller
			params m
		}{
			"a signature by another key":     {&parentOnChild, login(s.Root, message)},
			"a message for another key":      {&parentOnChild, login(key, strings.Replace(message, key.Key.PublicKey(), other.Key.PublicKey(), 1))},
			"a message for another token":    {&parentOnChild, login(key, strings.Replace(message, claims.Get("id").Text(), child.UserID, 1))},
			"a message for another use":      {&parentOnChild, login(key, strings.Replace(message, "LOGIN", "SIGNUP", 1))},
			"a child without the contact":    {as(s.Root, other.OrganizationID), login(key, message)},
			"a forged token":                 {&parentOnChild, m{"verificationToken": "a.b.c", "publicKey": key.Key.PublicKey(), "clientSignature": clientSignature(t, key, key, message)}},
			"a session instead of the token": {&parentOnChild, m{"verificationToken": a.Get("result", "otpLoginResult", "session").Text(), "publicKey": key.Key.PublicKey(), "clientSignature": clientSignature(t, key, key, message)}},
		} {
			t.Run(name, func(t *testing.T) {
				reply := c.caller.Post(t, "otp_login", c.caller.Body(t, "otp_login", c.params))
				if reply.Status != http.StatusBadRequest && reply.Status != http.StatusNotFound {
					t.Errorf("HTTP %d: %s", reply.Status, reply.Body)
				}
			})
		}
		// The newest client logs in by a stamp that carries the token.
		attested := *child
		attested.OrganizationID = s.Root.OrganizationID
		attested.Stamper = attestedStamper{key, token, "STAMP_ATTESTED_SCHEME_P256_VERIFICATION_TOKEN"}
		fresh := s.Stranger(t, child)
		got := attested.Submit(t, "stamp_login", m{"publicKey": fresh.Key.PublicKey()})
		if got.Get("organizationId").Text() != child.OrganizationID {
			t.Errorf("by an attested stamp: %v", got)
		}
		fresh.Query(t, "whoami", nil)
		attested.Refused(t, http.StatusUnauthorized, "create_user_tag", m{"userTagName": "x", "userIds": []any{}})
		attested.Stamper = attestedStamper{fresh, token, "STAMP_ATTESTED_SCHEME_P256_VERIFICATION_TOKEN"}
		attested.Refused(t, http.StatusUnauthorized, "stamp_login", m{"publicKey": fresh.Key.PublicKey()})
	})
}

// damage changes one character of a token's signature for another.
func damage(token string) string {
	i := len(token) - 20
	other := "A"
	if token[i] == 'A' {
		other = "B"
	}
	return token[:i] + other + token[i+1:]
}

func as(c *Caller, organization string) *Caller {
	there := *c
	there.OrganizationID = organization
	return &there
}

// TestOTPLimits guesses codes and asks for too many.
func TestOTPLimits(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		init := func(contact string) string {
			return s.Root.MustPost(t, "init_otp", s.Root.BodyOf(t, "ACTIVITY_TYPE_INIT_OTP_V2", m{
				"otpType": "OTP_TYPE_EMAIL", "contact": contact, "appName": "Test", "otpLength": 6, "alphanumeric": false, "userIdentifier": contact,
			})).Get("activity", "result", "initOtpResult", "otpId").Text()
		}
		verify := func(id, code string, spaces int) Reply {
			body := s.Root.BodyOf(t, "ACTIVITY_TYPE_VERIFY_OTP", m{"otpId": id, "otpCode": code})
			return s.Root.Post(t, "verify_otp", append(body, strings.Repeat(" ", spaces)...))
		}
		id := init("guess@example.com")
		letter := s.MailTo(t, "guess@example.com")
		if len(letter.Code) != 6 || strings.Trim(letter.Code, "0123456789") != "" {
			t.Errorf("code %q", letter.Code)
		}
		wrong := "000000"
		if letter.Code == wrong {
			wrong = "000001"
		}
		for i := range 3 {
			reply := verify(id, wrong, i)
			CheckError(t, reply, http.StatusBadRequest)
			if !strings.Contains(string(reply.Body), "Invalid OTP code") {
				t.Errorf("reply: %s", reply.Body)
			}
		}
		CheckError(t, verify(id, letter.Code, 4), http.StatusBadRequest) // locked
		// The same wrong bytes twice are one guess.
		id = init("once@example.com")
		body := s.Root.BodyOf(t, "ACTIVITY_TYPE_VERIFY_OTP", m{"otpId": id, "otpCode": wrong})
		for range 5 {
			CheckError(t, s.Root.Post(t, "verify_otp", body), http.StatusBadRequest)
		}
		if reply := verify(id, s.MailTo(t, "once@example.com").Code, 0); reply.Status != http.StatusOK {
			t.Errorf("HTTP %d: %s", reply.Status, reply.Body)
		}
		// Three codes at a time.
		for range 3 {
			init("many@example.com")
		}
		refusal := s.Root.Refused(t, http.StatusTooManyRequests, "init_otp", m{"otpType": "OTP_TYPE_EMAIL", "contact": "many@example.com", "appName": "Test"})
		if !strings.Contains(refusal.Get("message").Text(), "Max number of OTPs have been initiated") {
			t.Errorf("refusal: %v", refusal)
		}
		for _, bad := range []m{
			{"otpType": "OTP_TYPE_EMAIL", "contact": "nobody", "appName": "x"},
			{"otpType": "OTP_TYPE_SMS", "contact": "user@example.com", "appName": "x"},
			{"otpType": "OTP_TYPE_EMAIL", "contact": "a@example.com", "appName": "x", "otpLength": 5},
			{"otpType": "OTP_TYPE_EMAIL", "contact": "a@example.com", "appName": "x", "expirationSeconds": "601"},
			{"otpType": "OTP_TYPE_EMAIL", "contact": "a@example.com", "appName": "x", "emailCustomization": m{"magicLinkTemplate": "javascript:%s"}},
		} {
			s.Root.Refused(t, http.StatusBadRequest, "init_otp", bad)
		}
		// A parent has SMS switched off until it turns it on.
		s.Root.Refused(t, http.StatusForbidden, "init_otp", m{"otpType": "OTP_TYPE_SMS", "contact": "+14155550100", "appName": "x"})
		s.Root.Submit(t, "set_organization_feature", m{"name": "FEATURE_NAME_SMS_AUTH", "value": ""})
		s.Root.Submit(t, "init_otp", m{"otpType": "OTP_TYPE_SMS", "contact": "+14155550100", "appName": "x", "smsCustomization": m{"template": "Code {{.OtpCode}}!"}})
		if sms := s.MailTo(t, "+14155550100"); !sms.SMS || sms.Code == "" {
			t.Errorf("sms: %+v", sms)
		}
		s.Root.Submit(t, "remove_organization_feature", m{"name": "FEATURE_NAME_OTP_EMAIL_AUTH"})
		s.Root.Refused(t, http.StatusForbidden, "init_otp", m{"otpType": "OTP_TYPE_EMAIL", "contact": "b@example.com", "appName": "x"})
		// No member may send codes without a policy.
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		ada.Refused(t, http.StatusForbidden, "init_otp", m{"otpType": "OTP_TYPE_SMS", "contact": "+14155550100", "appName": "x"})
	})
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
		parent.Refused(t, http.StatusNotFound, "init_otp_auth", m{"otpType": "OTP_TYPE_EMAIL", "contact": "nobody@example.com", "appName": "Test"})

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

// TestRecovery recovers a user who lost their passkey.
func TestRecovery(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		child := newChild(t, s, s.Root, "Child", func(user, _ m) { user["userEmail"] = "owner@example.com" })
		parent := as(s.Root, child.OrganizationID)
		recipient := NewRecipient(t)
		begin := m{"email": "owner@example.com", "targetPublicKey": recipient.PublicKey(), "emailCustomization": m{"appName": "Test"}}
		parent.Submit(t, "init_user_email_recovery", begin)
		first := recipient.LogIn(t, child, s.MailTo(t, "owner@example.com").Bundle)
		parent.Submit(t, "init_user_email_recovery", begin)
		recovery := recipient.LogIn(t, child, s.MailTo(t, "owner@example.com").Bundle)
		first.Refused(t, http.StatusUnauthorized, "whoami", nil) // only the newest mail counts

		recovery.Query(t, "whoami", nil)
		recovery.Refused(t, http.StatusForbidden, "list_wallets", nil)
		recovery.Refused(t, http.StatusForbidden, "create_wallet", m{"walletName": "w", "accounts": []any{}})
		passkey := passkeytest.New(t, passkeytest.ES256)
		answer := passkey.Register("BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc", "https://app.example.com")
		params := m{"userId": child.UserID, "authenticator": m{
			"authenticatorName": "new", "challenge": answer.Challenge,
			"attestation": m{"credentialId": answer.CredentialID, "clientDataJson": answer.ClientDataJSON, "attestationObject": answer.AttestationObject, "transports": []any{}},
		}}
		child.Refused(t, http.StatusForbidden, "recover_user", params) // not with an ordinary key
		ids := recovery.Submit(t, "recover_user", params).Get("result", "recoverUserResult", "authenticatorId").List()
		if len(ids) != 1 {
			t.Errorf("ids: %v", ids)
		}
		recovery.Refused(t, http.StatusUnauthorized, "whoami", nil) // it is spent
		body := child.Body(t, "whoami", nil)
		name, value := passkey.Stamp(body, "https://app.example.com")
		reply := Send(t, http.MethodPost, s.URL+Path("whoami"), http.Header{name: {value}}, body)
		if reply.Status != http.StatusOK || reply.JSON(t).Get("userId").Text() != child.UserID {
			t.Errorf("the new passkey: %s", reply.Body)
		}
	})
}

// TestOAuth logs in by tokens of a real issuer.
func TestOAuth(t *testing.T) {
	issuer := oidctest.Start(t)
	Each(t, func(t *testing.T, s *Server) {
		recipient := NewRecipient(t)
		claims := func(nonce string) map[string]any {
			return map[string]any{"iss": issuer.URL, "aud": "app", "sub": "ada", "nonce": domain.NonceOf(nonce), "iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix()}
		}
		child := newChild(t, s, s.Root, "Child", func(user, _ m) {
			user["oauthProviders"] = []any{m{"providerName": "Issuer", "oidcToken": issuer.Mint(claims(""), "ES256")}}
		})
		parent := as(s.Root, child.OrganizationID)
		for _, alg := range []string{"RS256", "ES256"} {
			params := m{"oidcToken": issuer.Mint(claims(recipient.PublicKey()), alg), "targetPublicKey": recipient.PublicKey(), "invalidateExisting": true}
			body := parent.Body(t, "oauth", params)
			result := parent.MustPost(t, "oauth", body).Get("activity", "result", "oauthResult")
			session := recipient.LogIn(t, child, result.Get("credentialBundle").Text())
			if got := session.Query(t, "whoami", nil).Get("userId").Text(); got != child.UserID || result.Get("userId").Text() != child.UserID {
				t.Errorf("whoami: %s", got)
			}
			key := child.Query(t, "get_api_key", m{"apiKeyId": result.Get("apiKeyId").Text()}).Get("apiKey")
			if key.Get("credential", "type").Text() != "CREDENTIAL_TYPE_OAUTH_KEY_P256" || !strings.HasPrefix(key.Get("apiKeyName").Text(), "Oauth - ") ||
				key.Get("expirationSeconds").Text() != "900" {
				t.Errorf("key: %v", key)
			}
		}
		if n := len(child.Query(t, "get_api_keys", m{"userId": child.UserID}).Get("apiKeys").List()); n != 2 {
			t.Errorf("%d keys, invalidateExisting should leave one of this kind", n)
		}
		key := s.Stranger(t, child)
		login := parent.Submit(t, "oauth_login", m{"oidcToken": issuer.Mint(claims(key.Key.PublicKey()), "ES256"), "publicKey": key.Key.PublicKey()})
		checkSession(t, s, login.Get("result", "oauthLoginResult", "session").Text())
		key.Query(t, "whoami", nil)

		// By an attested stamp, with nothing but the token and the parent's id.
		fresh := s.Stranger(t, child)
		attested := as(fresh, s.Root.OrganizationID)
		attested.Stamper = attestedStamper{fresh, issuer.Mint(claims(fresh.Key.PublicKey()), "RS256"), "STAMP_ATTESTED_SCHEME_P256_OIDC"}
		attested.Submit(t, "stamp_login", m{"publicKey": fresh.Key.PublicKey()})
		if got := fresh.Query(t, "whoami", nil).Get("userId").Text(); got != child.UserID {
			t.Errorf("whoami: %s", got)
		}
		attested.Stamper = attestedStamper{fresh, issuer.Mint(claims("another key"), "RS256"), "STAMP_ATTESTED_SCHEME_P256_OIDC"}
		attested.Refused(t, http.StatusUnauthorized, "stamp_login", m{"publicKey": fresh.Key.PublicKey()})

		with := func(name string, value any) string {
			changed := claims(recipient.PublicKey())
			changed[name] = value
			return issuer.Mint(changed, "ES256")
		}
		good := issuer.Mint(claims(recipient.PublicKey()), "ES256")
		parts := strings.Split(good, ".")
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
			"signed by a login":    {400, login.Get("result", "oauthLoginResult", "session").Text()},
			"of a damaged payload": {400, parts[0] + "." + parts[1][:len(parts[1])-2] + "AA." + parts[2]},
		} {
			t.Run(name, func(t *testing.T) {
				refusal := parent.Refused(t, c.status, "oauth", m{"oidcToken": c.token, "targetPublicKey": recipient.PublicKey()})
				if strings.Contains(refusal.String(), parts[2]) {
					t.Error("the refusal repeats the token")
				}
			})
		}
		if n := len(child.Query(t, "get_api_keys", m{"userId": child.UserID}).Get("apiKeys").List()); n != 4 {
			t.Errorf("%d keys after refusals", n)
		}
	})
}

// attestedStamper stamps with a key that a token names.
type attestedStamper struct {
	key    *Caller
	token  string
	scheme string
}

func (a attestedStamper) PublicKey() string { return a.key.Key.PublicKey() }

func (a attestedStamper) Stamp(body []byte) (name, value string, err error) {
	_, plain, err := a.key.Stamper.Stamp(body)
	if err != nil {
		return "", "", err
	}
	raw, err := base64.RawURLEncoding.DecodeString(plain)
	if err != nil {
		return "", "", err
	}
	var stamp map[string]string
	if err := json.Unmarshal(raw, &stamp); err != nil {
		return "", "", err
	}
	stamp["scheme"], stamp["publicKeyAttestation"] = a.scheme, a.token
	text, err := json.Marshal(stamp)
	return "X-Stamp-Attested", base64.RawURLEncoding.EncodeToString(text), err
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

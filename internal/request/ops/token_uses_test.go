package ops_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"latchkey/client"
	"latchkey/internal/server/config"
	. "latchkey/internal/test/servertest"
)

// contactOf is the type of codes for a contact, and the member of a user that
// holds it.
func contactOf(contact string) (otpType, member string) {
	if strings.HasPrefix(contact, "+") {
		return "OTP_TYPE_SMS", "userPhoneNumber"
	}
	return "OTP_TYPE_EMAIL", "userEmail"
}

// verifiedToken proves a mailbox or a phone to the issuer's organization; the
// token is bound to the key, unless it is empty.
func verifiedToken(t testing.TB, s *Server, issuer *Caller, contact, publicKey string) string {
	t.Helper()
	otpType, _ := contactOf(contact)
	id := issuer.MustPost(t, "init_otp", issuer.BodyOf(t, "ACTIVITY_TYPE_INIT_OTP_V2", m{
		"otpType": otpType, "contact": contact, "appName": "Test",
	})).Get("activity", "result", "initOtpResult", "otpId").Text()
	params := m{"otpId": id, "otpCode": s.MailTo(t, contact).Code}
	if publicKey != "" {
		params["publicKey"] = publicKey
	}
	return issuer.MustPost(t, "verify_otp", issuer.BodyOf(t, "ACTIVITY_TYPE_VERIFY_OTP", params)).
		Get("activity", "result", "verifyOtpResult", "verificationToken").Text()
}

// signUpBody signs a user up whose one API key is that of owner; signer has the
// key that the token is bound to, and signs unless it is nil.
func signUpBody(t testing.TB, parent, owner, signer *Caller, contact, token string) []byte {
	t.Helper()
	keys := []any{m{"apiKeyName": "key", "publicKey": owner.Key.PublicKey(), "curveType": client.P256.CurveType()}}
	params := m{"subOrganizationName": "Child", "rootQuorumThreshold": 1, "verificationToken": token, "rootUsers": []any{m{
		"userName": "Owner", "userEmail": contact, "apiKeys": keys, "authenticators": []any{}, "oauthProviders": []any{},
	}}}
	if signer != nil {
		message := fmt.Sprintf(`{"signupV2":{"email":%q,"apiKeys":[{"apiKeyName":"key","publicKey":%q,"curveType":%q}]},"tokenId":%q,"type":"USAGE_TYPE_SIGNUP"}`,
			contact, owner.Key.PublicKey(), client.P256.CurveType(), claimsOf(t, token).Get("id").Text())
		params["clientSignature"] = clientSignature(t, signer, signer, message)
	}
	return parent.Body(t, "create_sub_organization", params)
}

// otpLoginBody logs in with the key that the token is bound to.
func otpLoginBody(t testing.TB, caller, key *Caller, token string) []byte {
	t.Helper()
	return caller.BodyOf(t, "ACTIVITY_TYPE_OTP_LOGIN", m{"verificationToken": token, "publicKey": key.Key.PublicKey()})
}

// attestedBy is a caller of an organization whose key only a token attests.
func attestedBy(key *Caller, organization, token string) *Caller {
	attested := as(key, organization)
	attested.Stamper = attestedStamper{key, token, "STAMP_ATTESTED_SCHEME_P256_VERIFICATION_TOKEN"}
	return attested
}

// TestVerificationTokenUses: a token serves for one sign-up, one login and one
// change of a contact, wherever it counts. The same bytes are answered again.
func TestVerificationTokenUses(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		u := &tokenUses{Server: s}
		if !t.Run("sign-up", u.signsUpOnce) {
			return // the others need the child
		}
		t.Run("login", u.logsInOnce)
		t.Run("attested login", u.logsInAttestedOnce)
		t.Run("contact", u.changesContactOnce)
		t.Run("at once", func(t *testing.T) { raceTokens(t, s, s) })
	})
}

type tokenUses struct {
	*Server
	owner *Caller // who signed up
	key   *Caller // that the token is bound to
	token string
	child *Caller // the parent's root user, in the child
}

// used expects the refusal of a token that was used up.
func (u *tokenUses) used(t *testing.T, c *Caller, operation string, body []byte, what string) {
	t.Helper()
	refusal := c.RefusedBody(t, http.StatusBadRequest, operation, body)
	if text := refusal.Get("message").Text(); !strings.Contains(text, "used for a "+what+" already") {
		t.Errorf("%s: %s", operation, text)
	}
}

// again expects the same answer to the same bytes.
func again(t *testing.T, c *Caller, operation string, body []byte) {
	t.Helper()
	first, second := c.Post(t, operation, body), c.Post(t, operation, body)
	if first.Status != http.StatusOK || !bytes.Equal(first.Body, second.Body) {
		t.Errorf("%s: HTTP %d %s\nand again HTTP %d %s", operation, first.Status, first.Body, second.Status, second.Body)
	}
}

func (u *tokenUses) signsUpOnce(t *testing.T) {
	const contact = "new@example.com"
	u.owner, u.key = u.Stranger(t, u.Root), u.Stranger(t, u.Root)
	u.token = verifiedToken(t, u.Server, u.Root, contact, u.key.Key.PublicKey())
	// The token is bound to the key: without its signature, or with another, the
	// token is of no use, and stays unused.
	for _, signer := range []*Caller{nil, u.Root} {
		refusal := u.Root.RefusedBody(t, http.StatusBadRequest, "create_sub_organization", signUpBody(t, u.Root, u.owner, signer, contact, u.token))
		if text := refusal.Get("message").Text(); !strings.Contains(text, "client") {
			t.Errorf("refusal: %s", text)
		}
	}
	body := signUpBody(t, u.Root, u.owner, u.key, contact, u.token)
	again(t, u.Root, "create_sub_organization", body)
	u.used(t, u.Root, "create_sub_organization", signUpBody(t, u.Root, u.owner, u.key, contact, u.token), "sign-up")
	children := u.Root.Query(t, "list_suborgs", m{"filterType": "EMAIL", "filterValue": contact}).Get("organizationIds").List()
	if len(children) != 1 {
		t.Fatalf("sub-organizations: %v", children)
	}
	u.child = as(u.Root, children[0].Text())
}

// logsInOnce uses the token of the sign-up, as the published kit does.
func (u *tokenUses) logsInOnce(t *testing.T) {
	other := newChild(t, u.Server, u.Root, "Same contact", func(user, _ m) { user["userEmail"] = "new@example.com" })
	without := newChild(t, u.Server, u.Root, "Other contact")
	// A login that is refused uses nothing up.
	u.Root.RefusedBody(t, http.StatusNotFound, "otp_login", otpLoginBody(t, as(u.Root, without.OrganizationID), u.key, u.token))
	fresh := u.Stranger(t, u.Root)
	u.child.RefusedBody(t, http.StatusBadRequest, "otp_login", otpLoginBody(t, u.child, fresh, u.token))

	again(t, u.child, "otp_login", otpLoginBody(t, u.child, u.key, u.token))
	u.used(t, u.child, "otp_login", otpLoginBody(t, u.child, u.key, u.token), "login")
	attested := attestedBy(u.key, u.child.OrganizationID, u.token)
	u.used(t, attested, "stamp_login", attested.Body(t, "stamp_login", m{"publicKey": fresh.Key.PublicKey()}), "login")
	// Another organization in which the token counts knows it too.
	u.used(t, as(u.Root, other.OrganizationID), "otp_login", otpLoginBody(t, as(u.Root, other.OrganizationID), u.key, u.token), "login")
	elsewhere := attestedBy(u.key, other.OrganizationID, u.token)
	u.used(t, elsewhere, "stamp_login", elsewhere.Body(t, "stamp_login", m{"publicKey": fresh.Key.PublicKey()}), "login")
}

func (u *tokenUses) logsInAttestedOnce(t *testing.T) {
	const contact = "attested@example.com"
	child := newChild(t, u.Server, u.Root, "Attested", func(user, _ m) { user["userEmail"] = contact })
	parent, key := as(u.Root, child.OrganizationID), u.Stranger(t, child)
	// By the parent's token, and by one that the child issued itself.
	for _, issuer := range []*Caller{u.Root, child} {
		token := verifiedToken(t, u.Server, issuer, contact, key.Key.PublicKey())
		attested := attestedBy(key, child.OrganizationID, token)
		again(t, attested, "stamp_login", attested.Body(t, "stamp_login", m{"publicKey": key.Key.PublicKey()}))
		u.used(t, attested, "stamp_login", attested.Body(t, "stamp_login", m{"publicKey": key.Key.PublicKey()}), "login")
		u.used(t, parent, "otp_login", otpLoginBody(t, parent, key, token), "login")
	}
}

func (u *tokenUses) changesContactOnce(t *testing.T) {
	const contact = "moved@example.com"
	token := verifiedToken(t, u.Server, u.Root, contact, "")
	change := func() []byte {
		return u.Root.Body(t, "update_user_email", m{"userId": u.Root.UserID, "userEmail": contact, "verificationToken": token})
	}
	again(t, u.Root, "update_user_email", change())
	u.used(t, u.Root, "update_user_email", change(), "change of a contact")
}

// raceTokens uses tokens many times at once, on one or two nodes.
func raceTokens(t *testing.T, one, two *Server) {
	const contact, times = "race@example.com", 8
	owner, key := one.Stranger(t, one.Root), one.Stranger(t, one.Root)
	token := verifiedToken(t, one, one.Root, contact, key.Key.PublicKey())
	race := func(what, operation string, request func(i int) (*Caller, []byte)) {
		t.Helper()
		replies := make([]Reply, times)
		var wait sync.WaitGroup
		for i := range times {
			node := []*Server{one, two}[i%2]
			caller, body := request(i)
			wait.Go(func() { replies[i] = node.As(caller).Post(t, operation, body) })
		}
		wait.Wait()
		won := 0
		for _, r := range replies {
			switch {
			case r.Status == http.StatusOK:
				won++
			case r.Status != http.StatusBadRequest || !strings.Contains(string(r.Body), "used for a "+what+" already"):
				t.Errorf("%s: HTTP %d %s", operation, r.Status, r.Body)
			}
		}
		if won != 1 {
			t.Errorf("%d of %d requests of %s at once were carried out", won, times, operation)
		}
	}
	race("sign-up", "create_sub_organization", func(int) (*Caller, []byte) {
		return one.Root, signUpBody(t, one.Root, owner, key, contact, token)
	})
	var children []*Caller
	for i := range times / 2 { // with two nodes, two requests in each
		children = append(children, newChild(t, one, one.Root, fmt.Sprint("Race ", i), func(user, _ m) { user["userEmail"] = contact }))
	}
	race("login", "otp_login", func(i int) (*Caller, []byte) {
		caller := as(one.Root, children[i/2].OrganizationID)
		return caller, otpLoginBody(t, caller, key, token)
	})
}

// TestVerificationTokenOnTwoNodes lets two servers over one PostgreSQL race for
// the uses of a token.
func TestVerificationTokenOnTwoNodes(t *testing.T) {
	url := Postgres(t)
	one := Start(t, url, config.Default())
	quiet := config.Default()
	quiet.Dev.Outbox = one.Outbox // either node sends the mail
	raceTokens(t, one, Start(t, url, quiet))
}

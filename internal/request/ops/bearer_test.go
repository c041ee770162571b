package ops_test

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"latchkey/client"
	"latchkey/internal/request/ops"
	"latchkey/internal/schema"
	"latchkey/internal/test/oidctest"
	. "latchkey/internal/test/servertest"
)

// TestBearerTexts tells a whole story of logins, and then searches everything
// that other members can read for the texts that would serve any reader: codes,
// tokens, bundles and sessions.
func TestBearerTexts(t *testing.T) {
	issuer := oidctest.Start(t)
	Each(t, func(t *testing.T, s *Server) {
		b := &bearerStory{oauthStory: &oauthStory{Server: s, issuer: issuer, recipient: NewRecipient(t)}, texts: map[string]string{}}
		b.member = s.NewUser(t, s.Root, "Member", client.P256)
		b.signsUp(t)
		b.logsInByCodes(t)
		b.logsInByIssuer(t)
		b.opensSessions(t)
		b.asksForApproval(t)
		shown := bytes.Buffer{}
		for _, reader := range []*Caller{b.member, as(b.member, b.child.OrganizationID), b.childMember} {
			shown.Write(readAll(t, reader))
		}
		own := readActivities(t, s.Root)
		own = append(own, readActivities(t, b.parent)...)
		own = append(own, readActivities(t, b.child)...)
		own = append(own, readActivities(t, b.asker)...)
		for name, text := range b.texts {
			if bytes.Contains(shown.Bytes(), []byte(text)) {
				t.Errorf("another member reads %s", name)
			}
			if !bytes.Contains(own, []byte(text)) {
				t.Errorf("not even the submitter reads %s: the search is of no use", name)
			}
		}
		for _, lister := range []*Caller{s.Root, b.parent, b.child, b.asker} {
			list := lister.Post(t, "list_activities", lister.Body(t, "list_activities", m{"paginationOptions": m{"limit": "100"}}))
			for name, text := range b.texts {
				if list.Status != http.StatusOK || bytes.Contains(list.Body, []byte(text)) {
					t.Errorf("a list has %s (HTTP %d)", name, list.Status)
				}
			}
			events := readEvents(t, lister)
			for name, text := range b.texts {
				if bytes.Contains(events, []byte(text)) {
					t.Errorf("an event has %s", name)
				}
			}
		}
	})
}

// bearerStory collects the texts that serve any holder, by what they are.
type bearerStory struct {
	*oauthStory
	member      *Caller // of the parent
	childMember *Caller
	asker       *Caller // whose login others approve
	texts       map[string]string
}

var longRun = regexp.MustCompile(`[A-Za-z0-9_-]{9,}`)

// secret notes a text by its longest part that is written in the same way
// everywhere, and returns it.
func (b *bearerStory) secret(t *testing.T, name, text string) string {
	t.Helper()
	longest := ""
	for _, run := range longRun.FindAllString(text, -1) {
		if len(run) > len(longest) {
			longest = run
		}
	}
	if longest == "" || b.texts[name] != "" {
		t.Fatalf("%s is %q", name, text)
	}
	b.texts[name] = longest
	return text
}

// code asks for a code that is sent to the owner.
func (b *bearerStory) code(t *testing.T, name string, c *Caller, operation, activityType, result string) (id, code string) {
	t.Helper()
	id = c.MustPost(t, operation, c.BodyOf(t, activityType, m{"otpType": "OTP_TYPE_EMAIL", "contact": "owner@example.com", "appName": "Test", "userIdentifier": name})).
		Get("activity", "result", result, "otpId").Text()
	return id, b.secret(t, name, b.MailTo(t, "owner@example.com").Code)
}

// signsUp proves a contact by a sealed code and creates a sub-organization.
func (b *bearerStory) signsUp(t *testing.T) {
	key := b.Stranger(t, b.Root)
	init := b.Root.Submit(t, "init_otp", m{"otpType": "OTP_TYPE_EMAIL", "contact": "owner@example.com", "appName": "Test"}).Get("result", "initOtpResultV2")
	sealed := SealTo(t, openTarget(t, b.Server, init.Get("otpEncryptionTargetBundle").Text()),
		fmt.Appendf(nil, `{"otp_code":%q,"public_key":%q}`, b.MailTo(t, "owner@example.com").Code, key.Key.PublicKey()))
	b.secret(t, "a sealed code", sealed)
	token := b.secret(t, "the token of the sign-up", b.Root.Submit(t, "verify_otp", m{"otpId": init.Get("otpId").Text(), "encryptedOtpBundle": sealed}).
		Get("result", "verifyOtpResult", "verificationToken").Text())
	identity := b.secret(t, "the issuer's token of the sign-up", b.issuer.Mint(b.claims(""), "ES256"))
	message := fmt.Sprintf(`{"signupV2":{"email":"owner@example.com","apiKeys":[{"apiKeyName":"key","publicKey":%q,"curveType":%q}],"oauthProviders":[{"providerName":"Issuer","oidcToken":%q}]},"tokenId":%q,"type":"USAGE_TYPE_SIGNUP"}`,
		key.Key.PublicKey(), client.P256.CurveType(), identity, claimsOf(t, token).Get("id").Text())
	result := b.Root.Submit(t, "create_sub_organization", m{
		"subOrganizationName": "Child", "rootQuorumThreshold": 1, "verificationToken": token,
		"clientSignature": clientSignature(t, key, key, message),
		"rootUsers": []any{m{
			"userName": "Owner", "userEmail": "owner@example.com", "authenticators": []any{},
			"apiKeys":        []any{m{"apiKeyName": "key", "publicKey": key.Key.PublicKey(), "curveType": client.P256.CurveType()}},
			"oauthProviders": []any{m{"providerName": "Issuer", "oidcToken": identity}},
		}},
	}).Get("result", "createSubOrganizationResultV8")
	key.OrganizationID, key.UserID = result.Get("subOrganizationId").Text(), result.Get("rootUserIds", 0).Text()
	b.child, b.parent = key, as(b.Root, key.OrganizationID)
	b.childMember = b.NewUser(t, b.child, "Other", client.P256)
}

// logsInByCodes: a right code that comes with a bad key is used up.
func (b *bearerStory) logsInByCodes(t *testing.T) {
	key := b.Stranger(t, b.child)
	id, code := b.code(t, "a code", b.Root, "init_otp", "ACTIVITY_TYPE_INIT_OTP_V2", "initOtpResult")
	token := b.secret(t, "the token of a login", b.Root.MustPost(t, "verify_otp", b.Root.BodyOf(t, "ACTIVITY_TYPE_VERIFY_OTP", m{
		"otpId": id, "otpCode": code, "publicKey": key.Key.PublicKey(),
	})).Get("activity", "result", "verifyOtpResult", "verificationToken").Text())
	b.secret(t, "the session of a token", b.parent.MustPost(t, "otp_login", otpLoginBody(t, b.parent, key, token)).
		Get("activity", "result", "otpLoginResult", "session").Text())

	auth := func(id, code, target string) m { return m{"otpId": id, "otpCode": code, "targetPublicKey": target} }
	id, code = b.code(t, "a code for a bad key", b.parent, "init_otp_auth", "ACTIVITY_TYPE_INIT_OTP_AUTH_V3", "initOtpAuthResultV2")
	b.parent.Refused(t, http.StatusBadRequest, "otp_auth", auth(id, code, "04abcdef"))
	b.parent.Refused(t, http.StatusBadRequest, "otp_auth", auth(id, code, b.recipient.PublicKey()))
	id, code = b.code(t, "a code that logs in", b.parent, "init_otp_auth", "ACTIVITY_TYPE_INIT_OTP_AUTH_V3", "initOtpAuthResultV2")
	b.secret(t, "the bundle of a code", b.parent.Submit(t, "otp_auth", auth(id, code, b.recipient.PublicKey())).
		Get("result", "otpAuthResult", "credentialBundle").Text())
}

// logsInByIssuer uses tokens of an issuer in every place that takes one.
func (b *bearerStory) logsInByIssuer(t *testing.T) {
	key := b.Stranger(t, b.child)
	token := func(name, publicKey, sub string) string {
		claims := b.claims(publicKey)
		claims["sub"] = sub
		return b.secret(t, name, b.issuer.Mint(claims, "ES256"))
	}
	b.secret(t, "the bundle of an issuer's token", b.parent.Submit(t, "oauth", m{
		"oidcToken": token("the issuer's token of a bundle", b.recipient.PublicKey(), "ada"), "targetPublicKey": b.recipient.PublicKey(),
	}).Get("result", "oauthResult", "credentialBundle").Text())
	b.secret(t, "the session of an issuer's token", b.parent.Submit(t, "oauth_login", m{
		"oidcToken": token("the issuer's token of a session", key.Key.PublicKey(), "ada"), "publicKey": key.Key.PublicKey(),
	}).Get("result", "oauthLoginResult", "session").Text())
	b.child.Submit(t, "create_oauth_providers", m{"userId": b.child.UserID, "oauthProviders": []any{
		m{"providerName": "Second", "oidcToken": token("the issuer's token of a provider", "", "second")},
	}})
	b.child.Submit(t, "create_users", users(user("By issuer", m{"oauthProviders": []any{
		m{"providerName": "Third", "oidcToken": token("the issuer's token of a user", "", "third")},
	}})))
}

func (b *bearerStory) opensSessions(t *testing.T) {
	key := b.Stranger(t, b.child)
	b.secret(t, "the session of a stamp", b.child.Submit(t, "stamp_login", m{"publicKey": key.Key.PublicKey()}).
		Get("result", "stampLoginResult", "session").Text())
	b.secret(t, "a session that reads", b.child.Submit(t, "create_read_only_session", m{}).
		Get("result", "createReadOnlySessionResult", "session").Text())
	b.secret(t, "the bundle of a session", b.child.Submit(t, "create_read_write_session", m{"targetPublicKey": b.recipient.PublicKey()}).
		Get("result", "createReadWriteSessionResultV2", "credentialBundle").Text())
	token := b.secret(t, "the token of a change", verifiedToken(t, b.Server, b.Root, "moved@example.com", ""))
	b.child.Submit(t, "update_user_email", m{"userId": b.child.UserID, "userEmail": "moved@example.com", "verificationToken": token})
}

// asksForApproval: who approves a login is shown neither its token nor its
// session.
func (b *bearerStory) asksForApproval(t *testing.T) {
	b.asker = b.NewUser(t, b.Root, "Asker", client.P256)
	b.Root.Submit(t, "create_policy", m{
		"policyName": "two for a login", "effect": "EFFECT_ALLOW", "notes": "", "condition": "activity.type == 'ACTIVITY_TYPE_OTP_LOGIN'",
		"consensus": fmt.Sprintf("approvers.any(user, user.id == '%s') && approvers.any(user, user.id == '%s')", b.asker.UserID, b.member.UserID),
	})
	key := b.Stranger(t, b.child)
	token := b.secret(t, "the token of a login that waits", verifiedToken(t, b.Server, b.Root, "moved@example.com", key.Key.PublicKey()))
	there := as(b.asker, b.child.OrganizationID)
	waiting := there.MustPost(t, "otp_login", otpLoginBody(t, there, key, token)).Get("activity")
	if status := waiting.Get("status").Text(); status != "ACTIVITY_STATUS_CONSENSUS_NEEDED" {
		t.Fatalf("the login is %s", status)
	}
	voter := as(b.member, b.child.OrganizationID)
	reply := voter.Post(t, "approve_activity", voter.Body(t, "approve_activity", m{"fingerprint": waiting.Get("fingerprint").Text()}))
	if reply.Status != http.StatusOK || reply.JSON(t).Get("activity", "status").Text() != "ACTIVITY_STATUS_COMPLETED" {
		t.Fatalf("HTTP %d %s", reply.Status, reply.Body)
	}
	session := there.Query(t, "get_activity", m{"activityId": waiting.Get("id").Text()}).Get("activity", "result", "otpLoginResult", "session").Text()
	b.secret(t, "the session of a login that waited", session)
	for _, text := range []string{token, session} {
		if text == "" || bytes.Contains(reply.Body, []byte(text)) {
			t.Errorf("the approver is shown %q", text)
		}
	}
	b.asker = there
}

// readActivities is every activity of an organization, as its reader sees it.
func readActivities(t *testing.T, reader *Caller) (said []byte) {
	t.Helper()
	list := reader.Query(t, "list_activities", m{"paginationOptions": m{"limit": "100"}}).Get("activities").List()
	if len(list) == 0 || len(list) == 100 {
		t.Fatalf("%d activities", len(list))
	}
	for _, a := range list {
		for _, query := range []string{"get_activity", "get_policy_evaluations"} {
			reply := reader.Post(t, query, reader.Body(t, query, m{"activityId": a.Get("id").Text()}))
			if reply.Status != http.StatusOK {
				t.Fatalf("%s: HTTP %d %s", query, reply.Status, reply.Body)
			}
			said = append(said, reply.Body...)
		}
	}
	return said
}

// readAll is what every query says to a reader.
func readAll(t *testing.T, reader *Caller) []byte {
	t.Helper()
	said := readActivities(t, reader)
	users := []string{}
	for _, u := range reader.Query(t, "list_users", nil).Get("users").List() {
		users = append(users, u.Get("userId").Text())
	}
	answered := 0
	for _, query := range ops.Catalog().Queries {
		needs := []string{}
		query.Params.Walk(func(p schema.Property) {
			if p.Required && p.Name != "organizationId" {
				needs = append(needs, p.Name)
			}
		})
		bodies := []m{{}}
		switch {
		case slices.Equal(needs, []string{"userId"}):
			bodies = nil
			for _, id := range users {
				bodies = append(bodies, m{"userId": id})
			}
		case len(needs) > 0:
			continue // about one key or wallet, of which the story has none, or read above
		}
		for _, params := range bodies {
			reply := reader.Post(t, query.Name, reader.Body(t, query.Name, params))
			if reply.Status == http.StatusOK {
				answered++
			}
			said = append(said, reply.Body...)
		}
	}
	if answered < 10 {
		t.Errorf("only %d queries were answered", answered)
	}
	return said
}

// TestBearersAreSecret finds a member that is named like a bearer text and is
// not marked as one.
func TestBearersAreSecret(t *testing.T) {
	public := map[string]string{
		"code":                      "of a finding on a policy",
		"importBundle":              "a public key",
		"otpEncryptionTargetBundle": "a public key",
		"encryptedBundle":           "sealed to the server, for one import by one user",
	}
	secrets := 0
	for _, endpoint := range ops.Catalog().Endpoints {
		for _, version := range endpoint.Versions {
			for _, s := range []*schema.Schema{version.Params, version.Result} {
				s.Walk(func(p schema.Property) {
					name := strings.ToLower(p.Name)
					named := p.Type == "string" && (strings.HasSuffix(name, "token") || strings.HasSuffix(name, "code") ||
						strings.HasSuffix(name, "bundle") || name == "session")
					if named && !p.Secret && public[p.Name] == "" {
						t.Errorf("%s: %s is not secret", version.Type, p.Path)
					}
					if p.Secret {
						secrets++
					}
				})
			}
		}
	}
	if secrets < 20 {
		t.Errorf("only %d members are secret", secrets)
	}
}

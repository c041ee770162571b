package ops_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"latchkey/client"
	"latchkey/internal/proof/passkey/passkeytest"
	. "latchkey/internal/test/servertest"
)

// authenticator is a passkey on a page. It registers and stamps.
type authenticator struct {
	*passkeytest.Key
	origin string
}

func newAuthenticator(t testing.TB) authenticator {
	return authenticator{passkeytest.New(t, passkeytest.ES256), "http://localhost:3000"}
}

// challenge is what a client makes up.
const challenge = "bGF0Y2hrZXkgdGVzdCBjaGFsbGVuZ2U"

const internal, usb = "AUTHENTICATOR_TRANSPORT_INTERNAL", "AUTHENTICATOR_TRANSPORT_USB"

// params is the registration in the newest form.
func (a authenticator) params(name string, transports ...any) m {
	answer := a.Register(challenge, a.origin)
	return m{"authenticatorName": name, "challenge": answer.Challenge, "attestation": m{
		"credentialId": answer.CredentialID, "clientDataJson": answer.ClientDataJSON,
		"attestationObject": answer.AttestationObject, "transports": append([]any{}, transports...),
	}}
}

// paramsV1 is the registration in the form of version 1.
func (a authenticator) paramsV1(name string) m {
	answer := a.Register(challenge, a.origin)
	return m{"authenticatorName": name, "challenge": answer.Challenge, "attestation": m{
		"id": answer.CredentialID, "rawId": answer.CredentialID, "type": "public-key",
		"authenticatorAttachment": "cross-platform",
		"response": m{
			"clientDataJson": answer.ClientDataJSON, "attestationObject": answer.AttestationObject,
			"transports": []any{usb}, "authenticatorAttachment": "cross-platform",
		},
		"clientExtensionResults": m{"appid": true, "appidExclude": false, "credProps": m{"rk": true}},
	}}
}

// Stamp makes the passkey a stamper.
func (a authenticator) Stamp(body []byte) (header, value string, err error) {
	header, value = a.Key.Stamp(body, a.origin)
	return header, value, nil
}

func (a authenticator) PublicKey() string { return a.CredentialID() }

// as is the caller, signing with the passkey.
func (a authenticator) as(c *Caller) *Caller {
	with := *c
	with.Stamper = a
	return &with
}

// unknownID is the id of nothing.
const unknownID = "0192aaaa-0000-7000-8000-000000000000"

// TestCreateUsersWithPasskeys creates users who have nothing but a passkey, in
// every version, and checks both views of the reply.
func TestCreateUsersWithPasskeys(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		for _, c := range []struct {
			typ, intentKey string
			transports     []any
			attachment     string
			model          string
		}{
			{"ACTIVITY_TYPE_CREATE_USERS", "createUsersIntent", []any{usb}, "cross-platform", "Security key"},
			{"ACTIVITY_TYPE_CREATE_USERS_V2", "createUsersIntentV2", []any{internal, "AUTHENTICATOR_TRANSPORT_HYBRID"}, "platform", "Platform authenticator"},
			{"ACTIVITY_TYPE_CREATE_USERS_V3", "createUsersIntentV3", []any{usb, "AUTHENTICATOR_TRANSPORT_NFC"}, "cross-platform", "Security key"},
			{"ACTIVITY_TYPE_CREATE_USERS_V4", "createUsersIntentV4", []any{}, "", "Passkey"},
		} {
			t.Run(c.typ, func(t *testing.T) {
				key := newAuthenticator(t)
				registration := key.params("My passkey", c.transports...)
				u := user(c.typ, m{"authenticators": []any{registration}})
				extensions := m{"appid": false, "appidExclude": false}
				if c.typ == "ACTIVITY_TYPE_CREATE_USERS" {
					registration = key.paramsV1("My passkey")
					u["authenticators"], u["accessType"] = []any{registration}, "ACCESS_TYPE_WEB"
					extensions = registration["attestation"].(m)["clientExtensionResults"].(m)
				}
				if c.typ < "ACTIVITY_TYPE_CREATE_USERS_V3" {
					delete(u, "oauthProviders")
				}
				activity := s.Root.MustPost(t, "create_users", s.Root.BodyOf(t, c.typ, users(u))).Get("activity")
				id := activity.Get("result", "createUsersResult", "userIds", 0).Text()
				if diff := cmp.Diff(users(u), activity.Get("intent", c.intentKey).Any); diff != "" {
					t.Errorf("intent (-sent +echoed):\n%s", diff)
				}

				// The view of the interface's document is complete.
				answer := key.Register(challenge, key.origin)
				response := m{"clientDataJson": answer.ClientDataJSON, "attestationObject": answer.AttestationObject, "transports": c.transports}
				attestation := m{
					"id": answer.CredentialID, "rawId": answer.CredentialID, "type": "public-key",
					"response": response, "clientExtensionResults": extensions,
				}
				if c.attachment != "" {
					response["authenticatorAttachment"], attestation["authenticatorAttachment"] = c.attachment, c.attachment
				}
				echoed := activity.Get("result", "activity", "intent", "createUsersIntent", "users", 0, "authenticators").Any
				want := []any{m{"authenticatorName": "My passkey", "userId": id, "challenge": challenge, "attestation": attestation}}
				if diff := cmp.Diff(any(want), echoed); diff != "" {
					t.Errorf("the document's view (-want +got):\n%s", diff)
				}

				// The passkey is the user's, and works.
				found := s.Root.Query(t, "get_authenticators", m{"userId": id}).Get("authenticators", 0)
				wantRecord := m{
					"transports": c.transports, "attestationType": "none", "aaguid": strings.Repeat("A", 22),
					"credentialId": key.CredentialID(), "model": c.model, "authenticatorName": "My passkey",
					"credential":      m{"publicKey": passkeytest.Encode(key.COSEKey()), "type": "CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR"},
					"authenticatorId": found.Get("authenticatorId").Any, "createdAt": found.Get("createdAt").Any, "updatedAt": found.Get("updatedAt").Any,
				}
				if diff := cmp.Diff(any(wantRecord), found.Any); diff != "" {
					t.Errorf("authenticator (-want +got):\n%s", diff)
				}
				if got := key.as(s.Root).Query(t, "whoami", nil).Get("userId").Text(); got != id {
					t.Errorf("whoami is %s, want %s", got, id)
				}
			})
		}
	})
}

// TestAuthenticators lets users manage their own passkeys, and no others.
func TestAuthenticators(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		p := &passkeyStory{
			Server: s, ada: s.NewUser(t, s.Root, "Ada", client.P256), bob: s.NewUser(t, s.Root, "Bob", client.P256),
			first: newAuthenticator(t), second: newAuthenticator(t), third: newAuthenticator(t),
		}
		p.adds(t)
		p.reads(t)
		p.submits(t)
		p.refuses(t)
		p.keepsLastCredential(t)
	})
}

// passkeyStory is Ada with three passkeys, and Bob.
type passkeyStory struct {
	*Server
	ada, bob             *Caller
	first, second, third authenticator
	ids                  []string // of Ada's passkeys
}

func (p *passkeyStory) create(keys ...any) m {
	return m{"userId": p.ada.UserID, "authenticators": keys}
}

func (p *passkeyStory) remove(ids ...any) m {
	return m{"userId": p.ada.UserID, "authenticatorIds": ids}
}

// adds adds two passkeys in the newest version and one in the first.
func (p *passkeyStory) adds(t *testing.T) {
	activity := p.ada.Submit(t, "create_authenticators", p.create(p.first.params("first", internal), p.second.params("second", usb)))
	if !activity.Get("result", "activity", "result").Has("createAuthenticatorsResult") || !activity.Get("intent").Has("createAuthenticatorsIntentV2") {
		t.Errorf("activity: %v", activity)
	}
	v1 := p.third.paramsV1("third")
	v1["userId"] = p.ada.UserID
	old := p.ada.MustPost(t, "create_authenticators", p.ada.BodyOf(t, "ACTIVITY_TYPE_CREATE_AUTHENTICATORS", p.create(v1))).Get("activity")
	if diff := cmp.Diff(any(p.create(v1)), old.Get("intent", "createAuthenticatorsIntent").Any); diff != "" {
		t.Errorf("intent of version 1 (-sent +echoed):\n%s", diff)
	}
	for _, a := range []Value{activity, old} {
		p.ids = append(p.ids, texts(a.Get("result", "createAuthenticatorsResult", "authenticatorIds"))...)
	}
}

func (p *passkeyStory) reads(t *testing.T) {
	listed := p.bob.Query(t, "get_authenticators", m{"userId": p.ada.UserID}).Get("authenticators").List()
	if len(listed) != 3 || len(p.ids) != 3 {
		t.Fatalf("Ada's passkeys: %v", listed)
	}
	for i, name := range []string{"first", "second", "third"} {
		if listed[i].Get("authenticatorName").Text() != name || listed[i].Get("authenticatorId").Text() != p.ids[i] {
			t.Errorf("passkey %d: %v", i, listed[i])
		}
		one := p.bob.Query(t, "get_authenticator", m{"authenticatorId": p.ids[i]}).Get("authenticator")
		if one.String() != listed[i].String() {
			t.Errorf("read alone: %v", one)
		}
	}
	for _, key := range []authenticator{p.first, p.second, p.third} {
		if got := key.as(p.Root).Query(t, "whoami", nil).Get("userId").Text(); got != p.ada.UserID {
			t.Errorf("whoami is %s", got)
		}
	}
}

// submits deletes the second passkey by the first; the vote says so.
func (p *passkeyStory) submits(t *testing.T) {
	vote := p.first.as(p.ada).Submit(t, "delete_authenticators", p.remove(p.ids[1])).Get("votes", 0)
	if vote.Get("scheme").Text() != "SIGNATURE_SCHEME_TK_WEBAUTHN" || vote.Get("publicKey").Text() != passkeytest.Encode(p.first.COSEKey()) {
		t.Errorf("vote: %v", vote)
	}
	p.second.as(p.ada).Refused(t, 401, "whoami", nil)
	p.first.as(p.ada).Query(t, "whoami", nil)
}

func (p *passkeyStory) refuses(t *testing.T) {
	unchanged := usersUnchanged(t, p.Server)
	absent, firstID := newAuthenticator(t), p.ids[0]
	otherUser := m{"userId": unknownID, "authenticators": []any{absent.params("x")}}
	forBob := m{"userId": p.bob.UserID, "authenticators": []any{p.first.params("x")}}
	refuseAll(t, []refusedRequest{
		{"for another user", p.bob, "create_authenticators", 403, "FORBIDDEN", p.create(absent.params("x"))},
		{"deleting another user's", p.bob, "delete_authenticators", 403, "FORBIDDEN", p.remove(firstID)},
		{"twice", p.ada, "create_authenticators", 409, "CREDENTIAL_CONFLICT", p.create(p.first.params("again"))},
		{"twice in a request", p.ada, "create_authenticators", 409, "CREDENTIAL_CONFLICT", p.create(absent.params("a"), absent.params("b"))},
		{"of another user", p.bob, "create_authenticators", 409, "CREDENTIAL_CONFLICT", forBob},
		{"all or nothing", p.ada, "create_authenticators", 409, "CREDENTIAL_CONFLICT", p.create(absent.params("new"), p.first.params("taken"))},
		{"for an unknown user", p.Root, "create_authenticators", 404, "REQUEST_INVALID", otherUser},
		{"unknown", p.ada, "delete_authenticators", 404, "REQUEST_INVALID", p.remove(unknownID)},
		{"known and unknown", p.ada, "delete_authenticators", 404, "REQUEST_INVALID", p.remove(firstID, unknownID)},
		{"another one's under one's own id", p.bob, "delete_authenticators", 404, "REQUEST_INVALID", m{"userId": p.bob.UserID, "authenticatorIds": []any{firstID}}},
		{"of an unknown user", p.Root, "get_authenticators", 404, "REQUEST_INVALID", m{"userId": unknownID}},
		{"reading an unknown one", p.Root, "get_authenticator", 404, "REQUEST_INVALID", m{"authenticatorId": unknownID}},
	})
	t.Run("for another user by version 1", func(t *testing.T) {
		v1 := absent.paramsV1("x")
		v1["userId"] = p.bob.UserID
		body := p.ada.BodyOf(t, "ACTIVITY_TYPE_CREATE_AUTHENTICATORS", p.create(v1))
		wantField(t, p.ada.RefusedBody(t, 400, "create_authenticators", body), "authenticators.0.userId")
	})
	unchanged()
}

// keepsLastCredential has a root user delete what Ada can do without.
func (p *passkeyStory) keepsLastCredential(t *testing.T) {
	key := p.Root.Query(t, "get_api_keys", m{"userId": p.ada.UserID}).Get("apiKeys", 0, "apiKeyId").Text()
	p.ada.Submit(t, "delete_api_keys", m{"userId": p.ada.UserID, "apiKeyIds": []any{key}})
	p.Root.Submit(t, "delete_authenticators", p.remove(p.ids[2]))
	refusal := p.Root.Refused(t, 400, "delete_authenticators", p.remove(p.ids[0]))
	if !strings.Contains(refusal.Get("message").Text(), "user missing valid credential") {
		t.Errorf("refusal: %v", refusal)
	}
	p.first.as(p.ada).Query(t, "whoami", nil)
}

// TestAttestationRefused sends registrations that no authenticator made.
func TestAttestationRefused(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		key, other := newAuthenticator(t), newAuthenticator(t)
		good, foreign := key.params("k"), other.params("k")
		for _, c := range []struct {
			name, field, fieldV1 string
			spoil                func(params, attestation m)
		}{
			{"another challenge", "challenge", "challenge", func(p, _ m) { p["challenge"] = "AAAA" }},
			{"another id", "attestation.credentialId", "attestation.rawId", func(_, a m) { a["credentialId"] = "AAAA" }},
			{
				"client data of a login", "attestation.clientDataJson", "attestation.response.clientDataJson",
				func(_, a m) {
					a["clientDataJson"] = passkeytest.Encode(passkeytest.ClientData("webauthn.get", challenge, key.origin))
				},
			},
			{"object of another", "attestation.credentialId", "attestation.rawId", func(_, a m) { a["attestationObject"] = foreign["attestation"].(m)["attestationObject"] }},
			{"no object", "attestation.attestationObject", "attestation.response.attestationObject", func(_, a m) { a["attestationObject"] = "oA" }},
		} {
			t.Run(c.name, func(t *testing.T) {
				spoilt := m{"authenticatorName": "k", "challenge": challenge, "attestation": m{}}
				for name, value := range good["attestation"].(m) {
					spoilt["attestation"].(m)[name] = value
				}
				c.spoil(spoilt, spoilt["attestation"].(m))
				params := m{"userId": s.Root.UserID, "authenticators": []any{good, spoilt}}
				refusal := s.Root.Refused(t, 400, "create_authenticators", params)
				wantField(t, refusal, "authenticators.1."+c.field)
				if !strings.Contains(refusal.Get("message").Text(), "invalid authenticator attestation") {
					t.Errorf("message: %v", refusal)
				}
				wantField(t, s.Root.Refused(t, 400, "create_users", users(user("x", m{"authenticators": []any{spoilt}}))), "users.0.authenticators.0."+c.field)
				wantField(t, s.Root.Refused(t, 400, "recover_user", m{"userId": s.Root.UserID, "authenticator": spoilt}), "authenticator."+c.field)

				v1 := key.paramsV1("k")
				v1["challenge"] = spoilt["challenge"]
				a := v1["attestation"].(m)
				a["id"], a["rawId"] = spoilt["attestation"].(m)["credentialId"], spoilt["attestation"].(m)["credentialId"]
				a["response"].(m)["clientDataJson"] = spoilt["attestation"].(m)["clientDataJson"]
				a["response"].(m)["attestationObject"] = spoilt["attestation"].(m)["attestationObject"]
				body := s.Root.BodyOf(t, "ACTIVITY_TYPE_CREATE_USERS", users(m{"userName": "x", "authenticators": []any{v1}}))
				wantField(t, s.Root.RefusedBody(t, 400, "create_users", body), "users.0.authenticators.0."+c.fieldV1)
			})
		}
		t.Run("two ids", func(t *testing.T) {
			v1 := key.paramsV1("k")
			v1["attestation"].(m)["id"] = "AAAA"
			body := s.Root.BodyOf(t, "ACTIVITY_TYPE_CREATE_USERS", users(m{"userName": "x", "authenticators": []any{v1}}))
			wantField(t, s.Root.RefusedBody(t, 400, "create_users", body), "users.0.authenticators.0.attestation.rawId")
		})
		// What cannot be right is not even recorded.
		if all := s.Root.Query(t, "list_activities", nil).Get("activities").List(); len(all) != 0 {
			t.Errorf("recorded: %v", all)
		}
	})
}

// TestAuthenticatorLimit refuses the eleventh passkey, however it comes.
func TestAuthenticatorLimit(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		list := func(n int) []any {
			var all []any
			for i := range n {
				all = append(all, newAuthenticator(t).params(fmt.Sprint("key ", i)))
			}
			return all
		}
		exhausted := func(operation string, params m) {
			t.Helper()
			refusal := s.Root.Refused(t, 429, operation, params)
			if refusal.Get("code").Number() != 8 || !strings.HasPrefix(refusal.Get("message").Text(), "user has exceeded maximum authenticators") {
				t.Errorf("refusal: %v", refusal)
			}
		}
		exhausted("create_users", users(user("Eleven", m{"authenticators": list(11)})))
		id := s.Root.Submit(t, "create_users", users(user("Ten", m{"authenticators": list(10)}))).
			Get("result", "createUsersResult", "userIds", 0).Text()
		exhausted("create_authenticators", m{"userId": id, "authenticators": list(1)})
		if got := s.Root.Query(t, "get_authenticators", m{"userId": id}).Get("authenticators").List(); len(got) != 10 {
			t.Errorf("%d passkeys", len(got))
		}
	})
}

// TestOrigins holds registrations and stamps to the pages that the organization
// allows.
func TestOrigins(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		set := func(value string) {
			t.Helper()
			s.Root.Submit(t, "set_organization_feature", m{"name": "FEATURE_NAME_WEBAUTHN_ORIGINS", "value": value})
		}
		before, after, evil := newAuthenticator(t), newAuthenticator(t), newAuthenticator(t)
		evil.origin = "https://evil.example"
		create := func(key authenticator) m { return m{"userId": s.Root.UserID, "authenticators": []any{key.params("k")}} }
		s.Root.Submit(t, "create_authenticators", create(before))
		set("https://wallet.example,http://localhost:3000")
		before.as(s.Root).Query(t, "whoami", nil)
		s.Root.Submit(t, "create_authenticators", create(after))
		refusal := s.Root.Refused(t, 400, "create_authenticators", create(evil))
		if !strings.Contains(refusal.Get("message").Text(), "FEATURE_NAME_WEBAUTHN_ORIGINS") {
			t.Errorf("refusal: %v", refusal)
		}
		set("https://wallet.example")
		after.as(s.Root).Refused(t, 401, "whoami", nil)
		set("*")
		s.Root.Submit(t, "create_authenticators", create(evil))
		after.as(s.Root).Query(t, "whoami", nil)
	})
}

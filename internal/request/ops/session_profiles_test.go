package ops_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"latchkey/client"
	. "latchkey/internal/test/servertest"
)

// profiled logs a user in with a session profile, and returns the session and the
// claims of its token.
func profiled(t testing.TB, s *Server, c *Caller, profile string, more ...any) (*Caller, Value) {
	t.Helper()
	session := s.Stranger(t, c)
	params := m{"publicKey": session.Key.PublicKey(), "sessionProfileId": profile}
	for i := 0; i < len(more); i += 2 {
		params[more[i].(string)] = more[i+1]
	}
	return session, claimsOf(t, c.Submit(t, "stamp_login", params).Get("result", "stampLoginResult", "session").Text())
}

func newProfile(t testing.TB, c *Caller, name, scope string, more ...any) string {
	t.Helper()
	params := m{"sessionProfileName": name, "scope": scope}
	for i := 0; i < len(more); i += 2 {
		params[more[i].(string)] = more[i+1]
	}
	return c.Submit(t, "create_session_profile", params).Get("result", "createSessionProfileResult", "sessionProfileId").Text()
}

// TestSessionProfiles creates profiles, which a sub-organization sees too, and
// logs in with them.
func TestSessionProfiles(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		child := newChild(t, s, s.Root, "Child")
		signs := newProfile(t, s.Root, "signing only", "activity.action == 'SIGN'", "expirationSeconds", "600", "notes", "for pages")
		own := newProfile(t, child, "child's own", "true")
		got := child.Query(t, "get_session_profile", m{"sessionProfileId": signs}).Get("sessionProfile")
		if got.Get("sessionProfileName").Text() != "signing only" || got.Get("scope").Text() != "activity.action == 'SIGN'" ||
			got.Get("expirationSeconds").Text() != "600" || got.Get("notes").Text() != "for pages" || !got.Has("createdAt") {
			t.Errorf("profile: %v", got)
		}
		ids := func(c *Caller) (all []string) {
			for _, p := range c.Query(t, "get_session_profiles", m{}).Get("sessionProfiles").List() {
				all = append(all, p.Get("sessionProfileId").Text())
			}
			return all
		}
		if of, parents := ids(child), ids(s.Root); fmt.Sprint(of) != fmt.Sprint([]string{own, signs}) || fmt.Sprint(parents) != fmt.Sprint([]string{signs}) {
			t.Errorf("of the child: %v, of the parent: %v", of, parents)
		}

		before := time.Now()
		session, claims := profiled(t, s, child, signs, "expirationSeconds", "3600")
		if claims.Get("session_type").Text() != "signing only" || claims.Get("session_profile_id").Text() != signs ||
			claims.Get("scope").Text() != "activity.action == 'SIGN'" || claims.Get("exp").Number() > float64(time.Now().Unix()+600) ||
			claims.Get("exp").Number() < float64(before.Unix()+600) {
			t.Errorf("claims: %v", claims)
		}
		keys := child.Query(t, "get_api_keys", m{}).Get("apiKeys").List()
		last := keys[len(keys)-1]
		if last.Get("credential", "sessionProfileId").Text() != signs || last.Get("expirationSeconds").Text() != "600" || keys[0].Get("credential").Has("sessionProfileId") {
			t.Errorf("keys: %v", keys)
		}
		for seconds, want := range map[string]float64{"60": 60, "": 600} {
			var more []any
			if seconds != "" {
				more = []any{"expirationSeconds", seconds}
			}
			if _, c := profiled(t, s, child, signs, more...); c.Get("exp").Number() > float64(time.Now().Unix())+want || c.Get("exp").Number() < float64(before.Unix())+want {
				t.Errorf("%q seconds: %v", seconds, c)
			}
		}
		session.Query(t, "whoami", m{}) // questions are not limited

		// A profile of another organization is none.
		stranger := s.CreateOrganization(t, "Other organization")
		key := s.Stranger(t, child).Key.PublicKey()
		for _, c := range []*Caller{stranger, newChild(t, s, stranger, "Other child")} {
			c.Refused(t, http.StatusNotFound, "get_session_profile", m{"sessionProfileId": signs})
			c.Refused(t, http.StatusNotFound, "stamp_login", m{"publicKey": key, "sessionProfileId": signs})
		}
		s.Root.Refused(t, http.StatusNotFound, "stamp_login", m{"publicKey": key, "sessionProfileId": own})
		s.Root.Refused(t, http.StatusConflict, "create_session_profile", m{"sessionProfileName": "signing only", "scope": "true"})
		for scope, want := range map[string]string{"activity.action = 'SIGN'": "scope", "approvers.count() > 1": "approvers", "": "scope"} {
			refusal := s.Root.Refused(t, http.StatusBadRequest, "create_session_profile", m{"sessionProfileName": "bad", "scope": scope})
			if !strings.Contains(refusal.String(), want) {
				t.Errorf("%q: %v", scope, refusal)
			}
		}
		s.NewUser(t, s.Root, "Eve", client.P256).Refused(t, http.StatusForbidden, "create_session_profile", m{"sessionProfileName": "hers", "scope": "true"})
	})
}

// TestSessionScope judges every activity of a session by the scope of its profile.
func TestSessionScope(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		wallet := s.Root.Submit(t, "create_wallet", m{"walletName": "wallet", "accounts": []any{ethereumAccount}}).Get("result", "createWalletResult")
		id, address := wallet.Get("walletId").Text(), wallet.Get("addresses", 0).Text()
		sign := m{"signWith": address, "payload": strings.Repeat("ab", 32), "encoding": "PAYLOAD_ENCODING_HEXADECIMAL", "hashFunction": "HASH_FUNCTION_NO_OP"}
		tag := func(name string) m { return m{"userTagName": name, "userIds": []any{}} }
		login := func() m { return m{"publicKey": s.Stranger(t, s.Root).Key.PublicKey()} }

		signs, _ := profiled(t, s, s.Root, newProfile(t, s.Root, "signs", "activity.action == 'SIGN'"))
		signs.Submit(t, "sign_raw_payload", sign)
		refusal := signs.Refused(t, http.StatusForbidden, "create_user_tag", tag("out of scope"))
		if refusal.Get("code").Number() != 7 || !strings.Contains(refusal.Get("message").Text(), "scope of the session profile") {
			t.Errorf("refusal: %v", refusal)
		}
		// Not even itself can it prolong, nor make a credential without the limit.
		for operation, params := range map[string]m{
			"stamp_login": login(), "create_read_only_session": {}, "create_read_write_session": {"targetPublicKey": NewRecipient(t).PublicKey()},
			"create_api_keys": {"userId": s.Root.UserID, "apiKeys": []any{m{"apiKeyName": "key", "publicKey": login()["publicKey"], "curveType": "API_KEY_CURVE_P256"}}},
			"export_wallet":   {"walletId": id, "targetPublicKey": NewRecipient(t).PublicKey()},
		} {
			signs.Refused(t, http.StatusForbidden, operation, params)
		}
		// The refusal is on record, and the same bytes get it again.
		body := signs.Body(t, "create_user_tag", tag("twice"))
		first, second := signs.RefusedBody(t, http.StatusForbidden, "create_user_tag", body), signs.RefusedBody(t, http.StatusForbidden, "create_user_tag", body)
		if first.String() != second.String() {
			t.Errorf("%v, then %v", first, second)
		}
		if a := s.Root.Query(t, "list_activities", m{}).Get("activities", 0); a.Get("status").Text() != "ACTIVITY_STATUS_FAILED" || a.Get("type").Text() != "ACTIVITY_TYPE_CREATE_USER_TAG" {
			t.Errorf("newest activity: %v", a)
		}

		// What the request does not have cannot fulfil the scope.
		ofWallet, _ := profiled(t, s, s.Root, newProfile(t, s.Root, "wallet", "wallet.id == '"+id+"'"))
		ofWallet.Submit(t, "sign_raw_payload", sign)
		ofWallet.Refused(t, http.StatusForbidden, "create_user_tag", tag("no wallet"))
		other := s.Root.Submit(t, "create_wallet", m{"walletName": "other", "accounts": []any{ethereumAccount}}).Get("result", "createWalletResult", "addresses", 0).Text()
		foreign := m{"signWith": other, "payload": sign["payload"], "encoding": sign["encoding"], "hashFunction": sign["hashFunction"]}
		ofWallet.Refused(t, http.StatusForbidden, "sign_raw_payload", foreign)

		// Explanations say the same.
		explain := func(c *Caller) Value {
			body := fmt.Appendf(nil, `{"organizationId":%q,"type":"ACTIVITY_TYPE_CREATE_USER_TAG","parameters":{"userTagName":"x","userIds":[]}}`, s.Root.OrganizationID)
			name, stamp, err := c.Stamper.Stamp(body)
			if err != nil {
				t.Fatal(err)
			}
			return Send(t, http.MethodPost, s.URL+"/latchkey/v1/explain", http.Header{name: {stamp}}, body).JSON(t)
		}
		if got := explain(signs); got.Get("outcome").Text() != "DENY" || !strings.Contains(got.Get("reason").Text(), "scope") {
			t.Errorf("explained: %v", got)
		}
		if got := explain(s.Root); got.Get("outcome").Text() != "ALLOW" {
			t.Errorf("explained to the root user: %v", got)
		}
	})
}

// TestSessionScopeOfVotes lets a session vote only on what it could do itself, and
// only if its scope includes votes.
func TestSessionScopeOfVotes(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ben := s.NewUser(t, s.Root, "Ben", client.P256)
		s.Root.Submit(t, "update_root_quorum", m{"threshold": 2, "userIds": []any{s.Root.UserID, ben.UserID}})
		approve := func(c *Caller, operation string, params m) m {
			return m{"fingerprint": c.MustPost(t, operation, c.Body(t, operation, params)).Get("activity", "fingerprint").Text()}
		}
		// The profiles wait for the second vote, too.
		profile := func(name, scope string) string {
			fingerprint := approve(s.Root, "create_session_profile", m{"sessionProfileName": name, "scope": scope})
			return ben.Submit(t, "approve_activity", fingerprint).Get("result", "createSessionProfileResult", "sessionProfileId").Text()
		}
		signs, _ := profiled(t, s, ben, profile("signs", "activity.action == 'SIGN'"))
		noUsers, _ := profiled(t, s, ben, profile("no users", "activity.resource != 'USER'"))
		all, _ := profiled(t, s, ben, profile("all", "true"))

		params := m{"userTagName": "tag", "userIds": []any{}}
		body := s.Root.Body(t, "create_user_tag", params)
		waiting := s.Root.MustPost(t, "create_user_tag", body).Get("activity")
		vote := m{"fingerprint": waiting.Get("fingerprint").Text()}
		signs.Refused(t, http.StatusForbidden, "approve_activity", vote)
		signs.Refused(t, http.StatusForbidden, "reject_activity", vote)
		noUsers.Refused(t, http.StatusForbidden, "approve_activity", vote)
		noUsers.RefusedBody(t, http.StatusForbidden, "create_user_tag", body) // the same bytes are a vote
		if got := s.Root.Query(t, "get_activity", m{"activityId": waiting.Get("id").Text()}).Get("activity"); got.Get("status").Text() != "ACTIVITY_STATUS_CONSENSUS_NEEDED" || len(got.Get("votes").List()) != 1 {
			t.Errorf("activity: %v", got)
		}
		if got := all.Submit(t, "approve_activity", vote); got.Get("status").Text() != "ACTIVITY_STATUS_COMPLETED" {
			t.Errorf("activity: %v", got)
		}
	})
}

// TestProfileOfCodeLogin limits a login by a code that was mailed.
func TestProfileOfCodeLogin(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		o := &otpStory{Server: s}
		o.child = newChild(t, s, s.Root, "Child", func(user, _ m) { user["userEmail"] = "owner@example.com" })
		o.key, o.parent = s.Stranger(t, o.child), as(s.Root, o.child.OrganizationID)
		profile := newProfile(t, s.Root, "reads", "false")
		o.verifies(t)
		session := o.parent.Submit(t, "otp_login", m{
			"verificationToken": o.token, "publicKey": o.key.Key.PublicKey(), "sessionProfileId": profile,
			"clientSignature": clientSignature(t, o.key, o.key, o.message),
		}).Get("result", "otpLoginResult", "session").Text()
		if got := claimsOf(t, session).Get("session_profile_id").Text(); got != profile {
			t.Errorf("claims: %v", claimsOf(t, session))
		}
		o.key.Query(t, "whoami", m{})
		o.key.Refused(t, http.StatusForbidden, "create_user_tag", m{"userTagName": "tag", "userIds": []any{}})
	})
}

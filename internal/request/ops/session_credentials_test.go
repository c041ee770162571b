package ops_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"latchkey/client"
	"latchkey/internal/request/decide"
	"latchkey/internal/request/ops"
	"latchkey/internal/test/oidctest"
	. "latchkey/internal/test/servertest"
)

const sessionLock = "FEATURE_NAME_SESSIONS_ADD_NO_CREDENTIALS"

// logIn opens a session of an hour.
func logIn(t *testing.T, s *Server, c *Caller) *Caller {
	t.Helper()
	session := s.Stranger(t, c)
	session.UserID = c.UserID
	c.Submit(t, "stamp_login", m{"publicKey": session.Key.PublicKey(), "expirationSeconds": "3600"})
	return session
}

// attempt is a request by which a session would outlive itself.
type attempt struct {
	typ    string
	params m
}

func (a attempt) name() string {
	version := regexp.MustCompile(`_V\d+$`)
	return strings.ToLower(version.ReplaceAllString(strings.TrimPrefix(a.typ, "ACTIVITY_TYPE_"), ""))
}

func (a attempt) post(t *testing.T, c *Caller) Reply {
	t.Helper()
	return c.Post(t, a.name(), c.BodyOf(t, a.typ, a.params))
}

// attempts are all of them, with fresh keys and names.
func attempts(t *testing.T, s *Server, c *Caller, issuer *oidctest.Issuer, round string) []attempt {
	t.Helper()
	key := func() string { return s.Stranger(t, c).Key.PublicKey() }
	apiKey := func(more m) m {
		params := m{"apiKeyName": "k " + round, "publicKey": key(), "curveType": "API_KEY_CURVE_P256"}
		for name, v := range more {
			params[name] = v
		}
		return params
	}
	onP256 := m{"apiKeyName": "k " + round, "publicKey": key()}
	own := func(member string, list ...any) m { return m{"userId": c.UserID, member: list} }
	const create = "ACTIVITY_TYPE_CREATE_"
	return []attempt{
		{create + "API_KEYS_V2", own("apiKeys", apiKey(nil))},
		{create + "API_KEYS", own("apiKeys", onP256)},
		{create + "API_KEYS_V2", own("apiKeys", apiKey(m{"expirationSeconds": "7200"}))},
		{create + "API_KEYS_V2", own("apiKeys", apiKey(m{"expirationSeconds": "60"}), apiKey(nil))},
		{create + "API_KEYS_V2", own("apiKeys", apiKey(m{"expirationSeconds": "18446744073709551615"}))},
		{create + "AUTHENTICATORS_V2", own("authenticators", newAuthenticator(t).params("p "+round))},
		{create + "AUTHENTICATORS", own("authenticators", newAuthenticator(t).paramsV1("q "+round))},
		{create + "OAUTH_PROVIDERS_V2", own("oauthProviders", byToken(issuer, "Web "+round, "v2"+round, "web"))},
		{create + "OAUTH_PROVIDERS", own("oauthProviders", byToken(issuer, "Old "+round, "v1"+round, "web"))},
		{create + "USERS_V4", users(user("By key "+round, m{"apiKeys": []any{apiKey(nil)}}))},
		{create + "USERS_V4", users(user("By mail "+round, m{"userEmail": "mail" + round + "@example.com"}))},
		{create + "USERS_V3", users(user("Older "+round, m{"apiKeys": []any{apiKey(nil)}}))},
		{create + "READ_WRITE_SESSION_V2", m{"targetPublicKey": NewRecipient(t).PublicKey(), "expirationSeconds": "7200"}},
		{create + "READ_WRITE_SESSION", m{"targetPublicKey": NewRecipient(t).PublicKey(), "email": "owner@example.com", "expirationSeconds": "7200"}},
		{"ACTIVITY_TYPE_STAMP_LOGIN", m{"publicKey": key(), "expirationSeconds": "7200"}},
		{"ACTIVITY_TYPE_UPDATE_USER", m{"userId": c.UserID, "userEmail": "owner@example.com"}},
		{"ACTIVITY_TYPE_UPDATE_USER", m{"userId": c.UserID, "userPhoneNumber": "+14155550101"}},
		{"ACTIVITY_TYPE_UPDATE_USER_EMAIL", m{"userId": c.UserID, "userEmail": "owner@example.com"}},
		{"ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER", m{"userId": c.UserID, "userPhoneNumber": "+14155550101"}},
		{"ACTIVITY_TYPE_UPDATE_ROOT_QUORUM", m{"threshold": 1, "userIds": []any{c.UserID}}},
		{"ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE", m{"name": sessionLock}},
	}
}

// wantOutlived checks the refusal of a session, which says what would be right.
func wantOutlived(t *testing.T, what string, r Reply) {
	t.Helper()
	if r.Status != 403 {
		t.Errorf("%s by a session: HTTP %d: %s", what, r.Status, r.Body)
		return
	}
	message := r.JSON(t).Get("message").Text()
	if !strings.Contains(message, sessionLock) || !strings.Contains(message, "API key that does not expire") {
		t.Errorf("%s: %s", what, message)
	}
}

// TestSessionsAddNoCredentials: a session may make itself permanent, as published
// clients need it, unless the organization forbids that. Then no operation lets
// it, and a lasting credential still may.
func TestSessionsAddNoCredentials(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		issuer := oidctest.Start(t)
		s.Root.Submit(t, "update_user_email", m{"userId": s.Root.UserID, "userEmail": "owner@example.com"})
		for _, a := range attempts(t, s, s.Root, issuer, "1") {
			if r := a.post(t, logIn(t, s, s.Root)); r.Status != 200 {
				t.Errorf("%s, not forbidden: HTTP %d: %s", a.typ, r.Status, r.Body)
			}
		}
		session := logIn(t, s, s.Root)
		session.Submit(t, "set_organization_feature", m{"name": sessionLock, "value": ""})
		state := func() string {
			return s.Root.Query(t, "list_users", nil).String() + s.Root.Query(t, "get_organization_configs", nil).String()
		}
		before := state()
		for _, a := range attempts(t, s, s.Root, issuer, "2") {
			wantOutlived(t, a.typ, a.post(t, session))
		}
		if after := state(); after != before {
			t.Errorf("refused requests changed something:\nbefore %s\nafter  %s", before, after)
		}
		sessionMayDoTheRest(t, s, session)
		passkey := newAuthenticator(t)
		s.Root.Submit(t, "create_authenticators", m{"userId": s.Root.UserID, "authenticators": []any{passkey.params("lasting")}})
		passkey.as(s.Root).Submit(t, "create_api_keys", m{"userId": s.Root.UserID, "apiKeys": []any{
			m{"apiKeyName": "by passkey", "publicKey": s.Stranger(t, s.Root).Key.PublicKey(), "curveType": "API_KEY_CURVE_P256"},
		}})
		for _, a := range attempts(t, s, s.Root, issuer, "3") {
			if r := a.post(t, s.Root); r.Status != 200 {
				t.Errorf("%s by a lasting key: HTTP %d: %s", a.typ, r.Status, r.Body)
			}
		}
	})
}

// sessionMayDoTheRest: what ends with the session, or adds nothing, is as it was.
func sessionMayDoTheRest(t *testing.T, s *Server, session *Caller) {
	t.Helper()
	until := func(seconds string) m {
		return m{"publicKey": s.Stranger(t, session).Key.PublicKey(), "expirationSeconds": seconds}
	}
	session.Submit(t, "stamp_login", until("60"))
	session.Submit(t, "create_read_write_session", m{"targetPublicKey": NewRecipient(t).PublicKey()}) // 15 minutes
	short := until("60")
	short["apiKeyName"], short["curveType"] = "short", "API_KEY_CURVE_P256"
	session.Submit(t, "create_api_keys", m{"userId": session.UserID, "apiKeys": []any{short}})
	session.Submit(t, "create_read_only_session", m{})
	session.Submit(t, "update_user", m{"userId": session.UserID, "userName": "Owner"})
	session.Submit(t, "update_user_phone_number", m{"userId": session.UserID, "userPhoneNumber": ""})
	session.Submit(t, "remove_organization_feature", m{"name": "FEATURE_NAME_SMS_AUTH"})
	session.Submit(t, "create_wallet", m{"walletName": "By session", "accounts": []any{}})
	session.Refused(t, 403, "recover_user", m{"userId": session.UserID, "authenticator": newAuthenticator(t).params("recovered")})
	// A code proves anew who logs in.
	login := s.Stranger(t, session)
	token := verifiedToken(t, s, session, "owner@example.com", login.Key.PublicKey())
	session.MustPost(t, "otp_login", session.BodyOf(t, "ACTIVITY_TYPE_OTP_LOGIN", m{
		"verificationToken": token, "publicKey": login.Key.PublicKey(), "expirationSeconds": "7200",
	}))
	login.Query(t, "whoami", nil)
	explained(t, s, session, "DENY")
	explained(t, s, s.Root, "ALLOW")
}

// explained asks what would become of a change that outlives a session.
func explained(t *testing.T, s *Server, c *Caller, want string) {
	t.Helper()
	body := marshal(t, m{
		"type": "ACTIVITY_TYPE_UPDATE_USER_EMAIL", "organizationId": c.OrganizationID,
		"parameters": m{"userId": c.UserID, "userEmail": "new@example.com"},
	})
	name, stamp, err := c.Stamper.Stamp(body)
	if err != nil {
		t.Fatal(err)
	}
	reply := Send(t, http.MethodPost, s.URL+"/latchkey/v1/explain", http.Header{name: {stamp}}, body).JSON(t)
	if reply.Get("outcome").Text() != want || strings.Contains(reply.Get("reason").Text(), sessionLock) != (want == "DENY") {
		t.Errorf("explained: %v", reply)
	}
}

// TestSessionsOfChildrenAddNoCredentials: what a parent forbids is forbidden in
// its children, whose users are often their own root quorum.
func TestSessionsOfChildrenAddNoCredentials(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		issuer := oidctest.Start(t)
		child := newChild(t, s, s.Root, "Child", func(user, _ m) { user["userEmail"] = "owner@example.com" })
		session := logIn(t, s, child)
		s.Root.Submit(t, "set_organization_feature", m{"name": sessionLock, "value": "true"})
		for _, a := range attempts(t, s, child, issuer, "1") {
			wantOutlived(t, a.typ, a.post(t, session))
		}
		for _, a := range attempts(t, s, child, issuer, "2") {
			if r := a.post(t, child); r.Status != 200 {
				t.Errorf("%s by a lasting key: HTTP %d: %s", a.typ, r.Status, r.Body)
			}
		}
		s.Root.Submit(t, "remove_organization_feature", m{"name": sessionLock})
		session.Submit(t, "update_user_email", m{"userId": child.UserID, "userEmail": "other@example.com"})
	})
}

// TestSessionsApproveNoCredentials: a session that may not add a credential does
// not help another user's request to it, and a policy is no way around.
func TestSessionsApproveNoCredentials(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		bob := s.NewUser(t, s.Root, "Bob", client.P256)
		s.Root.Submit(t, "create_policy", m{
			"policyName": "users", "effect": "EFFECT_ALLOW", "notes": "",
			"condition": "activity.resource == 'USER' && activity.action == 'CREATE'",
		})
		roots := func(threshold int) m { return m{"threshold": threshold, "userIds": []any{s.Root.UserID, ada.UserID}} }
		s.Root.Submit(t, "update_root_quorum", roots(2))
		bySession := logIn(t, s, ada).Submit(t, "update_root_quorum", roots(1))
		set := s.Root.Submit(t, "set_organization_feature", m{"name": sessionLock, "value": ""})
		logIn(t, s, ada).Submit(t, "approve_activity", m{"fingerprint": set.Get("fingerprint").Text()})

		// What a session submitted before fails at the vote that would complete it.
		done := s.Root.Submit(t, "approve_activity", m{"fingerprint": bySession.Get("fingerprint").Text()})
		if done.Get("status").Text() != "ACTIVITY_STATUS_FAILED" || !strings.Contains(done.String(), sessionLock) {
			t.Errorf("a session's request that waited: %v", done)
		}
		// The approval of a session is refused, as a vote and as the same bytes.
		params := roots(1)
		body := s.Root.Body(t, "update_root_quorum", params)
		waiting := s.Root.MustPost(t, "update_root_quorum", body).Get("activity")
		session := logIn(t, s, ada)
		approval := m{"fingerprint": waiting.Get("fingerprint").Text()}
		wantOutlived(t, "an approval", session.Post(t, "approve_activity", session.Body(t, "approve_activity", approval)))
		wantOutlived(t, "the same bytes", session.Post(t, "update_root_quorum", body))
		if votes := s.Root.Query(t, "get_activity", m{"activityId": waiting.Get("id").Text()}).Get("activity", "votes").List(); len(votes) != 1 {
			t.Errorf("votes: %v", votes)
		}
		if done := ada.Submit(t, "approve_activity", approval); done.Get("status").Text() != "ACTIVITY_STATUS_COMPLETED" {
			t.Errorf("with a lasting key: %v", done)
		}
		// A policy that allows it to everyone does not allow it to a session.
		create := func() m { return users(user("U"+newKey(t, s), m{"userEmail": "u@example.com"})) }
		refused := logIn(t, s, bob)
		wantOutlived(t, "create_users under a policy", refused.Post(t, "create_users", refused.Body(t, "create_users", create())))
		bob.Submit(t, "create_users", create())
		// Rejecting adds nothing.
		s.Root.Submit(t, "update_root_quorum", roots(2))
		waiting = s.Root.Submit(t, "update_root_quorum", roots(1))
		session.Submit(t, "reject_activity", m{"fingerprint": waiting.Get("fingerprint").Text()})
	})
}

func newKey(t *testing.T, s *Server) string { return s.Stranger(t, s.Root).Key.PublicKey()[:16] }

// TestCredentialsAreDeclared finds an operation that takes a credential, or what
// comes to the same, and does not say that it adds one.
func TestCredentialsAreDeclared(t *testing.T) {
	elsewhere := []string{
		"create_sub_organization",                                             // adds users to an organization that it makes
		"email_auth", "init_otp", "init_otp_auth", "init_user_email_recovery", // sent to the user's own contact
		"oauth", "oauth_login", "otp_auth", "otp_login", "verify_otp", // proves anew who the user is
		"recover_user",                                                       // by a recovery key only
		"delete_api_keys", "delete_authenticators", "delete_oauth_providers", // takes away
		"export_private_key", "export_wallet", "export_wallet_account", "export_secrets", // the key is what an export is sealed to
		"oauth2_authenticate",      // the key is what the provider's token is sealed to
		"import_secrets",           // the key is what the import was sealed to
		"set_organization_feature", // locks, and never unlocks
		"create_velocity_control",  // the threshold is that of a limit
		"update_auth_proxy_config", // the address is the one that mails are sent from
	}
	credential := regexp.MustCompile(`(?i)"[a-z]*(apikey|authenticator|oauth|email|phone|publickey|quorum|threshold|contact)[a-z]*":`)
	found := map[string]bool{}
	for _, e := range ops.Catalog().Endpoints {
		for _, v := range e.Versions {
			sample := v.Params.ExampleFull()
			intent, err := e.Parse(v, sample)
			if err != nil {
				t.Fatalf("%s: %v", v.Type, err)
			}
			adds := intent.Adds != decide.Added{}
			switch {
			case slices.Contains(elsewhere, e.Name):
				if adds {
					t.Errorf("%s says that it adds credentials, and is listed as one that does not", v.Type)
				}
			case credential.Match(sample) && !adds:
				t.Errorf("%s takes %s, and does not say that it adds it", v.Type, credential.Find(sample))
			case adds:
				found[e.Name] = true
			}
		}
	}
	if len(found) < 8 {
		t.Errorf("only %v add credentials", found)
	}
}

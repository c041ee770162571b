package ops_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"latchkey/client"
	. "latchkey/internal/test/servertest"
)

// features are the names and values that are on.
func features(v Value) []string {
	var all []string
	for _, f := range v.List() {
		all = append(all, strings.TrimPrefix(f.Get("name").Text(), "FEATURE_NAME_")+"="+f.Get("value").Text())
	}
	return all
}

// TestFeatures switches features on and off.
func TestFeatures(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		for _, c := range []struct {
			operation string
			params    m
			want      string
		}{
			{"set_organization_feature", m{"name": "FEATURE_NAME_SMS_AUTH", "value": "true"}, "EMAIL_AUTH= EMAIL_RECOVERY= OTP_EMAIL_AUTH= SMS_AUTH=true"},
			{"set_organization_feature", m{"name": "FEATURE_NAME_SMS_AUTH"}, "EMAIL_AUTH= EMAIL_RECOVERY= OTP_EMAIL_AUTH= SMS_AUTH="},
			{"remove_organization_feature", m{"name": "FEATURE_NAME_EMAIL_RECOVERY"}, "EMAIL_AUTH= OTP_EMAIL_AUTH= SMS_AUTH="},
			{"remove_organization_feature", m{"name": "FEATURE_NAME_EMAIL_RECOVERY"}, "EMAIL_AUTH= OTP_EMAIL_AUTH= SMS_AUTH="},
			{"set_organization_feature", m{"name": "FEATURE_NAME_WEBHOOK", "value": "https://hooks.example.com/in?a=b"}, "EMAIL_AUTH= OTP_EMAIL_AUTH= SMS_AUTH= WEBHOOK=https://hooks.example.com/in?a=b"},
			{"remove_organization_feature", m{"name": "FEATURE_NAME_WEBHOOK"}, "EMAIL_AUTH= OTP_EMAIL_AUTH= SMS_AUTH="},
			{"set_organization_feature", m{"name": "FEATURE_NAME_ROOT_USER_EMAIL_RECOVERY", "value": ""}, "EMAIL_AUTH= OTP_EMAIL_AUTH= SMS_AUTH= ROOT_USER_EMAIL_RECOVERY="},
		} {
			result := s.Root.Submit(t, c.operation, c.params).Get("result")
			key := "setOrganizationFeatureResult"
			if c.operation == "remove_organization_feature" {
				key = "removeOrganizationFeatureResult"
			}
			if got := strings.Join(features(result.Get(key, "features")), " "); got != c.want {
				t.Errorf("%s %v: %s", c.operation, c.params, got)
			}
			if nested := result.Get("activity", "result"); cmp.Diff(nested.Get(key).Any, result.Get(key).Any) != "" {
				t.Errorf("the views differ: %v", result)
			}
			if got := strings.Join(features(ada.Query(t, "get_organization_configs", nil).Get("configs", "features")), " "); got != c.want {
				t.Errorf("read back: %s", got)
			}
		}

		state := s.Root.Query(t, "get_organization_configs", nil).String()
		for _, value := range []string{"false", "TRUE", "1", "off"} {
			wantField(t, s.Root.Refused(t, 400, "set_organization_feature", m{"name": "FEATURE_NAME_EMAIL_AUTH", "value": value}), "value")
		}
		for _, value := range []string{"", "ftp://example.com", "https://", "https://user:secret@example.com", "example.com", "http://example.com", "https://[::1"} {
			wantField(t, s.Root.Refused(t, 400, "set_organization_feature", m{"name": "FEATURE_NAME_WEBHOOK", "value": value}), "value")
		}
		for _, name := range []string{"FEATURE_NAME_AUTH_PROXY", "FEATURE_NAME_SWAP_CONFIG", "EMAIL_AUTH"} {
			wantField(t, s.Root.Refused(t, 400, "set_organization_feature", m{"name": name, "value": ""}), "name")
			wantField(t, s.Root.Refused(t, 400, "remove_organization_feature", m{"name": name}), "name")
		}
		if after := s.Root.Query(t, "get_organization_configs", nil).String(); after != state {
			t.Errorf("refused requests changed something: %s", after)
		}
	})
}

// TestOriginValues checks what may be given as origins.
func TestOriginValues(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		params := func(value string) m { return m{"name": "FEATURE_NAME_WEBAUTHN_ORIGINS", "value": value} }
		for _, good := range []string{
			"https://wallet.example.com", "https://wallet.example.com:8443", "http://localhost:3000", "http://localhost", "*",
			"https://a.example,https://b.example", "https://a.example, https://b.example", "https://a.example https://b.example",
			"android:apk-key-hash:2jmj7l5rSw0yVb_vlWAYkK_YBwk4NJM3V8l3l0OZs1c", "https://xn--mnchen-3ya.example", "https://[2001:db8::1]",
		} {
			got := s.Root.Submit(t, "set_organization_feature", params(good)).Get("result", "setOrganizationFeatureResult", "features")
			if !slices.Contains(features(got), "WEBAUTHN_ORIGINS="+good) {
				t.Errorf("%s: %v", good, got)
			}
		}
		for _, bad := range []string{
			"", ",", "wallet.example.com", "https://", "https://wallet.example.com/", "https://wallet.example.com/login", "https://Wallet.example.com",
			"HTTPS://wallet.example.com", "https://wallet.example.com:443", "http://localhost:80", "http://wallet.example.com", "https://user@wallet.example.com",
			"https://wallet.example.com?x=1", "https://wallet.example.com#x", "https://münchen.example", "ftp://wallet.example.com", "https://wallet.example.com:",
			"https://wallet.example.com:port", "https://a.example,b.example", "https://a.example;https://b.example", "android:apk-key-hash:short", "null",
			"https://*.example.com", "https://a\u00a0b.example",
		} {
			wantField(t, s.Root.Refused(t, 400, "set_organization_feature", params(bad)), "value")
		}
	})
}

// TestOrganizationName renames the organization.
func TestOrganizationName(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		result := s.Root.Submit(t, "update_organization_name", m{"organizationName": "New name"}).Get("result", "updateOrganizationNameResult")
		if result.Get("organizationId").Text() != s.Root.OrganizationID || result.Get("organizationName").Text() != "New name" {
			t.Errorf("result: %v", result)
		}
		if got := s.Root.Query(t, "whoami", nil).Get("organizationName").Text(); got != "New name" {
			t.Errorf("whoami says %s", got)
		}
	})
}

// TestRootQuorum replaces the quorum, and refuses one that could never be
// reached.
func TestRootQuorum(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		bob := s.NewUser(t, s.Root, "Bob", client.P256)
		foreign := s.CreateOrganization(t, "Other organization")
		quorum := func(threshold int, ids ...any) m {
			return m{"threshold": threshold, "userIds": append([]any{}, ids...)}
		}
		for _, c := range []struct {
			name    string
			caller  *Caller
			status  int
			params  m
			message string
		}{
			{"threshold zero", s.Root, 400, quorum(0, ada.UserID), "quorum threshold must be non-zero integer"},
			{"negative threshold", s.Root, 400, quorum(-1, ada.UserID), "quorum threshold must be non-zero integer"},
			{"threshold above the members", s.Root, 400, quorum(2, ada.UserID), "could never be reached"},
			{"no members", s.Root, 400, quorum(1), "must have at least 1 element"},
			{"a member twice", s.Root, 400, quorum(2, ada.UserID, ada.UserID), "userIds"},
			{"an unknown member", s.Root, 400, quorum(1, ada.UserID, unknownID), "quorum users missing"},
			{"a member of another organization", s.Root, 400, quorum(1, foreign.UserID), "quorum users missing"},
			{"by another user", ada, 403, quorum(1, ada.UserID), "sufficient permissions"},
		} {
			t.Run(c.name, func(t *testing.T) {
				refusal := c.caller.Refused(t, c.status, "update_root_quorum", c.params)
				if !strings.Contains(refusal.Get("message").Text(), c.message) {
					t.Errorf("refusal: %v", refusal)
				}
			})
		}
		now := s.Root.Query(t, "get_organization_configs", nil).Get("configs", "quorum")
		if now.Get("threshold").Number() != 1 || !slices.Equal(texts(now.Get("userIds")), []string{s.Root.UserID}) {
			t.Fatalf("refused requests changed the quorum: %v", now)
		}

		result := s.Root.Submit(t, "update_root_quorum", quorum(1, ada.UserID, s.Root.UserID)).Get("result")
		if diff := cmp.Diff(any(m{}), result.Get("updateRootQuorumResult").Any); diff != "" || !result.Get("activity", "result").Has("updateRootQuorumResult") {
			t.Errorf("result: %v", result)
		}
		// The new member has the rights; the former one has lost them.
		ada.Submit(t, "update_root_quorum", quorum(1, ada.UserID, bob.UserID))
		s.Root.Refused(t, 403, "update_root_quorum", quorum(1, s.Root.UserID))
		s.Root.Refused(t, 403, "set_organization_feature", m{"name": "FEATURE_NAME_SMS_AUTH", "value": ""})
		now = bob.Query(t, "get_organization_configs", nil).Get("configs", "quorum")
		if now.Get("threshold").Number() != 1 || !slices.Equal(texts(now.Get("userIds")), []string{ada.UserID, bob.UserID}) {
			t.Errorf("quorum: %v", now)
		}
	})
}

// TestQuorumOfTwo lets a single root user of two manage their own credentials,
// and nothing that needs the quorum.
func TestQuorumOfTwo(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		bob := s.NewUser(t, s.Root, "Bob", client.P256)
		s.Root.Submit(t, "update_root_quorum", m{"threshold": 2, "userIds": []any{s.Root.UserID, ada.UserID}})
		for _, c := range []struct {
			operation string
			params    m
		}{
			{"set_organization_feature", m{"name": "FEATURE_NAME_SMS_AUTH", "value": ""}},
			{"remove_organization_feature", m{"name": "FEATURE_NAME_EMAIL_AUTH"}},
			{"update_organization_name", m{"organizationName": "New name"}},
			{"update_root_quorum", m{"threshold": 1, "userIds": []any{ada.UserID}}},
		} {
			t.Run(c.operation, func(t *testing.T) {
				settings := func() string {
					return s.Root.Query(t, "get_organization_configs", nil).String() + s.Root.Query(t, "whoami", nil).String()
				}
				before := settings()
				bob.Refused(t, 403, c.operation, c.params)
				body := s.Root.Body(t, c.operation, c.params)
				if got := s.Root.MustPost(t, c.operation, body).Get("activity", "status").Text(); got != "ACTIVITY_STATUS_CONSENSUS_NEEDED" {
					t.Errorf("with one of two votes: %s", got)
				}
				if after := settings(); after != before {
					t.Errorf("one of two changed something: %s", after)
				}
				if got := ada.MustPost(t, c.operation, body).Get("activity", "status").Text(); got != "ACTIVITY_STATUS_COMPLETED" {
					t.Errorf("with both votes: %s", got)
				}
				if after := settings(); after == before {
					t.Errorf("nothing changed")
				}
			})
		}
		s.Root.Refused(t, 403, "update_organization_name", m{"organizationName": "Mine"}) // no root user any more
		ada.Submit(t, "update_root_quorum", m{"threshold": 2, "userIds": []any{s.Root.UserID, ada.UserID}})
		key := newAuthenticator(t)
		id := ada.Submit(t, "create_authenticators", m{"userId": ada.UserID, "authenticators": []any{key.params("mine")}}).
			Get("result", "createAuthenticatorsResult", "authenticatorIds", 0).Text()
		key.as(ada).Submit(t, "delete_authenticators", m{"userId": ada.UserID, "authenticatorIds": []any{id}})
	})
}

// TestLockedOut refuses what would leave the organization without root users
// who can log in, and nothing less: the root quorum may take the way in from
// other users.
func TestLockedOut(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		byMail := func(name string) string {
			return s.Root.Submit(t, "create_users", users(user(name, m{"userEmail": name + "@example.com"}))).
				Get("result", "createUsersResult", "userIds", 0).Text()
		}
		first, second := byMail("first"), byMail("second")
		off := func(status int, name string) {
			t.Helper()
			params := m{"name": "FEATURE_NAME_" + name}
			if status == 200 {
				s.Root.Submit(t, "remove_organization_feature", params)
			} else if refusal := s.Root.Refused(t, status, "remove_organization_feature", params); !strings.Contains(refusal.Get("message").Text(), "user missing valid credential") {
				t.Errorf("refusal: %v", refusal)
			}
		}
		// The root user now shares the quorum with a user who logs in by mail;
		// one of them is enough.
		s.Root.Submit(t, "update_root_quorum", m{"threshold": 1, "userIds": []any{s.Root.UserID, first}})
		off(200, "EMAIL_AUTH")
		s.Root.Submit(t, "set_organization_feature", m{"name": "FEATURE_NAME_EMAIL_AUTH", "value": ""})
		off(200, "OTP_EMAIL_AUTH")
		off(200, "EMAIL_AUTH")
		// A user who cannot log in cannot become a root user.
		refusal := s.Root.Refused(t, 400, "update_root_quorum", m{"threshold": 1, "userIds": []any{s.Root.UserID, second}})
		if !strings.Contains(refusal.Get("message").Text(), "user missing valid credential") {
			t.Errorf("refusal: %v", refusal)
		}
		s.Root.Submit(t, "set_organization_feature", m{"name": "FEATURE_NAME_OTP_EMAIL_AUTH", "value": ""})
		// The root user adds a lasting address and deletes the key: then mail
		// is the only way.
		s.Root.Submit(t, "update_root_quorum", m{"threshold": 1, "userIds": []any{s.Root.UserID}})
		s.Root.Submit(t, "update_user_email", m{"userId": s.Root.UserID, "userEmail": "root@example.com"})
		short, private := apiKey(t, client.P256, "short")
		short["expirationSeconds"] = "600"
		s.Root.Submit(t, "create_api_keys", m{"userId": s.Root.UserID, "apiKeys": []any{short}})
		lasting := s.Root.Query(t, "get_api_keys", m{"userId": s.Root.UserID}).Get("apiKeys", 0, "apiKeyId").Text()
		s.Root.Submit(t, "delete_api_keys", m{"userId": s.Root.UserID, "apiKeyIds": []any{lasting}})
		s.Root.Stamper = private.Stamper()
		off(400, "OTP_EMAIL_AUTH")
		s.Root.Submit(t, "set_organization_feature", m{"name": "FEATURE_NAME_EMAIL_AUTH", "value": ""})
		off(200, "OTP_EMAIL_AUTH")
		off(400, "EMAIL_AUTH")
	})
}

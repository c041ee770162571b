package ops_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"latchkey/client"
	. "latchkey/internal/test/servertest"
)

// TestCreateAPIOnlyUsers creates users who stamp with their keys, all or none.
func TestCreateAPIOnlyUsers(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		tag := s.Root.Submit(t, "create_user_tag", m{"userTagName": "robots", "userIds": []any{}}).Get("result", "createUserTagResult", "userTagId").Text()
		robot, other := s.Stranger(t, s.Root), s.Stranger(t, s.Root)
		user := func(name string, key *Caller, more ...any) m {
			return m{"userName": name, "userTags": more, "apiKeys": []any{m{"apiKeyName": "key", "publicKey": key.Key.PublicKey()}}}
		}
		id := s.Root.Submit(t, "create_api_only_users", m{"apiOnlyUsers": []any{user("robot", robot, tag)}}).
			Get("result", "createApiOnlyUsersResult", "userIds", 0).Text()
		if got := robot.Query(t, "whoami", m{}).Get("userId").Text(); got != id {
			t.Errorf("the key stamps for %s, want %s", got, id)
		}
		if tags := s.Root.Query(t, "get_user", m{"userId": id}).Get("user", "userTags").List(); len(tags) != 1 || tags[0].Text() != tag {
			t.Errorf("tags: %v", tags)
		}

		before := len(s.Root.Query(t, "list_users", m{}).Get("users").List())
		for _, tt := range []struct {
			name   string
			status int
			users  []any
			want   string
		}{
			{"a key of another user", http.StatusConflict, []any{user("good", other), user("bad", robot)}, "credential"},
			{"a name that is taken", http.StatusConflict, []any{user("good", other), user("robot", s.Stranger(t, s.Root))}, "robot"},
			{"one key twice", http.StatusBadRequest, []any{user("one", other), user("two", other)}, "apiOnlyUsers.1.apiKeys.0.publicKey"},
			{"an unknown tag", http.StatusNotFound, []any{user("good", other, id)}, "tag"},
			{"no way to log in", http.StatusBadRequest, []any{m{"userName": "none", "userTags": []any{}, "apiKeys": []any{}}}, "missing valid credential"},
			{"another curve", http.StatusBadRequest, []any{m{"userName": "none", "userTags": []any{}, "apiKeys": []any{
				m{"apiKeyName": "key", "publicKey": other.Key.PublicKey(), "curveType": "API_KEY_CURVE_SECP256K1"},
			}}}, "curveType"},
		} {
			refusal := s.Root.Refused(t, tt.status, "create_api_only_users", m{"apiOnlyUsers": tt.users})
			if !strings.Contains(refusal.String(), tt.want) {
				t.Errorf("%s: %v does not say %q", tt.name, refusal, tt.want)
			}
		}
		robot.Refused(t, http.StatusForbidden, "create_api_only_users", m{"apiOnlyUsers": []any{user("good", other)}})
		if got := len(s.Root.Query(t, "list_users", m{}).Get("users").List()); got != before {
			t.Errorf("%d users after refusals, want %d", got, before)
		}
	})
}

// TestAPIOnlyUsersPolicies lets a policy speak of the tags that new users get.
func TestAPIOnlyUsersPolicies(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		tag := s.Root.Submit(t, "create_user_tag", m{"userTagName": "approvers", "userIds": []any{}}).Get("result", "createUserTagResult", "userTagId").Text()
		eve := s.NewUser(t, s.Root, "Eve", client.P256)
		s.Root.Submit(t, "create_policy", m{
			"policyName": "no approvers", "effect": "EFFECT_ALLOW", "notes": "",
			"consensus": "approvers.any(user, user.id == '" + eve.UserID + "')",
			"condition": "activity.resource == 'USER' && activity.action == 'CREATE' && !activity.params.tags_given.contains('" + tag + "')",
		})
		user := func(name string, tags ...any) m {
			return m{"apiOnlyUsers": []any{m{"userName": name, "userTags": slices.Clip(tags), "apiKeys": []any{
				m{"apiKeyName": "key", "publicKey": s.Stranger(t, s.Root).Key.PublicKey()},
			}}}}
		}
		eve.Submit(t, "create_api_only_users", user("plain"))
		eve.Refused(t, http.StatusForbidden, "create_api_only_users", user("approver", tag))
	})
}

// TestGetOrganization reads all that the single reads have.
func TestGetOrganization(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		s.Root.Submit(t, "create_user_tag", m{"userTagName": "tag", "userIds": []any{s.Root.UserID}})
		s.Root.Submit(t, "create_private_keys", m{"privateKeys": []any{m{
			"privateKeyName": "key", "curve": "CURVE_SECP256K1", "privateKeyTags": []any{}, "addressFormats": []any{"ADDRESS_FORMAT_ETHEREUM"},
		}}})
		s.Root.Submit(t, "create_wallet", m{"walletName": "wallet", "accounts": []any{ethereumAccount}})
		s.Root.Submit(t, "create_policy", m{"policyName": "policy", "effect": "EFFECT_DENY", "condition": "activity.action == 'SIGN'", "notes": ""})
		s.Root.Submit(t, "create_smart_contract_interface", m{
			"smartContractAddress": "0x95222290DD7278Aa3Ddd389Cc1E1d165CC4BAfe5", "smartContractInterface": "[]",
			"type": "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM", "label": "contract", "notes": "",
		})
		got := s.Root.Query(t, "get_organization", m{}).Get("organizationData")
		if got.Get("organizationId").Text() != s.Root.OrganizationID || got.Get("name").Text() != s.Root.Query(t, "whoami", m{}).Get("organizationName").Text() {
			t.Errorf("organization: %v", got)
		}
		configs := s.Root.Query(t, "get_organization_configs", m{}).Get("configs")
		for member, want := range map[string]Value{
			"users":       s.Root.Query(t, "list_users", m{}).Get("users"),
			"policies":    s.Root.Query(t, "list_policies", m{}).Get("policies"),
			"privateKeys": s.Root.Query(t, "list_private_keys", m{}).Get("privateKeys"),
			"wallets":     s.Root.Query(t, "list_wallets", m{}).Get("wallets"),
			"tags":        s.Root.Query(t, "list_user_tags", m{}).Get("userTags"),
			"features":    configs.Get("features"), "rootQuorum": configs.Get("quorum"),
		} {
			if got.Get(member).String() != want.String() || want.String() == "[]" {
				t.Errorf("%s: %v, want %v", member, got.Get(member), want)
			}
		}
		reference := got.Get("smartContractInterfaceReferences", 0)
		const digestOfEmptyList = "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"
		if reference.Get("digest").Text() != digestOfEmptyList || !strings.EqualFold(reference.Get("smartContractAddress").Text(), "0x95222290DD7278Aa3Ddd389Cc1E1d165CC4BAfe5") {
			t.Errorf("reference: %v", reference)
		}
	})
}

// TestGetActivePolicies says which policies are within their time.
func TestGetActivePolicies(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		create := func(name, time string) string {
			return s.Root.Submit(t, "create_policy", m{
				"policyName": name, "effect": "EFFECT_DENY", "condition": "activity.action == 'SIGN'", "notes": "", "time": time,
			}).Get("result", "createPolicyResult", "policyId").Text()
		}
		always := create("always", "")
		past := create("past", "time.now < Timestamp('2020-01-01T00:00:00Z')")
		present := create("present", "time.now > Timestamp('2020-01-01T00:00:00Z')")
		reply := s.Root.Query(t, "get_active_policies", m{})
		want := []struct {
			id     string
			active bool
			timed  bool
		}{{always, true, false}, {past, false, true}, {present, true, true}}
		statuses := reply.Get("statuses").List()
		if len(statuses) != len(want) || len(reply.Get("evaluatedAtMs").Text()) != 13 {
			t.Fatalf("reply: %v", reply)
		}
		for i, w := range want {
			if got := statuses[i]; got.Get("policyId").Text() != w.id || got.Get("active").Any != any(w.active) ||
				got.Has("timeExpr") != w.timed || got.Has("error") || got.Get("organizationId").Text() != s.Root.OrganizationID {
				t.Errorf("status %d: %v", i, got)
			}
		}
	})
}

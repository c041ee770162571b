package ops_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"latchkey/client"
	. "latchkey/internal/test/servertest"
)

type m = map[string]any

// apiKey describes a fresh key.
func apiKey(t testing.TB, c client.Curve, name string) (m, client.PrivateKey) {
	t.Helper()
	key, err := client.GenerateKey(c)
	if err != nil {
		t.Fatal(err)
	}
	return m{"apiKeyName": name, "publicKey": key.PublicKey(), "curveType": c.CurveType()}, key
}

func user(name string, more m) m {
	u := m{"userName": name, "apiKeys": []any{}, "authenticators": []any{}, "oauthProviders": []any{}, "userTags": []any{}}
	for member, value := range more {
		u[member] = value
	}
	return u
}

func users(list ...any) m { return m{"users": list} }

// TestCreateUsers creates users in every version, and reads them back.
func TestCreateUsers(t *testing.T) {
	p256, all := []client.Curve{client.P256}, []client.Curve{client.P256, client.Secp256k1, client.Ed25519}
	Each(t, func(t *testing.T, s *Server) {
		tag := newTag(t, s.Root, "traders")
		for _, v := range []createUsersVersion{
			{"ACTIVITY_TYPE_CREATE_USERS", "createUsersIntent", p256, "ACCESS_TYPE_API", func(u, k m) {
				delete(u, "oauthProviders")
				delete(k, "curveType")
				u["accessType"] = "ACCESS_TYPE_API"
			}},
			{"ACTIVITY_TYPE_CREATE_USERS_V2", "createUsersIntentV2", p256, "ACCESS_TYPE_ALL", func(u, k m) {
				delete(u, "oauthProviders")
				delete(k, "curveType")
			}},
			{"ACTIVITY_TYPE_CREATE_USERS_V3", "createUsersIntentV3", all, "ACCESS_TYPE_ALL", func(_, _ m) {}},
			{"ACTIVITY_TYPE_CREATE_USERS_V4", "createUsersIntentV4", all, "ACCESS_TYPE_ALL", func(_, _ m) {}},
		} {
			for _, c := range v.curves {
				t.Run(v.typ+"/"+string(c), func(t *testing.T) { v.creates(t, s, c, tag) })
			}
		}
	})
}

// createUsersVersion is a version of create_users.
type createUsersVersion struct {
	typ, intentKey string
	curves         []client.Curve // of API keys
	access         string         // in the view of the interface's document
	change         func(user, key m)
}

// creates creates a user with an expiring and a lasting key.
func (v createUsersVersion) creates(t *testing.T, s *Server, c client.Curve, tag string) {
	key, private := apiKey(t, c, "key")
	key["expirationSeconds"] = "3600"
	lasting, _ := apiKey(t, c, "lasting")
	u := user(v.typ+" "+string(c), m{"userEmail": "ada@example.com", "apiKeys": []any{key, lasting}, "userTags": []any{tag}})
	v.change(u, key)
	v.change(u, lasting)
	activity := s.Root.MustPost(t, "create_users", s.Root.BodyOf(t, v.typ, users(u))).Get("activity")
	id := activity.Get("result", "createUsersResult", "userIds", 0).Text()

	// The first view echoes the request as it was sent.
	if diff := cmp.Diff(users(u), activity.Get("intent", v.intentKey).Any); diff != "" {
		t.Errorf("intent (-sent +echoed):\n%s", diff)
	}
	v.checkDocumentView(t, activity.Get("result", "activity"), id)

	// The user is there, with everything.
	found := s.Root.Query(t, "get_user", m{"userId": id}).Get("user")
	if found.Get("userName").Any != u["userName"] || found.Get("userEmail").Text() != "ada@example.com" ||
		found.Get("userTags", 0).Text() != tag ||
		found.Get("apiKeys", 0, "credential", "publicKey").Text() != private.PublicKey() ||
		found.Get("apiKeys", 0, "expirationSeconds").Text() != "3600" {
		t.Errorf("user: %v", found)
	}
	if found.Get("apiKeys", 1).Has("expirationSeconds") {
		t.Errorf("a key without an end shows one: %v", found)
	}

	// And the key works.
	caller := *s.Root
	caller.Stamper = private.Stamper()
	if got := caller.Query(t, "whoami", nil).Get("userId").Text(); got != id {
		t.Errorf("whoami is %s, want %s", got, id)
	}
}

// checkDocumentView checks the view of the interface's document, which has the
// form of version 1.
func (v createUsersVersion) checkDocumentView(t *testing.T, view Value, id string) {
	t.Helper()
	if got := view.Get("intent", "createUsersIntent", "users", 0, "accessType").Text(); got != v.access {
		t.Errorf("accessType %s, want %s", got, v.access)
	}
	if got := view.Get("intent", "createUsersIntent", "users", 0, "apiKeys", 0); got.Has("curveType") || got.Get("expirationSeconds").Text() != "3600" {
		t.Errorf("nested key: %v", got)
	}
	if view.Get("type").Text() != v.typ || view.Get("result", "createUsersResult", "userIds", 0).Text() != id {
		t.Errorf("nested view: %v", view)
	}
}

// TestCreateUsersForms creates users by requests of less usual forms.
func TestCreateUsersForms(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		t.Run("a wallet's signature works too", func(t *testing.T) {
			key, private := apiKey(t, client.Secp256k1, "wallet")
			s.Root.Submit(t, "create_users", users(user("Wallet owner", m{"apiKeys": []any{key}})))
			caller := *s.Root
			var err error
			if caller.Stamper, err = private.EIP191Stamper(); err != nil {
				t.Fatal(err)
			}
			caller.Query(t, "whoami", nil)
		})
		t.Run("an old type with new parameters", func(t *testing.T) {
			key, _ := apiKey(t, client.Ed25519, "key")
			u := user("New style", m{"apiKeys": []any{key}, "userPhoneNumber": "+14155550100"})
			activity := s.Root.MustPost(t, "create_users", s.Root.BodyOf(t, "ACTIVITY_TYPE_CREATE_USERS", users(u))).Get("activity")
			if got := activity.Get("type").Text(); got != "ACTIVITY_TYPE_CREATE_USERS_V4" {
				t.Errorf("type %s, want the newest", got)
			}
		})
		t.Run("generateAppProofs is accepted where clients put it", func(t *testing.T) {
			key, _ := apiKey(t, client.P256, "key")
			params := users(user("Prover", m{"apiKeys": []any{key}}))
			params["generateAppProofs"] = true
			body := s.Root.Body(t, "create_users", params)
			body = append([]byte(`{"generateAppProofs":true,`), body[1:]...)
			activity := s.Root.MustPost(t, "create_users", body).Get("activity")
			if activity.Get("intent", "createUsersIntentV4").Has("generateAppProofs") || len(activity.Get("appProofs").List()) != 0 {
				t.Errorf("activity: %v", activity)
			}
		})
		t.Run("older callers omit arrays", func(t *testing.T) {
			key, _ := apiKey(t, client.P256, "key")
			s.Root.Submit(t, "create_users", users(m{"userName": "Terse", "apiKeys": []any{key}}))
			s.Root.Submit(t, "create_users", users(m{"userName": "By mail", "userEmail": "mail@example.com", "apiKeys": nil, "userTags": nil}))
		})
	})
}

// TestCreateUsersRefused checks every refusal that depends on what is there:
// it is a 4xx, all or nothing, and recorded as failed.
func TestCreateUsersRefused(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		taken, _ := apiKey(t, client.P256, "taken")
		s.Root.Submit(t, "create_users", users(user("Taken", m{"apiKeys": []any{taken}})))
		fresh := func() m { k, _ := apiKey(t, client.P256, "fresh"); return k }
		expiring := fresh()
		expiring["expirationSeconds"] = "60"
		other := s.CreateOrganization(t, "Other organization")
		foreignTag := other.Submit(t, "create_user_tag", m{"userTagName": "foreign", "userIds": []any{}}).
			Get("result", "createUserTagResult", "userTagId").Text()
		long := make([]any, 11)
		for i := range long {
			long[i] = fresh()
		}
		before := s.Root.Query(t, "list_users", nil).String()
		for _, c := range []struct {
			name    string
			status  int
			code    float64
			params  m
			message string
		}{
			{"taken name", 409, 6, users(user("Taken", m{"apiKeys": []any{fresh()}})), `"Taken" already exists`},
			{"taken key", 409, 6, users(user("New", m{"apiKeys": []any{taken}})), "credential"},
			{"same name twice", 409, 6, users(user("Twin", m{"apiKeys": []any{fresh()}}), user("Twin", m{"apiKeys": []any{fresh()}})), "Twin"},
			{"unknown tag", 404, 5, users(user("New", m{"apiKeys": []any{fresh()}, "userTags": []any{s.Root.UserID}})), "no tag with id"},
			{"foreign tag", 404, 5, users(user("New", m{"apiKeys": []any{fresh()}, "userTags": []any{foreignTag}})), "no tag with id"},
			{"no credential", 400, 3, users(user("New", nil)), "user missing valid credential"},
			{"only an expiring key", 400, 3, users(user("New", m{"apiKeys": []any{expiring}})), "user missing valid credential"},
			{"phone without the feature", 400, 3, users(user("New", m{"userPhoneNumber": "+14155550100"})), "user missing valid credential"},
			{"too many keys", 429, 8, users(user("New", m{"apiKeys": long})), "maximum long-lived api keys"},
			{"one good, one bad", 409, 6, users(user("Good", m{"apiKeys": []any{fresh()}}), user("Taken", m{"apiKeys": []any{fresh()}})), "Taken"},
		} {
			t.Run(c.name, func(t *testing.T) {
				body := s.Root.Body(t, "create_users", c.params)
				refusal := s.Root.RefusedBody(t, c.status, "create_users", body)
				if refusal.Get("code").Number() != c.code || !strings.Contains(refusal.Get("message").Text(), c.message) {
					t.Errorf("refusal: %v", refusal)
				}
				if again := s.Root.RefusedBody(t, c.status, "create_users", body); !cmp.Equal(again.Any, refusal.Any) {
					t.Errorf("the same bytes got another answer: %v", again)
				}
				newest := s.Root.Query(t, "list_activities", m{"paginationOptions": m{"limit": "1"}}).Get("activities", 0)
				if newest.Get("status").Text() != "ACTIVITY_STATUS_FAILED" ||
					newest.Get("failure", "message").Text() != refusal.Get("message").Text() {
					t.Errorf("recorded: %v", newest)
				}
			})
		}
		if after := s.Root.Query(t, "list_users", nil).String(); after != before {
			t.Errorf("refused requests changed the users")
		}
	})
}

// TestUserTags creates tags, puts them on users and takes them off.
func TestUserTags(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		bob := s.NewUser(t, s.Root, "Bob", client.P256)
		tagsOf := func(c *Caller) []Value {
			return s.Root.Query(t, "get_user", m{"userId": c.UserID}).Get("user", "userTags").List()
		}
		result := s.Root.Submit(t, "create_user_tag", m{"userTagName": "signers", "userIds": []any{ada.UserID}}).
			Get("result", "createUserTagResult")
		tag := result.Get("userTagId").Text()
		if result.Get("userIds", 0).Text() != ada.UserID || len(tagsOf(ada)) != 1 || len(tagsOf(bob)) != 0 {
			t.Errorf("after create: %v %v %v", result, tagsOf(ada), tagsOf(bob))
		}
		// From one user to the other, under a new name, in one step.
		s.Root.Submit(t, "update_user_tag", m{"userTagId": tag, "newUserTagName": "approvers", "addUserIds": []any{bob.UserID}, "removeUserIds": []any{ada.UserID}})
		if len(tagsOf(ada)) != 0 || len(tagsOf(bob)) != 1 {
			t.Errorf("after update: %v %v", tagsOf(ada), tagsOf(bob))
		}
		listed := s.Root.Query(t, "list_user_tags", nil).Get("userTags", 0)
		if listed.Get("tagId").Text() != tag || listed.Get("tagName").Text() != "approvers" || listed.Get("tagType").Text() != "TAG_TYPE_USER" {
			t.Errorf("listed: %v", listed)
		}
		// Adding and removing what is so already is no mistake.
		s.Root.Submit(t, "update_user_tag", m{"userTagId": tag, "addUserIds": []any{bob.UserID}, "removeUserIds": []any{ada.UserID}})

		second := s.Root.Submit(t, "create_user_tag", m{"userTagName": "other", "userIds": []any{}}).
			Get("result", "createUserTagResult", "userTagId").Text()
		for _, c := range []struct {
			name      string
			operation string
			status    int
			params    m
		}{
			{"taken name", "create_user_tag", 409, m{"userTagName": "approvers", "userIds": []any{}}},
			{"unknown user", "create_user_tag", 404, m{"userTagName": "new", "userIds": []any{unknownID}}},
			{"rename to a taken name", "update_user_tag", 409, m{"userTagId": second, "newUserTagName": "approvers", "addUserIds": []any{}, "removeUserIds": []any{}}},
			{"unknown tag", "update_user_tag", 404, m{"userTagId": unknownID, "addUserIds": []any{}, "removeUserIds": []any{}}},
			{"all or nothing", "update_user_tag", 404, m{"userTagId": second, "newUserTagName": "never", "addUserIds": []any{ada.UserID, unknownID}, "removeUserIds": []any{}}},
			{"unknown user to remove", "update_user_tag", 404, m{"userTagId": second, "addUserIds": []any{ada.UserID}, "removeUserIds": []any{unknownID}}},
		} {
			t.Run(c.name, func(t *testing.T) { s.Root.Refused(t, c.status, c.operation, c.params) })
		}
		if len(tagsOf(ada)) != 0 {
			t.Errorf("a refused update tagged a user")
		}
		if tags := s.Root.Query(t, "list_user_tags", nil).Get("userTags").List(); len(tags) != 2 || tags[1].Get("tagName").Text() != "other" {
			t.Errorf("tags: %v", tags)
		}
		wantField(t, s.Root.Refused(t, 400, "update_user_tag", m{
			"userTagId": second, "addUserIds": []any{ada.UserID}, "removeUserIds": []any{ada.UserID},
		}), "removeUserIds")
	})
}

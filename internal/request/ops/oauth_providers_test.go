package ops_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"latchkey/client"
	"latchkey/internal/test/oidctest"
	. "latchkey/internal/test/servertest"
)

// byToken is a provider in a request, proven by a token.
func byToken(issuer *oidctest.Issuer, name, sub, aud string) m {
	return m{"providerName": name, "oidcToken": issuer.Mint(m{"sub": sub, "aud": aud}, "")}
}

// byClaims is a provider in a request that says whom it means.
func byClaims(iss, name, sub, aud string) m {
	return m{"providerName": name, "oidcClaims": m{"iss": iss, "sub": sub, "aud": aud}}
}

// providers are what a user has, as text.
func providers(t *testing.T, c *Caller, issuer *oidctest.Issuer, userID string) []string {
	t.Helper()
	var all []string
	for _, p := range c.Query(t, "get_oauth_providers", m{"userId": userID}).Get("oauthProviders").List() {
		if p.Get("issuer").Text() != issuer.URL {
			t.Errorf("issuer: %v", p)
		}
		all = append(all, p.Get("providerName").Text()+" "+p.Get("subject").Text()+" "+p.Get("audience").Text())
	}
	return all
}

// TestCreateUsersWithProviders creates users who log in elsewhere.
func TestCreateUsersWithProviders(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		issuer := oidctest.Start(t)
		for _, c := range []struct {
			typ, intentKey string
			providers      []any
			want           []string
		}{
			{"ACTIVITY_TYPE_CREATE_USERS_V3", "createUsersIntentV3", []any{byToken(issuer, "Web", "v3", "web")}, []string{"Web v3 web"}},
			{
				"ACTIVITY_TYPE_CREATE_USERS_V4", "createUsersIntentV4",
				[]any{byClaims(issuer.URL, "Android", "v4", "android"), byToken(issuer, "Web", "v4", "web"), byClaims(issuer.URL, "iOS", "v4", "ios")},
				[]string{"Android v4 android", "Web v4 web", "iOS v4 ios"},
			},
		} {
			t.Run(c.typ, func(t *testing.T) {
				u := user(c.typ, m{"oauthProviders": c.providers})
				activity := s.Root.MustPost(t, "create_users", s.Root.BodyOf(t, c.typ, users(u))).Get("activity")
				if diff := cmp.Diff(any(users(u)), activity.Get("intent", c.intentKey).Any); diff != "" {
					t.Errorf("intent (-sent +echoed):\n%s", diff)
				}
				id := activity.Get("result", "createUsersResult", "userIds", 0).Text()
				if got := providers(t, s.Root, issuer, id); !slices.Equal(got, c.want) {
					t.Errorf("providers %q, want %q", got, c.want)
				}
				listed := s.Root.Query(t, "get_user", m{"userId": id}).Get("user", "oauthProviders")
				if read := s.Root.Query(t, "get_oauth_providers", m{"userId": id}).Get("oauthProviders"); read.String() != listed.String() {
					t.Errorf("in the user: %v\nalone: %v", listed, read)
				}
			})
		}

		unchanged := usersUnchanged(t, s)
		good := byToken(issuer, "Web", "new", "web")
		create := func(list ...any) m { return users(user("New", m{"oauthProviders": list})) }
		for _, c := range []struct {
			name   string
			status int
			code   string
			params m
		}{
			{"taken", 409, "OAUTH_PROVIDER_ALREADY_EXISTS", create(byToken(issuer, "Web", "v3", "web"))},
			{"twice", 409, "OAUTH_PROVIDER_ALREADY_EXISTS", create(good, good)},
			{"on two new users", 409, "OAUTH_PROVIDER_ALREADY_EXISTS", users(user("A", m{"oauthProviders": []any{good}}), user("B", m{"oauthProviders": []any{good}}))},
			{"claims that are taken", 409, "OAUTH_PROVIDER_ALREADY_EXISTS", create(byToken(issuer, "Web", "v4", "other"), byClaims(issuer.URL, "Android", "v4", "android"))},
			{"claims of another subject", 400, "INVALID_OIDC_TOKEN", create(good, byClaims(issuer.URL, "Web", "victim", "web"))},
			{"claims of another issuer", 400, "INVALID_OIDC_TOKEN", create(good, byClaims("https://accounts.example.com", "Web", "new", "web"))},
			{"claims proven by another user", 400, "INVALID_OIDC_TOKEN", users(
				user("A", m{"oauthProviders": []any{byToken(issuer, "Web", "a", "web")}}),
				user("B", m{"oauthProviders": []any{byToken(issuer, "Web", "b", "web"), byClaims(issuer.URL, "iOS", "a", "ios")}}),
			)},
			{"a token of an impostor", 400, "INVALID_OIDC_TOKEN", create(m{"providerName": "Web", "oidcToken": issuer.MintToken(oidctest.Token{Key: "impostor"})})},
			{"an expired token", 400, "INVALID_OIDC_TOKEN", create(m{"providerName": "Web", "oidcToken": issuer.Mint(m{"exp": 1700000000}, "")})},
			{"no token", 400, "INVALID_OIDC_TOKEN", create(m{"providerName": "Web", "oidcToken": "token"})},
			{"claims alone", 400, "REQUEST_INVALID", create(byClaims(issuer.URL, "Web", "new", "web"))},
			{"neither", 400, "REQUEST_INVALID", create(m{"providerName": "Web"})},
			{"both", 400, "REQUEST_INVALID", create(m{"providerName": "Web", "oidcToken": good["oidcToken"], "oidcClaims": m{"iss": issuer.URL, "sub": "new", "aud": "web"}})},
		} {
			t.Run(c.name, func(t *testing.T) {
				if refusal := s.Root.Refused(t, c.status, "create_users", c.params); refusal.Get("turnkeyErrorCode").Text() != c.code {
					t.Errorf("refusal: %v", refusal)
				}
			})
		}
		t.Run("proven by another user only", func(t *testing.T) {
			refusal := s.Root.Refused(t, 400, "create_users", users(
				user("A", m{"oauthProviders": []any{byToken(issuer, "Web", "a", "web")}}),
				user("B", m{"oauthProviders": []any{byClaims(issuer.URL, "iOS", "a", "ios")}}),
			))
			wantField(t, refusal, "users.1.oauthProviders.0.oidcClaims")
		})
		unchanged()
	})
}

// TestOauthProviders lets users manage their own identities, and no others.
func TestOauthProviders(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		issuer := oidctest.Start(t)
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		bob := s.NewUser(t, s.Root, "Bob", client.P256)
		create := func(list ...any) m { return m{"userId": ada.UserID, "oauthProviders": list} }
		remove := func(ids ...any) m { return m{"userId": ada.UserID, "providerIds": ids} }

		old := ada.MustPost(t, "create_oauth_providers", ada.BodyOf(t, "ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS", create(byToken(issuer, "Web", "ada", "web")))).Get("activity")
		first := old.Get("result", "createOauthProvidersResult", "providerIds", 0).Text()
		body := ada.Body(t, "create_oauth_providers", create(byToken(issuer, "iOS", "ada", "ios"), byClaims(issuer.URL, "Android", "ada", "android")))
		added := ada.MustPost(t, "create_oauth_providers", body).Get("activity")
		ids := texts(added.Get("result", "createOauthProvidersResultV2", "providerIds"))
		if again := ada.MustPost(t, "create_oauth_providers", body).Get("activity"); again.String() != added.String() {
			t.Errorf("the same bytes got another answer: %v", again)
		}
		want := []string{"Web ada web", "iOS ada ios", "Android ada android"}
		if got := providers(t, bob, issuer, ada.UserID); !slices.Equal(got, want) {
			t.Errorf("providers %q, want %q", got, want)
		}
		s.Root.Submit(t, "create_oauth_providers", m{"userId": bob.UserID, "oauthProviders": []any{byToken(issuer, "Web", "bob", "web")}})
		if all := ada.Query(t, "get_oauth_providers", nil).Get("oauthProviders").List(); len(all) != 4 {
			t.Errorf("in the organization: %v", all)
		}

		unchanged := usersUnchanged(t, s)
		refuseAll(t, []refusedRequest{
			{"for another user", bob, "create_oauth_providers", 403, "FORBIDDEN", create(byToken(issuer, "x", "x", "x"))},
			{"deleting another user's", bob, "delete_oauth_providers", 403, "FORBIDDEN", remove(first)},
			{"again", ada, "create_oauth_providers", 409, "OAUTH_PROVIDER_ALREADY_EXISTS", create(byToken(issuer, "again", "ada", "web"))},
			{"another user's", ada, "create_oauth_providers", 409, "OAUTH_PROVIDER_ALREADY_EXISTS", create(byToken(issuer, "mine", "bob", "web"))},
			{"all or nothing", ada, "create_oauth_providers", 409, "OAUTH_PROVIDER_ALREADY_EXISTS", create(byToken(issuer, "new", "new", "web"), byToken(issuer, "mine", "bob", "web"))},
			{"claims without a token", ada, "create_oauth_providers", 400, "REQUEST_INVALID", create(byClaims(issuer.URL, "x", "ada", "x"))},
			{"claims of another subject", ada, "create_oauth_providers", 400, "INVALID_OIDC_TOKEN", create(byToken(issuer, "x", "ada", "x"), byClaims(issuer.URL, "y", "root", "web"))},
			{"for an unknown user", s.Root, "create_oauth_providers", 404, "REQUEST_INVALID", m{"userId": unknownID, "oauthProviders": []any{byToken(issuer, "x", "x", "x")}}},
			{"unknown", ada, "delete_oauth_providers", 404, "REQUEST_INVALID", remove(unknownID)},
			{"known and unknown", ada, "delete_oauth_providers", 404, "REQUEST_INVALID", remove(first, unknownID)},
			{"of an unknown user", s.Root, "get_oauth_providers", 404, "REQUEST_INVALID", m{"userId": unknownID}},
		})
		unchanged()

		deleted := ada.Submit(t, "delete_oauth_providers", remove(ids[1], first)).Get("result", "deleteOauthProvidersResult", "providerIds")
		if !slices.Equal(texts(deleted), []string{ids[1], first}) {
			t.Errorf("deleted: %v", deleted)
		}
		key := s.Root.Query(t, "get_api_keys", m{"userId": ada.UserID}).Get("apiKeys", 0, "apiKeyId").Text()
		s.Root.Submit(t, "delete_api_keys", m{"userId": ada.UserID, "apiKeyIds": []any{key}})
		refusal := s.Root.Refused(t, 400, "delete_oauth_providers", remove(ids[0]))
		if !strings.Contains(refusal.Get("message").Text(), "user missing valid credential") {
			t.Errorf("refusal: %v", refusal)
		}
		// The identity that was deleted is free again.
		s.Root.Submit(t, "create_oauth_providers", m{"userId": bob.UserID, "oauthProviders": []any{byToken(issuer, "Web", "ada", "web")}})
	})
}

// TestOauthProviderLimit refuses the eleventh identity.
func TestOauthProviderLimit(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		issuer := oidctest.Start(t)
		list := []any{byToken(issuer, "Web", "me", "web")}
		for i := range 9 {
			list = append(list, byClaims(issuer.URL, fmt.Sprint("App ", i), "me", fmt.Sprint("app-", i)))
		}
		exhausted := func(operation string, params m) {
			t.Helper()
			refusal := s.Root.Refused(t, 429, operation, params)
			if refusal.Get("code").Number() != 8 || !strings.HasPrefix(refusal.Get("message").Text(), "user has exceeded maximum oauth providers") {
				t.Errorf("refusal: %v", refusal)
			}
		}
		exhausted("create_users", users(user("Eleven", m{"oauthProviders": append(slices.Clone(list), byClaims(issuer.URL, "more", "me", "more"))})))
		id := s.Root.Submit(t, "create_users", users(user("Ten", m{"oauthProviders": list}))).Get("result", "createUsersResult", "userIds", 0).Text()
		exhausted("create_oauth_providers", m{"userId": id, "oauthProviders": []any{byToken(issuer, "more", "me", "more")}})
		if got := providers(t, s.Root, issuer, id); len(got) != 10 {
			t.Errorf("%d providers", len(got))
		}
	})
}

package ops_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"latchkey/client"
	. "latchkey/internal/test/servertest"
)

// TestActivities reads activities back, one and many.
func TestActivities(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		body := s.Root.Body(t, "create_user_tag", m{"userTagName": "tag 0", "userIds": []any{}})
		first := s.Root.MustPost(t, "create_user_tag", body).Get("activity")
		read := s.Root.Query(t, "get_activity", m{"activityId": first.Get("id").Text()}).Get("activity")
		if read.String() != first.String() {
			t.Errorf("read back:\n%v\nwas\n%v", read, first)
		}
		if got, want := read.Get("fingerprint").Text(), fmt.Sprintf("sha256:%x", sha256.Sum256(body)); got != want {
			t.Errorf("fingerprint %s, want %s", got, want)
		}
		vote := read.Get("votes", 0)
		if vote.Get("message").Text() != string(body) || vote.Get("userId").Text() != s.Root.UserID ||
			vote.Get("publicKey").Text() != s.Root.Key.PublicKey() || vote.Get("selection").Text() != "VOTE_SELECTION_APPROVED" ||
			vote.Get("scheme").Text() != "SIGNATURE_SCHEME_TK_API_P256" || vote.Get("activityId").Text() != read.Get("id").Text() {
			t.Errorf("vote: %v", vote)
		}

		for i := 1; i < 25; i++ {
			s.Root.Submit(t, "create_user_tag", m{"userTagName": fmt.Sprint("tag ", i), "userIds": []any{}})
		}
		s.Root.Refused(t, 409, "create_user_tag", m{"userTagName": "tag 0", "userIds": []any{}})
		s.NewUser(t, s.Root, "Ada", client.P256)

		list := func(params m) []string {
			var names []string
			for _, a := range s.Root.Query(t, "list_activities", params).Get("activities").List() {
				names = append(names, a.Get("id").Text())
			}
			return names
		}
		all := list(m{"paginationOptions": m{"limit": "100"}})
		if len(all) != 27 || all[26] != first.Get("id").Text() {
			t.Fatalf("%d activities, want 27 with the oldest last", len(all))
		}
		for _, c := range []struct {
			name   string
			params m
			want   []string
		}{
			{"ten by default", nil, all[:10]},
			{"next page", m{"paginationOptions": m{"limit": "10", "after": all[9]}}, all[10:20]},
			{"last page", m{"paginationOptions": m{"limit": "10", "after": all[19]}}, all[20:]},
			{"previous page", m{"paginationOptions": m{"limit": "10", "before": all[20]}}, all[10:20]},
			{"between", m{"paginationOptions": m{"after": all[3], "before": all[6]}}, all[4:6]},
			{"after the last", m{"paginationOptions": m{"after": all[26]}}, nil},
			{"by status", m{"filterByStatus": []any{"ACTIVITY_STATUS_FAILED"}}, all[1:2]},
			{"by type", m{"filterByType": []any{"ACTIVITY_TYPE_CREATE_USERS_V4"}}, all[:1]},
			{"by status and type", m{"filterByStatus": []any{"ACTIVITY_STATUS_FAILED"}, "filterByType": []any{"ACTIVITY_TYPE_CREATE_USERS_V4"}}, nil},
			{"by types", m{"filterByType": []any{"ACTIVITY_TYPE_CREATE_USERS_V4", "ACTIVITY_TYPE_CREATE_USER_TAG"}, "paginationOptions": m{"limit": "3"}}, all[:3]},
		} {
			t.Run(c.name, func(t *testing.T) {
				if got := list(c.params); strings.Join(got, " ") != strings.Join(c.want, " ") {
					t.Errorf("got %v\nwant %v", got, c.want)
				}
			})
		}
	})
}

// TestConfigs reads the organization's settings.
func TestConfigs(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		configs := s.Root.Query(t, "get_organization_configs", nil).Get("configs")
		if configs.Get("quorum", "threshold").Number() != 1 || configs.Get("quorum", "userIds", 0).Text() != s.Root.UserID {
			t.Errorf("quorum: %v", configs)
		}
		var names []string
		for _, f := range configs.Get("features").List() {
			names = append(names, f.Get("name").Text())
		}
		if got := strings.Join(names, " "); got != "FEATURE_NAME_EMAIL_AUTH FEATURE_NAME_EMAIL_RECOVERY FEATURE_NAME_OTP_EMAIL_AUTH" {
			t.Errorf("features: %s", got)
		}
	})
}

// TestIsolation makes sure that nothing of one organization can be reached
// from another, and that it looks as if it were not there.
func TestIsolation(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		other := s.CreateOrganization(t, "Other organization")
		theirs := other.Submit(t, "create_user_tag", m{"userTagName": "theirs", "userIds": []any{}})
		theirKey := other.Query(t, "get_api_keys", nil).Get("apiKeys", 0, "apiKeyId").Text()
		theirPasskey := other.Submit(t, "create_authenticators", m{
			"userId": other.UserID, "authenticators": []any{newAuthenticator(t).params("theirs")},
		}).Get("result", "createAuthenticatorsResult", "authenticatorIds", 0).Text()
		for _, c := range []struct {
			operation string
			params    func(id string) m
			id        string
		}{
			{"get_user", func(id string) m { return m{"userId": id} }, other.UserID},
			{"get_api_keys", func(id string) m { return m{"userId": id} }, other.UserID},
			{"get_activity", func(id string) m { return m{"activityId": id} }, theirs.Get("id").Text()},
			{"create_user_tag", func(id string) m { return m{"userTagName": "mine", "userIds": []any{id}} }, other.UserID},
			{
				"update_user_tag", func(id string) m { return m{"userTagId": id, "addUserIds": []any{}, "removeUserIds": []any{}} },
				theirs.Get("result", "createUserTagResult", "userTagId").Text(),
			},
			{"delete_api_keys", func(id string) m { return m{"userId": id, "apiKeyIds": []any{unknownID}} }, other.UserID},
			{"get_api_key", func(id string) m { return m{"apiKeyId": id} }, theirKey},
			{"get_authenticator", func(id string) m { return m{"authenticatorId": id} }, theirPasskey},
			{"get_authenticators", func(id string) m { return m{"userId": id} }, other.UserID},
			{"get_oauth_providers", func(id string) m { return m{"userId": id} }, other.UserID},
			{"delete_authenticators", func(id string) m { return m{"userId": s.Root.UserID, "authenticatorIds": []any{id}} }, theirPasskey},
			{"delete_oauth_providers", func(id string) m { return m{"userId": id, "providerIds": []any{unknownID}} }, other.UserID},
			{"delete_users", func(id string) m { return m{"userIds": []any{id}} }, other.UserID},
			{
				"delete_user_tags", func(id string) m { return m{"userTagIds": []any{id}} },
				theirs.Get("result", "createUserTagResult", "userTagId").Text(),
			},
			{"update_user", func(id string) m { return m{"userId": id, "userName": "x"} }, other.UserID},
			{"update_user_name", func(id string) m { return m{"userId": id, "userName": "x"} }, other.UserID},
			{"update_user_email", func(id string) m { return m{"userId": id, "userEmail": "x@example.com"} }, other.UserID},
			{"update_user_phone_number", func(id string) m { return m{"userId": id, "userPhoneNumber": "+14155550100"} }, other.UserID},
		} {
			foreign := s.Root.Refused(t, 404, c.operation, c.params(c.id)).Get("message").Text()
			missing := s.Root.Refused(t, 404, c.operation, c.params(unknownID)).Get("message").Text()
			if strings.ReplaceAll(foreign, c.id, unknownID) != missing {
				t.Errorf("%s tells what is in another organization:\n%s\n%s", c.operation, foreign, missing)
			}
		}
		// The same names and keys may exist in both.
		s.Root.Submit(t, "create_user_tag", m{"userTagName": "theirs", "userIds": []any{}})
	})
}

package ops_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"latchkey/client"
	"latchkey/internal/domain"
	"latchkey/internal/store"
	. "latchkey/internal/test/servertest"
)

// texts are the strings of a list.
func texts(v Value) []string {
	var all []string
	for _, element := range v.List() {
		all = append(all, element.Text())
	}
	return all
}

// newTag makes a user tag on users.
func newTag(t *testing.T, c *Caller, name string, userIDs ...any) string {
	t.Helper()
	return c.Submit(t, "create_user_tag", m{"userTagName": name, "userIds": append([]any{}, userIDs...)}).
		Get("result", "createUserTagResult", "userTagId").Text()
}

// TestUpdateUser changes users in all four ways.
func TestUpdateUser(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		bob := s.NewUser(t, s.Root, "Bob", client.P256)
		old, tag, second := newTag(t, s.Root, "old", ada.UserID), newTag(t, s.Root, "tag"), newTag(t, s.Root, "second")
		look := func() Value { return s.Root.Query(t, "get_user", m{"userId": ada.UserID}).Get("user") }
		change := func(operation, result string, params m) Value {
			t.Helper()
			params["userId"] = ada.UserID
			activity := s.Root.Submit(t, operation, params)
			if activity.Get("result", result, "userId").Text() != ada.UserID {
				t.Errorf("%s: %v", operation, activity.Get("result"))
			}
			if diff := cmp.Diff(any(params), activity.Get("result", "activity", "intent", strings.TrimSuffix(result, "Result")+"Intent").Any); diff != "" {
				t.Errorf("%s (-sent +echoed):\n%s", operation, diff)
			}
			return look()
		}

		before := look()
		if u := change("update_user", "updateUserResult", m{"userName": "Ada L."}); u.Get("userName").Text() != "Ada L." || u.Has("userEmail") ||
			!slices.Equal(texts(u.Get("userTags")), []string{old}) || u.Get("apiKeys").String() != before.Get("apiKeys").String() ||
			u.Get("updatedAt").String() == before.Get("updatedAt").String() || u.Get("createdAt").String() != before.Get("createdAt").String() {
			t.Errorf("renamed: %v", u)
		}
		u := change("update_user", "updateUserResult", m{"userEmail": "ada@example.com", "userPhoneNumber": "+14155550100", "userTagIds": []any{second, tag}})
		if u.Get("userName").Text() != "Ada L." || u.Get("userEmail").Text() != "ada@example.com" || u.Get("userPhoneNumber").Text() != "+14155550100" ||
			!slices.Equal(texts(u.Get("userTags")), []string{second, tag}) {
			t.Errorf("contacts and tags: %v", u)
		}
		// An empty contact is removed, also one at a time; what is left out or null stays.
		if u := change("update_user", "updateUserResult", m{"userPhoneNumber": ""}); u.Has("userPhoneNumber") || u.Get("userEmail").Text() != "ada@example.com" {
			t.Errorf("without a phone number: %v", u)
		}
		s.Root.Submit(t, "update_user", m{"userId": ada.UserID, "userEmail": nil, "userPhoneNumber": "+14155550100"})
		if u := change("update_user", "updateUserResult", m{"userEmail": ""}); u.Has("userEmail") || u.Get("userPhoneNumber").Text() != "+14155550100" {
			t.Errorf("without an e-mail address: %v", u)
		}
		// Clients that cannot leave an array out send an empty one.
		if u := change("update_user", "updateUserResult", m{"userTagIds": []any{}}); !slices.Equal(texts(u.Get("userTags")), []string{second, tag}) {
			t.Errorf("an empty list of tags changed them: %v", u)
		}
		if u := change("update_user_name", "updateUserNameResult", m{"userName": "Countess"}); u.Get("userName").Text() != "Countess" {
			t.Errorf("renamed: %v", u)
		}
		if u := change("update_user_email", "updateUserEmailResult", m{"userEmail": "countess@example.com"}); u.Get("userEmail").Text() != "countess@example.com" {
			t.Errorf("e-mail: %v", u)
		}
		if u := change("update_user_phone_number", "updateUserPhoneNumberResult", m{"userPhoneNumber": "+442071838750"}); u.Get("userPhoneNumber").Text() != "+442071838750" {
			t.Errorf("phone: %v", u)
		}
		change("update_user_phone_number", "updateUserPhoneNumberResult", m{"userPhoneNumber": ""})
		if u := change("update_user_email", "updateUserEmailResult", m{"userEmail": ""}); u.Has("userEmail") || u.Has("userPhoneNumber") {
			t.Errorf("removed contacts: %v", u)
		}
		// A name that is free again can be taken.
		s.Root.Submit(t, "update_user_name", m{"userId": bob.UserID, "userName": "Ada"})
		refusesUserChanges(t, s, ada, tag)
	})
}

// refusesUserChanges refuses to change Ada by requests without the right, or with
// values that cannot be.
func refusesUserChanges(t *testing.T, s *Server, ada *Caller, tag string) {
	t.Helper()
	keyTag := s.Root.Submit(t, "create_private_key_tag", m{"privateKeyTagName": "keys", "privateKeyIds": []any{}}).
		Get("result", "createPrivateKeyTagResult", "privateKeyTagId").Text()
	foreignTag := newTag(t, s.CreateOrganization(t, "Other organization"), "foreign")
	unchanged := usersUnchanged(t, s)
	refuseAll(t, []refusedRequest{
		{"their own name", ada, "update_user_name", 403, "", m{"userId": ada.UserID, "userName": "x"}},
		{"their own address", ada, "update_user_email", 403, "", m{"userId": ada.UserID, "userEmail": "a@example.com"}},
		{"their own number", ada, "update_user_phone_number", 403, "", m{"userId": ada.UserID, "userPhoneNumber": "+14155550100"}},
		{"the caller", ada, "update_user", 403, "", m{"userId": ada.UserID, "userName": "x"}},
		{"a taken name", s.Root, "update_user", 409, "", m{"userId": ada.UserID, "userName": "Ada", "userEmail": "x@example.com"}},
		{"a taken name again", s.Root, "update_user_name", 409, "", m{"userId": ada.UserID, "userName": "Ada"}},
		{"an unknown user", s.Root, "update_user", 404, "", m{"userId": unknownID, "userName": "x"}},
		{"the name of an unknown user", s.Root, "update_user_name", 404, "", m{"userId": unknownID, "userName": "x"}},
		{"the address of an unknown user", s.Root, "update_user_email", 404, "", m{"userId": unknownID, "userEmail": "a@example.com"}},
		{"the number of an unknown user", s.Root, "update_user_phone_number", 404, "", m{"userId": unknownID, "userPhoneNumber": "+14155550100"}},
		{"an unknown tag", s.Root, "update_user", 404, "", m{"userId": ada.UserID, "userName": "x", "userTagIds": []any{tag, unknownID}}},
		{"a tag of keys", s.Root, "update_user", 404, "", m{"userId": ada.UserID, "userTagIds": []any{keyTag}}},
		{"a foreign tag", s.Root, "update_user", 404, "", m{"userId": ada.UserID, "userTagIds": []any{foreignTag}}},
		{"an empty name", s.Root, "update_user", 400, "", m{"userId": ada.UserID, "userName": ""}},
		{"a token for the address", s.Root, "update_user_email", 400, "", m{"userId": ada.UserID, "userEmail": "a@example.com", "verificationToken": "a.b.c"}},
		{"a token for the number", s.Root, "update_user_phone_number", 400, "", m{"userId": ada.UserID, "userPhoneNumber": "+14155550100", "verificationToken": "a.b.c"}},
	})
	unchanged()
}

// TestLastContact keeps the address of a user who has no other way in.
func TestLastContact(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		s.Root.Submit(t, "set_organization_feature", m{"name": "FEATURE_NAME_SMS_AUTH", "value": ""})
		ids := texts(s.Root.Submit(t, "create_users", users(
			user("By mail", m{"userEmail": "mail@example.com"}), user("By phone", m{"userPhoneNumber": "+14155550100"}),
		)).Get("result", "createUsersResult", "userIds"))
		mail, phone := ids[0], ids[1]
		for _, c := range []struct {
			operation string
			params    m
		}{
			{"update_user_email", m{"userId": mail, "userEmail": ""}},
			{"update_user_phone_number", m{"userId": phone, "userPhoneNumber": ""}},
			{"update_user", m{"userId": mail, "userEmail": ""}},
			{"update_user", m{"userId": phone, "userPhoneNumber": ""}},
		} {
			refusal := s.Root.Refused(t, 400, c.operation, c.params)
			if !strings.Contains(refusal.Get("message").Text(), "user missing valid credential") {
				t.Errorf("refusal: %v", refusal)
			}
		}
		s.Root.Submit(t, "update_user_email", m{"userId": mail, "userEmail": "other@example.com"})
		key, _ := apiKey(t, client.P256, "key")
		s.Root.Submit(t, "create_api_keys", m{"userId": mail, "apiKeys": []any{key}})
		s.Root.Submit(t, "update_user_email", m{"userId": mail, "userEmail": ""})

		// Once the root quorum has switched their login off, a user can still be
		// changed, and their keys can be revoked.
		s.Root.Submit(t, "remove_organization_feature", m{"name": "FEATURE_NAME_SMS_AUTH"})
		short, _ := apiKey(t, client.P256, "short")
		short["expirationSeconds"] = "600"
		id := s.Root.Submit(t, "create_api_keys", m{"userId": phone, "apiKeys": []any{short}}).
			Get("result", "createApiKeysResult", "apiKeyIds", 0).Text()
		s.Root.Submit(t, "update_user_name", m{"userId": phone, "userName": "Locked out"})
		s.Root.Submit(t, "delete_api_keys", m{"userId": phone, "apiKeyIds": []any{id}})
	})
}

// TestVerifiedContact forgets the proof of a contact when the contact changes,
// and only then.
func TestVerifiedContact(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		inStore := func(see func(*domain.User)) {
			t.Helper()
			err := s.Store.Update(context.Background(), ada.OrganizationID, func(tx *store.Tx) error {
				return tx.Users().Edit(ada.UserID, func(u *domain.User) error {
					see(u)
					return nil
				})
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range []struct {
			name, operation string
			params          m
			mail, phone     bool
		}{
			{"a new name", "update_user", m{"userName": "Countess"}, true, true},
			{"the same contacts", "update_user", m{"userEmail": "Ada@Example.com", "userPhoneNumber": "+14155550100"}, true, true},
			{"another address", "update_user", m{"userEmail": "eve@example.com"}, false, true},
			{"another number", "update_user", m{"userPhoneNumber": "+14155550199"}, true, false},
			{"the same address", "update_user_email", m{"userEmail": "ada@example.com"}, true, true},
			{"an address of its own", "update_user_email", m{"userEmail": "eve@example.com"}, false, true},
			{"no address", "update_user_email", m{"userEmail": ""}, false, true},
			{"the same number", "update_user_phone_number", m{"userPhoneNumber": "+14155550100"}, true, true},
			{"a number of its own", "update_user_phone_number", m{"userPhoneNumber": "+14155550199"}, true, false},
		} {
			t.Run(c.name, func(t *testing.T) {
				inStore(func(u *domain.User) {
					u.Email, u.EmailVerified, u.PhoneNumber, u.PhoneVerified = "ada@example.com", true, "+14155550100", true
				})
				c.params["userId"] = ada.UserID
				s.Root.Submit(t, c.operation, c.params)
				inStore(func(u *domain.User) {
					if u.EmailVerified != c.mail || u.PhoneVerified != c.phone {
						t.Errorf("verified: address %v, number %v", u.EmailVerified, u.PhoneVerified)
					}
				})
			})
		}
	})
}

// TestDeleteUsers deletes users, all or none, and never one of the quorum.
func TestDeleteUsers(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		bob := s.NewUser(t, s.Root, "Bob", client.P256)
		cleo := s.NewUser(t, s.Root, "Cleo", client.P256)
		foreign := s.CreateOrganization(t, "Other organization")
		key := newAuthenticator(t)
		ada.Submit(t, "create_authenticators", m{"userId": ada.UserID, "authenticators": []any{key.params("k")}})
		s.Root.Submit(t, "update_root_quorum", m{"threshold": 1, "userIds": []any{s.Root.UserID, cleo.UserID}})
		unchanged := usersUnchanged(t, s)
		for _, c := range []struct {
			name    string
			caller  *Caller
			status  int
			ids     []any
			message string
		}{
			{"without rights", ada, 403, []any{bob.UserID}, "sufficient permissions"},
			{"the caller without rights", ada, 403, []any{ada.UserID}, "sufficient permissions"},
			{"the root user by their own request", s.Root, 400, []any{s.Root.UserID}, "quorum users missing"},
			{"another root user", s.Root, 400, []any{ada.UserID, cleo.UserID}, "quorum users missing"},
			{"one unknown", s.Root, 404, []any{ada.UserID, unknownID}, "no user with id"},
			{"one of another organization", s.Root, 404, []any{ada.UserID, foreign.UserID}, "no user with id"},
		} {
			t.Run(c.name, func(t *testing.T) {
				refusal := c.caller.Refused(t, c.status, "delete_users", m{"userIds": c.ids})
				if !strings.Contains(refusal.Get("message").Text(), c.message) {
					t.Errorf("refusal: %v", refusal)
				}
			})
		}
		unchanged()

		activity := s.Root.Submit(t, "delete_users", m{"userIds": []any{bob.UserID, ada.UserID}})
		if got := texts(activity.Get("result", "deleteUsersResult", "userIds")); !slices.Equal(got, []string{bob.UserID, ada.UserID}) {
			t.Errorf("result: %v", got)
		}
		for _, gone := range []*Caller{ada, bob, key.as(ada)} {
			gone.Refused(t, 401, "whoami", nil)
		}
		s.Root.Refused(t, 404, "get_user", m{"userId": ada.UserID})
		// The name and the credentials are free again.
		s.Root.Submit(t, "create_users", users(user("Ada", m{"authenticators": []any{key.params("k")}})))
		// Who has left the quorum can be deleted.
		cleo.Submit(t, "update_root_quorum", m{"threshold": 1, "userIds": []any{cleo.UserID}})
		cleo.Submit(t, "delete_users", m{"userIds": []any{s.Root.UserID}})
		s.Root.Refused(t, 401, "whoami", nil)
	})
}

// TestDeleteUserTags deletes tags and takes them off users.
func TestDeleteUserTags(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		bob := s.NewUser(t, s.Root, "Bob", client.P256)
		cleo := s.NewUser(t, s.Root, "Cleo", client.P256)
		one := newTag(t, s.Root, "one", ada.UserID, bob.UserID)
		two := newTag(t, s.Root, "two", bob.UserID)
		three := newTag(t, s.Root, "three", bob.UserID, cleo.UserID)
		keyTag := s.Root.Submit(t, "create_private_key_tag", m{"privateKeyTagName": "keys", "privateKeyIds": []any{}}).
			Get("result", "createPrivateKeyTagResult", "privateKeyTagId").Text()
		foreign := newTag(t, s.CreateOrganization(t, "Other organization"), "foreign")
		unchanged := usersUnchanged(t, s)
		for name, id := range map[string]string{"unknown": unknownID, "of keys": keyTag, "foreign": foreign} {
			t.Run(name, func(t *testing.T) {
				s.Root.Refused(t, 404, "delete_user_tags", m{"userTagIds": []any{one, id}})
			})
		}
		unchanged()
		result := s.Root.Submit(t, "delete_user_tags", m{"userTagIds": []any{two, one}}).Get("result", "deleteUserTagsResult")
		if !slices.Equal(texts(result.Get("userTagIds")), []string{two, one}) || !slices.Equal(texts(result.Get("userIds")), []string{ada.UserID, bob.UserID}) {
			t.Errorf("result: %v", result)
		}
		for id, want := range map[string][]string{ada.UserID: nil, bob.UserID: {three}, cleo.UserID: {three}} {
			if got := texts(s.Root.Query(t, "get_user", m{"userId": id}).Get("user", "userTags")); !slices.Equal(got, want) {
				t.Errorf("tags of %s: %v, want %v", id, got, want)
			}
		}
		if left := s.Root.Query(t, "list_user_tags", nil).Get("userTags").List(); len(left) != 1 || left[0].Get("tagId").Text() != three {
			t.Errorf("tags left: %v", left)
		}
		newTag(t, s.Root, "one") // the name is free again
	})
}

// TestGetAPIKey reads one key.
func TestGetAPIKey(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.Ed25519)
		listed := s.Root.Query(t, "get_api_keys", m{"userId": ada.UserID}).Get("apiKeys", 0)
		read := ada.Query(t, "get_api_key", m{"apiKeyId": listed.Get("apiKeyId").Text()}).Get("apiKey")
		if read.String() != listed.String() || read.Get("credential", "publicKey").Text() != ada.Key.PublicKey() {
			t.Errorf("read %v, listed %v", read, listed)
		}
		s.Root.Refused(t, 404, "get_api_key", m{"apiKeyId": unknownID})
	})
}

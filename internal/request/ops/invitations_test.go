package ops_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"latchkey/client"
	"latchkey/internal/domain"
	"latchkey/internal/proof/passkey/passkeytest"
	"latchkey/internal/store"
	. "latchkey/internal/test/servertest"
)

// invitee is the caller that a mailed link is for.
func invitee(t testing.TB, s *Server, root *Caller, email string) *Caller {
	t.Helper()
	letter := s.MailTo(t, email)
	organization, private, _ := strings.Cut(letter.Bundle, ".")
	text := strings.ReplaceAll(strings.ReplaceAll(letter.Body, "=\r\n", ""), "=3D", "=")
	if !strings.Contains(text, "/console/#invite="+letter.Bundle) || organization != root.OrganizationID {
		t.Fatalf("the mail: %+v", letter)
	}
	key, err := client.ParseKeyFile(private + ":p256")
	if err != nil {
		t.Fatal(err)
	}
	invited := s.Stranger(t, root)
	invited.Key, invited.Stamper = key, key.Stamper()
	invited.UserID = invited.Query(t, "whoami", nil).Get("userId").Text()
	return invited
}

// TestInvitations invites users by mail: the link registers one passkey and does
// nothing else, for a week.
func TestInvitations(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		tag := s.Root.Submit(t, "create_user_tag", m{"userTagName": "new", "userIds": []any{}}).Get("result", "createUserTagResult", "userTagId").Text()
		invitation := func(name, email string) m {
			return m{"receiverUserName": name, "receiverUserEmail": email, "receiverUserTags": []any{tag}, "accessType": "ACCESS_TYPE_ALL", "senderUserId": s.Root.UserID}
		}
		invite := func(all ...any) []Value {
			return s.Root.Submit(t, "create_invitations", m{"invitations": all}).Get("result", "createInvitationsResult", "invitationIds").List()
		}
		ids := invite(invitation("Ida", "ida@example.com"), invitation("Jon", "jon@example.com"))
		ida := invitee(t, s, s.Root, "ida@example.com")
		user := s.Root.Query(t, "get_user", m{"userId": ida.UserID}).Get("user")
		if user.Get("userName").Text() != "Ida" || user.Get("userTags", 0).Text() != tag || user.Get("apiKeys", 0, "expirationSeconds").Text() != "604800" {
			t.Errorf("user: %v", user)
		}
		ida.Refused(t, http.StatusForbidden, "create_api_keys", m{"userId": ida.UserID, "apiKeys": []any{m{"apiKeyName": "key", "publicKey": s.Stranger(t, ida).Key.PublicKey(), "curveType": "API_KEY_CURVE_P256"}}})
		ida.Refused(t, http.StatusForbidden, "list_wallets", m{})
		passkey := func() m {
			answer := passkeytest.New(t, passkeytest.ES256).Register("BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc", "https://app.example.com")
			return m{"authenticatorName": "first", "challenge": answer.Challenge, "attestation": m{
				"credentialId": answer.CredentialID, "clientDataJson": answer.ClientDataJSON, "attestationObject": answer.AttestationObject, "transports": []any{},
			}}
		}
		ida.Submit(t, "recover_user", m{"userId": ida.UserID, "authenticator": passkey()})
		ida.Refused(t, http.StatusUnauthorized, "whoami", nil) // it served once
		if user := s.Root.Query(t, "get_user", m{"userId": ida.UserID}).Get("user"); len(user.Get("authenticators").List()) != 1 || len(user.Get("apiKeys").List()) != 0 {
			t.Errorf("user: %v", user)
		}
		s.Root.Submit(t, "delete_invitation", m{"invitationId": ids[0].Text()}) // which takes nothing from her
		s.Root.Query(t, "get_user", m{"userId": ida.UserID})

		// Who has not come goes with the invitation.
		jon := invitee(t, s, s.Root, "jon@example.com")
		s.Root.Submit(t, "delete_invitation", m{"invitationId": ids[1].Text()})
		jon.Refused(t, http.StatusUnauthorized, "recover_user", m{"userId": jon.UserID, "authenticator": passkey()})
		s.Root.Refused(t, http.StatusNotFound, "get_user", m{"userId": jon.UserID})
		s.Root.Refused(t, http.StatusNotFound, "delete_invitation", m{"invitationId": ids[1].Text()})

		// After a week the link is dead.
		invite(invitation("Kim", "kim@example.com"))
		kim := invitee(t, s, s.Root, "kim@example.com")
		ageKeys(t, s, kim, 7*24*time.Hour)
		kim.Refused(t, http.StatusUnauthorized, "recover_user", m{"userId": kim.UserID, "authenticator": passkey()})

		eve := s.NewUser(t, s.Root, "Eve", client.P256)
		eve.Refused(t, http.StatusForbidden, "create_invitations", m{"invitations": []any{invitation("Lou", "lou@example.com")}})
		for _, c := range []struct {
			status int
			change func(m)
			want   string
		}{
			{http.StatusBadRequest, func(p m) { p["receiverUserEmail"] = "nobody" }, "receiverUserEmail"},
			{http.StatusBadRequest, func(p m) { p["accessType"] = "ALL" }, "accessType"},
			{http.StatusNotFound, func(p m) { p["senderUserId"] = tag }, "no user"},
			{http.StatusNotFound, func(p m) { p["receiverUserTags"] = []any{s.Root.UserID} }, "no "},
			{http.StatusConflict, func(p m) { p["receiverUserName"] = "Ida" }, "already exists"},
		} {
			bad := invitation("Lou", "lou@example.com")
			c.change(bad)
			if refusal := s.Root.Refused(t, c.status, "create_invitations", m{"invitations": []any{invitation("Mo", "mo@example.com"), bad}}); !strings.Contains(refusal.String(), c.want) {
				t.Errorf("%q: %v", c.want, refusal)
			}
		}
		for _, u := range s.Root.Query(t, "list_users", m{}).Get("users").List() {
			if u.Get("userName").Text() == "Mo" {
				t.Error("an invitation of a request that was refused")
			}
		}
	})
}

// ageKeys lets the keys of a user have been made earlier.
func ageKeys(t testing.TB, s *Server, c *Caller, by time.Duration) {
	t.Helper()
	err := s.Store.Update(context.Background(), c.OrganizationID, func(tx *store.Tx) error {
		return tx.Users().Edit(c.UserID, func(u *domain.User) error {
			for i := range u.APIKeys {
				u.APIKeys[i].CreatedAt = u.APIKeys[i].CreatedAt.Add(-by)
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

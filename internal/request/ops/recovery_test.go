package ops_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"latchkey/client"
	"latchkey/internal/domain"
	"latchkey/internal/proof/passkey/passkeytest"
	. "latchkey/internal/test/servertest"

	"github.com/google/go-cmp/cmp"
)

// TestRecovery recovers a user who lost their passkey.
func TestRecovery(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		child := newChild(t, s, s.Root, "Child", func(user, _ m) { user["userEmail"] = "owner@example.com" })
		parent := as(s.Root, child.OrganizationID)
		recipient := NewRecipient(t)
		begin := m{"email": "owner@example.com", "targetPublicKey": recipient.PublicKey(), "emailCustomization": m{"appName": "Test"}}
		parent.Submit(t, "init_user_email_recovery", begin)
		first := recipient.LogIn(t, child, s.MailTo(t, "owner@example.com").Bundle)
		parent.Submit(t, "init_user_email_recovery", begin)
		recovery := recipient.LogIn(t, child, s.MailTo(t, "owner@example.com").Bundle)
		first.Refused(t, http.StatusUnauthorized, "whoami", nil) // only the newest mail counts

		recovery.Query(t, "whoami", nil)
		recovery.Refused(t, http.StatusForbidden, "list_wallets", nil)
		recovery.Refused(t, http.StatusForbidden, "create_wallet", m{"walletName": "w", "accounts": []any{}})
		passkey := passkeytest.New(t, passkeytest.ES256)
		answer := passkey.Register("BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc", "https://app.example.com")
		params := m{"userId": child.UserID, "authenticator": m{
			"authenticatorName": "new", "challenge": answer.Challenge,
			"attestation": m{"credentialId": answer.CredentialID, "clientDataJson": answer.ClientDataJSON, "attestationObject": answer.AttestationObject, "transports": []any{}},
		}}
		child.Refused(t, http.StatusForbidden, "recover_user", params) // not with an ordinary key
		ids := recovery.Submit(t, "recover_user", params).Get("result", "recoverUserResult", "authenticatorId").List()
		if len(ids) != 1 {
			t.Errorf("ids: %v", ids)
		}
		recovery.Refused(t, http.StatusUnauthorized, "whoami", nil) // it is spent
		body := child.Body(t, "whoami", nil)
		name, value := passkey.Stamp(body, "https://app.example.com")
		reply := Send(t, http.MethodPost, s.URL+Path("whoami"), http.Header{name: {value}}, body)
		if reply.Status != http.StatusOK || reply.JSON(t).Get("userId").Text() != child.UserID {
			t.Errorf("the new passkey: %s", reply.Body)
		}
	})
}

// TestRecoverUser recovers a user who lost all credentials by their recovery
// key, once, and by nothing else.
func TestRecoverUser(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		ada := s.NewUser(t, s.Root, "Ada", client.P256)
		bob := s.NewUser(t, s.Root, "Bob", client.P256)
		recovery := recoveryKey(t, s, ada)
		second := recoveryKey(t, s, ada)
		root := recoveryKey(t, s, s.Root)
		key := newAuthenticator(t)
		params := m{"userId": ada.UserID, "authenticator": key.params("new", internal)}

		for _, c := range []struct {
			name   string
			caller *Caller
			params m
		}{
			{"an ordinary key of the user", ada, params},
			{"another user", bob, params},
			{"a root user", s.Root, params},
			{"another user's recovery key", root, params},
			{"the recovery key for another user", recovery, m{"userId": bob.UserID, "authenticator": key.params("x")}},
			{"the recovery key for an unknown user", recovery, m{"userId": unknownID, "authenticator": key.params("x")}},
		} {
			t.Run(c.name, func(t *testing.T) {
				refusal := c.caller.Refused(t, 403, "recover_user", c.params)
				if !strings.HasPrefix(refusal.Get("message").Text(), "You don't have sufficient permissions to take this action.") {
					t.Errorf("refusal: %v", refusal)
				}
			})
		}
		if got := s.Root.Query(t, "get_authenticators", m{"userId": ada.UserID}).Get("authenticators").List(); len(got) != 0 {
			t.Errorf("refused requests added passkeys: %v", got)
		}

		activity := recovery.Submit(t, "recover_user", params)
		id := activity.Get("result", "recoverUserResult", "authenticatorId", 0).Text()
		found := s.Root.Query(t, "get_user", m{"userId": ada.UserID}).Get("user")
		if found.Get("authenticators", 0, "authenticatorId").Text() != id || len(found.Get("apiKeys").List()) != 1 ||
			found.Get("apiKeys", 0, "credential", "type").Text() != "CREDENTIAL_TYPE_API_KEY_P256" {
			t.Errorf("user: %v", found)
		}
		if diff := cmp.Diff(any(params), activity.Get("intent", "recoverUserIntent").Any); diff != "" {
			t.Errorf("intent (-sent +echoed):\n%s", diff)
		}
		key.as(ada).Query(t, "whoami", nil)
		recovery.Refused(t, 401, "whoami", nil)
		second.Refused(t, 401, "recover_user", m{"userId": ada.UserID, "authenticator": newAuthenticator(t).params("x")})

		// A root user recovers like any other, even with as many passkeys as
		// are allowed.
		var lost []any
		for range 10 {
			lost = append(lost, newAuthenticator(t).params("lost"))
		}
		s.Root.Submit(t, "create_authenticators", m{"userId": s.Root.UserID, "authenticators": lost})
		found2 := newAuthenticator(t)
		root.Submit(t, "recover_user", m{"userId": s.Root.UserID, "authenticator": found2.params("found")})
		found2.as(s.Root).Query(t, "whoami", nil)
	})
}

// recoveryKey gives a user a recovery key, as a recovery by mail does.
func recoveryKey(t *testing.T, s *Server, c *Caller) *Caller {
	t.Helper()
	holder := s.Stranger(t, c)
	addKey(t, s, c, domain.APIKey{
		Name: "Recovery", PublicKey: holder.Key.PublicKey(), Type: domain.CredentialRecovery,
		ExpirationSeconds: 900, CreatedAt: time.Now(),
	})
	return holder
}

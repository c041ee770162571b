package ops_test

import (
	"net/http"
	"testing"

	. "latchkey/internal/test/servertest"
)

// TestContactsThatLookAlike proves a mailbox whose address looks like that of a
// user, and gets nowhere with it.
func TestContactsThatLookAlike(t *testing.T) {
	for name, c := range map[string]struct{ victim, attacker string }{
		"KELVIN SIGN":      {"kate@example.com", "\u212aate@example.com"},
		"I WITH DOT ABOVE": {"ian@example.com", "\u0130an@example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			Each(t, func(t *testing.T, s *Server) {
				child := newChild(t, s, s.Root, "Child", func(user, _ m) { user["userEmail"] = c.victim })
				parent, key, recipient := as(s.Root, child.OrganizationID), s.Stranger(t, child), NewRecipient(t)
				token := verifiedToken(t, s, s.Root, c.attacker, key.Key.PublicKey())
				parent.RefusedBody(t, http.StatusNotFound, "otp_login", otpLoginBody(t, parent, key, token))
				for _, organization := range []string{s.Root.OrganizationID, child.OrganizationID} {
					attestedBy(key, organization, token).Refused(t, http.StatusUnauthorized, "stamp_login", m{"publicKey": key.Key.PublicKey()})
				}
				s.Root.RefusedBody(t, http.StatusBadRequest, "create_sub_organization", signUpBody(t, s.Root, key, key, c.victim, token))
				child.Refused(t, http.StatusBadRequest, "update_user_email", m{"userId": child.UserID, "userEmail": c.victim, "verificationToken": token})
				parent.Refused(t, http.StatusNotFound, "init_otp_auth", m{"otpType": "OTP_TYPE_EMAIL", "contact": c.attacker, "appName": "Test"})
				mail := m{"email": c.attacker, "targetPublicKey": recipient.PublicKey(), "emailCustomization": m{"appName": "Test"}}
				parent.Refused(t, http.StatusNotFound, "email_auth", mail)
				parent.Refused(t, http.StatusNotFound, "init_user_email_recovery", mail)
				if found := s.Root.Query(t, "list_suborgs", m{"filterType": "EMAIL", "filterValue": c.attacker}).Get("organizationIds").List(); len(found) != 0 {
					t.Errorf("%s finds %v", c.attacker, found)
				}
			})
		})
	}
}

// TestMessagesGoToTheAddressOnRecord asks for messages in another letter case
// than the one on record.
func TestMessagesGoToTheAddressOnRecord(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		const stored, asked = "Owner.Record@Example.com", "owner.record@example.COM"
		child := newChild(t, s, s.Root, "Child", func(user, _ m) { user["userEmail"] = stored })
		parent, recipient := as(s.Root, child.OrganizationID), NewRecipient(t)
		code := m{"otpType": "OTP_TYPE_EMAIL", "contact": asked, "appName": "Test"}
		mail := m{"email": asked, "targetPublicKey": recipient.PublicKey(), "emailCustomization": m{"appName": "Test"}}
		for i, request := range []struct {
			caller    *Caller
			operation string
			params    m
		}{{parent, "init_otp_auth", code}, {child, "init_otp", code}, {parent, "email_auth", mail}, {parent, "init_user_email_recovery", mail}} {
			request.caller.Submit(t, request.operation, request.params)
			sent := 0
			for _, letter := range s.Mail(t) {
				switch letter.To {
				case stored:
					sent++
				case asked:
					t.Errorf("%s sent to the address that was asked for", request.operation)
				}
			}
			if sent != i+1 {
				t.Errorf("%s: %d messages were sent to the address on record", request.operation, sent)
			}
		}
		// A contact that no user has is written as it was asked for.
		s.Root.Submit(t, "init_otp", m{"otpType": "OTP_TYPE_EMAIL", "contact": "New@Example.com", "appName": "Test"})
		s.MailTo(t, "New@Example.com")
	})
}

package ops_test

import (
	"net/http"
	"strings"
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

// TestWrittenContactLocksNoOneOut: a contact that is only on record with other
// users, here or in other sub-organizations, is none that they proved.
func TestWrittenContactLocksNoOneOut(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		const contact = "mine@example.com"
		owner, key := s.Stranger(t, s.Root), s.Stranger(t, s.Root)
		token := verifiedToken(t, s, s.Root, contact, key.Key.PublicKey())
		result := s.Root.MustPost(t, "create_sub_organization", signUpBody(t, s.Root, owner, key, contact, token)).
			Get("activity", "result", "createSubOrganizationResultV8")
		child := as(owner, result.Get("subOrganizationId").Text())
		child.UserID = result.Get("rootUserIds", 0).Text()
		for _, name := range []string{"First", "Second", "Third"} {
			newChild(t, s, s.Root, name, func(user, _ m) { user["userEmail"] = contact })
		}
		child.Submit(t, "create_users", users(user("Other", m{"userEmail": contact})))

		// By the parent's id, as the published kit does, and by that of the child.
		fresh := s.Stranger(t, child)
		login := attestedBy(key, s.Root.OrganizationID, token).Submit(t, "stamp_login", m{"publicKey": fresh.Key.PublicKey()})
		if login.Get("organizationId").Text() != child.OrganizationID {
			t.Errorf("the login is in %s", login.Get("organizationId").Text())
		}
		if got := fresh.Query(t, "whoami", nil).Get("userId").Text(); got != child.UserID {
			t.Errorf("the login is that of %s", got)
		}
		parent := as(s.Root, child.OrganizationID)
		parent.MustPost(t, "otp_login", otpLoginBody(t, parent, key, verifiedToken(t, s, s.Root, contact, key.Key.PublicKey())))
		id := parent.Submit(t, "init_otp_auth", m{"otpType": "OTP_TYPE_EMAIL", "contact": contact, "appName": "Test"}).Get("result", "initOtpAuthResultV2", "otpId").Text()
		auth := parent.Submit(t, "otp_auth", m{"otpId": id, "otpCode": s.MailTo(t, contact).Code, "targetPublicKey": NewRecipient(t).PublicKey()})
		if got := auth.Get("result", "otpAuthResult", "userId").Text(); got != child.UserID {
			t.Errorf("the code logs %s in", got)
		}
	})
}

// TestAttestedLoginProvesContact: a contact that is only on record becomes a
// verified one by the first login with it; where it is on record more than once
// and no one has proved it, the login is refused and the client must say who is
// meant.
func TestAttestedLoginProvesContact(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		s.Root.Submit(t, "set_organization_feature", m{"name": "FEATURE_NAME_SMS_AUTH", "value": ""})
		t.Run("e-mail", func(t *testing.T) { provesContact(t, s, "EMAIL", "written@example.com") })
		t.Run("phone", func(t *testing.T) { provesContact(t, s, "PHONE_NUMBER", "+14155550142") })
	})
}

func provesContact(t *testing.T, s *Server, filter, contact string) {
	_, member := contactOf(contact)
	verified := func() []Value {
		return s.Root.Query(t, "list_verified_suborgs", m{"filterType": filter, "filterValue": contact}).Get("organizationIds").List()
	}
	child := newChild(t, s, s.Root, "Child "+filter, func(user, _ m) { user[member] = contact })
	newChild(t, s, s.Root, "Other "+filter, func(user, _ m) { user[member] = contact })
	key := s.Stranger(t, child)
	login := m{"publicKey": key.Key.PublicKey()}
	token := verifiedToken(t, s, s.Root, contact, key.Key.PublicKey())
	// The parent's id does not say which of the two, and nothing is used up.
	lost := attestedBy(key, s.Root.OrganizationID, token)
	refusal := lost.Refused(t, http.StatusUnauthorized, "stamp_login", login).Get("message").Text()
	if refusal != "more than one suborg associated with a verified contact; name the sub-organization in organizationId" {
		t.Errorf("refusal: %s", refusal)
	}
	if got := verified(); len(got) != 0 {
		t.Errorf("verified before: %v", got)
	}
	// Nor does the id of a child in which two users have it, by any login.
	two := newChild(t, s, s.Root, "Two "+filter, func(user, _ m) { user[member] = contact })
	two.Submit(t, "create_users", users(user("Second", m{member: contact})))
	refusal = attestedBy(key, two.OrganizationID, token).Refused(t, http.StatusUnauthorized, "stamp_login", login).Get("message").Text()
	if !strings.Contains(refusal, "more than one user of the organization has the verified contact") {
		t.Errorf("refusal: %s", refusal)
	}
	parent := as(s.Root, two.OrganizationID)
	refusal = parent.RefusedBody(t, http.StatusBadRequest, "otp_login", otpLoginBody(t, parent, key, token)).Get("message").Text()
	if !strings.Contains(refusal, "more than one user of the organization has this contact") {
		t.Errorf("refusal: %s", refusal)
	}
	attestedBy(key, child.OrganizationID, token).Submit(t, "stamp_login", login)
	if got := verified(); len(got) != 1 || got[0].Text() != child.OrganizationID {
		t.Errorf("verified: %v", got)
	}
	// From now on the one who proved it is meant.
	again := attestedBy(key, s.Root.OrganizationID, verifiedToken(t, s, s.Root, contact, key.Key.PublicKey()))
	if got := again.Submit(t, "stamp_login", login).Get("organizationId").Text(); got != child.OrganizationID {
		t.Errorf("the login is in %s", got)
	}
}

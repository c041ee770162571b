package ops_test

import (
	"net/http"
	"strings"
	"testing"

	"latchkey/internal/proof/passkey/passkeytest"
	. "latchkey/internal/test/servertest"
)

// TestMFAPolicies creates, changes, reads and deletes multi-factor policies, and
// refuses bad ones.
func TestMFAPolicies(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		user := newPerson(t, s, s.NewUser(t, s.Root, "Mia", "p256"))
		first := newMFA(t, s.Root, user.UserID, "activity.action == 'EXPORT'", 5, "PASSKEY", "API_KEY|EMAIL_OTP")
		second := newMFA(t, user.Caller, user.UserID, "false", 5, "SESSION") // the own, without a policy
		read := func(id string) Value {
			return s.Root.Query(t, "get_mfa_policy", m{"userId": user.UserID, "mfaPolicyId": id}).Get("mfaPolicy")
		}
		got := read(first)
		if got.Get("condition").Text() != "activity.action == 'EXPORT'" || got.Get("order").Number() != 5 ||
			got.Get("requiredAuthenticationMethods", 1, "any", 1, "type").Text() != "AUTHENTICATION_TYPE_EMAIL_OTP" || !got.Has("createdAt") {
			t.Errorf("policy: %v", got)
		}
		s.Root.Submit(t, "update_mfa_policy", m{"userId": user.UserID, "mfaPolicyId": second, "order": 0, "notes": "now first", "mfaPolicyName": "renamed"})
		if got := read(second); got.Get("order").Number() != 0 || got.Get("notes").Text() != "now first" || got.Get("condition").Text() != "false" ||
			len(got.Get("requiredAuthenticationMethods").List()) != 1 {
			t.Errorf("changed: %v", got)
		}
		for name, list := range map[string]Value{
			"get_mfa_policies": s.Root.Query(t, "get_mfa_policies", m{"userId": user.UserID}),
			"get_user":         s.Root.Query(t, "get_user", m{"userId": user.UserID}).Get("user"),
		} {
			all := list.Get("mfaPolicies").List()
			if len(all) != 2 || all[0].Get("mfaPolicyId").Text() != second || all[1].Get("mfaPolicyId").Text() != first {
				t.Errorf("%s: %v", name, all)
			}
		}
		s.Root.Submit(t, "delete_mfa_policy", m{"userId": user.UserID, "mfaPolicyId": second})
		s.Root.Refused(t, http.StatusNotFound, "get_mfa_policy", m{"userId": user.UserID, "mfaPolicyId": second})
		s.Root.Refused(t, http.StatusNotFound, "delete_mfa_policy", m{"userId": user.UserID, "mfaPolicyId": second})
		s.Root.Refused(t, http.StatusNotFound, "update_mfa_policy", m{"userId": s.Root.UserID, "mfaPolicyId": first, "order": 1})

		good := func(change func(m)) m {
			p := m{"userId": user.UserID, "mfaPolicyName": "another", "condition": "true", "requiredAuthenticationMethods": steps("PASSKEY"), "order": 7}
			change(p)
			return p
		}
		for _, c := range []struct {
			status int
			change func(m)
			want   string
		}{
			{http.StatusBadRequest, func(p m) { p["condition"] = "activity.action = 'SIGN'" }, "condition"},
			{http.StatusBadRequest, func(p m) { p["condition"] = "approvers.count() > 1" }, "approvers"},
			{http.StatusBadRequest, func(p m) { p["order"] = -1 }, "order"},
			{http.StatusBadRequest, func(p m) { p["requiredAuthenticationMethods"] = []any{} }, "requiredAuthenticationMethods"},
			{http.StatusBadRequest, func(p m) { p["requiredAuthenticationMethods"] = []any{m{"any": []any{}}} }, "any"},
			{http.StatusBadRequest, func(p m) { p["requiredAuthenticationMethods"] = steps("FINGER") }, "type"},
			{http.StatusBadRequest, func(p m) { p["requiredAuthenticationMethods"] = steps("EMAIL_OTP", "EMAIL_OTP") }, "never be met"},
			{http.StatusBadRequest, func(p m) { p["requiredAuthenticationMethods"] = steps("EMAIL_OTP:" + first) }, "codes have no id"},
			{http.StatusNotFound, func(p m) { p["requiredAuthenticationMethods"] = steps("PASSKEY:" + first) }, "no credential"},
			{http.StatusNotFound, func(p m) { p["requiredAuthenticationMethods"] = steps("SESSION:" + first) }, "no session profile"},
			{http.StatusNotFound, func(p m) { p["userId"] = first }, "no user"},
			{http.StatusConflict, func(p m) {
				p["mfaPolicyName"] = s.Root.Query(t, "get_mfa_policy", m{"userId": user.UserID, "mfaPolicyId": first}).Get("mfaPolicy", "mfaPolicyName").Text()
			}, "already"},
		} {
			if refusal := s.Root.Refused(t, c.status, "create_mfa_policy", good(c.change)); !strings.Contains(refusal.String(), c.want) {
				t.Errorf("%q: %v", c.want, refusal)
			}
		}
		s.NewUser(t, s.Root, "Eve", "p256").Refused(t, http.StatusForbidden, "create_mfa_policy", good(func(m) {}))
	})
}

// TestMFAOrder: of a user's policies the first counts whose condition holds, or
// cannot be evaluated.
func TestMFAOrder(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		owner := newPerson(t, s, newChild(t, s, s.Root, "Child"))
		tag := func(name string) m { return m{"userTagName": name, "userIds": []any{}} }
		helper := s.NewUser(t, owner.Caller, "Helper", "p256")
		owner.Submit(t, "create_policy", m{"policyName": "helper", "effect": "EFFECT_ALLOW", "condition": "activity.resource == 'MFA_POLICY'", "consensus": "approvers.any(user, user.id == '" + helper.UserID + "')", "notes": ""})

		weak := newMFA(t, helper, owner.UserID, "activity.resource == 'USER'", 1, "API_KEY")
		strong := newMFA(t, helper, owner.UserID, "true", 2, "PASSKEY", "API_KEY")
		is(t, owner.Submit(t, "create_user_tag", tag("weak first")), completed, "the weak one counts")
		is(t, owner.Submit(t, "create_wallet", m{"walletName": "w", "accounts": []any{}}), needed, "the strong one counts")
		helper.Submit(t, "update_mfa_policy", m{"userId": owner.UserID, "mfaPolicyId": weak, "order": 2})
		is(t, owner.Submit(t, "create_user_tag", tag("a tie")), completed, "the older one of two")
		helper.Submit(t, "update_mfa_policy", m{"userId": owner.UserID, "mfaPolicyId": weak, "order": 3})
		is(t, owner.Submit(t, "create_user_tag", tag("strong first")), needed, "the strong one comes first")

		helper.Submit(t, "delete_mfa_policy", m{"userId": owner.UserID, "mfaPolicyId": weak})
		helper.Submit(t, "update_mfa_policy", m{"userId": owner.UserID, "mfaPolicyId": strong, "condition": "eth.tx.value > 5"})
		is(t, owner.Submit(t, "create_user_tag", tag("unreadable")), needed, "a condition that cannot be evaluated")
		helper.Submit(t, "update_mfa_policy", m{"userId": owner.UserID, "mfaPolicyId": strong, "condition": "activity.action == 'SIGN'"})
		is(t, owner.Submit(t, "create_user_tag", tag("other action")), completed, "a condition that does not hold")

		// What waits is judged by what holds when the next stamp arrives.
		helper.Submit(t, "update_mfa_policy", m{"userId": owner.UserID, "mfaPolicyId": strong, "condition": "true"})
		a := owner.Submit(t, "create_user_tag", tag("waits"))
		is(t, a, needed, "both")
		helper.Submit(t, "update_mfa_policy", m{"userId": owner.UserID, "mfaPolicyId": strong, "requiredAuthenticationMethods": steps("SESSION", "PASSKEY")})
		is(t, approve(t, owner.ways["PASSKEY"], a), needed, "what it asked for before")
		is(t, approve(t, owner.ways["SESSION"], a), completed, "what it asks for now")
		a = owner.Submit(t, "create_user_tag", tag("freed"))
		is(t, a, needed, "both")
		helper.Submit(t, "delete_mfa_policy", m{"userId": owner.UserID, "mfaPolicyId": strong})
		is(t, approve(t, owner.Caller, a), completed, "nothing any more")
	})
}

// TestMFAGuardsItself: one factor is not enough for a user to be rid of the others,
// whatever the conditions say; another user who may can help.
func TestMFAGuardsItself(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		owner := newPerson(t, s, newChild(t, s, s.Root, "Child"))
		helper := s.NewUser(t, owner.Caller, "Helper", "p256")
		owner.Submit(t, "create_policy", m{"policyName": "helper", "effect": "EFFECT_ALLOW", "condition": "activity.resource == 'MFA_POLICY'", "consensus": "approvers.any(user, user.id == '" + helper.UserID + "')", "notes": ""})
		id := newMFA(t, owner.Caller, owner.UserID, "activity.action == 'SIGN'", 3, "SESSION", "PASSKEY")
		weaker := m{"userId": owner.UserID, "mfaPolicyName": "weaker", "condition": "false", "requiredAuthenticationMethods": steps("API_KEY"), "order": 0}
		for _, by := range owner.ways {
			is(t, by.Submit(t, "delete_mfa_policy", m{"userId": owner.UserID, "mfaPolicyId": id}), needed, "delete")
			is(t, by.Submit(t, "update_mfa_policy", m{"userId": owner.UserID, "mfaPolicyId": id, "requiredAuthenticationMethods": steps("API_KEY")}), needed, "update")
			is(t, by.Submit(t, "update_mfa_policy", m{"userId": owner.UserID, "mfaPolicyId": id, "condition": "false"}), needed, "narrow")
			is(t, by.Submit(t, "update_mfa_policy", m{"userId": owner.UserID, "mfaPolicyId": id, "order": 9}), needed, "reorder")
			is(t, by.Submit(t, "create_mfa_policy", weaker), needed, "one that comes before it")
		}
		if all := owner.Query(t, "get_mfa_policies", m{"userId": owner.UserID}).Get("mfaPolicies").List(); len(all) != 1 || all[0].Get("order").Number() != 3 {
			t.Fatalf("the policies: %v", all)
		}
		weaker["order"] = 4
		is(t, owner.Submit(t, "create_mfa_policy", weaker), completed, "one that comes after it")
		is(t, owner.Submit(t, "update_mfa_policy", m{"userId": owner.UserID, "mfaPolicyId": id, "notes": "why"}), completed, "its notes")

		// Nor can the missing factor be added beside the one that there is.
		answer := passkeytest.New(t, passkeytest.ES256).Register("BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc", "https://app.example.com")
		another := owner.Submit(t, "create_authenticators", m{"userId": owner.UserID, "authenticators": []any{m{
			"authenticatorName": "another", "challenge": answer.Challenge, "attestation": m{
				"credentialId": answer.CredentialID, "clientDataJson": answer.ClientDataJSON, "attestationObject": answer.AttestationObject, "transports": []any{},
			},
		}}})
		is(t, another, needed, "a second passkey")
		is(t, approve(t, owner.ways["PASSKEY"], another), needed, "a second passkey, with the first")
		is(t, approve(t, owner.ways["SESSION"], another), completed, "a second passkey, with all factors")

		// The owner's approval of what the helper submits counts no more than that.
		a := owner.ways["SESSION"].Submit(t, "delete_mfa_policy", m{"userId": owner.UserID, "mfaPolicyId": id})
		is(t, a, needed, "delete")
		helper.Refused(t, http.StatusForbidden, "approve_activity", m{"fingerprint": a.Get("fingerprint").Text()})
		is(t, approve(t, owner.ways["PASSKEY"], a), completed, "with both factors")
		id = newMFA(t, owner.Caller, owner.UserID, "activity.action == 'SIGN'", 3, "SESSION", "PASSKEY")
		is(t, helper.Submit(t, "delete_mfa_policy", m{"userId": owner.UserID, "mfaPolicyId": id}), completed, "a user who may")
	})
}

// TestMFAVotes: the submitter proves more first, then each approver; a vote counts
// when its user has, and others are not kept waiting.
func TestMFAVotes(t *testing.T) {
	const waiting = "ACTIVITY_STATUS_CONSENSUS_NEEDED"
	Each(t, func(t *testing.T, s *Server) {
		ada := newPerson(t, s, newChild(t, s, s.Root, "Child"))
		bob := newPerson(t, s, s.NewUser(t, ada.Caller, "Bob", "p256"))
		eve := s.NewUser(t, ada.Caller, "Eve", "p256")
		newMFA(t, ada.Caller, ada.UserID, "activity.resource == 'WALLET'", 0, "API_KEY", "PASSKEY")
		newMFA(t, bob.Caller, bob.UserID, "true", 0, "SESSION", "PASSKEY")
		ada.Submit(t, "update_root_quorum", m{"threshold": 2, "userIds": []any{ada.UserID, bob.UserID, eve.UserID}})
		wallet := func(name string) m { return m{"walletName": name, "accounts": []any{}} }

		a := ada.Submit(t, "create_wallet", wallet("one"))
		is(t, a, needed, "the submitter lacks a factor")
		refusal := eve.Refused(t, http.StatusBadRequest, "approve_activity", m{"fingerprint": a.Get("fingerprint").Text()})
		if !strings.Contains(refusal.String(), "further factors of the user who submitted it") {
			t.Errorf("refusal: %v", refusal)
		}
		a = approve(t, ada.ways["PASSKEY"], a)
		is(t, a, waiting, "the submitter has both")
		is(t, approve(t, bob.ways["SESSION"], a), needed, "the approver lacks one")
		is(t, approve(t, bob.Caller, a), needed, "not that one")
		is(t, approve(t, bob.ways["PASSKEY"], a), completed, "the approver has both")

		a = approve(t, ada.ways["PASSKEY"], ada.Submit(t, "create_wallet", wallet("two")))
		is(t, approve(t, bob.Caller, a), needed, "the approver lacks both")
		is(t, approve(t, eve, a), completed, "another approver has none to give")

		a = approve(t, ada.ways["PASSKEY"], ada.Submit(t, "create_wallet", wallet("three")))
		is(t, bob.Submit(t, "reject_activity", m{"fingerprint": a.Get("fingerprint").Text()}), "ACTIVITY_STATUS_REJECTED", "a rejection needs no more")

		// Eve has none herself; the votes of the two who have do not count before.
		a = eve.Submit(t, "create_wallet", wallet("four"))
		is(t, a, waiting, "one vote")
		is(t, approve(t, ada.Caller, a), needed, "a vote that lacks a factor")
		is(t, approve(t, bob.Caller, a), needed, "two of them")
		is(t, approve(t, ada.ways["PASSKEY"], a), completed, "one of them is whole")
	})
}

// TestMFALogin: a login that a code begins ends with a passkey, also through the
// organization's parent and its auth proxy; and what stands for a credential is no
// vote, and serves once.
func TestMFALogin(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		const email = "two@example.com"
		child := newChild(t, s, s.Root, "Child", func(user, _ m) { user["userEmail"] = email })
		owner := newPerson(t, s, child)
		newMFA(t, owner.Caller, owner.UserID, "activity.resource == 'AUTH'", 0, "EMAIL_OTP", "PASSKEY")
		other := owner.Submit(t, "create_user_tag", m{"userTagName": "tag", "userIds": []any{}})

		session := s.Stranger(t, child)
		mailed := owner.byMail(t, s, s.Root, email)
		named := as(mailed, s.Root.OrganizationID) // the client knows the parent alone
		named.Stamper = mailed.Stamper
		a := named.Submit(t, "stamp_login", m{"publicKey": session.Key.PublicKey()})
		is(t, a, needed, "a code alone")
		session.Refused(t, http.StatusUnauthorized, "whoami", nil)
		status := mailed.Query(t, "get_mfa_status", m{"activityId": a.Get("id").Text()}).Get("mfaStatuses")
		if len(status.List()) != 1 || status.Get(0, "satisfiedMethods", 0, "type").Text() != "AUTHENTICATION_TYPE_EMAIL_OTP" {
			t.Errorf("status: %v", status)
		}
		mailed.Query(t, "get_activity", m{"activityId": a.Get("id").Text()})
		mailed.Refused(t, http.StatusNotFound, "get_activity", m{"activityId": other.Get("id").Text()})
		mailed.Refused(t, http.StatusUnauthorized, "list_wallets", m{})
		done := approve(t, owner.ways["PASSKEY"], a)
		is(t, done, completed, "with the passkey")
		if !done.Get("result", "stampLoginResult").Has("session") {
			t.Errorf("no session: %v", done)
		}
		session.Query(t, "whoami", nil)

		// The other way round; the code is good for one activity.
		a = owner.ways["PASSKEY"].Submit(t, "stamp_login", m{"publicKey": s.Stranger(t, child).Key.PublicKey()})
		b := owner.ways["PASSKEY"].Submit(t, "stamp_login", m{"publicKey": s.Stranger(t, child).Key.PublicKey()})
		mailed = owner.byMail(t, s, s.Root, email)
		is(t, approve(t, mailed, a), completed, "with the code")
		refusal := mailed.Refused(t, http.StatusBadRequest, "approve_activity", m{"fingerprint": b.Get("fingerprint").Text()})
		if !strings.Contains(refusal.String(), "further factor already") {
			t.Errorf("refusal: %v", refusal)
		}
		mailed.Refused(t, http.StatusUnauthorized, "reject_activity", m{"fingerprint": b.Get("fingerprint").Text()})

		// It votes on nothing.
		eve := s.NewUser(t, child, "Eve", "p256")
		child.Submit(t, "update_root_quorum", m{"threshold": 2, "userIds": []any{owner.UserID, eve.UserID}})
		waiting := eve.Submit(t, "create_wallet", m{"walletName": "w", "accounts": []any{}})
		owner.byMail(t, s, s.Root, email).Refused(t, http.StatusForbidden, "approve_activity", m{"fingerprint": waiting.Get("fingerprint").Text()})
	})
}

// TestMFARecovery: a recovery by mail gives no credential to a user who must prove
// more, and is completed by the factors.
func TestMFARecovery(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		const email = "lost@example.com"
		child := newChild(t, s, s.Root, "Child", func(user, _ m) { user["userEmail"] = email })
		owner := newPerson(t, s, child)
		recipient := NewRecipient(t)
		as(s.Root, child.OrganizationID).Submit(t, "init_user_email_recovery", m{"email": email, "targetPublicKey": recipient.PublicKey(), "emailCustomization": m{"appName": "Test"}})
		recovery := recipient.LogIn(t, child, s.MailTo(t, email).Bundle)
		newMFA(t, owner.Caller, owner.UserID, "true", 0, "API_KEY")
		passkey := passkeytest.New(t, passkeytest.ES256)
		answer := passkey.Register("BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc", "https://app.example.com")
		a := recovery.Submit(t, "recover_user", m{"userId": child.UserID, "authenticator": m{
			"authenticatorName": "new", "challenge": answer.Challenge,
			"attestation": m{"credentialId": answer.CredentialID, "clientDataJson": answer.ClientDataJSON, "attestationObject": answer.AttestationObject, "transports": []any{}},
		}})
		is(t, a, needed, "a recovery key is no factor")
		recovery.Refused(t, http.StatusForbidden, "approve_activity", m{"fingerprint": a.Get("fingerprint").Text()})
		is(t, approve(t, owner.ways["SESSION"], a), needed, "a session is no API key")
		is(t, approve(t, owner.Caller, a), completed, "with the API key")
	})
}

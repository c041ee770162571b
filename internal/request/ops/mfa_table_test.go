package ops_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"latchkey/internal/test/oidctest"
	. "latchkey/internal/test/servertest"
)

const (
	needed    = "ACTIVITY_STATUS_AUTHENTICATORS_NEEDED"
	completed = "ACTIVITY_STATUS_COMPLETED"
)

// steps are those of a multi-factor policy: each a list of types, without their
// prefix, of which any will do.
func steps(all ...string) []any {
	var list []any
	for _, step := range all {
		var methods []any
		for kind := range strings.SplitSeq(step, "|") {
			kind, id, _ := strings.Cut(kind, ":")
			method := m{"type": "AUTHENTICATION_TYPE_" + kind}
			if id != "" {
				method["id"] = id
			}
			methods = append(methods, method)
		}
		list = append(list, m{"any": methods})
	}
	return list
}

// newMFA lets a caller give a user a multi-factor policy, and returns its id.
func newMFA(t testing.TB, by *Caller, userID, condition string, order int, all ...string) string {
	t.Helper()
	return by.Submit(t, "create_mfa_policy", m{
		"userId": userID, "mfaPolicyName": fmt.Sprintf("policy %d %s", order, all), "condition": condition,
		"requiredAuthenticationMethods": steps(all...), "order": order,
	}).Get("result", "createMfaPolicyResult", "mfaPolicyId").Text()
}

// person is a user with a credential of every kind.
type person struct {
	*Caller // with an API key
	ways    map[string]*Caller
}

// newPerson equips a user who has an API key and this e-mail address: ways are what
// they can stamp with, by type.
func newPerson(t testing.TB, s *Server, c *Caller) *person {
	t.Helper()
	passkey := NewPasskey(t)
	passkey.Register(t, s, c)
	byPasskey := *c
	byPasskey.Stamper = passkey
	session := s.Stranger(t, c)
	c.Submit(t, "stamp_login", m{"publicKey": session.Key.PublicKey(), "expirationSeconds": "3600"})
	return &person{c, map[string]*Caller{"API_KEY": c, "PASSKEY": &byPasskey, "SESSION": session}}
}

// byMail is the person by a code that was mailed.
func (p *person) byMail(t testing.TB, s *Server, issuer *Caller, email string) *Caller {
	t.Helper()
	key := s.Stranger(t, p.Caller)
	return attestedBy(key, p.OrganizationID, verifiedToken(t, s, issuer, email, key.Key.PublicKey()))
}

// approve stamps an activity once more.
func approve(t testing.TB, by *Caller, activity Value) Value {
	t.Helper()
	return by.Submit(t, "approve_activity", m{"fingerprint": activity.Get("fingerprint").Text()})
}

func is(t testing.TB, a Value, status, what string) {
	t.Helper()
	if got := a.Get("status").Text(); got != status {
		t.Errorf("%s: %s, want %s", what, got, status)
	}
	if status != completed && a.Get("result").String() != "map[]" {
		t.Errorf("%s: a result before its time: %v", what, a.Get("result"))
	}
}

// TestMFATable submits each kind of operation, with each way to stamp, under each
// policy, as a root user and as one whom a policy allows it: what lacks factors is
// not done, whatever else is tried, and is done when the last one arrives.
func TestMFATable(t *testing.T) {
	policies := [][]string{
		{"PASSKEY"},
		{"SESSION"},
		{"API_KEY", "PASSKEY"},
		{"PASSKEY|SESSION", "PASSKEY"},
		{"API_KEY", "SESSION", "PASSKEY"},
		{"SESSION:00000000-0000-0000-0000-000000000000", "API_KEY|PASSKEY"},
	}
	Each(t, func(t *testing.T, s *Server) {
		for _, root := range []bool{true, false} {
			t.Run(fmt.Sprintf("root=%v", root), func(t *testing.T) {
				for i, policy := range policies {
					child := newChild(t, s, s.Root, fmt.Sprintf("Child %v %d", root, i))
					user := child
					if !root {
						child.Submit(t, "create_policy", m{"policyName": "all", "effect": "EFFECT_ALLOW", "condition": "true", "notes": ""})
						user = s.NewUser(t, child, "Member", "p256")
					}
					w := &mfaTable{Server: s, root: child, person: newPerson(t, s, user), policy: policy}
					w.wallet = child.Submit(t, "create_wallet", m{"walletName": "wallet", "accounts": []any{ethereumAccount}}).
						Get("result", "createWalletResult", "addresses", 0).Text()
					w.run(t)
				}
			})
		}
	})
}

type mfaTable struct {
	*Server
	*person
	root   *Caller
	policy []string
	wallet string
	id     string // of the policy
	n      int
}

// operations are the kinds of activities, by name.
func (w *mfaTable) operations(t testing.TB) map[string]func() m {
	fresh := func() string { return w.Stranger(t, w.Caller).Key.PublicKey() }
	name := func() string { w.n++; return fmt.Sprintf("name %d", w.n) }
	return map[string]func() m{
		"create_user_tag": func() m { return m{"userTagName": name(), "userIds": []any{}} },
		"create_wallet":   func() m { return m{"walletName": name(), "accounts": []any{}} },
		"sign_raw_payload": func() m {
			return m{"signWith": w.wallet, "payload": strings.Repeat("ab", 32), "encoding": "PAYLOAD_ENCODING_HEXADECIMAL", "hashFunction": "HASH_FUNCTION_NO_OP"}
		},
		"create_api_keys": func() m {
			return m{"userId": w.UserID, "apiKeys": []any{m{"apiKeyName": name(), "publicKey": fresh(), "curveType": "API_KEY_CURVE_P256"}}}
		},
		"stamp_login":              func() m { return m{"publicKey": fresh()} },
		"create_read_only_session": func() m { return m{} },
		"create_read_write_session": func() m {
			return m{"targetPublicKey": NewRecipient(t).PublicKey()}
		},
		"update_user": func() m { return m{"userId": w.UserID, "userEmail": name()[5:] + "@example.com"} },
		"create_policy": func() m {
			return m{"policyName": name(), "effect": "EFFECT_ALLOW", "condition": "activity.action == 'NONE'", "notes": ""}
		},
		"update_mfa_policy": func() m { return m{"userId": w.UserID, "mfaPolicyId": w.id, "notes": name()} },
	}
}

// met reports whether the ways together meet the policy, each step by one of them.
func (w *mfaTable) met(ways []string) bool {
	var assign func(step int, left []string) bool
	assign = func(step int, left []string) bool {
		if step == len(w.policy) {
			return true
		}
		for i, way := range left {
			for kind := range strings.SplitSeq(w.policy[step], "|") {
				kind, _, _ = strings.Cut(kind, ":")
				if kind == way && assign(step+1, append(append([]string{}, left[:i]...), left[i+1:]...)) {
					return true
				}
			}
		}
		return false
	}
	return assign(0, ways)
}

func (w *mfaTable) run(t *testing.T) {
	helper := w.NewUser(t, w.root, "Helper", "p256")
	w.id = newMFA(t, w.root, w.UserID, "true", 0, w.policy...)
	for operation, params := range w.operations(t) {
		for _, first := range []string{"API_KEY", "PASSKEY", "SESSION"} {
			what := fmt.Sprintf("%v: %s by %s", w.policy, operation, first)
			body := w.Body(t, operation, params())
			a := w.ways[first].MustPost(t, operation, body).Get("activity")
			given := []string{first}
			for !w.met(given) {
				is(t, a, needed, what)
				// The same bytes, by any credential, add nothing; nor does any other user.
				for _, again := range w.ways {
					is(t, again.MustPost(t, operation, body).Get("activity"), needed, what+" again")
				}
				is(t, approve(t, w.ways[given[0]], a), needed, what+" with the same credential")
				helper.Refused(t, http.StatusForbidden, "approve_activity", m{"fingerprint": a.Get("fingerprint").Text()})
				next := w.next(given)
				given = append(given, next)
				a = approve(t, w.ways[next], a)
			}
			is(t, a, completed, what)
			votes := w.Query(t, "get_activity", m{"activityId": a.Get("id").Text()}).Get("activity", "votes").List()
			if len(votes) != len(given) {
				t.Errorf("%s: %d stamps are recorded, of %v", what, len(votes), given)
			}
			for _, status := range w.Query(t, "get_mfa_status", m{"activityId": a.Get("id").Text()}).Get("mfaStatuses").List() {
				if status.Get("satisfied").Any != true || status.Get("userId").Text() != w.UserID || len(status.Get("satisfiedMethods").List()) != len(w.policy) {
					t.Errorf("%s: %v", what, status)
				}
			}
		}
	}
}

// next is a way that was not used.
func (w *mfaTable) next(given []string) string {
	for _, way := range []string{"API_KEY", "SESSION", "PASSKEY"} {
		if !strings.Contains(strings.Join(given, " "), way) {
			return way
		}
	}
	panic("all ways are used")
}

// TestMFAOfTarget gives a user access by every operation and stamp that can: as the
// parent, its auth proxy or the root user of the organization. It waits for factors
// of the user who gets the access; without them nothing has changed.
func TestMFAOfTarget(t *testing.T) {
	issuer := oidctest.Start(t)
	Each(t, func(t *testing.T, s *Server) {
		o := &oauthStory{Server: s, issuer: issuer, recipient: NewRecipient(t)}
		const email = "mfa@example.com"
		owner := newChild(t, s, s.Root, "Child")
		key := s.Stranger(t, owner)
		owner.Submit(t, "create_users", m{"users": []any{m{
			"userName": "Target", "userEmail": email, "authenticators": []any{}, "userTags": []any{},
			"apiKeys":        []any{m{"apiKeyName": "key", "publicKey": key.Key.PublicKey(), "curveType": "API_KEY_CURVE_P256"}},
			"oauthProviders": []any{m{"providerName": "Issuer", "oidcToken": issuer.Mint(o.claims(""), "ES256")}},
		}}})
		key.UserID = key.Query(t, "whoami", nil).Get("userId").Text()
		target := newPerson(t, s, key)
		newMFA(t, owner, target.UserID, "activity.resource != 'POLICY'", 0, "PASSKEY", "API_KEY|EMAIL_OTP")
		before := len(owner.Query(t, "get_api_keys", m{"userId": target.UserID}).Get("apiKeys").List())
		fresh := func() *Caller { return s.Stranger(t, target.Caller) }
		recipient := NewRecipient(t).PublicKey()
		parent := as(s.Root, owner.OrganizationID)
		login := fresh()
		oauthKey := fresh().Key.PublicKey()
		for _, c := range []struct {
			by        *Caller
			operation string
			params    m
		}{
			{parent, "otp_login", m{"verificationToken": verifiedToken(t, s, s.Root, email, login.Key.PublicKey()), "publicKey": login.Key.PublicKey()}},
			{parent, "oauth_login", m{"oidcToken": issuer.Mint(o.claims(oauthKey), "ES256"), "publicKey": oauthKey}},
			{parent, "oauth", m{"oidcToken": issuer.Mint(o.claims(recipient), "ES256"), "targetPublicKey": recipient}},
			{parent, "email_auth", m{"email": email, "targetPublicKey": recipient, "emailCustomization": m{"appName": "Test"}}},
			{parent, "init_user_email_recovery", m{"email": email, "targetPublicKey": recipient, "emailCustomization": m{"appName": "Test"}}},
			{owner, "create_api_keys", m{"userId": target.UserID, "apiKeys": []any{m{"apiKeyName": "new", "publicKey": fresh().Key.PublicKey(), "curveType": "API_KEY_CURVE_P256"}}}},
			{owner, "create_read_write_session", m{"targetPublicKey": recipient, "userId": target.UserID}},
			{owner, "create_oauth_providers", m{"userId": target.UserID, "oauthProviders": []any{m{"providerName": "Other", "oidcToken": issuer.Mint(func() map[string]any { c := o.claims(""); c["sub"] = "eve"; return c }(), "ES256")}}}},
			{owner, "update_user", m{"userId": target.UserID, "userPhoneNumber": "+14155550123"}},
			{owner, "update_user_phone_number", m{"userId": target.UserID, "userPhoneNumber": "+14155550199"}},
		} {
			operation := c.operation
			body := c.by.Body(t, operation, c.params)
			if operation == "otp_login" {
				body = c.by.BodyOf(t, "ACTIVITY_TYPE_OTP_LOGIN", c.params)
			}
			a := c.by.MustPost(t, operation, body).Get("activity")
			is(t, a, needed, operation)
			is(t, c.by.MustPost(t, operation, body).Get("activity"), needed, operation+" again")
			if got := len(owner.Query(t, "get_api_keys", m{"userId": target.UserID}).Get("apiKeys").List()); got != before {
				t.Fatalf("%s: %d keys before the factors, want %d", operation, got, before)
			}
			is(t, approve(t, target.ways["SESSION"], a), needed, operation+" with a factor that no step asks for")
			is(t, approve(t, target.byMail(t, s, s.Root, email), a), needed, operation+" with a code")
			for _, status := range owner.Query(t, "get_mfa_status", m{"activityId": a.Get("id").Text()}).Get("mfaStatuses").List() {
				if status.Get("satisfied").Any != false || status.Get("userId").Text() != target.UserID || len(status.Get("satisfiedMethods").List()) != 1 {
					t.Errorf("%s: %v", operation, status)
				}
			}
			done := approve(t, target.ways["PASSKEY"], a)
			is(t, done, completed, operation)
			before = len(owner.Query(t, "get_api_keys", m{"userId": target.UserID}).Get("apiKeys").List())
		}
		login.Query(t, "whoami", nil) // the login by the parent serves now
	})
}

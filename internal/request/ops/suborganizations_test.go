package ops_test

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"latchkey/client"
	"latchkey/internal/chain/rlp"
	"latchkey/internal/domain"
	"latchkey/internal/store"
	. "latchkey/internal/test/servertest"
)

// newChild creates a sub-organization with one root user, and returns that user.
func newChild(t testing.TB, s *Server, parent *Caller, name string, more ...func(user, params m)) *Caller {
	t.Helper()
	child := s.Stranger(t, parent)
	user := m{
		"userName": "Owner of " + name,
		"apiKeys": []any{m{
			"apiKeyName": "key", "publicKey": child.Key.PublicKey(), "curveType": client.P256.CurveType(),
		}},
		"authenticators": []any{}, "oauthProviders": []any{},
	}
	params := m{"subOrganizationName": name, "rootUsers": []any{user}, "rootQuorumThreshold": 1}
	for _, change := range more {
		change(user, params)
	}
	result := parent.Submit(t, "create_sub_organization", params).Get("result", "createSubOrganizationResultV8")
	child.OrganizationID = result.Get("subOrganizationId").Text()
	child.UserID = result.Get("rootUserIds", 0).Text()
	return child
}

func TestSubOrganization(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		child := newChild(t, s, s.Root, "Child", func(user, params m) {
			user["userEmail"] = "owner@example.com"
			params["wallet"] = m{"walletName": "First", "accounts": []any{ethereumAccount}}
			params["disableSmsAuth"] = true
		})
		sign := ownerSigns(t, child)
		startsWithFeatures(t, child, "FEATURE_NAME_EMAIL_AUTH", "FEATURE_NAME_EMAIL_RECOVERY", "FEATURE_NAME_OTP_EMAIL_AUTH")
		parentReadsOnly(t, s, child, sign)
		childStaysInside(t, s, child)
		parentIDFindsChild(t, s, child)
	})
}

// ownerSigns signs with the first wallet, whose key is the child's own, and
// returns the parameters.
func ownerSigns(t *testing.T, child *Caller) m {
	t.Helper()
	who := child.Query(t, "whoami", nil)
	if who.Get("organizationName").Text() != "Child" || who.Get("userId").Text() != child.UserID {
		t.Errorf("whoami: %v", who)
	}
	account := child.Query(t, "list_wallet_accounts", nil).Get("accounts", 0)
	if !strings.HasPrefix(account.Get("address").Text(), "0x") {
		t.Errorf("accounts: %v", account)
	}
	sign := rawPayload(account.Get("address").Text(), strings.Repeat("11", 32), "HEXADECIMAL", "NO_OP")
	child.Submit(t, "sign_raw_payload", sign)
	return sign
}

func startsWithFeatures(t *testing.T, child *Caller, want ...string) {
	t.Helper()
	var names []string
	for _, f := range child.Query(t, "get_organization_configs", nil).Get("configs", "features").List() {
		names = append(names, f.Get("name").Text())
	}
	slices.Sort(names)
	if !slices.Equal(names, want) {
		t.Errorf("features: %v", names)
	}
}

// grandchild are the parameters of a sub-organization where none is allowed.
func grandchild() m {
	return m{
		"subOrganizationName": "Grandchild", "rootQuorumThreshold": 1,
		"rootUsers": []any{m{"userName": "x", "userEmail": "x@example.com", "apiKeys": []any{}, "authenticators": []any{}, "oauthProviders": []any{}}},
	}
}

// parentReadsOnly: the parent reads everything and writes nothing.
func parentReadsOnly(t *testing.T, s *Server, child *Caller, sign m) {
	t.Helper()
	parent := as(s.Root, child.OrganizationID)
	if got := parent.Query(t, "get_user", m{"userId": child.UserID}).Get("user", "userEmail").Text(); got != "owner@example.com" {
		t.Errorf("the parent reads %q", got)
	}
	if got := parent.Query(t, "whoami", nil).Get("organizationId").Text(); got != s.Root.OrganizationID {
		t.Errorf("whoami of the parent is in %s", got)
	}
	for operation, params := range map[string]m{
		"sign_raw_payload": sign, "create_user_tag": {"userTagName": "x", "userIds": []any{}},
		"delete_sub_organization": {"deleteWithoutExport": true}, "create_sub_organization": grandchild(),
	} {
		refusal := parent.Refused(t, http.StatusBadRequest, operation, params)
		if refusal.Get("turnkeyErrorCode").Text() != "ORGANIZATION_MISMATCH" {
			t.Errorf("%s: %v", operation, refusal)
		}
	}
}

// childStaysInside: the child neither reads the parent nor a sibling, and has no
// children.
func childStaysInside(t *testing.T, s *Server, child *Caller) {
	t.Helper()
	sibling := newChild(t, s, s.Root, "Sibling")
	for _, other := range []string{s.Root.OrganizationID, sibling.OrganizationID} {
		stranger := as(child, other)
		stranger.Refused(t, http.StatusUnauthorized, "list_users", nil)
		stranger.Refused(t, http.StatusUnauthorized, "create_user_tag", m{"userTagName": "x", "userIds": []any{}})
	}
	refusal := child.Refused(t, http.StatusBadRequest, "create_sub_organization", grandchild())
	if refusal.Get("turnkeyErrorCode").Text() != "INVALID_ACTIVITY_CALLER" {
		t.Errorf("a grandchild: %v", refusal)
	}
}

// parentIDFindsChild: a stamp with the parent's id finds the child, where an
// operation allows that.
func parentIDFindsChild(t *testing.T, s *Server, child *Caller) {
	t.Helper()
	lost := as(child, s.Root.OrganizationID)
	if got := lost.Query(t, "whoami", nil); got.Get("organizationId").Text() != child.OrganizationID || got.Get("userId").Text() != child.UserID {
		t.Errorf("whoami by the parent's id: %v", got)
	}
	key := s.Stranger(t, child)
	login := lost.Submit(t, "stamp_login", m{"publicKey": key.Key.PublicKey()})
	if login.Get("organizationId").Text() != child.OrganizationID {
		t.Errorf("stamp_login by the parent's id: %v", login)
	}
	if got := key.Query(t, "whoami", nil).Get("userId").Text(); got != child.UserID {
		t.Errorf("the session is that of %s", got)
	}
	lost.Refused(t, http.StatusUnauthorized, "list_wallets", nil)
}

// TestOneKeyInTwoChildren refuses to guess.
func TestOneKeyInTwoChildren(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		child := newChild(t, s, s.Root, "One")
		newChild(t, s, s.Root, "Two", func(user, _ m) {
			user["apiKeys"] = []any{m{"apiKeyName": "same", "publicKey": child.Key.PublicKey(), "curveType": client.P256.CurveType()}}
		})
		lost := *child
		lost.OrganizationID = s.Root.OrganizationID
		refusal := lost.Refused(t, http.StatusUnauthorized, "whoami", nil)
		if !strings.Contains(refusal.Get("message").Text(), "more than one suborg associated with a public key") {
			t.Errorf("refusal: %v", refusal)
		}
		child.Query(t, "whoami", nil) // by its own id there is no doubt
		// A session is of one of them, and not of the other.
		session := child.Submit(t, "create_read_only_session", m{}).Get("result", "createReadOnlySessionResult", "session").Text()
		reply := Send(t, http.MethodPost, s.URL+Path("whoami"), http.Header{"X-Session": {session}}, lost.Body(t, "whoami", nil))
		if reply.Status != http.StatusOK || reply.JSON(t).Get("organizationId").Text() != child.OrganizationID {
			t.Errorf("by a session: HTTP %d %s", reply.Status, reply.Body)
		}
	})
}

// TestKeyKnownElsewhere: a key that others have registered, in the parent or in
// another sub-organization, locks its owner out of nothing.
func TestKeyKnownElsewhere(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		child := newChild(t, s, s.Root, "Mine")
		same := m{"apiKeyName": "same", "publicKey": child.Key.PublicKey(), "curveType": client.P256.CurveType()}
		lost := as(child, s.Root.OrganizationID)
		whoami := func(c *Caller, organization, user string) {
			t.Helper()
			if who := c.Query(t, "whoami", nil); who.Get("organizationId").Text() != organization || who.Get("userId").Text() != user {
				t.Errorf("whoami: %v", who)
			}
		}
		// One that has expired there is none.
		other := newChild(t, s, s.Root, "Other", func(user, _ m) {
			expiring := m{"expirationSeconds": "60"}
			for name, value := range same {
				expiring[name] = value
			}
			user["userEmail"], user["apiKeys"] = "other@example.com", []any{expiring}
		})
		lost.Refused(t, http.StatusUnauthorized, "whoami", nil)
		err := s.Store.Update(t.Context(), other.OrganizationID, func(tx *store.Tx) error {
			return tx.Users().Edit(other.UserID, func(u *domain.User) error {
				u.APIKeys[0].CreatedAt = u.APIKeys[0].CreatedAt.Add(-time.Hour)
				return nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		whoami(lost, child.OrganizationID, child.UserID)
		// In the parent it is another user's, who acts there and only reads here.
		id := s.Root.Submit(t, "create_users", users(user("Same", m{"apiKeys": []any{same}}))).Get("result", "createUsersResult", "userIds", 0).Text()
		whoami(child, child.OrganizationID, child.UserID)
		whoami(lost, s.Root.OrganizationID, id)
		child.Submit(t, "create_wallet", m{"walletName": "mine", "accounts": []any{}})
	})
}

func TestSubOrganizationRefusals(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		user := func(name string) m {
			return m{"userName": name, "userEmail": name + "@example.com", "apiKeys": []any{}, "authenticators": []any{}, "oauthProviders": []any{}}
		}
		for name, c := range map[string]struct {
			status int
			params m
		}{
			"threshold above the users":   {400, m{"subOrganizationName": "x", "rootUsers": []any{user("a")}, "rootQuorumThreshold": 2}},
			"threshold zero":              {400, m{"subOrganizationName": "x", "rootUsers": []any{user("a")}, "rootQuorumThreshold": 0}},
			"no users":                    {400, m{"subOrganizationName": "x", "rootUsers": []any{}, "rootQuorumThreshold": 1}},
			"two users of one name":       {409, m{"subOrganizationName": "x", "rootUsers": []any{user("a"), user("a")}, "rootQuorumThreshold": 1}},
			"a user without a credential": {400, m{"subOrganizationName": "x", "rootUsers": []any{m{"userName": "a", "apiKeys": []any{}, "authenticators": []any{}, "oauthProviders": []any{}}}, "rootQuorumThreshold": 1}},
			"mail that is switched off":   {400, m{"subOrganizationName": "x", "rootUsers": []any{user("a")}, "rootQuorumThreshold": 1, "disableEmailAuth": true, "disableOtpEmailAuth": true}},
			"a bad path":                  {400, m{"subOrganizationName": "x", "rootUsers": []any{user("a")}, "rootQuorumThreshold": 1, "wallet": m{"walletName": "w", "accounts": []any{m{"curve": "CURVE_SECP256K1", "pathFormat": "PATH_FORMAT_BIP32", "path": "nonsense", "addressFormat": "ADDRESS_FORMAT_ETHEREUM"}}}}},
			"a forged verification token": {400, m{"subOrganizationName": "x", "rootUsers": []any{user("a")}, "rootQuorumThreshold": 1, "verificationToken": "a.b.c"}},
		} {
			t.Run(name, func(t *testing.T) { s.Root.Refused(t, c.status, "create_sub_organization", c.params) })
		}
		if got := s.Root.Query(t, "list_suborgs", nil).Get("organizationIds").List(); len(got) != 0 {
			t.Errorf("sub-organizations after refusals: %v", got)
		}
	})
}

// TestSubOrganizationVersions creates one in each version.
func TestSubOrganizationVersions(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		key := func() string { return s.Stranger(t, s.Root).Key.PublicKey() }
		for version := 2; version <= 8; version++ {
			apiKey := m{"apiKeyName": "key", "publicKey": key()}
			user := m{"userName": "Owner", "userEmail": fmt.Sprintf("v%d@example.com", version), "authenticators": []any{}, "apiKeys": []any{apiKey}}
			params := m{"subOrganizationName": fmt.Sprint("Version ", version), "rootUsers": []any{user}, "rootQuorumThreshold": 1}
			if version >= 5 {
				user["oauthProviders"] = []any{}
			}
			if version >= 6 {
				apiKey["curveType"] = "API_KEY_CURVE_P256"
			}
			if version == 3 {
				params["privateKeys"] = []any{m{"privateKeyName": "k", "curve": "CURVE_SECP256K1", "privateKeyTags": []any{}, "addressFormats": []any{"ADDRESS_FORMAT_ETHEREUM"}}}
			}
			if version >= 4 {
				params["wallet"] = m{"walletName": "w", "accounts": []any{}}
			}
			resultKey := fmt.Sprintf("createSubOrganizationResultV%d", version)
			if version == 2 {
				resultKey = "createSubOrganizationResult"
			}
			body := s.Root.BodyOf(t, fmt.Sprintf("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V%d", version), params)
			a := s.Root.MustPost(t, "create_sub_organization", body).Get("activity")
			result := a.Get("result", resultKey)
			if result.Get("subOrganizationId").Text() == "" || a.Get("intent", fmt.Sprintf("createSubOrganizationIntentV%d", version), "subOrganizationName").Text() == "" {
				t.Errorf("version %d: %v", version, a)
			}
			if version == 3 && !strings.HasPrefix(result.Get("privateKeys", 0, "addresses", 0, "address").Text(), "0x") {
				t.Errorf("version 3: %v", result)
			}
			if version >= 4 && result.Get("wallet", "walletId").Text() == "" {
				t.Errorf("version %d: %v", version, result)
			}
		}
	})
}

func TestListSuborgs(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		var ids []string
		var address, publicKey string
		for i := range 12 {
			child := newChild(t, s, s.Root, fmt.Sprint("Child ", i%2), func(user, params m) {
				user["userEmail"] = fmt.Sprintf("User%d@example.com", i%3)
				user["userPhoneNumber"] = fmt.Sprintf("+1415555010%d", i%2)
				if i == 7 {
					params["wallet"] = m{"walletName": "w", "accounts": []any{ethereumAccount}}
				}
			})
			ids = append(ids, child.OrganizationID)
			if i == 7 {
				address = child.Query(t, "list_wallet_accounts", nil).Get("accounts", 0, "address").Text()
				publicKey = child.Key.PublicKey()
			}
		}
		list := func(operation string, params m) (found []string) {
			t.Helper()
			for _, id := range s.Root.Query(t, operation, params).Get("organizationIds").List() {
				found = append(found, id.Text())
			}
			return found
		}
		for name, c := range map[string]struct {
			params m
			want   []string
		}{
			"the first page":   {nil, ids[:10]},
			"the second page":  {m{"paginationOptions": m{"after": ids[9]}}, ids[10:]},
			"two":              {m{"paginationOptions": m{"limit": "2", "after": ids[3]}}, ids[4:6]},
			"before one":       {m{"paginationOptions": m{"limit": "3", "before": ids[6]}}, ids[3:6]},
			"before the first": {m{"paginationOptions": m{"before": ids[0]}}, nil},
			"between two":      {m{"paginationOptions": m{"before": ids[6], "after": ids[4]}}, ids[5:6]},
			"all":              {m{"paginationOptions": m{"limit": "100"}}, ids},
			"by name":          {m{"filterType": "NAME", "filterValue": "Child 1"}, []string{ids[1], ids[3], ids[5], ids[7], ids[9], ids[11]}},
			"by e-mail":        {m{"filterType": "EMAIL", "filterValue": "user2@EXAMPLE.com"}, []string{ids[2], ids[5], ids[8], ids[11]}},
			"by phone":         {m{"filterType": "PHONE_NUMBER", "filterValue": "+14155550100", "paginationOptions": m{"limit": "2"}}, []string{ids[0], ids[2]}},
			"by user name":     {m{"filterType": "USERNAME", "filterValue": "Owner of Child 0", "paginationOptions": m{"limit": "1"}}, []string{ids[0]}},
			"by public key":    {m{"filterType": "PUBLIC_KEY", "filterValue": publicKey}, []string{ids[7]}},
			"by address":       {m{"filterType": "WALLET_ACCOUNT_ADDRESS", "filterValue": strings.ToLower(address)}, []string{ids[7]}},
			"no match":         {m{"filterType": "EMAIL", "filterValue": "stranger@example.com"}, nil},
			"a beginning":      {m{"filterType": "NAME", "filterValue": "Child"}, nil},
			"unknown claims":   {m{"filterType": "OIDC_CLAIMS", "filterValue": `{"iss":"https://a.example","sub":"s","aud":"a"}`}, nil},
		} {
			if got := list("list_suborgs", c.params); !slices.Equal(got, c.want) {
				t.Errorf("%s: %v, want %v", name, got, c.want)
			}
		}
		if got := list("list_verified_suborgs", m{"filterType": "EMAIL", "filterValue": "user1@example.com"}); got != nil {
			t.Errorf("verified: %v", got)
		}
		for _, bad := range []m{
			{"filterType": "NAME"},
			{"filterValue": "x"},
			{"filterType": "COLOUR", "filterValue": "x"},
			{"filterType": "OIDC_CLAIMS", "filterValue": "{}x"},
			{"paginationOptions": m{"limit": "101"}},
		} {
			s.Root.Refused(t, http.StatusBadRequest, "list_suborgs", bad)
		}
		// A child's own list is empty, and its own record changes the parent's.
		child := newChild(t, s, s.Root, "Renamed")
		if got := child.Query(t, "list_suborgs", nil).Get("organizationIds").List(); len(got) != 0 {
			t.Errorf("children of a child: %v", got)
		}
		child.Submit(t, "update_organization_name", m{"organizationName": "New name"})
		if got := list("list_suborgs", m{"filterType": "NAME", "filterValue": "New name"}); !slices.Equal(got, []string{child.OrganizationID}) {
			t.Errorf("after renaming: %v", got)
		}
		if got := list("list_suborgs", m{"filterType": "NAME", "filterValue": "Renamed"}); got != nil {
			t.Errorf("by the old name: %v", got)
		}
	})
}

func TestDeleteSubOrganization(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		child := newChild(t, s, s.Root, "Short-lived", func(_, params m) {
			params["wallet"] = m{"walletName": "w", "accounts": []any{ethereumAccount}}
		})
		member := s.NewUser(t, child, "Member", client.P256)
		child.Submit(t, "create_policy", m{"policyName": "all", "effect": "EFFECT_ALLOW", "condition": "activity.resource == 'ORGANIZATION'", "notes": ""})
		// Not by a member, whatever policies say; not by accident; not a parent.
		member.Refused(t, http.StatusForbidden, "delete_sub_organization", m{"deleteWithoutExport": true})
		child.Refused(t, http.StatusBadRequest, "delete_sub_organization", m{})
		if got := len(child.Query(t, "list_wallets", nil).Get("wallets").List()); got != 1 {
			t.Errorf("%d wallets", got)
		}
		s.Root.Refused(t, http.StatusBadRequest, "delete_sub_organization", m{"deleteWithoutExport": true})

		body := child.Body(t, "delete_sub_organization", m{"deleteWithoutExport": true})
		done := child.MustPost(t, "delete_sub_organization", body).Get("activity", "result", "deleteSubOrganizationResult", "subOrganizationUuid").Text()
		if done != child.OrganizationID {
			t.Errorf("result: %s", done)
		}
		child.Refused(t, http.StatusUnauthorized, "whoami", nil)
		member.Refused(t, http.StatusUnauthorized, "whoami", nil)
		if got := s.Root.Query(t, "list_suborgs", nil).Get("organizationIds").List(); len(got) != 0 {
			t.Errorf("children: %v", got)
		}
	})
}

// TestRecipeOfDelegation gives a program the right to do one thing with a
// user's key, and takes everything else from it.
func TestRecipeOfDelegation(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		delegate := s.Stranger(t, s.Root)
		user := newChild(t, s, s.Root, "Delegated", func(owner, params m) {
			params["rootUsers"] = []any{owner, m{
				"userName": "Delegate", "authenticators": []any{}, "oauthProviders": []any{},
				"apiKeys": []any{m{"apiKeyName": "k", "publicKey": delegate.Key.PublicKey(), "curveType": "API_KEY_CURVE_P256"}},
			}}
			params["wallet"] = m{"walletName": "w", "accounts": []any{ethereumAccount}}
		})
		delegate.OrganizationID = user.OrganizationID
		delegate.UserID = delegate.Query(t, "whoami", nil).Get("userId").Text()
		signWith := user.Query(t, "list_wallet_accounts", nil).Get("accounts", 0, "address").Text()
		const allowed = "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"
		delegate.Submit(t, "create_policy", m{
			"policyName": "one address", "effect": "EFFECT_ALLOW", "notes": "",
			"consensus": fmt.Sprintf("approvers.any(user, user.id == '%s')", delegate.UserID),
			"condition": fmt.Sprintf("eth.tx.to == '%s'", allowed),
		})
		delegate.Submit(t, "update_root_quorum", m{"threshold": 1, "userIds": []any{user.UserID}})

		transfer := func(to string) m {
			return transaction(signWith, "ETHEREUM", unsignedTransfer(t, to))
		}
		delegate.Submit(t, "sign_transaction", transfer(allowed))
		delegate.Submit(t, "sign_transaction", transfer(strings.ToLower(allowed)))
		delegate.Refused(t, http.StatusForbidden, "sign_transaction", transfer("0x1111111111111111111111111111111111111111"))
		delegate.Refused(t, http.StatusForbidden, "sign_raw_payload", rawPayload(signWith, strings.Repeat("11", 32), "HEXADECIMAL", "NO_OP"))
		delegate.Refused(t, http.StatusForbidden, "create_policy", m{"policyName": "more", "effect": "EFFECT_ALLOW", "condition": "true", "notes": ""})
		user.Submit(t, "sign_transaction", transfer("0x1111111111111111111111111111111111111111"))
	})
}

// unsignedTransfer is a transfer of one wei, by EIP-1559.
func unsignedTransfer(t testing.TB, to string) string {
	t.Helper()
	recipient, err := hex.DecodeString(strings.TrimPrefix(to, "0x"))
	if err != nil {
		t.Fatal(err)
	}
	return unsigned(recipient, 1, nil)
}

func unsigned(to []byte, value uint64, data []byte) string {
	var fields []byte
	for _, n := range []uint64{1, 0, 1, 2, 21000} { // chain, nonce, fees, gas
		fields = rlp.AppendUint64(fields, n)
	}
	fields = rlp.AppendBytes(fields, to)
	fields = rlp.AppendUint64(fields, value)
	fields = rlp.AppendBytes(fields, data)
	fields = rlp.AppendList(fields, nil)
	return "02" + hex.EncodeToString(rlp.AppendList(nil, fields))
}

// TestChildTagLimit lets a sub-organization have fewer tags than its parent.
func TestChildTagLimit(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		child := newChild(t, s, s.Root, "Child")
		for i := range 10 {
			child.Submit(t, "create_user_tag", m{"userTagName": fmt.Sprint("tag ", i), "userIds": []any{}})
		}
		child.Refused(t, http.StatusTooManyRequests, "create_user_tag", m{"userTagName": "one more", "userIds": []any{}})
		for i := range 11 {
			s.Root.Submit(t, "create_user_tag", m{"userTagName": fmt.Sprint("tag ", i), "userIds": []any{}})
		}
	})
}

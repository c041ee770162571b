package ops_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"latchkey/client"
	. "latchkey/internal/test/servertest"
)

// maxReply is what a page of any list may have: its own bound, and some room
// for what is only estimated.
const maxReply = 5 << 20

// padded makes a body as large as one may be, with space in place of meaning.
func padded(body []byte, with string) []byte {
	return append(body, bytes.Repeat([]byte(with), 1<<20-len(body))...)
}

// pages reads all activities, from the newest on or from the oldest, and returns
// their ids from the newest to the oldest.
func pages(t *testing.T, c *Caller, backwards bool) (ids []string, n int) {
	t.Helper()
	options := m{"limit": "100"}
	if backwards {
		options["before"] = "00000000-0000-0000-0000-000000000000"
	}
	for ; ; n++ {
		reply := c.Post(t, "list_activities", c.Body(t, "list_activities", m{"paginationOptions": options}))
		if reply.Status != http.StatusOK {
			t.Fatalf("HTTP %d: %.200s", reply.Status, reply.Body)
		}
		if len(reply.Body) > maxReply {
			t.Errorf("a page of %d bytes", len(reply.Body))
		}
		list := reply.JSON(t).Get("activities").List()
		if len(list) == 0 {
			return ids, n
		}
		var page []string
		for _, a := range list {
			page = append(page, a.Get("id").Text())
		}
		if backwards {
			ids = append(page, ids...)
			options["before"] = page[0]
		} else {
			ids = append(ids, page...)
			options["after"] = page[len(page)-1]
		}
	}
}

// TestPagesAreBounded lists activities of which a hundred would be a reply of a
// hundred megabytes: pages are shorter then, and none is left out.
func TestPagesAreBounded(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		var want []string
		for i := range 14 {
			body := s.Root.Body(t, "create_user_tag", m{"userTagName": fmt.Sprint("tag ", i), "userIds": []any{}})
			if i%5 != 4 {
				body = padded(body, []string{" ", "\n"}[i%2])
			}
			want = append(want, s.Root.MustPost(t, "create_user_tag", body).Get("activity", "id").Text())
		}
		slices.Reverse(want)
		for _, backwards := range []bool{false, true} {
			got, n := pages(t, s.Root, backwards)
			if !slices.Equal(got, want) {
				t.Errorf("backwards %v: got %v\nwant %v", backwards, got, want)
			}
			if n < 3 || n > len(want) {
				t.Errorf("backwards %v: %d pages", backwards, n)
			}
		}
		one := s.Root.Query(t, "get_activity", m{"activityId": want[13]}).Get("activity", "votes", 0, "message").Text()
		if len(one) != 1<<20 {
			t.Errorf("the body was read back with %d bytes", len(one))
		}
	})
}

// TestRefusedBodies is a member without rights who sends the largest requests
// there are, and then reads all of them at once, many times.
func TestRefusedBodies(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		eve := s.NewUser(t, s.Root, "Eve", client.P256)
		const sent = 60
		bodies := make([][]byte, sent)
		for i := range bodies {
			bodies[i] = padded(eve.Body(t, "create_user_tag", m{"userTagName": "x", "userIds": []any{}}), " ")
			eve.RefusedBody(t, http.StatusForbidden, "create_user_tag", bodies[i])
		}
		var readers sync.WaitGroup
		for range 8 {
			readers.Go(func() {
				reply := eve.Post(t, "list_activities", eve.Body(t, "list_activities", m{"paginationOptions": m{"limit": "100"}}))
				if reply.Status != http.StatusOK || len(reply.Body) > maxReply {
					t.Errorf("HTTP %d with %d bytes", reply.Status, len(reply.Body))
				}
			})
		}
		readers.Wait()
		all, _ := pages(t, eve, false)
		if len(all) != sent+1 {
			t.Errorf("%d activities, want %d refused ones and one that made the user", len(all), sent)
		}
		// Of the first ones the bodies are kept, of the others their fingerprints.
		for i, id := range all[:sent] {
			a := eve.Query(t, "get_activity", m{"activityId": id}).Get("activity")
			message, kept := a.Get("votes", 0, "message").Text(), i >= sent-4
			if kept != (len(message) == 1<<20) || kept != a.Get("intent", "createUserTagIntent").Has("userTagName") ||
				a.Get("status").Text() != "ACTIVITY_STATUS_FAILED" || a.Get("failure", "code").Number() != 7 {
				t.Errorf("the activity %d before the last: %.2000v", i, a)
			}
			if !kept && (!strings.Contains(message, "1048576 bytes") || a.Get("fingerprint").Text() != fmt.Sprintf("sha256:%x", sha256.Sum256(bodies[sent-1-i]))) {
				t.Errorf("the activity %d before the last does not say what was left out: %.2000v", i, a)
			}
		}
		// The same bytes find what was recorded, and a user who has the right takes it over.
		last := bodies[sent-1]
		eve.RefusedBody(t, http.StatusForbidden, "create_user_tag", last)
		if again, _ := pages(t, eve, false); !slices.Equal(again, all) {
			t.Errorf("the same bytes are another activity: %d in place of %d", len(again), len(all))
		}
		taken := s.Root.MustPost(t, "create_user_tag", last).Get("activity")
		if taken.Get("id").Text() != all[0] || taken.Get("votes", 0, "message").Text() != string(last) ||
			taken.Get("intent", "createUserTagIntent", "userTagName").Text() != "x" {
			t.Errorf("taken over: %.2000v", taken)
		}
		// What a user is refused counts for that user alone; small bodies do not count.
		small := eve.Body(t, "create_user_tag", m{"userTagName": "y", "userIds": []any{}})
		eve.RefusedBody(t, http.StatusForbidden, "create_user_tag", small)
		bob := s.NewUser(t, s.Root, "Bob", client.P256)
		large := padded(bob.Body(t, "create_user_tag", m{"userTagName": "z", "userIds": []any{}}), " ")
		bob.RefusedBody(t, http.StatusForbidden, "create_user_tag", large)
		for i, want := range [][]byte{large, small} {
			list := s.Root.Query(t, "list_activities", m{"filterByStatus": []any{"ACTIVITY_STATUS_FAILED"}}).Get("activities")
			if got := list.Get(i, "votes", 0, "message").Text(); got != string(want) {
				t.Errorf("the refused body %d before the last was not kept: %.200s", i, got)
			}
		}
	})
}

// TestAccountsBefore reads accounts backwards, more than are read at once.
func TestAccountsBefore(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		wallet := s.Root.Submit(t, "create_wallet", m{"walletName": "many", "accounts": []any{}}).
			Get("result", "createWalletResult", "walletId").Text()
		for i := range 3 {
			var accounts []any
			for k := range 100 {
				accounts = append(accounts, m{
					"curve": "CURVE_SECP256K1", "pathFormat": "PATH_FORMAT_BIP32", "path": fmt.Sprintf("m/44'/60'/0'/%d/%d", i, k),
					"addressFormat": "ADDRESS_FORMAT_UNCOMPRESSED",
				})
			}
			s.Root.Submit(t, "create_wallet_accounts", m{"walletId": wallet, "accounts": accounts})
		}
		list := func(options m) (ids []string) {
			for _, a := range s.Root.Query(t, "list_wallet_accounts", m{"walletId": wallet, "paginationOptions": options}).Get("accounts").List() {
				ids = append(ids, a.Get("walletAccountId").Text())
			}
			return ids
		}
		var all []string
		for page := list(m{"limit": "70"}); len(page) > 0; page = list(m{"limit": "70", "after": all[len(all)-1]}) {
			all = append(all, page...)
		}
		if len(all) != 300 {
			t.Fatalf("%d accounts", len(all))
		}
		for _, end := range []int{0, 5, 100, 101, 250, 299} {
			if got, want := list(m{"limit": "90", "before": all[end]}), all[max(0, end-90):end]; !slices.Equal(got, want) {
				t.Errorf("before %d: %d accounts, want %d", end, len(got), len(want))
			}
		}
		if got := list(m{"before": all[200], "after": all[195]}); !slices.Equal(got, all[196:200]) {
			t.Errorf("between: %v", got)
		}
	})
}

// TestPolicyTextIsBounded stores the largest policies, until their texts together
// have as much as an organization may.
func TestPolicyTextIsBounded(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		condition, notes := "activity.type == '"+strings.Repeat("x", 19_950)+"'", strings.Repeat("😀", 10_000)
		stored := 0
		batch := func(n int) m {
			var all []any
			for i := range n {
				all = append(all, m{"policyName": fmt.Sprint("policy ", stored+i), "effect": "EFFECT_DENY", "condition": condition, "notes": notes})
			}
			return m{"policies": all}
		}
		for _, n := range []int{16, 16, 16, 16, 5} {
			s.Root.Submit(t, "create_policies", batch(n))
			stored += n
		}
		refused := s.Root.Refused(t, http.StatusTooManyRequests, "create_policies", batch(1))
		if text := refused.Get("message").Text(); !strings.Contains(text, "4194304") {
			t.Errorf("the refusal does not say the bound: %s", text)
		}
		small := s.Root.Submit(t, "create_policy", m{"policyName": "small", "effect": "EFFECT_DENY", "condition": "false", "notes": ""}).
			Get("result", "createPolicyResult", "policyId").Text()
		s.Root.Refused(t, http.StatusTooManyRequests, "update_policy", m{"policyId": small, "policyCondition": condition, "policyNotes": notes})
		if n := len(s.Root.Query(t, "list_policies", nil).Get("policies").List()); n != stored+1 {
			t.Errorf("%d policies, want %d", n, stored+1)
		}
	})
}

// TestInterfacesAreBounded fills an organization with interfaces: they are
// listed without pages, so their texts together have a bound.
func TestInterfacesAreBounded(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		params := m{
			"smartContractAddress": "0x95222290dd7278aa3ddd389cc1e1d165cc4bafe5", "type": "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM", "label": "large",
			"smartContractInterface": "[" + strings.Repeat(" ", 399_000) + "]",
		}
		for range 21 {
			s.Root.Submit(t, "create_smart_contract_interface", params)
		}
		refused := s.Root.Refused(t, http.StatusTooManyRequests, "create_smart_contract_interface", params)
		if text := refused.Get("message").Text(); !strings.Contains(text, "8388608") {
			t.Errorf("the refusal does not say the bound: %s", text)
		}
		if n := len(s.Root.Query(t, "list_smart_contract_interfaces", nil).Get("smartContractInterfaces").List()); n != 21 {
			t.Errorf("%d interfaces", n)
		}
	})
}

// TestNUL sends the one character that a text in PostgreSQL cannot hold, where
// a text is looked up: it is refused by both stores alike.
func TestNUL(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		for _, c := range []struct {
			operation, path string
			params          m
		}{
			{"list_activities", "filterByType.1", m{"filterByType": []any{"A", "a\x00b"}}},
			{"list_suborgs", "filterValue", m{"filterType": "NAME", "filterValue": "a\x00b"}},
			{"list_suborgs", "filterValue", m{"filterType": "EMAIL", "filterValue": "a\x00b"}},
			{"list_suborgs", "filterValue", m{"filterType": "OIDC_CLAIMS", "filterValue": `{"iss":"https://x.example","sub":"\u0000","aud":"x"}`}},
			{"list_verified_suborgs", "filterValue", m{"filterType": "PHONE_NUMBER", "filterValue": "\x00"}},
			{"create_user_tag", "userTagName", m{"userTagName": "a\x00b", "userIds": []any{}}},
			{"create_policy", "notes", m{"policyName": "x", "effect": "EFFECT_DENY", "notes": "a\x00b"}},
			{"create_wallet_accounts", "accounts.0.path", m{"walletId": unknownID, "accounts": []any{m{
				"curve": "CURVE_SECP256K1", "pathFormat": "PATH_FORMAT_BIP32", "path": "m/\x00", "addressFormat": "ADDRESS_FORMAT_ETHEREUM",
			}}}},
			{"sign_raw_payload", "signWith", m{
				"signWith": "a\x00b", "payload": "00", "encoding": "PAYLOAD_ENCODING_HEXADECIMAL", "hashFunction": "HASH_FUNCTION_NO_OP",
			}},
			{"whoami", "organizationId", m{"organizationId": "a\x00b"}},
		} {
			refused := s.Root.Refused(t, http.StatusBadRequest, c.operation, c.params)
			if got := refused.Get("details", 1, "fieldViolations", 0, "field").Text(); got != c.path {
				t.Errorf("%s: the refusal is about %q, want %q: %v", c.operation, got, c.path, refused)
			}
		}
	})
}

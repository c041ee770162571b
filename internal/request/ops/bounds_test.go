package ops_test

import (
	"bytes"
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
		for range sent {
			eve.RefusedBody(t, http.StatusForbidden, "create_user_tag",
				padded(eve.Body(t, "create_user_tag", m{"userTagName": "x", "userIds": []any{}}), " "))
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
		if ids, _ := pages(t, eve, false); len(ids) != sent+1 {
			t.Errorf("%d activities, want %d refused ones and one that made the user", len(ids), sent)
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

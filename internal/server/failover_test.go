package server_test

import (
	"net/http"
	"strconv"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"latchkey/client"
	"latchkey/internal/server/config"
	"latchkey/internal/test/pgtest"
	"latchkey/internal/test/servertest"
	"latchkey/internal/test/testkit"
)

// failoverRounds is how often the tests of this file let a primary fail.
func failoverRounds(t *testing.T) int {
	t.Helper()
	return testkit.Number(t, "LATCHKEY_FAILOVER_ROUNDS", 3)
}

// TestStandbyStops: the synchronous standby hangs while wallets are created, the
// primary dies, and the standby takes its place without what it never got. No
// wallet is missing that a client was told of or shown, by any node.
func TestStandbyStops(t *testing.T) {
	primary, standby := pgtest.StartPair(t)
	url := pgtest.PairURL(primary, standby, "statement_timeout=1500")
	first := servertest.Start(t, url, config.Default())
	second := servertest.Start(t, url, config.Default())
	root := first.Root
	nodes := []*servertest.Caller{root, second.As(root)}

	known := map[string]bool{} // wallets that a client was told of or shown
	for round := range failoverRounds(t) {
		name := "wallet " + strconv.Itoa(round)
		body := root.Body(t, "create_wallet", map[string]any{"walletName": name, "accounts": []any{}})
		look := func() {
			var wg sync.WaitGroup
			var mu sync.Mutex
			for _, node := range nodes {
				wg.Go(func() {
					created := node.Post(t, "create_wallet", body)
					listed := node.Post(t, "list_wallets", node.Body(t, "list_wallets", nil))
					mu.Lock()
					defer mu.Unlock()
					if created.Status == http.StatusOK {
						known[name] = true
					}
					for shown := range walletNames(t, listed) {
						known[shown] = true
					}
				})
			}
			wg.Wait()
		}
		standby.Freeze(t)
		look()
		look()
		if round%2 == 1 { // a primary that was away for a moment shows what it has on its disk
			primary.Kill(t)
			primary.Restart(t)
			look()
		}
		if known[name] {
			t.Errorf("round %d: the standby does not have the wallet, and it was told of or shown", round)
		}
		standby.Kill(t)
		primary.Kill(t)
		standby.Restart(t)
		standby.Promote(t)
		primary.Follow(t, standby)
		primary, standby = standby, primary

		for i, node := range nodes {
			testkit.Until(t, "the wallet is created", func() bool { return node.Post(t, "create_wallet", body).Status == http.StatusOK })
			known[name] = true
			reply := node.Post(t, "list_wallets", node.Body(t, "list_wallets", nil))
			have := walletNames(t, reply)
			for name := range known {
				if have[name] != 1 {
					t.Errorf("round %d: node %d has %q %d times, not once", round, i, name, have[name])
				}
			}
		}
	}
}

// walletNames counts the wallets in a reply to list_wallets, none in another
// reply than 200.
func walletNames(t *testing.T, reply servertest.Reply) map[string]int {
	t.Helper()
	names := map[string]int{}
	if reply.Status != http.StatusOK {
		return names
	}
	var list struct {
		Wallets []struct {
			WalletName string `json:"walletName"`
		} `json:"wallets"`
	}
	if err := json.Unmarshal(reply.Body, &list); err != nil {
		t.Fatal(err)
	}
	for _, w := range list.Wallets {
		names[w.WalletName]++
	}
	return names
}

// TestFormerPrimary: the primary fails, the standby takes its place, a key is
// revoked, and the former primary comes back as if nothing had happened. No node
// accepts the key or misses a wallet, whether it saw the change or starts
// afterwards.
func TestFormerPrimary(t *testing.T) {
	primary, standby := pgtest.StartPair(t)
	url := pgtest.PairURL(primary, standby)
	local := config.Default()
	local.Durability = "local" // a standby that is missing would keep the former primary out by itself
	nodes := map[string]*servertest.Server{"first": servertest.Start(t, url, local), "second": servertest.Start(t, url, local)}
	first := nodes["first"]
	root := first.Root
	revoked := first.NewUser(t, root, "revoked", client.P256)

	primary.WaitForNone(t)
	primary.Kill(t)
	standby.Promote(t)
	standby.WaitForNone(t)
	testkit.Until(t, "the new primary answers", func() bool {
		return root.Post(t, "whoami", root.Body(t, "whoami", nil)).Status == http.StatusOK
	})
	root.Submit(t, "delete_users", map[string]any{"userIds": []any{revoked.UserID}})
	root.Submit(t, "create_wallet", map[string]any{"walletName": "after", "accounts": []any{}})

	primary.Restart(t)
	nodes["late"] = servertest.Start(t, url, local)
	for range 60 {
		for name, node := range nodes {
			ghost, owner := node.As(revoked), node.As(root)
			if reply := ghost.Post(t, "whoami", ghost.Body(t, "whoami", nil)); reply.Status == http.StatusOK {
				t.Fatalf("the node %s accepted a revoked key", name)
			}
			reply := owner.Post(t, "list_wallets", owner.Body(t, "list_wallets", nil))
			if reply.Status != http.StatusOK || walletNames(t, reply)["after"] != 1 {
				t.Fatalf("the node %s misses a wallet: HTTP %d: %s", name, reply.Status, reply.Body)
			}
		}
	}
}

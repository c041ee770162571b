package engine_test

import (
	"crypto/rand"
	"fmt"
	"sync"
	"testing"
	"time"

	"latchkey/client"
	"latchkey/internal/ids"
	"latchkey/internal/request/ops"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
	"latchkey/internal/test/pgtest"
	. "latchkey/internal/test/servertest"
)

// BenchmarkBacktest decides 100,000 payments again, over HTTP, under 20 policies:
// none goes another way, and all do, which are then explained twice each.
//
//	go test ./internal/request/engine -run '^$' -bench Backtest -benchtime 1x
func BenchmarkBacktest(b *testing.B) {
	for name, url := range map[string]func(testing.TB) string{"sqlite": SQLite, "postgres": pgtest.URL} {
		b.Run(name, func(b *testing.B) { benchmarkBacktest(b, Start(b, url(b), config.Default())) })
	}
}

func benchmarkBacktest(b *testing.B, s *Server) {
	const payments = 100_000
	ada := s.NewUser(b, s.Root, "Ada", client.P256)
	own := make([]m, 20)
	for i := range own {
		own[i] = rule(fmt.Sprint(i), "EFFECT_ALLOW", fmt.Sprintf("approvers.any(u, u.id == '%s')", ada.UserID),
			fmt.Sprintf("activity.kind == 'SIGN_TRANSACTION' && eth.tx.value <= %d && eth.tx.chain_id == 1", i))
		own[i]["notes"] = ""
	}
	s.Root.Submit(b, "create_policies", m{"policies": own})
	pay(b, s, ada, payments)
	for name, policies := range map[string][]m{"same": own, "different": own[:1]} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				start := time.Now()
				var got backtested
				different := 0 // their explanations are too many to keep
				eachDifference(b, ada, 100, nil, policies, &got, func(Value) { different++ })
				b.ReportMetric(time.Since(start).Seconds(), "s")
				b.ReportMetric(float64(different), "different")
				if got.examined < payments || got.skipped > 0 {
					b.Fatalf("%d examined, %d skipped", got.examined, got.skipped)
				}
			}
		})
	}
}

// pay records one payment of 1 wei many times, as if each had been asked for.
func pay(b *testing.B, s *Server, c *Caller, times int) {
	b.Helper()
	address := s.Root.Submit(b, "create_wallet", m{"walletName": "W", "accounts": []any{
		m{"curve": "CURVE_SECP256K1", "pathFormat": "PATH_FORMAT_BIP32", "path": "m/44'/60'/0'/0/0", "addressFormat": "ADDRESS_FORMAT_ETHEREUM"},
	}}).Get("result", "createWalletResult", "addresses", 0).Text()
	signed := c.Submit(b, "sign_transaction", m{
		"signWith": address, "type": "TRANSACTION_TYPE_ETHEREUM",
		"unsignedTransaction": "0x02e70180843b9aca0084773594008252089470997970c51812dc3a010c7d01b50e0d17dc79c80180c0",
	})
	wantStatus(b, signed, completed)
	catalog := ops.Catalog()
	var group sync.WaitGroup
	const writers = 50
	for range writers {
		group.Go(func() {
			for range times / writers {
				err := s.Store.Update(b.Context(), c.OrganizationID, func(tx *store.Tx) error {
					a, err := tx.Activity(signed.Get("id").Text())
					if err != nil {
						return err
					}
					copied := *a
					copied.ID, copied.CreatedAt = ids.New(), time.Now()
					_, _ = rand.Read(copied.Fingerprint[:])
					digests, err := catalog.LogDigests(&copied)
					if err != nil {
						return err
					}
					return tx.Record(&copied, digests)
				})
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
}

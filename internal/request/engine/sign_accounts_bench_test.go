package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"latchkey/internal/request/engine"
	"latchkey/internal/request/ops"
	"latchkey/internal/server/config"
	"latchkey/internal/test/pgtest"
	. "latchkey/internal/test/servertest"
	"latchkey/internal/test/testkit"
)

// BenchmarkSignAccounts signs payloads, 16 at a time: in turn with one account, and
// with another one each time, for the first time since it was made. It reports how
// much longer that takes, and how much more of the processor.
//
//	go test ./internal/request/engine -run '^$' -bench SignAccounts -benchtime 9000x
func BenchmarkSignAccounts(b *testing.B) {
	for _, c := range []struct {
		name     string
		url      func(testing.TB) string
		shuffled bool
	}{{"sqlite/in-order", SQLite, false}, {"sqlite/shuffled", SQLite, true}, {"postgres/shuffled", pgtest.URL, true}} {
		b.Run(c.name, func(b *testing.B) {
			s := Start(b, c.url(b), config.Default())
			catalog := ops.Catalog()
			e := engine.New(engine.Config{Store: s.Store, Catalog: catalog, Decider: s.Keys.Decider, ServerKeys: s.Keys.ServerKeys, Now: time.Now})
			root := s.CreateOrganization(b, "Signing")
			addresses := manyAccounts(b, root, max(100, b.N))
			if c.shuffled {
				rand.Shuffle(len(addresses), func(i, j int) { addresses[i], addresses[j] = addresses[j], addresses[i] })
			}
			request := func(address string, i int) engine.Request {
				body := root.Body(b, "sign_raw_payload", m{
					"signWith": address, "payload": fmt.Sprintf("%064x", i),
					"encoding": "PAYLOAD_ENCODING_HEXADECIMAL", "hashFunction": "HASH_FUNCTION_NO_OP",
				})
				header, value, err := root.Stamper.Stamp(body)
				if err != nil {
					b.Fatal(err)
				}
				return engine.Request{Header: http.Header{header: {value}}, Body: body, Event: new(engine.Event)}
			}
			one, each := make([]engine.Request, b.N), make([]engine.Request, b.N)
			for i := range one {
				one[i], each[i] = request(addresses[0], i), request(addresses[i], b.N+i)
			}
			perform := func(requests []engine.Request) (processor, took float64) {
				before, start := testkit.ProcessorTime(b), time.Now()
				var next atomic.Int64
				var all sync.WaitGroup
				for range 16 {
					all.Go(func() {
						for {
							i := int(next.Add(1)) - 1
							if i >= len(requests) {
								return
							}
							reply, err := e.Submit(context.Background(), catalog.Endpoint("sign_raw_payload"), requests[i])
							if err != nil || reply.Status != http.StatusOK {
								b.Errorf("%v %v", reply, err)
								return
							}
						}
					})
				}
				all.Wait()
				return float64(testkit.ProcessorTime(b) - before), float64(time.Since(start))
			}
			const portion = 500
			var processor, took, of []float64
			for from := 0; from < b.N; from += portion {
				to := min(from+portion, b.N)
				p1, t1 := perform(one[from:to])
				p2, t2 := perform(each[from:to])
				processor, took, of = append(processor, p2/p1), append(took, t2/t1), append(of, p1/float64(to-from))
			}
			median := func(all []float64) float64 { slices.Sort(all); return all[len(all)/2] }
			b.ReportMetric(median(took), "times")
			b.ReportMetric(median(processor), "times-cpu")
			b.ReportMetric(median(of)/1000, "one-cpu-µs")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func manyAccounts(b *testing.B, root *Caller, n int) (addresses []string) {
	created := root.Submit(b, "create_wallet", m{"walletName": "w", "accounts": []m{}})
	wallet := created.Get("result", "createWalletResult", "walletId").Text()
	for from := 0; from < n; from += 100 {
		var accounts []m
		for i := from; i < from+100; i++ {
			accounts = append(accounts, m{
				"curve": "CURVE_SECP256K1", "pathFormat": "PATH_FORMAT_BIP32", "path": fmt.Sprintf("m/44'/60'/0'/0/%d", i), "addressFormat": "ADDRESS_FORMAT_ETHEREUM",
			})
		}
		made := root.Submit(b, "create_wallet_accounts", m{"walletId": wallet, "accounts": accounts})
		for i := range accounts {
			addresses = append(addresses, made.Get("result", "createWalletAccountsResult", "addresses", i).Text())
		}
	}
	return addresses
}

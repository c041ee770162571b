package webhook_test

import (
	"runtime"
	"strings"
	"testing"

	"latchkey/internal/server/config"
	. "latchkey/internal/test/servertest"
)

// BenchmarkSigning signs in an organization without endpoints, in one with ten
// that get every event, and beside a thousand endpoints that are dead. One server
// has all of them; what was left to deliver is awaited before the next turn.
func BenchmarkSigning(b *testing.B) {
	s := Start(b, SQLite(b), config.Default())
	none, busy := s.CreateOrganization(b, "None"), s.CreateOrganization(b, "Ten")
	var receivers []*receiver
	for range 10 {
		r := newReceiver(b)
		receivers = append(receivers, r)
		subscribe(b, busy, r.URL, `{"types":["ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2"]}`)
	}
	turn := func(b *testing.B, c *Caller, address string, get []*receiver) {
		for _, r := range get {
			r.mu.Lock()
			r.all = nil
			r.mu.Unlock()
		}
		b.SetParallelism(32 / runtime.GOMAXPROCS(0))
		b.ResetTimer()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				c.Submit(b, "sign_raw_payload", map[string]any{
					"signWith": address, "payload": strings.Repeat("07", 32),
					"encoding": "PAYLOAD_ENCODING_HEXADECIMAL", "hashFunction": "HASH_FUNCTION_NO_OP",
				})
			}
		})
		b.StopTimer()
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "signatures/s")
		for _, r := range get {
			r.await(b, "the last event", func(all []received) bool { return len(all) >= b.N })
		}
	}
	noneAt, busyAt := wallet(b, none), wallet(b, busy)
	for _, round := range []string{"1", "2", "3"} {
		b.Run("none/"+round, func(b *testing.B) { turn(b, none, noneAt, nil) })
		b.Run("ten/"+round, func(b *testing.B) { turn(b, busy, busyAt, receivers) })
	}
	for range 50 {
		other := s.CreateOrganization(b, "Dead")
		for range 20 {
			subscribe(b, other, "http://127.0.0.1:1/", "")
		}
		tag(b, other, "An event")
	}
	for _, round := range []string{"1", "2", "3"} {
		b.Run("dead/"+round, func(b *testing.B) { turn(b, none, noneAt, nil) })
	}
}

func wallet(t testing.TB, c *Caller) (address string) {
	t.Helper()
	made := c.Submit(t, "create_wallet", map[string]any{"walletName": "Till", "accounts": []any{map[string]any{
		"curve": "CURVE_SECP256K1", "pathFormat": "PATH_FORMAT_BIP32", "path": "m/44'/60'/0'/0/0", "addressFormat": "ADDRESS_FORMAT_ETHEREUM",
	}}})
	return made.Get("result", "createWalletResult", "addresses", 0).Text()
}

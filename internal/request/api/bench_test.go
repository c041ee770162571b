package api_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"latchkey/client"
	"latchkey/internal/request/api"
	"latchkey/internal/request/engine"
	"latchkey/internal/request/ops"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
	. "latchkey/internal/test/servertest"
)

// BenchmarkSign signs by 64 callers at once, with all of the server but what
// net/http does: what a request costs, and what it allocates.
//
//	go test ./internal/request/api -run '^$' -bench Sign -benchmem -benchtime 5000x
func BenchmarkSign(b *testing.B) {
	s := Start(b, SQLite(b), config.Default())
	root := s.CreateOrganization(b, "Signing")
	address := root.Submit(b, "create_wallet", m{"walletName": "w", "accounts": []m{{
		"curve": "CURVE_SECP256K1", "pathFormat": "PATH_FORMAT_BIP32", "path": "m/44'/60'/0'/0/0", "addressFormat": "ADDRESS_FORMAT_ETHEREUM",
	}}}).Get("result", "createWalletResult", "addresses", 0).Text()
	member := s.NewUser(b, root, "Member", client.P256)
	for i := range 20 {
		value := 0 // of which the transaction has more
		if i == 10 {
			value = 1e9
		}
		root.Submit(b, "create_policy", m{
			"policyName": fmt.Sprint("Policy ", i), "effect": "EFFECT_ALLOW", "notes": "",
			"consensus": fmt.Sprintf("approvers.any(user, user.id == '%s')", member.UserID),
			"condition": fmt.Sprintf("activity.type == 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2' && eth.tx.chain_id == 1 && eth.tx.value <= %d", value),
		})
	}
	catalog := ops.Catalog()
	served := api.New(api.Config{
		Engine:  engine.New(engine.Config{Store: s.Store, Catalog: catalog, Decider: s.Keys.Decider, ServerKeys: s.Keys.ServerKeys, Now: time.Now}),
		Catalog: catalog, Log: slog.New(slog.NewJSONHandler(io.Discard, nil)),
		Metrics: api.NewMetrics(api.Sources{
			Pool: func() (p store.Pool) { return p }, Log: func() (int64, time.Time) { return 0, time.Time{} },
			DataKeys: func() int { return 0 }, VaultMemory: func() int { return 0 },
		}),
		MaxBody: 1 << 20, MaxHeader: 1 << 14, Timeout: time.Minute, Now: time.Now,
	})
	for _, kind := range []struct {
		name, operation string
		caller          *Caller
		parameters      m
	}{
		{"payload", "sign_raw_payload", root, m{
			"signWith": address, "payload": fmt.Sprintf("%064x", 7),
			"encoding": "PAYLOAD_ENCODING_HEXADECIMAL", "hashFunction": "HASH_FUNCTION_NO_OP",
		}},
		{"policies", "sign_transaction", member, m{
			"signWith": address, "type": "TRANSACTION_TYPE_ETHEREUM",
			"unsignedTransaction": "0x02e70180843b9aca0084773594008252089470997970c51812dc3a010c7d01b50e0d17dc79c80180c0",
		}},
	} {
		b.Run(kind.name, func(b *testing.B) {
			requests := make([]*http.Request, b.N)
			for i := range requests {
				body := kind.caller.Body(b, kind.operation, kind.parameters)
				header, value, err := kind.caller.Stamper.Stamp(body)
				if err != nil {
					b.Fatal(err)
				}
				requests[i] = httptest.NewRequest(http.MethodPost, "/public/v1/submit/"+kind.operation, bytes.NewReader(body))
				requests[i].Header.Set(header, value)
			}
			var next atomic.Int64
			b.SetParallelism(32)
			b.ReportAllocs()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					w := &countingWriter{header: http.Header{}}
					if served.ServeHTTP(w, requests[next.Add(1)-1]); w.status != http.StatusOK {
						b.Errorf("status %d", w.status)
					}
				}
			})
		})
	}
}

// countingWriter takes a reply as a connection does, and throws it away.
type countingWriter struct {
	header http.Header
	status int
}

func (w *countingWriter) Header() http.Header               { return w.header }
func (w *countingWriter) WriteHeader(status int)            { w.status = status }
func (w *countingWriter) Write(body []byte) (int, error)    { return len(body), nil }
func (w *countingWriter) SetReadDeadline(_ time.Time) error { return nil }

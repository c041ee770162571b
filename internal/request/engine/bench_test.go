package engine_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"latchkey/client"
	"latchkey/internal/domain"
	"latchkey/internal/ids"
	"latchkey/internal/request/engine"
	"latchkey/internal/request/ops"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
	"latchkey/internal/test/pgtest"
	. "latchkey/internal/test/servertest"
)

// BenchmarkLoginAmong logs one user in among few and among many
// sub-organizations, in turn, by the parent's id. It reports how much longer it
// takes among many.
//
//	go test ./internal/request/engine -run '^$' -bench LoginAmong -benchtime 300x
func BenchmarkLoginAmong(b *testing.B) {
	const few, many = 100, 100_000
	for name, url := range map[string]func(testing.TB) string{"sqlite": SQLite, "postgres": pgtest.URL} {
		b.Run(name, func(b *testing.B) {
			s := Start(b, url(b), config.Default())
			catalog := ops.Catalog()
			e := engine.New(engine.Config{Store: s.Store, Catalog: catalog, Decider: s.Keys.Decider, ServerKeys: s.Keys.ServerKeys, Now: time.Now})
			small := family(b, s, few)
			large := family(b, s, many)
			login := func(c *Caller, i int) time.Duration {
				body, err := json.Marshal(m{
					"type": "ACTIVITY_TYPE_STAMP_LOGIN", "organizationId": c.OrganizationID,
					"timestampMs": strconv.FormatInt(time.Now().UnixMilli(), 10), "parameters": m{"publicKey": newKey(b)},
				})
				if err != nil {
					b.Fatal(err)
				}
				header, value, err := c.Stamper.Stamp(body)
				if err != nil {
					b.Fatal(err)
				}
				request := engine.Request{Header: http.Header{header: {value}}, Body: body, Event: new(engine.Event)}
				start := time.Now()
				reply, err := e.Submit(context.Background(), catalog.Endpoint("stamp_login"), request)
				took := time.Since(start)
				if err != nil || reply.Status != http.StatusOK {
					b.Fatalf("%v %v", reply, err)
				}
				return took
			}
			var among [2][]time.Duration
			for i := range b.N {
				among[0] = append(among[0], login(small, i))
				among[1] = append(among[1], login(large, i))
			}
			median := func(times []time.Duration) float64 {
				slices.Sort(times)
				return float64(times[len(times)/2])
			}
			b.ReportMetric(median(among[1])/median(among[0]), "times")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func newKey(b *testing.B) string {
	key, err := client.GenerateKey(client.P256)
	if err != nil {
		b.Fatal(err)
	}
	return key.PublicKey()
}

// family creates a parent with children of one user each, and returns the user
// of the one in the middle, who knows only the parent's id.
func family(b *testing.B, s *Server, size int) *Caller {
	parent := s.CreateOrganization(b, fmt.Sprint("Parent of ", size))
	one := s.Stranger(b, parent)
	const page = 500
	for from := 0; from < size; from += page {
		err := s.Store.Update(context.Background(), parent.OrganizationID, func(tx *store.Tx) error {
			for i := from; i < min(from+page, size); i++ {
				key := fmt.Sprintf("02%064x", i)
				if i == size/2 {
					key = one.Key.PublicKey()
				}
				org, user := ids.New(), ids.New()
				child := tx.CreateOrganization(org)
				err := child.Organizations().Insert(&domain.Organization{
					ID: org, Name: fmt.Sprint("Child ", i), ParentID: parent.OrganizationID,
					RootQuorum: domain.Quorum{Threshold: 1, UserIDs: []string{user}},
				})
				if err != nil {
					return err
				}
				err = child.Users().Insert(&domain.User{
					ID: user, Name: "Owner", Email: fmt.Sprintf("user%d@example.com", i),
					APIKeys: []domain.APIKey{{ID: ids.New(), Name: "key", PublicKey: key, Type: domain.CredentialP256, CreatedAt: time.Now()}},
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	return one
}

// BenchmarkSign signs payloads, without HTTP: what a request costs the spine,
// and what it allocates.
//
//	go test ./internal/request/engine -run '^$' -bench Sign -benchmem
func BenchmarkSign(b *testing.B) {
	s := Start(b, SQLite(b), config.Default())
	catalog := ops.Catalog()
	e := engine.New(engine.Config{Store: s.Store, Catalog: catalog, Decider: s.Keys.Decider, ServerKeys: s.Keys.ServerKeys, Now: time.Now})
	root := s.CreateOrganization(b, "Signing")
	address := root.Submit(b, "create_wallet", m{"walletName": "w", "accounts": []m{{
		"curve": "CURVE_SECP256K1", "pathFormat": "PATH_FORMAT_BIP32", "path": "m/44'/60'/0'/0/0", "addressFormat": "ADDRESS_FORMAT_ETHEREUM",
	}}}).Get("result", "createWalletResult", "addresses", 0).Text()
	requests := make([]engine.Request, b.N)
	for i := range requests {
		body := root.Body(b, "sign_raw_payload", m{
			"signWith": address, "payload": fmt.Sprintf("%064x", i),
			"encoding": "PAYLOAD_ENCODING_HEXADECIMAL", "hashFunction": "HASH_FUNCTION_NO_OP",
		})
		header, value, err := root.Stamper.Stamp(body)
		if err != nil {
			b.Fatal(err)
		}
		requests[i] = engine.Request{Header: http.Header{header: {value}}, Body: body, Event: new(engine.Event)}
	}
	b.ResetTimer()
	for i := range requests {
		reply, err := e.Submit(context.Background(), catalog.Endpoint("sign_raw_payload"), requests[i])
		if err != nil || reply.Status != http.StatusOK {
			b.Fatalf("%v %v", reply, err)
		}
	}
}

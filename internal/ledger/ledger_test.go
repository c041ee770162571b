package ledger_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"latchkey/internal/test/pgtest"
	. "latchkey/internal/test/servertest"
	"latchkey/internal/test/testkit"
	"latchkey/internal/translog"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// get reads a page of the server.
func get(t *testing.T, s *Server, path string) (int, []byte) {
	t.Helper()
	reply, err := http.Get(s.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply.StatusCode, body
}

// keysOf are the keys that the server publishes for its log.
func keysOf(t *testing.T, s *Server) translog.Keys {
	t.Helper()
	_, body := get(t, s, "/.well-known/latchkey.json")
	var known struct {
		LogOrigin       string   `json:"logOrigin"`
		LogVerifierKeys []string `json:"logVerifierKeys"`
	}
	if err := json.Unmarshal(body, &known, json.DefaultOptionsV2()); err != nil {
		t.Fatal(err)
	}
	keys, err := translog.ParseKeys(known.LogVerifierKeys...)
	if err != nil || len(keys) != 2 || keys[0].Name() != known.LogOrigin {
		t.Fatalf("%s: %v", body, err)
	}
	return keys
}

// receipt asks until the entry is published.
func receipt(t *testing.T, c *Caller, parameters map[string]any) translog.Receipt {
	t.Helper()
	var body []byte
	testkit.Until(t, "the entry is published", func() bool {
		reply := c.PostTo(t, "/latchkey/v1/receipt", parameters)
		body = reply.Body
		if reply.Status == http.StatusConflict {
			CheckError(t, reply, http.StatusConflict)
			if reply.Header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
			return false
		}
		if reply.Status != http.StatusOK {
			t.Fatalf("HTTP %d: %s", reply.Status, body)
		}
		return true
	})
	r, err := translog.ParseReceipt(body)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// newAddress makes a wallet to sign with.
func newAddress(t *testing.T, c *Caller) string {
	t.Helper()
	wallet := c.Submit(t, "create_wallet", map[string]any{"walletName": "w", "accounts": []any{map[string]any{
		"curve": "CURVE_ED25519", "pathFormat": "PATH_FORMAT_BIP32", "path": "m/44'/501'/0'/0'", "addressFormat": "ADDRESS_FORMAT_SOLANA",
	}}})
	return wallet.Get("result", "createWalletResult", "addresses", 0).Text()
}

// sign signs a payload in hexadecimal digits, and returns the id of the activity.
func sign(t *testing.T, c *Caller, address, payload string) string {
	t.Helper()
	return c.Submit(t, "sign_raw_payload", map[string]any{
		"signWith": address, "payload": payload,
		"encoding": "PAYLOAD_ENCODING_HEXADECIMAL", "hashFunction": "HASH_FUNCTION_NOT_APPLICABLE",
	}).Get("id").Text()
}

// TestReceipts: of every activity there is a receipt that verifies with nothing
// but the published keys, and the numbers of an organization have no gap.
func TestReceipts(t *testing.T) {
	Each(t, func(t *testing.T, s *Server) {
		keys := keysOf(t, s)
		address := newAddress(t, s.Root)
		const callers, each = 6, 50 // more than fill a tile
		var mu sync.Mutex
		var activities []string
		var wait sync.WaitGroup
		for n := range callers {
			wait.Go(func() {
				for k := range each {
					id := sign(t, s.Root, address, fmt.Sprintf("%02x%02x", n, k))
					mu.Lock()
					activities = append(activities, id)
					mu.Unlock()
				}
			})
		}
		wait.Wait()
		numbers := map[int64]string{}
		for _, id := range activities {
			r := receipt(t, s.Root, map[string]any{"organizationId": s.Root.OrganizationID, "activityId": id})
			proven, err := translog.VerifyReceipt(r, keys, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			record := proven.Record
			if record.ActivityID != id || record.OrganizationID != s.Root.OrganizationID || record.Status != "ACTIVITY_STATUS_COMPLETED" {
				t.Errorf("%+v", record)
			}
			if other := numbers[record.Sequence]; other != "" {
				t.Errorf("%s and %s have the number %d", id, other, record.Sequence)
			}
			numbers[record.Sequence] = id
		}
		for n := range callers * each { // the first two are of the organization and the wallet
			if numbers[int64(n)+3] == "" {
				t.Errorf("no activity has the number %d", n+3)
			}
		}
	})
}

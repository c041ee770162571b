package engine_test

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"latchkey/client"
	"latchkey/internal/server/config"
	"latchkey/internal/test/pgtest"
	. "latchkey/internal/test/servertest"
)

// leastTrips is how many round trips something takes. The server itself asks now and
// then, so the least of many counts.
func leastTrips(proxy *pgtest.Proxy, do func()) int64 {
	least := int64(1 << 30)
	for range 50 {
		before := proxy.Trips.Load()
		do()
		least = min(least, proxy.Trips.Load()-before)
	}
	return least
}

// TestQueryAsksOnce: a query that needs nothing but what is in memory is one
// question to the database.
func TestQueryAsksOnce(t *testing.T) {
	proxy := pgtest.NewProxy(t, pgtest.URL(t))
	s := Start(t, proxy.URL, config.Default())
	s.Root.Query(t, "whoami", nil)
	if least := leastTrips(proxy, func() { s.Root.Query(t, "whoami", nil) }); least != 1 {
		t.Errorf("a query was %d round trips", least)
	}
}

// TestSubmitAsksNothing: a signature that needs nothing but what is in memory is one
// round trip to the database, which commits it.
func TestSubmitAsksNothing(t *testing.T) {
	proxy := pgtest.NewProxy(t, pgtest.URL(t))
	s := Start(t, proxy.URL, config.Default())
	payload := rawPayload(signingKey(t, s))
	s.Root.Submit(t, "sign_raw_payload", payload)
	if least := leastTrips(proxy, func() { s.Root.Submit(t, "sign_raw_payload", payload) }); least != 1 {
		t.Errorf("a signature was %d round trips", least)
	}
}

// signingKey is the id of a new private key.
func signingKey(t testing.TB, s *Server) string {
	t.Helper()
	return s.Root.Submit(t, "create_private_keys", m{"privateKeys": []any{m{
		"privateKeyName": "key", "curve": "CURVE_SECP256K1", "privateKeyTags": []any{}, "addressFormats": []any{},
	}}}).Get("result", "createPrivateKeysResultV2", "privateKeys", 0, "privateKeyId").Text()
}

// rawPayload are the parameters of sign_raw_payload.
func rawPayload(signWith string) m {
	return m{
		"signWith": signWith, "payload": strings.Repeat("ab", 32),
		"encoding": "PAYLOAD_ENCODING_HEXADECIMAL", "hashFunction": "HASH_FUNCTION_NO_OP",
	}
}

// TestDeletedKeyElsewhere: a key that one node has deleted is refused by the other
// from then on, while others ask it; a new key is known there at once.
func TestDeletedKeyElsewhere(t *testing.T) {
	url := pgtest.URL(t)
	one, two := Start(t, url, config.Default()), Start(t, url, config.Default())
	root := one.Root
	var wg sync.WaitGroup
	var over atomic.Bool
	for range 8 {
		elsewhere := two.As(root)
		wg.Go(func() {
			for !over.Load() {
				elsewhere.Query(t, "whoami", nil)
			}
		})
	}
	defer func() { over.Store(true); wg.Wait() }()
	for range 25 {
		ada := one.NewUser(t, root, "Ada", client.P256)
		there := two.As(ada)
		there.Query(t, "whoami", nil)
		key := there.Query(t, "get_user", m{"userId": ada.UserID}).Get("user", "apiKeys", 0, "apiKeyId").Text()
		spare := one.Stranger(t, root) // or the last key could not be deleted
		root.Submit(t, "create_api_keys", m{"userId": ada.UserID, "apiKeys": []any{m{
			"apiKeyName": "spare", "publicKey": spare.Key.PublicKey(), "curveType": client.P256.CurveType(),
		}}})
		there.Query(t, "whoami", nil)
		logged := len(two.Log.String())
		root.Submit(t, "delete_api_keys", m{"userId": ada.UserID, "apiKeyIds": []any{key}})
		there.Refused(t, http.StatusUnauthorized, "create_user_tag", m{"userTagName": "mine", "userIds": []any{}})
		there.Refused(t, http.StatusUnauthorized, "whoami", nil)
		there.Refused(t, http.StatusUnauthorized, "get_user", m{"userId": ada.UserID})
		if text := two.Log.String()[logged:]; strings.Contains(text, ada.UserID) {
			t.Fatalf("the log names the user of a key that was deleted:\n%s", text)
		}
		root.Submit(t, "delete_users", m{"userIds": []any{ada.UserID}})
	}
}

package ops_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"latchkey/internal/server"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
	. "latchkey/internal/test/servertest"
)

// TestRewrap replaces the master key under a server that keeps signing. The
// work is interrupted again and again, and goes on where it was.
func TestRewrap(t *testing.T) {
	const organizations = 40
	EachStore(t, func(t *testing.T, url string) {
		dir := t.TempDir()
		source := func(name string) string { return "file:" + filepath.Join(dir, name) }
		s := StartWith(t, url, config.Default(), source("old"), "")
		var owners []*Caller
		keys := map[*Caller]string{}
		for i := range organizations {
			owner := s.CreateOrganization(t, fmt.Sprint("organization ", i))
			keys[owner] = owner.Submit(t, "create_private_keys", m{"privateKeys": []any{m{
				"privateKeyName": "k", "curve": "CURVE_SECP256K1", "privateKeyTags": []any{}, "addressFormats": []any{},
			}}}).Get("result", "createPrivateKeysResultV2", "privateKeys", 0, "privateKeyId").Text()
			owners = append(owners, owner)
		}
		s.Stop(t)

		s = StartWith(t, url, config.Default(), source("new"), source("old"))
		sign := func(owner *Caller) {
			s.As(owner).Submit(t, "sign_raw_payload", m{
				"signWith": keys[owner], "payload": fmt.Sprint(rand.Int()), "encoding": "PAYLOAD_ENCODING_TEXT_UTF8", "hashFunction": "HASH_FUNCTION_SHA256",
			})
		}
		var done atomic.Bool
		var wait sync.WaitGroup
		for i := range 4 {
			wait.Go(func() {
				for n := i; !done.Load(); n++ {
					sign(owners[n%organizations])
				}
			})
		}
		runs := 0
		patience := time.Millisecond
		for interrupted := true; interrupted; runs++ {
			// Each time it has to pass what is done already. How long that
			// takes is the machine's business: sooner or later it suffices.
			ctx, interrupt := context.WithCancel(t.Context())
			timer := time.AfterFunc(patience/2+rand.N(patience), interrupt)
			_, err := server.Rewrap(ctx, s.Store, s.Keys.Vault)
			interrupted = err != nil && ctx.Err() != nil // what a store says of it differs
			if err != nil && !interrupted {
				t.Error(err)
			}
			timer.Stop()
			interrupt()
			patience = patience * 5 / 4
		}
		done.Store(true)
		wait.Wait()
		t.Logf("it took %d runs", runs)
		if n, err := server.Rewrap(t.Context(), s.Store, s.Keys.Vault); n != 0 || err != nil {
			t.Errorf("the work was not done: %d, %v", n, err)
		}
		s.Stop(t)

		// The new key alone opens everything, the old one nothing.
		s = StartWith(t, url, config.Default(), source("new"), "")
		for _, owner := range owners {
			sign(owner)
		}
		s.Stop(t)
		if _, err := open(t, url, source("old")); err == nil || !strings.Contains(err.Error(), "does not open this database") {
			t.Errorf("the old key: %v", err)
		}
	})
}

// open tries a master key on a store.
func open(t *testing.T, url, source string) (keys server.KeyServices, err error) {
	t.Helper()
	var s *store.Store
	if s, err = server.OpenStore(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	return server.OpenKeys(t.Context(), s, source, "")
}

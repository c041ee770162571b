package ops_test

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"latchkey/internal/server"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
	. "latchkey/internal/test/servertest"
)

// TestRotate makes new data keys, again and again interrupted, while servers sign,
// seal new keys and create organizations, two servers where the store allows it. No
// request fails, and what was stored before opens nothing afterwards.
func TestRotate(t *testing.T) {
	EachStore(t, func(t *testing.T, url string) {
		source := "file:" + filepath.Join(t.TempDir(), "master.key")
		newMasterKey(t, source)
		start := func() *Server { return StartWith(t, url, config.Default(), source, "") }
		first := start()
		load := &nodeLoad{root: first.Root, nodes: []*Server{first}}
		if strings.HasPrefix(url, "postgres") {
			load.nodes = append(load.nodes, start())
		}
		load.key = load.newKey(t, first, load.root)
		for range 12 {
			load.child(t, first)
		}
		before := ciphertexts(t, first.Store)
		var wait sync.WaitGroup
		for i := range 4 {
			wait.Go(func() { load.run(t, i) })
		}
		load.work(t)
		runs, patience := 0, 5*time.Millisecond
		var done server.Rotation
		for interrupted := true; interrupted && !t.Failed(); runs++ {
			ctx, interrupt := context.WithCancel(t.Context())
			timer := time.AfterFunc(patience/2+rand.N(patience), interrupt)
			var err error
			done, err = server.Rotate(ctx, first.Store, &first.Keys, "")
			if interrupted = err != nil && ctx.Err() != nil; err != nil && !interrupted {
				t.Error(err)
			}
			timer.Stop()
			interrupt()
			patience = patience * 3 / 2
		}
		load.work(t)
		load.done.Store(true)
		wait.Wait()
		t.Logf("%+v after %d runs", done, runs)
		if done.Done < 13 || done.Secrets < 13 {
			t.Errorf("%+v", done)
		}
		status, err := server.RotationStatus(t.Context(), first.Store)
		if err != nil || status.Done != status.Organizations || status.Organizations < 13 {
			t.Errorf("%+v, %v", status, err)
		}
		after := ciphertexts(t, first.Store)
		for name, sealed := range before {
			if now, kept := after[name]; kept && now == sealed {
				t.Errorf("%s was not sealed anew", name)
			}
		}
		for _, one := range load.kids {
			load.sign(t, first, one.owner, one.key)
		}
		load.sign(t, first, load.root, load.key)
		for _, s := range load.nodes {
			s.Stop(t)
		}
		// All that was sealed anew is in order for the next start, too.
		again := start()
		for _, one := range load.kids {
			load.sign(t, again, one.owner, one.key)
		}
		again.Stop(t)
	})
}

// ciphertexts is everything that is sealed, by organization and name.
func ciphertexts(t *testing.T, s *store.Store) map[string]string {
	t.Helper()
	all := map[string]string{}
	orgs, err := s.Organizations(t.Context(), "", 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, org := range orgs {
		err := s.View(t.Context(), org, func(tx *store.Tx) error {
			names, err := tx.Ciphertexts().Names()
			for _, name := range names {
				sealed, problem := tx.Ciphertexts().Sealed(name)
				if problem != nil {
					return problem
				}
				all[org+" "+name] = string(sealed)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

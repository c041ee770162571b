package ops_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"latchkey/internal/keys/vault/unseal"
	"latchkey/internal/server"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
	. "latchkey/internal/test/servertest"
	"latchkey/internal/test/testkit"
)

// TestRewrap replaces the master key under a server that keeps signing. The
// work is interrupted again and again, and goes on where it was.
func TestRewrap(t *testing.T) {
	const organizations = 40
	EachStore(t, func(t *testing.T, url string) {
		dir := t.TempDir()
		source := func(name string) string { return "file:" + filepath.Join(dir, name) }
		newMasterKey(t, source("new"))
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
		testkit.Until(t, "the old key opens nothing", func() bool {
			left, err := s.Store.Rewrapping(t.Context(), "", 1)
			return err == nil && len(left) == 0
		})
		for _, owner := range owners {
			sign(owner)
		}
		s.Stop(t)
		if _, err := open(t, url, source("old")); err == nil || !strings.Contains(err.Error(), "does not open this database") {
			t.Errorf("the old key: %v", err)
		}
	})
}

// TestReplaceMasterKeyOnNodes replaces the master key of an installation of two
// servers as docs/operations.md says, one server after the other, while both are
// asked to sign, to seal new keys and to create organizations. No request fails
// on a server that is there.
func TestReplaceMasterKeyOnNodes(t *testing.T) {
	url := Postgres(t)
	dir := t.TempDir()
	source := func(name string) string { return "file:" + filepath.Join(dir, name) }
	newMasterKey(t, source("new"))
	first := StartWith(t, url, config.Default(), source("old"), "")
	load := &nodeLoad{root: first.Root, nodes: []*Server{first, StartWith(t, url, config.Default(), source("old"), "")}}
	load.key = load.newKey(t, first, load.root)
	for range 3 {
		load.child(t, first)
	}
	var wait sync.WaitGroup
	for i := range 4 {
		wait.Go(func() { load.run(t, i) })
	}
	for _, step := range [][2]string{{source("new"), source("old")}, {source("new"), ""}} {
		for i := range load.nodes {
			load.work(t)
			load.restart(t, i, func() *Server { return StartWith(t, url, config.Default(), step[0], step[1]) })
			load.work(t)
		}
		if step[1] != "" { // as the page says: every server has said so
			for _, s := range load.nodes {
				testkit.Until(t, "all keys are under the new master key", func() bool {
					return strings.Contains(s.Log.String(), "all keys are under the new master key")
				})
			}
		}
	}
	load.work(t)
	load.done.Store(true)
	wait.Wait()
	if _, err := server.Rewrap(t.Context(), load.nodes[0].Store, load.nodes[0].Keys.Vault); err != nil {
		t.Error(err)
	}
	if left, err := load.nodes[0].Store.Rewrapping(t.Context(), "", 1); len(left) > 0 || err != nil {
		t.Errorf("something is still under the old key: %v, %v", left, err)
	}
	if _, err := open(t, url, source("old")); err == nil || !strings.Contains(err.Error(), "does not open this database") {
		t.Errorf("the old key: %v", err)
	}
}

// nodeLoad asks servers of one installation for all that needs a data key.
type nodeLoad struct {
	root *Caller
	key  string // of root, to sign with

	mu    sync.RWMutex // a server that is restarted is not asked meanwhile
	nodes []*Server
	some  sync.Mutex
	kids  []kid
	count atomic.Int64
	done  atomic.Bool
}

// kid is a further organization, with a key to sign with.
type kid struct {
	owner *Caller
	key   string
}

func (l *nodeLoad) newKey(t *testing.T, s *Server, c *Caller) string {
	t.Helper()
	return s.As(c).Submit(t, "create_private_keys", m{"privateKeys": []any{m{
		"privateKeyName": fmt.Sprint(rand.Int()), "curve": "CURVE_SECP256K1", "privateKeyTags": []any{}, "addressFormats": []any{},
	}}}).Get("result", "createPrivateKeysResultV2", "privateKeys", 0, "privateKeyId").Text()
}

// child creates an organization on a server.
func (l *nodeLoad) child(t *testing.T, s *Server) {
	t.Helper()
	owner := s.CreateOrganization(t, "further")
	key := l.newKey(t, s, owner)
	l.some.Lock()
	defer l.some.Unlock()
	l.kids = append(l.kids, kid{owner, key})
}

func (l *nodeLoad) sign(t *testing.T, s *Server, c *Caller, key string) {
	t.Helper()
	s.As(c).Submit(t, "sign_raw_payload", m{
		"signWith": key, "payload": fmt.Sprint(rand.Int()), "encoding": "PAYLOAD_ENCODING_TEXT_UTF8", "hashFunction": "HASH_FUNCTION_SHA256",
	})
}

func (l *nodeLoad) run(t *testing.T, n int) {
	for ; !l.done.Load() && !t.Failed(); n++ {
		l.request(t, n)
	}
}

func (l *nodeLoad) request(t *testing.T, n int) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	s := l.nodes[n%len(l.nodes)]
	if s == nil {
		return
	}
	l.some.Lock()
	one := l.kids[rand.N(len(l.kids))]
	l.some.Unlock()
	switch rand.N(10) {
	case 0:
		l.child(t, s)
	case 1, 2:
		l.newKey(t, s, one.owner)
	case 3, 4, 5:
		l.sign(t, s, l.root, l.key)
	default:
		l.sign(t, s, one.owner, one.key)
	}
	l.count.Add(1)
}

// work waits until the servers have done some.
func (l *nodeLoad) work(t *testing.T) {
	t.Helper()
	until := l.count.Load() + 40
	testkit.Until(t, "the servers work", func() bool { return l.count.Load() >= until || t.Failed() })
}

// restart stops a server, and starts it after a while in which the others work.
func (l *nodeLoad) restart(t *testing.T, i int, start func() *Server) {
	t.Helper()
	l.mu.Lock()
	old := l.nodes[i]
	l.nodes[i] = nil
	l.mu.Unlock()
	old.Stop(t)
	s := start()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.nodes[i] = s
}

// newMasterKey makes a master key, as an operator does.
func newMasterKey(t *testing.T, source string) {
	t.Helper()
	if err := unseal.Create(strings.TrimPrefix(source, "file:")); err != nil {
		t.Fatal(err)
	}
}

// open tries a master key on a store.
func open(t *testing.T, url, source string) (keys server.KeyServices, err error) {
	t.Helper()
	var s *store.Store
	if s, err = server.OpenStore(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	return server.OpenKeys(t.Context(), s, &config.Config{MasterKey: source}, slog.New(slog.DiscardHandler))
}

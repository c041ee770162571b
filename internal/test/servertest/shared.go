package servertest

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"

	"latchkey/internal/server/config"
	"latchkey/internal/test/pgtest"
)

// shared is what the tests of this process share. It is state of the
// process, not of the package: there is one test process to serve.
var shared sharedServers

// sharedServers is a server for each kind of store, made when it is first needed.
type sharedServers struct {
	mu       sync.Mutex
	open     bool
	servers  map[string]*Server
	database *pgtest.Server // nil: there is none yet, or one was running already
	ends     []func()       // in the order of what they end
	failed   bool
}

// Main runs the tests of a package in which a server is shared; for TestMain. A
// start costs more than most tests, and an organization is all that they need.
// A test that looks at more, or stops its server, starts one for itself, with
// [EachStore] and [Start].
func Main(m *testing.M) int {
	shared.open = true
	code := m.Run()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	for _, end := range slices.Backward(shared.ends) {
		end()
	}
	if shared.failed {
		code = max(code, 1)
	}
	return code
}

// Postgres is the URL of a fresh database, which is dropped when the test is
// over.
func Postgres(t testing.TB) string {
	t.Helper()
	if !shared.open || os.Getenv(pgtest.Env) != "" {
		return pgtest.URL(t)
	}
	shared.mu.Lock()
	defer shared.mu.Unlock()
	return shared.postgres(t).URL(t)
}

func (c *sharedServers) postgres(t testing.TB) *pgtest.Server {
	t.Helper()
	if c.database == nil {
		c.database = pgtest.Start(lasting{t, c})
	}
	return c.database
}

// visit gives a test an organization on the server for a kind of store; nil, if
// servers are not shared.
func (c *sharedServers) visit(t testing.TB, kind string) *Server {
	t.Helper()
	if !c.open {
		return nil
	}
	s := c.server(t, kind)
	s.Stop = func(t testing.TB) { t.Fatal("other tests use this server too") }
	s.earlier = map[string]bool{}
	s.Sent(t)
	entries, err := os.ReadDir(s.Outbox)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		s.earlier[e.Name()] = true
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("what the server complained about, in all tests so far:\n%s", s.Log.Complaints())
		}
	})
	s.Root = s.CreateOrganization(t, "Test organization")
	return &s
}

// server returns a copy of the server for a kind of store.
func (c *sharedServers) server(t testing.TB, kind string) Server {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.servers[kind]; s != nil {
		return *s
	}
	process := lasting{t, c}
	url := ""
	switch {
	case kind == "sqlite":
		url = SQLite(process)
	case os.Getenv(pgtest.Env) != "":
		url = pgtest.URL(process)
	default:
		url = c.postgres(t).URL(process)
	}
	if c.servers == nil {
		c.servers = map[string]*Server{}
	}
	c.servers[kind] = Start(process, url, config.Default())
	return *c.servers[kind]
}

// lasting is the test that first needs what outlives it: what ends with a test
// ends with the process.
type lasting struct {
	testing.TB
	shared *sharedServers // whose lock is held
}

func (l lasting) Cleanup(end func()) { l.shared.ends = append(l.shared.ends, end) }

func (l lasting) TempDir() string {
	l.Helper()
	dir, err := os.MkdirTemp("", "latchkey-servertest-")
	if err != nil {
		l.Fatal(err)
	}
	l.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// over reports whether the test has ended: its failures then belong to the
// process.
func (l lasting) over() bool { return l.Context().Err() != nil }

func (l lasting) Errorf(format string, args ...any) {
	if !l.over() {
		l.TB.Errorf(format, args...)
		return
	}
	l.shared.failed = true
	fmt.Fprintf(os.Stderr, format+"\n", args...)
}

func (l lasting) Fatalf(format string, args ...any) {
	if !l.over() {
		l.TB.Fatalf(format, args...)
	}
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(1)
}

func (l lasting) Fatal(args ...any) { l.Fatalf("%s", fmt.Sprint(args...)) }

func (l lasting) Logf(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

func (l lasting) Failed() bool { return l.shared.failed }

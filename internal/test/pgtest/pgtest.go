// Package pgtest gives tests a real PostgreSQL.
//
// With LATCHKEY_TEST_POSTGRES set to the URL of an administrator, databases are
// made on that server. Otherwise the test process starts one private cluster
// when it first needs it, in a temporary folder, on a free port of 127.0.0.1,
// and the cluster ends with the process, however that ends. A missing
// PostgreSQL fails the test: a skipped test proves nothing.
//
// A server that it starts itself flushes to the disk, as in production, so that
// tests of durability mean something; [Start] always makes such a one.
package pgtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"latchkey/internal/test/testkit"
)

// Env names the variable with the URL of a server that is already running.
const Env = "LATCHKEY_TEST_POSTGRES"

// shared is the process's private server, if it has one. This is state of the
// process, not of the package: there is one test process to serve.
var shared struct {
	sync.Mutex
	server *Server
}

// Main runs the tests and then stops the private server; for TestMain. Without
// it the server still ends with the process, but leaves its folder behind
// until the next run.
func Main(m *testing.M) int {
	defer func() {
		shared.Lock()
		defer shared.Unlock()
		if shared.server != nil {
			shared.server.stop()
			shared.server = nil
		}
	}()
	return m.Run()
}

// URL returns the URL of a fresh, empty database, which is dropped when the
// test is over.
func URL(t testing.TB) string {
	t.Helper()
	return database(t, admin(t))
}

// admin returns the URL of a server's administrator.
func admin(t testing.TB) string {
	t.Helper()
	if u := os.Getenv(Env); u != "" {
		return u
	}
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil {
		s, err := start()
		if err != nil {
			t.Fatalf("pgtest: %v", err)
		}
		shared.server = s
	}
	return shared.server.admin()
}

// database creates a database on the server of admin.
func database(t testing.TB, admin string) string {
	t.Helper()
	u, err := url.Parse(admin)
	if err != nil {
		t.Fatalf("pgtest: %s: %v", Env, err)
	}
	name := "latchkey_test_" + rand.Text()
	run(t, admin, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize())
	t.Cleanup(func() { run(t, admin, "DROP DATABASE IF EXISTS "+pgx.Identifier{name}.Sanitize()+" WITH (FORCE)") })
	u.Path = "/" + name
	return u.String()
}

// run runs a statement as administrator. Tests that crash the server may find
// it still starting, so connecting is tried for a while.
func run(t testing.TB, admin, sql string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience)
	defer cancel()
	conn, err := connect(ctx, admin)
	if err != nil {
		t.Fatalf("pgtest: connecting: %v", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	for {
		_, err := conn.Exec(ctx, sql)
		failed, ok := errors.AsType[*pgconn.PgError](err)
		// A connection that was closed is gone only when its process is, and
		// the server itself waits for that no longer than five seconds.
		if ok && failed.Code == objectInUse && ctx.Err() == nil {
			continue
		}
		if err != nil {
			t.Fatalf("pgtest: %s: %v", sql, err)
		}
		return
	}
}

// objectInUse is a code of PostgreSQL (appendix A of its manual).
const objectInUse = "55006"

// connect waits until the server answers.
func connect(ctx context.Context, url string) (*pgx.Conn, error) {
	for {
		conn, err := pgx.Connect(ctx, url)
		if err == nil {
			return conn, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", ctx.Err(), err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

package pgtest

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"

	"latchkey/internal/test/testkit"
)

// standbyName is what a standby calls itself unless told otherwise.
const standbyName = "walreceiver"

// StartPair starts a primary and a standby of it, for which every commit waits.
// Both are stopped when the test is over.
func StartPair(t testing.TB) (primary, standby *Server) {
	t.Helper()
	primary = Start(t)
	// Only when both have the setting it takes effect, so that both keep it.
	run(t, primary.admin(), "ALTER SYSTEM SET synchronous_standby_names = '"+standbyName+"'")
	standby, err := startFrom(func(s *Server) error { return s.copyOf(primary) }, nil)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(standby.stop)
	primary.awaitStandby(t)
	return primary, standby
}

// PairURL names both servers, in this order, and a database that both have. The
// options are name=value.
func PairURL(first, second *Server, options ...string) string {
	u := fmt.Sprintf("postgres://postgres@127.0.0.1:%d,127.0.0.1:%d/postgres?sslmode=disable", first.port, second.port)
	for _, option := range options {
		u += "&" + option
	}
	return u
}

// Admin is the URL of the server's administrator.
func (s *Server) Admin() string { return s.admin() }

// Follow makes a server that was killed a standby of another one. What it had is
// removed.
func (s *Server) Follow(t testing.TB, primary *Server) {
	t.Helper()
	if err := s.copyOf(primary); err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	s.Restart(t)
	primary.awaitStandby(t)
}

// Promote makes a standby a primary. Its commits wait for a standby of its own.
func (s *Server) Promote(t testing.TB) {
	t.Helper()
	run(t, s.admin(), "SELECT pg_promote()")
}

// WaitForNone lets the commits of a primary wait for no standby any more.
func (s *Server) WaitForNone(t testing.TB) {
	t.Helper()
	run(t, s.admin(), "ALTER SYSTEM SET synchronous_standby_names = ''")
	run(t, s.admin(), "SELECT pg_reload_conf()")
}

// copyOf fills the folder with a copy of another server that follows it.
func (s *Server) copyOf(primary *Server) error {
	if err := os.RemoveAll(s.data()); err != nil {
		return err
	}
	return s.program("pg_basebackup", "--pgdata", s.data(), "--host", "127.0.0.1", "--port", strconv.Itoa(primary.port),
		"--username", "postgres", "--write-recovery-conf", "--checkpoint", "fast", "--no-sync")
}

// awaitStandby returns when the commits of a primary wait for its standby.
func (s *Server) awaitStandby(t testing.TB) {
	t.Helper()
	run(t, s.admin(), "SELECT pg_reload_conf()")
	ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience)
	defer cancel()
	conn, err := connect(ctx, s.admin())
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	testkit.Until(t, "pgtest: the standby is synchronous", func() bool {
		var n int
		err := conn.QueryRow(ctx, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'").Scan(&n)
		return err == nil && n == 1
	})
}

package pgtest_test

import (
	"context"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"

	"latchkey/internal/test/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

func TestURL(t *testing.T) {
	a, b := pgtest.URL(t), pgtest.URL(t)
	if a == b {
		t.Fatal("the same database twice")
	}
	run(t, a, "CREATE TABLE t (x int)")
	run(t, b, "CREATE TABLE t (x int)")
}

func TestKillAndRestart(t *testing.T) {
	s := pgtest.Start(t)
	url := s.URL(t)
	run(t, url, "CREATE TABLE t (x int)")
	for range 2 {
		s.Kill(t)
		s.Restart(t)
		run(t, url, "INSERT INTO t VALUES (1)")
	}
}

func run(t *testing.T, url, sql string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, sql); err != nil {
		t.Fatal(err)
	}
}

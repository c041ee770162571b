package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"latchkey/bench/process"
	"latchkey/bench/workload"
	"latchkey/internal/test/pgtest"
)

func TestDatabase(t *testing.T) {
	ctx := context.Background()
	admin := pgtest.Start(t).URL(t)
	s, err := dialServer(ctx, admin)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	name, err := s.create(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(ctx, s.url(name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(ctx, "CREATE TABLE activities AS SELECT generate_series(1, 1000)"); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(ctx); err != nil {
		t.Fatal(err)
	}
	duplicate, err := s.create(ctx, name)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{name, duplicate} {
		n, err := s.count(ctx, name, counts[workload.Activities])
		if err != nil || n != 1000 {
			t.Errorf("%d rows, %v", n, err)
		}
		if size, err := s.size(ctx, name); err != nil || size < 100<<10 {
			t.Errorf("%d bytes, %v", size, err)
		}
	}
	if !s.local() || process.Read(s.processes()).Since(nil) <= 0 {
		t.Error("the server used no processor time")
	}
	for _, name := range []string{name, duplicate} {
		s.drop(name)
		if conn, err := pgx.Connect(ctx, s.url(name)); err == nil {
			_ = conn.Close(ctx)
			t.Error("the database is still there")
		}
	}

	// A server that does not flush is refused.
	conn, err = pgx.Connect(ctx, admin)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	for _, sql := range []string{"ALTER SYSTEM SET synchronous_commit = off", "SELECT pg_reload_conf()"} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	for begun := time.Now(); ; time.Sleep(time.Millisecond) { // until the server has read its settings
		s, err := dialServer(ctx, admin)
		if err != nil {
			if !strings.Contains(err.Error(), "synchronous_commit=off") {
				t.Error(err)
			}
			break
		}
		s.close()
		if time.Since(begun) > 2*time.Minute {
			t.Fatal("it passed")
		}
	}
}

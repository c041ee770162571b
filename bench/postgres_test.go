package main

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"latchkey/bench/process"
	"latchkey/internal/pgtest"
)

func TestDatabase(t *testing.T) {
	ctx := context.Background()
	admin := pgtest.Start(t).URL(t)
	d, err := openDatabase(ctx, admin)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(ctx, d.url)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if process.Total(d.processes()) <= 0 {
		t.Error("the server used no processor time")
	}
	d.drop()
	if conn, err := pgx.Connect(ctx, d.url); err == nil {
		_ = conn.Close(ctx)
		t.Error("the database is still there")
	}

	// A server that does not flush is refused.
	conn, err = pgx.Connect(ctx, admin)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	for _, sql := range []string{"ALTER SYSTEM SET synchronous_commit = off", "SELECT pg_reload_conf()", "SELECT pg_sleep(0.2)"} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := openDatabase(ctx, admin); err == nil || !strings.Contains(err.Error(), "synchronous_commit=off") {
		t.Errorf("got %v", err)
	}
}

package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// database is one on a PostgreSQL, made for a run.
type database struct {
	url   *url.URL
	name  string    // as it is written in SQL
	admin *pgx.Conn // to the server
}

// newDatabase makes a database as an administrator. It refuses a server that
// does not flush to the disk, whose figures would mean nothing.
func newDatabase(ctx context.Context, admin string) (_ *database, err error) {
	u, err := url.Parse(admin)
	if err != nil {
		return nil, errors.New("--postgres is not a URL") // which may have a password in it
	}
	conn, err := pgx.Connect(ctx, admin)
	if err != nil {
		return nil, fmt.Errorf("--postgres: %w", err)
	}
	defer func() {
		if err != nil {
			_ = conn.Close(ctx)
		}
	}()
	for _, setting := range []string{"fsync", "synchronous_commit", "full_page_writes"} {
		var value string
		if err := conn.QueryRow(ctx, "SHOW "+setting).Scan(&value); err != nil {
			return nil, fmt.Errorf("--postgres: %w", err)
		}
		if value != "on" {
			return nil, fmt.Errorf("the PostgreSQL of --postgres has %s=%s: it is not durable and cannot be compared", setting, value)
		}
	}
	u.Path = "/latchkey_bench_" + strings.ToLower(rand.Text())
	d := &database{url: u, name: pgx.Identifier{u.Path[1:]}.Sanitize(), admin: conn}
	_, err = conn.Exec(ctx, "CREATE DATABASE "+d.name)
	return d, err
}

// processes are those of the whole server: some of its work is done by ones
// that belong to no connection. There are none if it is on another machine.
func (d *database) processes() []int {
	if host := d.url.Hostname(); host != "127.0.0.1" && host != "localhost" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	rows, err := d.admin.Query(ctx, "SELECT pid FROM pg_stat_activity")
	if err != nil {
		return nil
	}
	pids, _ := pgx.CollectRows(rows, pgx.RowTo[int])
	return pids
}

func (d *database) drop() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	_, _ = d.admin.Exec(ctx, "DROP DATABASE IF EXISTS "+d.name+" WITH (FORCE)")
	_ = d.admin.Close(ctx)
}

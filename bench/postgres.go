package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// database is one that was made for the run.
type database struct {
	admin *pgx.Conn
	name  string
	url   string
}

// openDatabase makes a database. It refuses a server that does not flush to the
// disk, whose figures would mean nothing.
func openDatabase(ctx context.Context, admin string) (*database, error) {
	u, err := url.Parse(admin)
	if err != nil {
		return nil, fmt.Errorf("--postgres is not a URL") // which may have a password in it
	}
	conn, err := pgx.Connect(ctx, admin)
	if err != nil {
		return nil, err
	}
	d := &database{admin: conn, name: "latchkey_bench_" + strings.ToLower(rand.Text())}
	for _, setting := range []string{"fsync", "synchronous_commit", "full_page_writes"} {
		var value string
		if err = conn.QueryRow(ctx, "SHOW "+setting).Scan(&value); err == nil && value != "on" {
			err = fmt.Errorf("the PostgreSQL of --postgres has %s=%s: it is not durable and cannot be compared", setting, value)
		}
		if err != nil {
			_ = conn.Close(ctx)
			return nil, err
		}
	}
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{d.name}.Sanitize()); err != nil {
		_ = conn.Close(ctx)
		return nil, err
	}
	u.Path = "/" + d.name
	d.url = u.String()
	return d, nil
}

// processes are those of the whole server: some of its work is done by ones
// that belong to no connection.
func (d *database) processes() []int {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	rows, err := d.admin.Query(ctx, "SELECT pid FROM pg_stat_activity")
	if err != nil {
		return nil
	}
	pids, err := pgx.CollectRows(rows, pgx.RowTo[int])
	if err != nil {
		return nil
	}
	return pids
}

func (d *database) drop() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	_, _ = d.admin.Exec(ctx, "DROP DATABASE IF EXISTS "+pgx.Identifier{d.name}.Sanitize()+" WITH (FORCE)")
	_ = d.admin.Close(ctx)
}

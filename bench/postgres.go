package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// postgresServer is a PostgreSQL on which databases are made for a run.
type postgresServer struct {
	address *url.URL
	mu      sync.Mutex // a connection is for one at a time
	admin   *pgx.Conn
}

// dialServer connects as an administrator. It refuses a server that does not
// flush to the disk, whose figures would mean nothing.
func dialServer(ctx context.Context, admin string) (*postgresServer, error) {
	u, err := url.Parse(admin)
	if err != nil {
		return nil, errors.New("--postgres is not a URL") // which may have a password in it
	}
	conn, err := pgx.Connect(ctx, admin)
	if err != nil {
		return nil, err
	}
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
	return &postgresServer{address: u, admin: conn}, nil
}

// create makes a database, a copy of template if that is not empty, and returns
// its name.
func (s *postgresServer) create(ctx context.Context, template string) (string, error) {
	name := "latchkey_bench_" + strings.ToLower(rand.Text())
	text := "CREATE DATABASE " + pgx.Identifier{name}.Sanitize()
	if template != "" {
		text += " TEMPLATE " + pgx.Identifier{template}.Sanitize() + " STRATEGY file_copy"
	}
	return name, s.exec(ctx, text)
}

// exec runs a statement about a database as soon as nobody uses that any more.
// A connection that was closed is gone only when its process is, and the server
// itself waits no longer than five seconds.
func (s *postgresServer) exec(ctx context.Context, text string) error {
	const patience = 2 * time.Minute
	s.mu.Lock()
	defer s.mu.Unlock()
	for begun := time.Now(); ; {
		_, err := s.admin.Exec(ctx, text)
		failed, ok := errors.AsType[*pgconn.PgError](err)
		if !ok || failed.Code != objectInUse || time.Since(begun) > patience {
			return err
		}
	}
}

// objectInUse is a code of PostgreSQL (appendix A of its manual).
const objectInUse = "55006"

// url is the address of a database of the server.
func (s *postgresServer) url(name string) string {
	u := *s.address
	u.Path = "/" + name
	return u.String()
}

// local reports whether the server is on this machine, so that its processor
// time can be read.
func (s *postgresServer) local() bool {
	host := s.address.Hostname()
	return host == "127.0.0.1" || host == "localhost"
}

// processes are those of the whole server: some of its work is done by ones
// that belong to no connection.
func (s *postgresServer) processes() []int {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	rows, err := s.admin.Query(ctx, "SELECT pid FROM pg_stat_activity")
	if err != nil {
		return nil
	}
	pids, err := pgx.CollectRows(rows, pgx.RowTo[int])
	if err != nil {
		return nil
	}
	return pids
}

// count runs a statement in a database that returns one number.
func (s *postgresServer) count(ctx context.Context, name, text string) (n int, err error) {
	conn, err := pgx.Connect(ctx, s.url(name))
	if err != nil {
		return 0, err
	}
	err = conn.QueryRow(ctx, text).Scan(&n)
	return n, errors.Join(err, conn.Close(ctx))
}

// size is how many bytes a database has.
func (s *postgresServer) size(ctx context.Context, name string) (n int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err = s.admin.QueryRow(ctx, "SELECT pg_database_size($1)", name).Scan(&n)
	return n, err
}

func (s *postgresServer) drop(name string) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	_ = s.exec(ctx, "DROP DATABASE IF EXISTS "+pgx.Identifier{name}.Sanitize()+" WITH (FORCE)")
}

func (s *postgresServer) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.admin.Close(ctx)
}

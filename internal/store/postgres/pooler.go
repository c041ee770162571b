package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A pooler, such as PgBouncer, may stand between us and the server. One that hands
// sessions on between transactions keeps neither prepared statements nor settings of a
// session, and PgBouncer refuses most settings when a connection is made. So behind a
// pooler, whatever its mode, statements are sent without being prepared, and what must
// hold is set in each transaction that writes.
//
// It is recognized by what it cannot know: the number of the server's process is part of
// the key for cancel requests, which poolers make up themselves.

// sessionSettings are those that we give to a session of our own, or the URL does.
var sessionSettings = []string{"statement_timeout", "synchronous_commit"}

// behindPooler looks whether a pooler stands before the server.
func behindPooler(ctx context.Context, url string, timeout time.Duration) (bool, error) {
	c, err := pgxpool.ParseConfig(url)
	if err != nil {
		return false, err
	}
	if c.ConnConfig.ConnectTimeout == 0 {
		c.ConnConfig.ConnectTimeout = deadline(timeout)
	}
	if c.ConnConfig.RuntimeParams["application_name"] == "" {
		c.ConnConfig.RuntimeParams["application_name"] = applicationName
	}
	withoutSession(c.ConnConfig)
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for attempt := 0; ; attempt++ {
		conn, err := pgx.ConnectConfig(ctx, c.ConnConfig)
		if err != nil {
			if code(err) == tooManyConnections && pause(ctx, attempt) == nil {
				continue
			}
			return false, err
		}
		defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
		return pooled(ctx, conn)
	}
}

// pooled says that a connection ends at a pooler.
func pooled(ctx context.Context, conn *pgx.Conn) (bool, error) {
	row, err := one(ctx, conn.PgConn(), `SELECT pg_backend_pid()`)
	if err != nil {
		return false, err
	}
	return row[0] != fmt.Sprint(conn.PgConn().PID()), nil
}

// withoutSession lets connections need nothing that a pooler does not keep.
func withoutSession(c *pgx.ConnConfig) {
	for _, name := range sessionSettings {
		delete(c.RuntimeParams, name)
	}
	if c.DefaultQueryExecMode != pgx.QueryExecModeSimpleProtocol {
		c.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
}

// connectPlain makes one connection without settings, which works with a pooler and
// without. What must hold is set in its transactions. Of several hosts it is the primary
// that is asked: a standby may be behind, and ends what takes long.
func connectPlain(ctx context.Context, c *pgx.ConnConfig) (*pgx.Conn, error) {
	mode := c.DefaultQueryExecMode
	withoutSession(c)
	plain := c.DefaultQueryExecMode
	c.DefaultQueryExecMode = mode
	if len(hostsOf(&c.Config)) > 1 {
		c.ValidateConnect = readWrite
	}
	conn, err := pgx.ConnectConfig(ctx, c)
	if err != nil {
		return nil, err
	}
	yes, err := pooled(ctx, conn)
	if err == nil && !yes {
		return conn, nil
	}
	_ = conn.Close(context.WithoutCancel(ctx))
	if err != nil {
		return nil, err
	}
	c.DefaultQueryExecMode = plain
	return pgx.ConnectConfig(ctx, c)
}

// noTimeout is for a transaction that may take long.
const noTimeout = "SET LOCAL statement_timeout = 0"

// inTransaction puts before a statement what must hold in its transaction. It is for
// statements that are not sent by way of settingsSQL.
func (db *DB) inTransaction(sql string) string {
	if !db.pooled {
		return sql
	}
	return fmt.Sprintf(`SELECT set_config('synchronous_commit', '%s', true), set_config('statement_timeout', '%d', true); %s`,
		db.flush, db.timeout.Milliseconds(), sql)
}

// Pooled reports whether a pooler stands between this process and the server.
func (db *DB) Pooled() bool { return db.pooled }

package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"latchkey/internal/store"
)

// What is in doubt is not shown.
//
// A commit that waits for a synchronous standby is on the primary's disk, but
// no one else sees it before the standby has it. There are two ways in which it
// becomes visible earlier: the wait is cancelled, or the primary is restarted.
// docs/decisions/0023 argues why the following is enough.
//
// 1. No cancel request is ever sent. A commit whose answer does not come in time
// loses its connection; the server waits on, and shows it to no one.
//
// 2. A commit that comes back with a warning, or does not come back, ends all
// connections of this node; a restart ends those of every node.
//
// 3. A new connection is used only after a write of its own was replicated, and
// with it everything that was committed before.
//
// 4. A request that is found recorded is answered after another such write.

// barrierSQL is that write. Without synchronous standbys there is nothing to wait
// for, and nothing is written. All nodes write the same row: while one waits for
// the standby the others wait for its lock, which a time-out ends without a trace.
const barrierSQL = `UPDATE primary_server SET passed_at = now() WHERE current_setting('synchronous_standby_names') <> ''`

// undefinedTable: the database is not migrated yet.
const undefinedTable = "42P01"

// errNoCancel is what pgx gets when it wants to send a cancel request.
var errNoCancel = errors.New("a statement is not cancelled: that would end the wait for a synchronous standby")

// dialing marks the contexts in which connections are made. pgx asks for a
// cancellation over a connection of its own, which it makes in a context without
// the mark.
type dialing struct{}

func mayDial(ctx context.Context) context.Context { return context.WithValue(ctx, dialing{}, true) }

// neverCancel makes every cancel request of these connections fail.
func neverCancel(c *pgx.ConnConfig) {
	dial := c.DialFunc
	c.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		if ctx.Value(dialing{}) == nil {
			return nil, errNoCancel
		}
		return dial(ctx, network, address)
	}
}

// validate is asked before a new connection is used.
func (db *DB) validate(ctx context.Context, conn *pgconn.PgConn) error {
	// A standby could answer with an old version.
	if err := readWrite(ctx, conn); err != nil {
		return err
	}
	replicates, err := db.checkSession(ctx, conn)
	if err != nil {
		return err
	}
	if err := db.checkTimeline(ctx, conn); err != nil {
		return err
	}
	if err := db.checkDurability(ctx, conn, replicates); err != nil {
		return err
	}
	return db.write(ctx, conn, barrierSQL)
}

// causeFirst puts what the server said before what the driver tried: it tries a
// connection with TLS, then one without, and tells of both.
func causeFirst(err error) error {
	said, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return err
	}
	help := ""
	switch said.Code {
	case "28P01", "28000": // invalid_password, invalid_authorization_specification
		help = "; check user and password in store"
	case "3D000": // invalid_catalog_name
		help = "; create it first (CREATE DATABASE), or name another one in store"
	case "08P01": // protocol_violation
		if !strings.Contains(said.Message, "unsupported startup parameter") {
			return err
		}
		help = "; a pooler such as PgBouncer takes no such settings: leave it out of the URL, and set it for the role (ALTER ROLE … SET)"
	default:
		return err
	}
	return fmt.Errorf("%s%s: %w", said.Message, help, err)
}

// readWrite refuses a connection on which nothing can be written.
func readWrite(ctx context.Context, c *pgconn.PgConn) error {
	err := pgconn.ValidateConnectTargetSessionAttrsReadWrite(ctx, c)
	if err != nil && !c.IsClosed() && code(err) == "" { // it answered, and is not what was asked for
		return fmt.Errorf("%w: %w", store.ErrReadOnly, err)
	}
	return err
}

// named says which of the store's errors a failure to write is, if it is one.
func named(err error) error {
	switch code(err) {
	case "53100": // disk_full
		return fmt.Errorf("%w: %w", store.ErrDiskFull, err)
	case "25006": // read_only_sql_transaction
		return fmt.Errorf("%w: %w", store.ErrReadOnly, err)
	case "58030": // io_error
		return fmt.Errorf("%w: %w", store.ErrIO, err)
	}
	return err
}

// write runs a statement that writes the row of primary_server.
func (db *DB) write(ctx context.Context, conn *pgconn.PgConn, sql string) error {
	sql = db.inTransaction(sql)
	for attempt := 0; ; attempt++ {
		forgetWarning(conn)
		_, err := conn.Exec(ctx, sql).ReadAll()
		if code(err) == undefinedTable {
			return nil
		}
		if err == nil {
			err = warned(conn)
		}
		if err == nil {
			return nil
		}
		if attempt == maxRetries || !retryable(err) || pause(ctx, attempt) != nil {
			return fmt.Errorf("making certain of earlier commits: %w", err)
		}
	}
}

// inDoubt says that the server has warned of a commit: it has done it, but not
// all of what was asked for. Our statements give no other reason for a warning.
type inDoubt struct{ warning *pgconn.Notice }

func (e inDoubt) Error() string {
	return fmt.Sprintf("the server committed with a warning: %s (SQLSTATE %s)", e.warning.Message, e.warning.Code)
}

const warningKey = "warning"

// noteWarning remembers a warning until the statement's end.
func noteWarning(conn *pgconn.PgConn, n *pgconn.Notice) {
	if n.SeverityUnlocalized == "WARNING" {
		conn.CustomData()[warningKey] = n
	}
}

func forgetWarning(conn *pgconn.PgConn) { delete(conn.CustomData(), warningKey) }

// warned returns an error if the server gave a warning since the last
// forgetWarning.
func warned(conn *pgconn.PgConn) error {
	if n, ok := conn.CustomData()[warningKey].(*pgconn.Notice); ok {
		return inDoubt{n}
	}
	return nil
}

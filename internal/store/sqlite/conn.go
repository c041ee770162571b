package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"

	msqlite "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"latchkey/internal/store"
)

// conn is one connection to SQLite, used by one goroutine at a time.
//
// It is the driver's connection without database/sql around it: each goroutine
// that writes, reads or checkpoints owns its connection and its prepared
// statements anyway, and a pool with its own locks and argument conversion
// costs a third of a point read.
type conn struct {
	raw driver.Conn
}

// stmt is a prepared statement of one connection.
type stmt struct {
	raw  driver.Stmt
	args []driver.NamedValue // reused
}

// openConn opens path with pragmas that hold for this connection.
func openConn(ctx context.Context, path string, pragmas []string) (*conn, error) {
	q := url.Values{"_pragma": pragmas}
	dsn := "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode()
	connector, err := msqlite.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	raw, err := connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &conn{raw: raw}, nil
}

func (c *conn) close() error { return c.raw.Close() }

func (c *conn) prepare(sql string) (*stmt, error) {
	s, err := c.raw.Prepare(sql)
	if err != nil {
		return nil, fmt.Errorf("preparing %q: %w", sql, err)
	}
	return &stmt{raw: s}, nil
}

// exec runs SQL that is not worth preparing.
func (c *conn) exec(sql string, args ...any) error {
	x, ok := c.raw.(driver.ExecerContext)
	if !ok {
		return errors.New("sqlite: the driver cannot execute")
	}
	_, err := x.ExecContext(context.Background(), sql, numbered(nil, args))
	return err
}

// query runs SQL that is not worth preparing, see stmt.query.
func (c *conn) query(fn func(row []driver.Value) error, sql string, args ...any) error {
	s, err := c.prepare(sql)
	if err != nil {
		return err
	}
	err = s.query(fn, args...)
	return errors.Join(err, s.raw.Close())
}

// exec runs the statement and returns the number of rows it changed.
//
// No context: a write is never interrupted half-way, and for a read of
// microseconds the goroutine that would watch the context costs more than the
// read.
func (s *stmt) exec(args ...any) (int64, error) {
	x, ok := s.raw.(driver.StmtExecContext)
	if !ok {
		return 0, errors.New("sqlite: the driver cannot execute a statement")
	}
	s.args = numbered(s.args, args)
	res, err := x.ExecContext(context.Background(), s.args)
	clear(s.args) // do not keep bodies alive
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// query calls fn with each row; the slice, but not what is in it, is reused.
func (s *stmt) query(fn func(row []driver.Value) error, args ...any) (err error) {
	x, ok := s.raw.(driver.StmtQueryContext)
	if !ok {
		return errors.New("sqlite: the driver cannot query a statement")
	}
	s.args = numbered(s.args, args)
	rows, err := x.QueryContext(context.Background(), s.args)
	clear(s.args)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row := make([]driver.Value, len(rows.Columns()))
	for {
		switch err := rows.Next(row); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := fn(row); err != nil {
			return err
		}
	}
}

// named says which of the store's errors a failure to write is, if it is one.
func named(err error) error {
	var failed *msqlite.Error
	if !errors.As(err, &failed) {
		return err
	}
	var cause error
	switch failed.Code() & 0xff { // the primary code
	case sqlite3.SQLITE_FULL:
		cause = store.ErrDiskFull
	case sqlite3.SQLITE_READONLY:
		cause = store.ErrReadOnly
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN:
		cause = store.ErrIO
	default:
		return err
	}
	return fmt.Errorf("%w: %w", cause, err)
}

// numbered numbers the arguments, into buf if it is large enough.
func numbered(buf []driver.NamedValue, args []any) []driver.NamedValue {
	buf = buf[:0]
	for i, a := range args {
		buf = append(buf, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	return buf
}

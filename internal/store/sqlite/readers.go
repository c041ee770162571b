package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"
)

const (
	selectVersion = `SELECT version FROM organizations WHERE org = ?`

	activityColumns = `id, timestamp_ms, fingerprint, type, status, body`
)

// reader is one connection that only reads, with its statements.
type reader struct {
	conn *conn

	versionOf *stmt
	get       *stmt
	activity  *stmt
	recorded  *stmt
	schema    *stmt
	types     *stmt
	row       *stmt
	begin     *stmt
	end       *stmt
	// others are statements that were worth keeping, by their text.
	others map[string]*stmt
}

// maxOthers bounds the statements that a reader keeps. Lists of activities have
// many forms, scans have four.
const maxOthers = 32

// prepared returns a statement, and whether the reader keeps it.
func (r *reader) prepared(sql string) (s *stmt, kept bool, err error) {
	if s := r.others[sql]; s != nil {
		return s, true, nil
	}
	if s, err = r.conn.prepare(sql); err != nil || len(r.others) >= maxOthers {
		return s, false, err
	}
	r.others[sql] = s
	return s, true, nil
}

func openReader(ctx context.Context, path string) (*reader, error) {
	c, err := openConn(ctx, path, pragmas("cache_size(-8192)", "query_only(1)"))
	if err != nil {
		return nil, err
	}
	r := &reader{conn: c, others: map[string]*stmt{}}
	for _, p := range []struct {
		to  **stmt
		sql string
	}{
		{&r.versionOf, selectVersion},
		{&r.get, `SELECT body FROM items WHERE org = ? AND kind = ? AND id = ?`},
		{&r.activity, `SELECT ` + activityColumns + ` FROM activities WHERE org = ? AND id = ?`},
		{&r.recorded, `SELECT ` + activityColumns + ` FROM activities
			WHERE org = ? AND timestamp_ms = ? AND fingerprint = ?`},
		{&r.schema, `SELECT max(version) FROM migrations`},
		{&r.types, presentTypes},
		{&r.row, `SELECT ` + activityColumns + ` FROM activities WHERE rowid = ?`},
		{&r.begin, `BEGIN`},
		{&r.end, `COMMIT`},
	} {
		if *p.to, err = c.prepare(p.sql); err != nil {
			return nil, errors.Join(err, r.close())
		}
	}
	return r, nil
}

func (r *reader) close() error {
	for _, s := range []*stmt{r.versionOf, r.get, r.activity, r.recorded, r.schema, r.types, r.row, r.begin, r.end} {
		if s != nil {
			_ = s.raw.Close()
		}
	}
	for _, s := range r.others {
		_ = s.raw.Close()
	}
	return r.conn.close()
}

func (r *reader) version(org string) (int64, error) {
	var v int64
	err := r.versionOf.query(func(row []driver.Value) error {
		v, _ = row[0].(int64)
		return nil
	}, org)
	if err != nil {
		return 0, fmt.Errorf("reading the version: %w", err)
	}
	return v, nil
}

// readers lends each reader to one goroutine at a time.
type readers struct {
	free   chan *reader
	n      int
	closed chan struct{}
	once   sync.Once
}

func openReaders(ctx context.Context, path string, n int) (*readers, error) {
	p := &readers{free: make(chan *reader, n), closed: make(chan struct{})}
	for range n {
		r, err := openReader(ctx, path)
		if err != nil {
			return nil, errors.Join(err, p.close())
		}
		p.n++
		p.free <- r
	}
	return p, nil
}

// do runs fn with a reader of its own.
func (p *readers) do(ctx context.Context, fn func(*reader) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if p.isClosed() {
		return ErrClosed
	}
	var r *reader
	select {
	case r = <-p.free:
	case <-p.closed:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { p.free <- r }()
	return fn(r)
}

func (p *readers) isClosed() bool {
	select {
	case <-p.closed:
		return true
	default:
		return false
	}
}

// close waits for the readers that are lent.
func (p *readers) close() (err error) {
	p.once.Do(func() {
		close(p.closed)
		for range p.n {
			err = errors.Join(err, (<-p.free).close())
		}
	})
	return err
}

package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"sync"

	"latchkey/internal/store"
)

const (
	selectVersion = `SELECT version FROM organizations WHERE org = ?`

	activityColumns = `id, timestamp_ms, fingerprint, type, status, body`
)

// reader is one connection that only reads, with its statements.
type reader struct {
	path string
	conn *conn // nil: it is opened when the reader is next lent

	versionOf *stmt
	get       *stmt
	activity  *stmt
	recorded  *stmt
	schema    *stmt
	types     *stmt
	byRowID   *stmt
	begin     *stmt
	rollback  *stmt
	// cached are further statements, by their text.
	cached map[string]*stmt
}

// maxCached bounds the further statements that a reader keeps. Lists of
// activities have many forms, scans have three.
const maxCached = 32

// prepared returns a statement, and whether the reader keeps it.
func (r *reader) prepared(sql string) (s *stmt, kept bool, err error) {
	if s := r.cached[sql]; s != nil {
		return s, true, nil
	}
	if s, err = r.conn.prepare(sql); err != nil || len(r.cached) >= maxCached {
		return s, false, err
	}
	r.cached[sql] = s
	return s, true, nil
}

func (r *reader) open(ctx context.Context) error {
	c, err := openConn(ctx, r.path, pragmas("cache_size(-8192)", "query_only(1)"))
	if err != nil {
		return err
	}
	r.conn, r.cached = c, map[string]*stmt{}
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
		{&r.byRowID, `SELECT ` + activityColumns + ` FROM activities WHERE rowid = ?`},
		{&r.begin, `BEGIN`},
		{&r.rollback, `ROLLBACK`},
	} {
		if *p.to, err = c.prepare(p.sql); err != nil {
			return errors.Join(err, r.close())
		}
	}
	return nil
}

// close closes the connection, and with it a transaction that is open.
func (r *reader) close() error {
	if r.conn == nil {
		return nil
	}
	for _, s := range []*stmt{r.versionOf, r.get, r.activity, r.recorded, r.schema, r.types, r.byRowID, r.begin, r.rollback} {
		if s != nil {
			_ = s.raw.Close()
		}
	}
	for _, s := range r.cached {
		_ = s.raw.Close()
	}
	err := r.conn.close()
	*r = reader{path: r.path}
	return err
}

// inTransaction lets fn see one state of the database. A transaction that
// cannot be ended is not kept: the reader could not begin another, and would
// show an old state to every read after this one.
func (r *reader) inTransaction(fn func() error) error {
	if _, err := r.begin.exec(); err != nil {
		return err
	}
	defer func() {
		if _, err := r.rollback.exec(); err != nil {
			_ = r.close() // what fn has read is sound all the same
		}
	}()
	return fn()
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

// readers lends each [reader] to one goroutine at a time, and first the one that came
// back last: as long as nothing is committed it still has the pages that it read.
type readers struct {
	turns  chan struct{} // one for each that is free
	mu     sync.Mutex
	free   []*reader
	n      int
	waits  store.Waiting
	closed chan struct{}
	once   sync.Once
}

func openReaders(ctx context.Context, path string, n int) (*readers, error) {
	p := &readers{turns: make(chan struct{}, n), closed: make(chan struct{})}
	for range n {
		r := &reader{path: path}
		if err := r.open(ctx); err != nil {
			return nil, errors.Join(err, p.close())
		}
		p.n++
		p.giveBack(r)
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
	r, err := p.borrow(ctx)
	if err != nil {
		return err
	}
	defer p.giveBack(r)
	if r.conn == nil {
		if err := r.open(ctx); err != nil {
			return fmt.Errorf("opening the database again: %w", err)
		}
	}
	return fn(r)
}

// borrow waits for a reader that is free.
func (p *readers) borrow(ctx context.Context) (*reader, error) {
	select {
	case <-p.turns:
		return p.take(), nil
	default:
	}
	defer p.waits.Begin()()
	select {
	case <-p.turns:
		return p.take(), nil
	case <-p.closed:
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *readers) take() *reader {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.free) - 1
	r := p.free[last]
	p.free = p.free[:last]
	return r
}

// giveBack ends a loan. One that has no connection, and may not get one, is lent when no
// other is left.
func (p *readers) giveBack(r *reader) {
	p.mu.Lock()
	if r.conn == nil {
		p.free = slices.Insert(p.free, 0, r)
	} else {
		p.free = append(p.free, r)
	}
	p.mu.Unlock()
	p.turns <- struct{}{}
}

// Pool says how many of the connections that read are lent. The one that writes is not
// among them.
func (db *DB) Pool() store.Pool {
	p := db.readers
	idle := len(p.turns)
	pool := store.Pool{Used: p.n - idle, Idle: idle, Most: p.n}
	pool.Waits, pool.Waited = p.waits.Total()
	return pool
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
			<-p.turns
			err = errors.Join(err, p.take().close())
		}
	})
	return err
}

package sqlite

import (
	"context"
	"fmt"
	"sync"

	"latchkey/internal/store"
	"latchkey/internal/store/group"
	"latchkey/internal/store/migration"
)

// writer is the one goroutine that writes, and [DB.ReplaceBodies] in turns with
// it.
type writer struct {
	mu       sync.Mutex // held for a transaction
	path     string
	queue    *group.Queue
	versions *versions
	wal      *wal

	conn  *conn
	stmts statements
	// position is that of the newest entry of the log; 0: it is not known.
	position int64
}

// statements are those of the writer, prepared once.
type statements struct {
	begin, commit, rollback *stmt

	version  *stmt // of an organization
	create   *stmt // an organization
	raise    *stmt // its version
	activity *stmt
	replace  *stmt
	has      *stmt // an item
	same     *stmt // an item with this body
	put      *stmt
	del      *stmt
	newest   *stmt // position in the log
	entry    *stmt

	itemBody, activityBody *stmt // see replaceBodies
}

func newWriter(ctx context.Context, path string, q *group.Queue, v *versions) (*writer, error) {
	w := &writer{path: path, queue: q, versions: v, wal: &wal{}}
	return w, w.connect(ctx)
}

// connect opens the connection; the statements follow once there is a schema.
func (w *writer) connect(ctx context.Context) (err error) {
	w.conn, err = openConn(ctx, w.path, pragmas("cache_size(-8192)"))
	return err
}

func (w *writer) migrate(steps []migration.Step) error {
	if err := migrate(w.conn, steps); err != nil {
		return err
	}
	return w.prepare()
}

func (w *writer) prepare() error {
	s := &w.stmts
	for _, p := range []struct {
		to  **stmt
		sql string
	}{
		{&s.begin, `BEGIN IMMEDIATE`},
		{&s.commit, `COMMIT`},
		{&s.rollback, `ROLLBACK`},
		{&s.version, selectVersion},
		{&s.create, `INSERT INTO organizations (org, version) VALUES (?, 1) ON CONFLICT DO NOTHING`},
		{&s.raise, `UPDATE organizations SET version = version + 1 WHERE org = ? AND version = ?`},
		{&s.activity, `INSERT INTO activities (org, id, timestamp_ms, fingerprint, type, status, body)
			VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`},
		{&s.replace, `UPDATE activities SET status = ?, body = ? WHERE org = ? AND id = ?`},
		{&s.has, `SELECT 1 FROM items WHERE org = ? AND kind = ? AND id = ?`},
		{&s.same, `SELECT 1 FROM items WHERE org = ? AND kind = ? AND id = ? AND body = ?`},
		{&s.put, `INSERT INTO items (org, kind, id, body) VALUES (?, ?, ?, ?)
			ON CONFLICT (org, kind, id) DO UPDATE SET body = excluded.body`},
		{&s.del, `DELETE FROM items WHERE org = ? AND kind = ? AND id = ?`},
		{&s.newest, `SELECT coalesce(max(position), 0) FROM log_entries`},
		{&s.entry, `INSERT INTO log_entries (position, org, activity, body) VALUES (?, ?, ?, ?)`},
		{&s.itemBody, `UPDATE items SET body = ? WHERE org = ? AND kind = ? AND id = ?`},
		{&s.activityBody, `UPDATE activities SET body = ? WHERE org = ? AND id = ?`},
	} {
		var err error
		if *p.to, err = w.conn.prepare(p.sql); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) close() error {
	if w.conn == nil {
		return nil
	}
	// Closing the connection needs its statements gone.
	s := &w.stmts
	for _, st := range []*stmt{s.begin, s.commit, s.rollback, s.version, s.create, s.raise, s.activity, s.replace, s.has, s.same, s.put, s.del, s.newest, s.entry, s.itemBody, s.activityBody} {
		if st != nil {
			_ = st.raw.Close()
		}
	}
	w.stmts = statements{}
	err := w.conn.close()
	w.conn = nil
	return err
}

// run writes until the queue is closed and empty.
func (w *writer) run() {
	w.queue.Run(group.Writer{
		Transact:    func(_ context.Context, commits []*store.Commit) ([]error, error) { return w.transact(commits) },
		BeforeReply: w.wrote,
		AfterReply:  w.restart,
	})
}

func (w *writer) wrote(commits []*store.Commit) {
	w.mu.Lock()
	defer w.mu.Unlock()
	bytes := 0
	for _, c := range commits {
		bytes += c.Size()
	}
	w.wal.wrote(len(commits), bytes)
}

func (w *writer) restart() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wal.restart(w.conn)
}

// transact returns the refusals of the commits, or the error with which
// SQLite failed; then none of them happened as far as this process can see.
func (w *writer) transact(commits []*store.Commit) (refusals []error, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.conn == nil { // lost, see recover
		if err := w.reconnect(); err != nil {
			return nil, fmt.Errorf("opening the database again: %w", named(err))
		}
	}
	defer func() {
		if err != nil {
			err = named(err)
			w.recover()
		}
	}()
	t := &tx{writer: w, raised: map[string]int64{}}
	refusals = make([]error, len(commits))
	if len(commits) == 1 && commits[0].Appends() && len(commits[0].Entries) == 0 {
		// One statement is a transaction by itself: a single client need not
		// wait for two more.
		refusals[0], err = t.apply(commits[0])
		return refusals, err
	}
	if _, err := w.stmts.begin.exec(); err != nil {
		return nil, fmt.Errorf("beginning: %w", err)
	}
	for i, c := range commits {
		if refusals[i], err = t.apply(c); err != nil {
			return nil, err
		}
	}
	w.versions.flushing(t.raised)
	if _, err := w.stmts.commit.exec(); err != nil {
		return nil, fmt.Errorf("committing: %w", err)
	}
	w.versions.flushed()
	return refusals, nil
}

// recover makes sure that the next transaction can begin. If the transaction
// cannot be rolled back, the connection is replaced.
func (w *writer) recover() {
	w.position = 0
	defer w.versions.forget()
	if w.conn == nil {
		return
	}
	if _, err := w.stmts.rollback.exec(); err == nil {
		return
	}
	_ = w.close()
	_ = w.reconnect() // if it fails, the next transaction tries again
}

func (w *writer) reconnect() error {
	err := w.connect(context.Background())
	if err == nil {
		err = w.prepare()
	}
	if err != nil {
		_ = w.close()
	}
	return err
}

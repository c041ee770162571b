// Package sqlite is the embedded store: one file, one process, one writer.
//
// Commits that arrive together share one transaction and one flush (WAL,
// synchronous=FULL). A commit is refused by a check (the version is in memory, a
// duplicate changes no row), never by an SQL error, so it cannot roll back the
// others of its group; if SQLite does fail, each commit of the group is tried
// alone.
//
// Invariants: a lock file makes this process the only one on the database;
// only the writer goroutine writes; a commit is acknowledged after COMMIT
// returned and after its version is known to [DB.Version]; a caller that finds
// the same version before and after some reads has read one state.
package sqlite

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"latchkey/internal/store"
	"latchkey/internal/store/group"
	"latchkey/internal/store/migration"
)

var _ store.Driver = (*DB)(nil)

// ErrClosed is returned by everything that is called after [DB.Close].
var ErrClosed = group.ErrClosed

// Config tunes the database. The zero value is usable.
type Config struct {
	Readers int           // connections that read at the same time; 0: 4
	Linger  time.Duration // longest wait for more commits before a flush; 0: 1 ms; negative: none
}

// Pragmas of every connection. The WAL is never checkpointed by a commit that
// happens to fill it: see checkpoint.go.
func pragmas(more ...string) []string {
	return append([]string{
		"busy_timeout(5000)",
		"journal_mode(WAL)",
		"synchronous(FULL)",
		"wal_autocheckpoint(0)",
		"temp_store(MEMORY)",
	}, more...)
}

// DB is an open database.
type DB struct {
	queue    *group.Queue
	versions *versions
	writer   *writer
	readers  *readers
	schema   int64

	lock      *lock
	stop      chan struct{} // ends the checkpointer
	wg        sync.WaitGroup
	closeOnce sync.Once
	closeErr  error
}

// Open opens the database at path, creating it if need be, and brings its
// schema up to date. It returns [ErrInUse] if another process has it open.
func Open(ctx context.Context, path string, cfg Config) (*DB, error) {
	db, err := open(ctx, path, cfg)
	if err != nil {
		return nil, fmt.Errorf("opening the database %s: %w", path, err)
	}
	return db, nil
}

func open(ctx context.Context, path string, cfg Config) (_ *DB, err error) {
	if cfg.Readers <= 0 {
		cfg.Readers = 4
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	// undo holds what to release, newest last, should a later step fail.
	var undo []func() error
	defer func() {
		if err == nil {
			return
		}
		for i := len(undo) - 1; i >= 0; i-- {
			_ = undo[i]()
		}
	}()
	db := &DB{
		versions: newVersions(versionsPerGeneration),
		queue:    group.New(group.Config{Linger: cfg.Linger}),
		stop:     make(chan struct{}),
	}
	if err := checkDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	if db.lock, err = lockFile(path + ".lock"); err != nil {
		return nil, err
	}
	undo = append(undo, db.lock.Close)
	if err := createFile(path); err != nil {
		return nil, err
	}
	if db.writer, err = newWriter(ctx, path, db.queue, db.versions); err != nil {
		return nil, err
	}
	undo = append(undo, db.writer.close)
	steps, err := migration.Load(migrations)
	if err != nil {
		return nil, err
	}
	db.schema = int64(len(steps))
	if unfinished, err := isUnfinished(db.writer.conn); err != nil || unfinished {
		return nil, cmp.Or(err, store.ErrUnfinished)
	}
	if err := db.writer.migrate(steps); err != nil {
		return nil, err
	}
	checkpoints, err := openConn(ctx, path, pragmas("cache_size(-1024)"))
	if err != nil {
		return nil, err
	}
	undo = append(undo, checkpoints.close)
	if db.readers, err = openReaders(ctx, path, cfg.Readers); err != nil {
		return nil, err
	}
	db.wg.Go(db.writer.run)
	db.wg.Go(func() { db.writer.wal.run(checkpoints, db.stop) })
	return db, nil
}

// Commit implements [store.Driver]. The commit must not be changed after the
// call, not even when ctx ended it.
func (db *DB) Commit(ctx context.Context, c *store.Commit) error {
	return db.queue.Do(ctx, c)
}

// Now implements [store.Driver]: the database has no other clock than its process.
func (db *DB) Now(context.Context) (time.Time, error) { return time.Now(), nil }

// Version implements [store.Driver].
func (db *DB) Version(ctx context.Context, org string) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if db.readers.isClosed() {
		return 0, ErrClosed
	}
	version, ok, epoch := db.versions.get(org)
	if ok {
		return version, nil
	}
	err := db.readers.do(ctx, func(r *reader) (err error) {
		version, err = r.version(org)
		return err
	})
	if err != nil {
		return 0, err
	}
	db.versions.learn(org, version, epoch)
	return version, nil
}

// Remote implements [store.Driver].
func (db *DB) Remote() bool { return false }

// Versions implements [store.Driver]: mostly all are in memory.
func (db *DB) Versions(ctx context.Context, orgs []string) (map[string]int64, error) {
	versions := make(map[string]int64, len(orgs))
	for _, org := range orgs {
		version, err := db.Version(ctx, org)
		if err != nil {
			return nil, err
		}
		if version > 0 {
			versions[org] = version
		}
	}
	return versions, nil
}

// Ready implements [store.Driver].
func (db *DB) Ready(ctx context.Context) error {
	var at int64
	err := db.readers.do(ctx, func(r *reader) error {
		return r.schema.query(func(row []driver.Value) error {
			at, _ = row[0].(int64)
			return nil
		})
	})
	if err != nil {
		return fmt.Errorf("the database does not answer: %w", err)
	}
	if at < db.schema {
		return fmt.Errorf("the database has schema %d, not %d", at, db.schema)
	}
	return nil
}

// Close implements [store.Driver]. Closing the last connection moves what is
// left in the WAL into the database.
func (db *DB) Close() error {
	db.closeOnce.Do(func() {
		db.queue.Close()
		close(db.stop)
		db.wg.Wait()
		db.closeErr = errors.Join(db.readers.close(), db.writer.close(), db.lock.Close())
	})
	return db.closeErr
}

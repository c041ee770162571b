package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"

	"latchkey/internal/store"
	"latchkey/internal/store/migration"
)

var _ store.Loader = (*Loader)(nil)

// Loader is a [store.Loader] of a database, which it holds alone.
type Loader struct {
	path                                    string
	lock                                    *lock
	conn                                    *conn
	organization, item, activity, entry, up *stmt
}

// OpenLoader opens the database at path, and makes it if need be.
func OpenLoader(ctx context.Context, path string) (*Loader, error) {
	l, err := openLoader(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("opening the database %s: %w", path, named(err))
	}
	return l, nil
}

func openLoader(ctx context.Context, path string) (_ *Loader, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	if err := checkDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	l := &Loader{path: path}
	if l.lock, err = lockFile(path + ".lock"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Close())
		}
	}()
	if err := createFile(path); err != nil {
		return nil, err
	}
	if l.conn, err = openConn(ctx, path, []string{"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "temp_store(MEMORY)"}); err != nil {
		return nil, err
	}
	steps, err := migration.Load(migrations)
	if err != nil {
		return nil, err
	}
	return l, migrate(l.conn, steps)
}

// Begun implements [store.Loader].
func (l *Loader) Begun(context.Context) (what string, done store.LoadCounts, err error) {
	if unfinished, err := isUnfinished(l.conn); err != nil || !unfinished {
		return "", done, err
	}
	err = l.conn.query(func(row []driver.Value) error {
		what, _ = row[0].(string)
		for i, to := range []*int64{&done.Organizations, &done.Items, &done.Activities, &done.Entries} {
			*to, _ = row[1+i].(int64)
		}
		return nil
	}, `SELECT what, organizations, items, activities, log_entries FROM `+store.LoadTable)
	return what, done, err
}

// isUnfinished reports whether something is being loaded.
func isUnfinished(c *conn) (unfinished bool, err error) {
	err = c.query(func([]driver.Value) error {
		unfinished = true
		return nil
	}, `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?`, store.LoadTable)
	return unfinished, err
}

// Begin implements [store.Loader].
func (l *Loader) Begin(_ context.Context, what string) error {
	return l.transact(func() error {
		some := false
		err := l.conn.query(func([]driver.Value) error {
			some = true
			return nil
		}, `SELECT 1 WHERE EXISTS (SELECT 1 FROM organizations) OR EXISTS (SELECT 1 FROM items)
			OR EXISTS (SELECT 1 FROM activities) OR EXISTS (SELECT 1 FROM log_entries)`)
		if err != nil {
			return err
		}
		if some {
			return store.ErrNotEmpty
		}
		err = l.conn.exec(`CREATE TABLE ` + store.LoadTable + ` (id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1), what TEXT NOT NULL,
			organizations INTEGER NOT NULL, items INTEGER NOT NULL, activities INTEGER NOT NULL, log_entries INTEGER NOT NULL)`)
		if err != nil {
			return err
		}
		return l.conn.exec(`INSERT INTO `+store.LoadTable+` VALUES (1, ?, 0, 0, 0, 0)`, what)
	})
}

// Discard implements [store.Loader].
func (l *Loader) Discard(context.Context) error {
	return l.transact(func() error {
		for _, sql := range []string{
			`DELETE FROM organizations`, `DELETE FROM items`, `DELETE FROM activities`, `DELETE FROM log_entries`, `DROP TABLE ` + store.LoadTable,
		} {
			if err := l.closeStatements(); err != nil { // one that is prepared keeps the table
				return err
			}
			if err := l.conn.exec(sql); err != nil {
				return err
			}
		}
		return nil
	})
}

// Load implements [store.Loader].
func (l *Loader) Load(_ context.Context, rows *store.LoadRows) error {
	if l.up == nil {
		if err := l.prepare(); err != nil {
			return err
		}
	}
	return l.transact(func() error {
		for _, r := range rows.Organizations {
			if _, err := l.organization.exec(r.Org, r.Version); err != nil {
				return err
			}
		}
		for _, r := range rows.Items {
			if _, err := l.item.exec(r.Org, r.Kind, r.ID, r.Body); err != nil {
				return err
			}
		}
		for _, r := range rows.Activities {
			if _, err := l.activity.exec(r.Org, r.ID, r.TimestampMs, r.Fingerprint[:], r.Type, r.Status, r.Body); err != nil {
				return err
			}
		}
		for _, r := range rows.Entries {
			if _, err := l.entry.exec(r.Position, r.Org, r.Activity, r.Body); err != nil {
				return err
			}
		}
		n := rows.Counts()
		_, err := l.up.exec(n.Organizations, n.Items, n.Activities, n.Entries)
		return err
	})
}

func (l *Loader) prepare() (err error) {
	for _, p := range []struct {
		to  **stmt
		sql string
	}{
		{&l.organization, `INSERT INTO organizations (org, version) VALUES (?, ?)`},
		{&l.item, `INSERT INTO items (org, kind, id, body) VALUES (?, ?, ?, ?)`},
		{&l.activity, `INSERT INTO activities (org, ` + activityColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?)`},
		{&l.entry, `INSERT INTO log_entries (position, org, activity, body) VALUES (?, ?, ?, ?)`},
		{&l.up, `UPDATE ` + store.LoadTable + ` SET organizations = organizations + ?, items = items + ?, activities = activities + ?, log_entries = log_entries + ?`},
	} {
		if *p.to, err = l.conn.prepare(p.sql); err != nil {
			return err
		}
	}
	return nil
}

// Image implements [store.Loader].
func (l *Loader) Image(ctx context.Context) (store.Image, error) {
	return openImage(ctx, l.path, imageOptions{loading: true})
}

// End implements [store.Loader].
func (l *Loader) End(context.Context) error {
	if err := l.closeStatements(); err != nil {
		return err
	}
	return l.transact(func() error { return l.conn.exec(`DROP TABLE ` + store.LoadTable) })
}

func (l *Loader) transact(fn func() error) error {
	if err := l.conn.exec(`BEGIN IMMEDIATE`); err != nil {
		return named(err)
	}
	err := fn()
	if err == nil {
		err = l.conn.exec(`COMMIT`)
	}
	if err != nil {
		_ = l.conn.exec(`ROLLBACK`) // SQLite may have done so
		return named(err)
	}
	return nil
}

func (l *Loader) closeStatements() (err error) {
	for _, s := range []**stmt{&l.organization, &l.item, &l.activity, &l.entry, &l.up} {
		if *s != nil {
			err = errors.Join(err, (*s).raw.Close())
			*s = nil
		}
	}
	return err
}

// Close implements [store.Loader].
func (l *Loader) Close() error {
	err := l.closeStatements()
	if l.conn != nil {
		err = errors.Join(err, l.conn.close())
	}
	return errors.Join(err, l.lock.Close())
}

// Stopped is an [Image] of a database that no server uses, nor can until it is closed.
type Stopped struct {
	*Image
	lock *lock
}

// OpenStopped opens the database at path. It returns [ErrInUse] if a process has it.
func OpenStopped(ctx context.Context, path string) (_ *Stopped, err error) {
	if err := looksLikeDatabase(path); err != nil {
		return nil, err
	}
	lock, err := lockFile(path + ".lock")
	if err != nil {
		return nil, fmt.Errorf("opening the database %s: %w", path, err)
	}
	image, err := OpenImage(ctx, path)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return &Stopped{image, lock}, nil
}

// Close implements [store.Image].
func (s *Stopped) Close() error { return errors.Join(s.Image.Close(), s.lock.Close()) }

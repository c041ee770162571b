package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"

	"latchkey/internal/store"
)

var _ store.Image = (*Image)(nil)

// Image is a [store.Image] of a database, or of a backup.
type Image struct {
	conn                                   *conn
	get, version, find, entryAt, entriesOf *stmt
}

// OpenImage opens the database at path as it is now, while a server runs on it or
// not. It takes no lock that a server would miss; what is committed in the
// meantime stays in the WAL until the image is closed. A database that is not as
// our migrations make it is refused.
func OpenImage(ctx context.Context, path string) (*Image, error) {
	return openImage(ctx, path, imageOptions{})
}

// Peek is [OpenImage] that leaves nothing behind: a database of which no process has
// the shared memory of its WAL is read as a file that does not change. If a server is
// started meanwhile, what is read may not be of one moment.
func Peek(ctx context.Context, path string) (*Image, error) {
	if _, err := os.Stat(path + "-shm"); err == nil {
		return OpenImage(ctx, path)
	}
	if wal, err := os.Stat(path + "-wal"); err == nil && wal.Size() > 0 {
		return nil, fmt.Errorf("%s-wal holds what is not in %s yet, and cannot be read without a change: start the server first", path, path)
	}
	return openImage(ctx, path, imageOptions{immutable: true})
}

// imageOptions say what an image is of.
type imageOptions struct {
	loading   bool // rows are being loaded, see [Loader]
	immutable bool // no process writes to it
}

func openImage(ctx context.Context, path string, o imageOptions) (_ *Image, err error) {
	if err := looksLikeDatabase(path); err != nil {
		return nil, err
	}
	mode := "ro"
	if o.immutable {
		mode = immutable
	}
	c, err := openFile(ctx, path, mode, "busy_timeout(5000)", "trusted_schema(OFF)", "cell_size_check(ON)")
	if err != nil {
		return nil, damaged(err)
	}
	m := &Image{conn: c}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("reading %s: %w", path, damaged(err)), m.Close())
		}
	}()
	if err := c.exec("BEGIN"); err != nil {
		return nil, err
	}
	summary, err := inspect(ctx, c, o.loading)
	if err != nil {
		return nil, err
	}
	if newest, err := newestSchema(); err != nil || summary.Schema < newest {
		return nil, errors.Join(err, fmt.Errorf("the database has schema %d, not %d: start a server on it first", summary.Schema, newest))
	}
	for _, p := range []struct {
		to  **stmt
		sql string
	}{
		{&m.version, selectVersion},
		{&m.get, `SELECT body FROM items WHERE org = ? AND kind = ? AND id = ?`},
		{&m.find, `SELECT ` + activityColumns + ` FROM activities WHERE org = ? AND id = ?`},
		{&m.entryAt, selectEntries + ` WHERE position = ?`},
		{&m.entriesOf, selectEntries + ` WHERE activity = ? AND activity <> '' ORDER BY position`},
	} {
		if *p.to, err = c.prepare(p.sql); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Close implements [store.Image].
func (m *Image) Close() error {
	for _, s := range []*stmt{m.get, m.version, m.find, m.entryAt, m.entriesOf} {
		if s != nil {
			_ = s.raw.Close()
		}
	}
	return m.conn.close() // and with it the transaction
}

// Rows implements [store.Image].
func (m *Image) Rows(context.Context) (rows int64, err error) {
	err = m.conn.query(func(row []driver.Value) error {
		rows, _ = row[0].(int64)
		return nil
	}, `SELECT (SELECT count(*) FROM items) + (SELECT count(*) FROM activities) + (SELECT count(*) FROM log_entries)`)
	return rows, damaged(err)
}

// Version implements [store.Image].
func (m *Image) Version(_ context.Context, org string) (version int64, err error) {
	err = m.version.query(func(row []driver.Value) error {
		version, _ = row[0].(int64)
		return nil
	}, org)
	return version, damaged(err)
}

// Versions implements [store.Image].
func (m *Image) Versions(ctx context.Context, fn func(string, int64) error) error {
	return m.query(ctx, func(row []driver.Value) error {
		version, _ := row[1].(int64)
		return fn(textOf(row[0]), version)
	}, `SELECT org, version FROM organizations ORDER BY org`)
}

// Get implements [store.Image].
func (m *Image) Get(_ context.Context, org, kind, id string) (body []byte, err error) {
	err = m.get.query(func(row []driver.Value) error {
		body = bytesOf(row[0])
		return nil
	}, org, kind, id)
	return body, damaged(err)
}

// Items implements [store.Image].
func (m *Image) Items(ctx context.Context, org, kind string, fn func(org, kind string, item store.Item) error) error {
	sql := `SELECT org, kind, id, body FROM items`
	var args []any
	if org != "" {
		sql, args = sql+` WHERE org = ?`, append(args, org)
		if kind != "" {
			sql, args = sql+` AND kind = ?`, append(args, kind)
		}
	}
	return m.query(ctx, func(row []driver.Value) error {
		item := store.Item{ID: textOf(row[2]), Body: blobOf(row[3])}
		if !texts(row[:3]...) {
			item.Body = nil
		}
		return fn(textOf(row[0]), textOf(row[1]), item)
	}, sql+` ORDER BY org, kind, id`, args...)
}

// Activity implements [store.Image].
func (m *Image) Activity(_ context.Context, org, id string) (a *store.ActivityRow, err error) {
	err = m.find.query(func(row []driver.Value) error {
		a = activityOf(row)
		return nil
	}, org, id)
	return a, damaged(err)
}

// Activities implements [store.Image].
func (m *Image) Activities(ctx context.Context, fn func(string, *store.ActivityRow) error) error {
	return m.activities(ctx, fn, `SELECT org, `+activityColumns+` FROM activities ORDER BY rowid`)
}

// OrderedActivities implements [store.Image]. Only the keys are sorted, out of the
// index by id: LIMIT keeps the inner query what it is.
func (m *Image) OrderedActivities(ctx context.Context, fn func(string, *store.ActivityRow) error) error {
	return m.activities(ctx, fn, `SELECT org, `+activityColumns+` FROM
		(SELECT rowid AS found FROM activities ORDER BY org, id LIMIT -1) CROSS JOIN activities ON activities.rowid = found`)
}

func (m *Image) activities(ctx context.Context, fn func(string, *store.ActivityRow) error, sql string) error {
	return m.query(ctx, func(row []driver.Value) error {
		a := activityOf(row[1:])
		a.ID = textOf(row[1])
		if _, isTime := row[2].(int64); !isTime || !texts(row[0], row[1], row[4], row[5]) || blobOf(row[3]) == nil {
			a.Body = nil
		}
		return fn(textOf(row[0]), a)
	}, sql)
}

// NewestEntry implements [store.Image].
func (m *Image) NewestEntry(context.Context) (position int64, err error) {
	err = m.conn.query(func(row []driver.Value) error {
		position, _ = row[0].(int64)
		return nil
	}, `SELECT coalesce(max(position), 0) FROM log_entries`)
	return position, damaged(err)
}

// Entries implements [store.Image].
func (m *Image) Entries(ctx context.Context, fn func(store.EntryRow) error) error {
	return m.query(ctx, func(row []driver.Value) error {
		e := entryOf(row)
		if !texts(row[1:3]...) || blobOf(row[3]) == nil {
			e.Org, e.Activity, e.Body = textOf(row[1]), textOf(row[2]), nil
		}
		return fn(e)
	}, selectEntries+` ORDER BY position`)
}

// EntriesAt implements [store.Image].
func (m *Image) EntriesAt(_ context.Context, positions []int64) (list []store.EntryRow, err error) {
	for _, position := range positions {
		if err := collectEntries(m.entryAt, &list, position); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// EntriesOf implements [store.Image].
func (m *Image) EntriesOf(_ context.Context, activities []string) (list []store.EntryRow, err error) {
	for _, id := range activities {
		if err := collectEntries(m.entriesOf, &list, id); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func collectEntries(s *stmt, list *[]store.EntryRow, key any) error {
	return damaged(s.query(func(row []driver.Value) error {
		*list = append(*list, entryOf(row))
		return nil
	}, key))
}

func (m *Image) query(ctx context.Context, fn func([]driver.Value) error, sql string, args ...any) error {
	s, err := m.conn.prepare(sql)
	if err != nil {
		return damaged(err)
	}
	var stopped error // by the caller, and no sign of damage
	err = s.query(func(row []driver.Value) error {
		if stopped = ctx.Err(); stopped == nil {
			stopped = fn(row)
		}
		return stopped
	}, args...)
	err = errors.Join(err, s.raw.Close())
	if stopped != nil {
		return stopped
	}
	return damaged(err)
}

// textOf is the text of a column, whatever was written there.
func textOf(v driver.Value) string {
	switch v := v.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	}
	return fmt.Sprint(v)
}

func texts(values ...driver.Value) bool {
	for _, v := range values {
		if _, ok := v.(string); !ok {
			return false
		}
	}
	return true
}

// blobOf is nil for everything but a blob. The driver gives an empty one as nil
// too; no row of ours has such a body.
func blobOf(v driver.Value) []byte {
	b, _ := v.([]byte)
	return b
}

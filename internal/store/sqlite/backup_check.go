package sqlite

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	msqlite "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"latchkey/internal/store"
	"latchkey/internal/store/migration"
)

// Summary says what a database holds.
type Summary struct {
	Schema        int64
	Organizations int64 // parents and sub-organizations
	Items         int64 // records, of all kinds
	Sealed        int64 // of these, what only the vault can open
	Bytes         int64 // in records and activities
	Activities    int64
	Marked        bool   // its rows are marked, see package store
	Newest        int64  // time of the newest activity, in milliseconds; 0: none
	SHA256        string // of the file, in hex, where there is one
}

// Kinds of package store. Nothing else here depends on what an item is.
const (
	organizationKind = "organization"
	ciphertextKind   = "sealed"
)

// selectMarked finds the root of the keys that mark the rows of a database.
const selectMarked = `SELECT 1 FROM items WHERE org = 'instance' AND kind = '` + ciphertextKind + `' AND id = 'row-root'`

// check checks a copy that is not in use, and turns it into one file
// without a WAL. It reads all of it.
func check(ctx context.Context, path string) (s Summary, err error) {
	if err := looksLikeDatabase(path); err != nil {
		return Summary{}, err
	}
	c, err := openFile(ctx, path, "rw", "journal_mode(DELETE)", "synchronous(FULL)", "trusted_schema(OFF)", "cell_size_check(ON)")
	if err != nil {
		return Summary{}, damaged(err)
	}
	defer func() { err = errors.Join(err, c.close()) }()
	var result string
	err = c.query(func(row []driver.Value) error {
		result, _ = row[0].(string)
		return nil
	}, "PRAGMA integrity_check(1)")
	if err != nil {
		return Summary{}, damaged(err)
	}
	if result != "ok" {
		return Summary{}, damaged(errors.New(strings.TrimSpace(result)))
	}
	s, err = inspect(ctx, c, false)
	return s, damaged(err)
}

// looksLikeDatabase refuses what is no database before SQLite takes it for an
// empty one.
func looksLikeDatabase(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no file %s", path)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	magic := []byte("SQLite format 3\x00") // https://www.sqlite.org/fileformat.html, 1.3.1
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(f, head); err != nil || !bytes.Equal(head, magic) {
		return fmt.Errorf("%s is not a database of SQLite", path)
	}
	return nil
}

// damaged marks the errors that mean that the file is damaged.
func damaged(err error) error {
	var failure *msqlite.Error
	switch {
	case err == nil, errors.Is(err, errForeign), errors.Is(err, errNewer), errors.Is(err, store.ErrUnfinished):
		return err
	case errors.As(err, &failure):
		if code := failure.Code() & 0xff; code != lib.SQLITE_CORRUPT && code != lib.SQLITE_NOTADB {
			return err
		}
	}
	return fmt.Errorf("the file is damaged: %w", err)
}

var (
	errForeign = errors.New("the file is a database of SQLite, but not of latchkey")
	errNewer   = errors.New("run a newer latchkey")
)

// inspect says what a database holds. It refuses one that is not exactly as our
// migrations make it: a table more or a trigger could do anything. One into which rows
// are being loaded is refused too, unless loading is true.
func inspect(ctx context.Context, c *conn, loading bool) (Summary, error) {
	objects, err := schemaOf(c)
	if err != nil {
		return Summary{}, err
	}
	if _, begun := objects[store.LoadTable]; begun && !loading {
		return Summary{}, store.ErrUnfinished
	}
	delete(objects, store.LoadTable)
	if objects["migrations"] == "" {
		return Summary{}, fmt.Errorf("%w: it has no table of migrations", errForeign)
	}
	var s Summary
	if s.Schema, err = schemaVersion(c); err != nil {
		return Summary{}, err
	}
	steps, err := migration.Load(migrations)
	if err != nil {
		return Summary{}, err
	}
	if newest := int64(len(steps)); s.Schema > newest {
		return Summary{}, fmt.Errorf("the database has schema %d, but this latchkey knows only up to %d: %w", s.Schema, newest, errNewer)
	}
	ours, err := freshSchema(ctx, steps[:s.Schema])
	if err != nil {
		return Summary{}, err
	}
	for name, sql := range ours {
		if objects[name] != sql {
			return Summary{}, fmt.Errorf("%w: %s is missing, or not as it should be", errForeign, name)
		}
	}
	for name := range objects {
		if _, ok := ours[name]; !ok {
			return Summary{}, fmt.Errorf("%w: %s does not belong there", errForeign, name)
		}
	}
	err = countInto(c, &s)
	return s, err
}

// schemaOf returns the statements that created the schema, by name.
func schemaOf(c *conn) (map[string]string, error) {
	objects := map[string]string{}
	err := c.query(func(row []driver.Value) error {
		kind, _ := row[0].(string)
		name, _ := row[1].(string)
		sql, _ := row[2].(string)
		objects[name] = kind + " " + strings.Join(strings.Fields(sql), " ")
		return nil
	}, "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite^_%' ESCAPE '^'")
	return objects, err
}

func freshSchema(ctx context.Context, steps []migration.Step) (_ map[string]string, err error) {
	c, err := openConn(ctx, ":memory:", nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if err := migrate(c, steps); err != nil {
		return nil, err
	}
	return schemaOf(c)
}

func countInto(c *conn, s *Summary) error {
	err := c.query(func(row []driver.Value) error {
		count, _ := row[1].(int64)
		size, _ := row[2].(int64)
		switch row[0] {
		case organizationKind:
			s.Organizations = count
		case ciphertextKind:
			s.Sealed = count
		}
		s.Items += count
		s.Bytes += size
		return nil
	}, "SELECT kind, count(*), sum(length(body)) FROM items GROUP BY kind")
	if err != nil {
		return err
	}
	err = c.query(func([]driver.Value) error {
		s.Marked = true
		return nil
	}, selectMarked)
	if err != nil {
		return err
	}
	return c.query(func(row []driver.Value) error {
		s.Activities, _ = row[0].(int64)
		size, _ := row[1].(int64)
		s.Bytes += size
		s.Newest, _ = row[2].(int64)
		return nil
	}, "SELECT count(*), coalesce(sum(length(body)), 0), coalesce(max(timestamp_ms), 0) FROM activities")
}

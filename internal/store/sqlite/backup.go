package sqlite

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	msqlite "modernc.org/sqlite"
)

// Backup copies the database at path to a new file, which only its owner can
// read, while a server runs on it or not. Everything that was acknowledged
// before the call is in the copy; of what comes later it has all up to one
// moment, and nothing after it. The copy is one file, and is checked before it
// gets its name; a file that exists is never overwritten.
//
// The database is only read: no lock is taken that a server would miss, so one
// can be started or stopped during the backup.
func Backup(ctx context.Context, path, out string) (Summary, error) {
	s, err := backup(ctx, path, out)
	if err != nil {
		return Summary{}, fmt.Errorf("backing up %s: %w", path, err)
	}
	return s, nil
}

func backup(ctx context.Context, path, out string) (Summary, error) {
	if err := checkDir(filepath.Dir(out)); err != nil {
		return Summary{}, err
	}
	if _, err := os.Lstat(out); err == nil {
		return Summary{}, fmt.Errorf("%s exists; a backup never overwrites a file", out)
	}
	if err := looksLikeDatabase(path); err != nil {
		return Summary{}, err
	}
	temporary, err := newTemporary(out)
	if err != nil {
		return Summary{}, err
	}
	defer temporary.remove()
	before, err := copyDatabase(ctx, path, temporary.name)
	if err != nil {
		return Summary{}, err
	}
	after, err := check(ctx, temporary.name)
	if err != nil {
		return Summary{}, fmt.Errorf("the copy does not pass its check: %w", err)
	}
	if before != after {
		return Summary{}, fmt.Errorf("the copy is not what was copied: %+v instead of %+v", after, before)
	}
	if after.SHA256, err = temporary.sum(); err != nil {
		return Summary{}, err
	}
	err = temporary.place(out, os.Link) // which never replaces a file
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%s exists; a backup never overwrites a file", out)
	}
	return after, err
}

// pagesAtOnce are copied between two checks of the context.
const pagesAtOnce = 4096

// copyDatabase copies what is in the database at one moment, and says what that
// is. One transaction holds that state: concurrent commits go to the WAL.
func copyDatabase(ctx context.Context, path, to string) (s Summary, err error) {
	source, err := openFile(ctx, path, "ro", "busy_timeout(5000)")
	if err != nil {
		return Summary{}, err
	}
	defer func() { err = errors.Join(err, source.close()) }()
	if err := source.exec("BEGIN"); err != nil {
		return Summary{}, err
	}
	defer func() { err = errors.Join(err, source.exec("ROLLBACK")) }()
	if s, err = inspect(ctx, source, false); err != nil {
		return Summary{}, err
	}
	copier, ok := source.raw.(interface {
		NewBackup(string) (*msqlite.Backup, error)
	})
	if !ok {
		return Summary{}, errors.New("sqlite: the driver cannot copy a database")
	}
	copying, err := copier.NewBackup(dsn(to, "rw"))
	if err != nil {
		return Summary{}, err
	}
	for more := true; more && err == nil; {
		if err = ctx.Err(); err == nil {
			more, err = copying.Step(pagesAtOnce)
		}
	}
	return s, errors.Join(err, copying.Finish())
}

// immutable is the mode of a file that no process writes to: neither locks nor shared
// memory are needed to read it.
const immutable = "immutable"

// openFile opens a file that exists; mode is ro, rw or immutable.
func openFile(ctx context.Context, path, mode string, pragmas ...string) (*conn, error) {
	connector, err := msqlite.NewConnector(dsn(path, mode, pragmas...))
	if err != nil {
		return nil, err
	}
	raw, err := connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &conn{raw: raw}, nil
}

func dsn(path, mode string, pragmas ...string) string {
	q := url.Values{"mode": {mode}, "_pragma": pragmas}
	if mode == immutable {
		q.Set("mode", "ro")
		q.Set("immutable", "1")
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode()
}

// temporary is a file that will be renamed. It is in the folder of its final
// name, and begins with a dot.
type temporary struct{ name string }

func newTemporary(final string) (temporary, error) {
	f, err := os.CreateTemp(filepath.Dir(final), "."+filepath.Base(final)+".*") // mode 0600
	if err != nil {
		return temporary{}, err
	}
	return temporary{f.Name()}, f.Close()
}

// remove deletes the file and what SQLite put beside it; after place only its
// temporary name is left to delete.
func (t temporary) remove() {
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
		_ = os.Remove(t.name + suffix)
	}
}

// sum makes the content durable and returns its SHA-256.
func (t temporary) sum() (string, error) {
	f, err := os.OpenFile(t.name, os.O_RDWR, 0)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), errors.Join(err, f.Sync(), f.Close())
}

// place gives the file its name by [os.Link] or [os.Rename].
func (t temporary) place(name string, by func(from, to string) error) error {
	if err := by(t.name, name); err != nil {
		return err
	}
	return syncDir(filepath.Dir(name))
}

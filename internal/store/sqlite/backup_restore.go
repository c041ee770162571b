package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Restoring is what [Restore] is to do.
type Restoring struct {
	From    string // a backup
	SHA256  string // what it must have, in hex; empty: anything
	To      string // path of the database
	Replace bool   // put a database that is there aside
	Marked  bool   // refuse a backup whose rows are not marked
	Now     time.Time
}

// ErrExists says that there is a database already.
var ErrExists = errors.New("there is a database already")

// ErrNotMarked says that a backup is of a version that did not mark rows.
var ErrNotMarked = errors.New("the backup was made before the rows of the database were marked")

// Restore puts a backup in place: whole, or not at all. What is checked is the
// copy that will be used. It returns [ErrInUse] while a process holds the
// database, and where a database that was there went.
func Restore(ctx context.Context, r Restoring) (s Summary, aside string, err error) {
	s, aside, err = r.run(ctx)
	if err != nil {
		return Summary{}, "", fmt.Errorf("restoring %s: %w", r.To, err)
	}
	return s, aside, nil
}

func (r Restoring) run(ctx context.Context) (s Summary, aside string, err error) {
	if err := checkDir(filepath.Dir(r.To)); err != nil {
		return Summary{}, "", err
	}
	if err := looksLikeDatabase(r.From); err != nil {
		return Summary{}, "", err
	}
	if size(r.From+"-wal") > 0 {
		return Summary{}, "", fmt.Errorf("%s-wal lies beside it: these are files of a database in use, or of one that was, and no backup", r.From)
	}
	lock, err := lockFile(r.To + ".lock")
	if err != nil {
		return Summary{}, "", err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if info, err := os.Lstat(r.To); err == nil && !info.Mode().IsRegular() {
		return Summary{}, "", errors.New("it is no file, but a link or something else; name the file itself")
	}
	there := size(r.To) >= 0 || size(r.To+"-wal") >= 0
	if there && !r.Replace {
		return Summary{}, "", ErrExists
	}
	temporary, err := newTemporary(r.To)
	if err != nil {
		return Summary{}, "", err
	}
	defer temporary.remove()
	if err := copyFile(ctx, r.From, temporary.name); err != nil {
		return Summary{}, "", err
	}
	sum, err := temporary.sum()
	if err != nil {
		return Summary{}, "", err
	}
	if r.SHA256 != "" && !strings.EqualFold(sum, r.SHA256) {
		return Summary{}, "", fmt.Errorf("%s has the SHA-256 %s, not the one that was asked for: it is another file, or damaged", r.From, sum)
	}
	if s, err = check(ctx, temporary.name); err != nil {
		return Summary{}, "", fmt.Errorf("%s: %w", r.From, err)
	}
	s.SHA256 = sum
	if r.Marked && !s.Marked {
		return Summary{}, "", ErrNotMarked
	}
	if !there {
		return s, "", temporary.place(r.To, os.Link)
	}
	if aside, err = putAside(r.To, r.Now); err != nil {
		return Summary{}, "", err
	}
	return s, aside, temporary.place(r.To, os.Rename)
}

// putAside gives the database a second name, under which it stays complete with
// its WAL, if there is one, and removes the WAL of the first name: it would be
// applied to the file that comes next. The caller then replaces the file.
//
// SQLite is not used for it: it would checkpoint, and a database that is to be
// replaced may be a broken one that an operator still wants to examine.
func putAside(path string, now time.Time) (aside string, err error) {
	aside = path + ".replaced-" + now.UTC().Format("20060102T150405Z")
	for n := 2; size(aside) >= 0; n++ { // within the same second
		aside = fmt.Sprintf("%s.replaced-%s-%d", path, now.UTC().Format("20060102T150405Z"), n)
	}
	for _, suffix := range []string{"", "-wal"} {
		if n := size(path + suffix); n < 0 || n == 0 && suffix != "" {
			continue
		}
		if err := os.Link(path+suffix, aside+suffix); err != nil {
			return "", err
		}
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		return "", err
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
	}
	return aside, syncDir(filepath.Dir(path))
}

// size is that of a file, -1 if there is none.
func size(path string) int64 {
	info, err := os.Lstat(path)
	if err != nil {
		return -1
	}
	return info.Size()
}

func copyFile(ctx context.Context, from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	const chunk = 16 << 20
	for n := int64(chunk); n == chunk && err == nil; {
		if err = ctx.Err(); err == nil {
			n, err = io.CopyN(out, in, chunk)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, out.Close())
}

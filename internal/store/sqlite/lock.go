package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// ErrInUse says that another process holds the database.
var ErrInUse = errors.New("the database is in use by another latchkey process: stop it first")

// lock is the one that a process holds on a database.
type lock struct{ file *os.File }

// Close lets the lock go. Closing the file alone would leave it to a program that is
// being started at this moment, which has a copy of the file until it runs.
func (l *lock) Close() error {
	return errors.Join(unix.Flock(int(l.file.Fd()), unix.LOCK_UN), l.file.Close())
}

// lockFile takes the lock that makes this process the only one on the
// database. It is not a lock on the database file itself: SQLite's own locks
// are POSIX record locks, which closing any descriptor of that file would drop.
// The kernel releases it however the process ends; the file stays.
func lockFile(path string) (*lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, os.ErrPermission) {
		return nil, fmt.Errorf("%w; %s: run as the same user, or give the files to this one with chown", err, owner(path))
	}
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err == nil {
		return &lock{f}, nil
	}
	_ = f.Close()
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, ErrInUse
	}
	return nil, fmt.Errorf("locking: %w", err)
}

// owner says whose a file, or else its folder, is.
func owner(path string) string {
	for _, name := range []string{path, filepath.Dir(path)} {
		if info, err := os.Stat(name); err == nil {
			if stat, ok := info.Sys().(*syscall.Stat_t); ok {
				return fmt.Sprintf("%s belongs to user %d, and this is user %d", name, stat.Uid, os.Geteuid())
			}
		}
	}
	return fmt.Sprintf("this is user %d", os.Geteuid())
}

// createFile makes the database file readable by its owner only; SQLite gives
// the WAL and its index the same mode. It must run before SQLite opens the
// file (see lockFile on descriptors).
func createFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// checkDir refuses a missing folder by name; SQLite would only say "unable to
// open database file".
func checkDir(dir string) error {
	switch info, err := os.Stat(dir); {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("the folder %s does not exist: create it first", dir)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder", dir)
	}
	return nil
}

// syncDir makes the new file's name as durable as what will be in it.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	return errors.Join(err, d.Close())
}

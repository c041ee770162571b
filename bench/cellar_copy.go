package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"latchkey/bench/workload"
)

// copy puts a copy of a filled database into a folder, in place of what is
// there.
func (c *cellar) copy(ctx context.Context, s grownSize, to string) error {
	if err := c.removeCopy(to); err != nil {
		return err
	}
	from := filepath.Join(c.dir, s.String())
	if err := copyFolder(from, to); err != nil {
		return err
	}
	if c.postgres == nil {
		return nil
	}
	template, err := os.ReadFile(filepath.Join(from, databaseFile))
	if err != nil {
		return err
	}
	name, err := c.postgres.create(ctx, string(template))
	if err != nil {
		return err
	}
	c.dropLater(name)
	if err := os.WriteFile(filepath.Join(to, databaseFile), []byte(name), 0o600); err != nil {
		return err
	}
	_, err = writeConfig(to, c.postgres.url(name))
	return err
}

func (c *cellar) removeCopy(dir string) error {
	if name, err := os.ReadFile(filepath.Join(dir, databaseFile)); err == nil && c.postgres != nil {
		c.postgres.drop(string(name))
	}
	return os.RemoveAll(dir)
}

// copyFolder copies the files of a folder and waits until they are on the disk:
// writing them must not go on while something is measured.
func copyFolder(from, to string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	for _, e := range entries {
		if name := e.Name(); e.IsDir() || name == "log" || name == worldFile || strings.HasSuffix(name, ".lock") {
			continue
		}
		if err := copyFile(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}

// evict drops the files of a folder from the memory of the kernel, as far as
// they are on the disk: the next one to read them waits for the disk.
func evict(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		file, err := os.Open(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		err = unix.Fadvise(int(file.Fd()), 0, 0, unix.FADV_DONTNEED)
		if err = errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
	return nil
}

// counts are how a database is asked for how many there are.
var counts = map[workload.Dimension]string{
	workload.Activities:       `SELECT count(*) FROM activities`,
	workload.Accounts:         `SELECT count(*) FROM items WHERE kind = 'wallet-account'`,
	workload.SubOrganizations: `SELECT count(*) FROM organizations`,
}

// count asks the database itself, and writes the answer down: no client has to
// be believed. The few that belong to the installation and to its one parent
// are among them.
func (c *cellar) count(ctx context.Context, dir string, s grownSize) (err error) {
	var n int
	if c.postgres != nil {
		name, err := os.ReadFile(filepath.Join(dir, databaseFile))
		if err != nil {
			return err
		}
		if n, err = c.postgres.count(ctx, string(name), counts[s.dimension]); err != nil {
			return err
		}
	} else {
		db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "latchkey.db")+"?mode=ro")
		if err != nil {
			return err
		}
		err = db.QueryRowContext(ctx, counts[s.dimension]).Scan(&n)
		if err = errors.Join(err, db.Close()); err != nil {
			return fmt.Errorf("counting: %w", err)
		}
	}
	if n < s.size {
		return fmt.Errorf("there are %d and not %d", n, s.size)
	}
	return os.WriteFile(filepath.Join(dir, countFile), []byte(strconv.Itoa(n)), 0o600)
}

// stored is what count wrote down, and how many bytes the database has.
func (c *cellar) stored(ctx context.Context, s grownSize) (n int, bytes int64, err error) {
	dir := filepath.Join(c.dir, s.String())
	text, err := os.ReadFile(filepath.Join(dir, countFile))
	if errors.Is(err, fs.ErrNotExist) { // it was interrupted when it was all but ready
		if err := c.count(ctx, dir, s); err != nil {
			return 0, 0, err
		}
		text, err = os.ReadFile(filepath.Join(dir, countFile))
	}
	if err != nil {
		return 0, 0, err
	}
	if n, err = strconv.Atoi(string(text)); err != nil {
		return 0, 0, err
	}
	if c.postgres != nil {
		name, err := os.ReadFile(filepath.Join(dir, databaseFile))
		if err != nil {
			return 0, 0, err
		}
		bytes, err = c.postgres.size(ctx, string(name))
		return n, bytes, err
	}
	info, err := os.Stat(filepath.Join(dir, "latchkey.db"))
	if err != nil {
		return 0, 0, err
	}
	return n, info.Size(), nil
}

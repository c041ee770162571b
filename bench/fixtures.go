package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"

	"latchkey/bench/workload"
)

// fixtures are filled databases, each in a folder with the config and the
// master key of a Latchkey, and what is needed to send requests to it. A
// measurement works on a copy of a folder: the fixtures do not change.
type fixtures struct {
	latchkey string
	dir      string // of the filled folders
	work     string // of the copies
	fill     bool   // those that are missing
}

// kept is what a file beside a database says about it, as soon as it is full.
type kept struct {
	AtWork       int                      `json:"atWork"`
	Organization *workload.Organization   `json:"organization"`
	Many         []*workload.Organization `json:"many,omitzero"`
}

const (
	keptFile     = "fixture.json"
	databaseFile = "latchkey.db"
	// copyAgain is the size up to which a database is copied anew for each
	// round. A round adds a few thousand activities; to what is larger that is
	// nothing.
	copyAgain = 256 << 20
)

// prepare reads what is known of a fixture, and fills it before if it is not
// there. One whose filling was interrupted is filled from the start.
func (f *fixtures) prepare(ctx context.Context, s *size) error {
	dir := filepath.Join(f.dir, s.String())
	text, err := os.ReadFile(filepath.Join(dir, keptFile))
	if errors.Is(err, fs.ErrNotExist) && f.fill {
		if err := f.create(ctx, s, dir); err != nil {
			return err
		}
		text, err = os.ReadFile(filepath.Join(dir, keptFile))
	}
	if err != nil {
		return fmt.Errorf("%w; --keep fills it", err)
	}
	if err := json.Unmarshal(text, &s.kept); err != nil {
		return fmt.Errorf("%s: %w; delete the folder to fill it anew", dir, err)
	}
	if s.kept.AtWork != s.AtWork {
		return fmt.Errorf("%s has %d at work and not %d: ask for as many, or delete the folder", dir, s.kept.AtWork, s.AtWork)
	}
	return s.count(ctx, filepath.Join(dir, databaseFile))
}

// create makes a database with one organization and fills it.
func (f *fixtures) create(ctx context.Context, s *size, dir string) error {
	if err := os.RemoveAll(dir); err != nil { // of a run that was interrupted
		return err
	}
	l := latchkey{program: f.latchkey, dir: dir, store: sqliteURL}
	o, err := l.createOrganization("Grown")
	if err != nil {
		return err
	}
	t, err := l.serve()
	if err != nil {
		return err
	}
	data, err := workload.Setup(t.child.Host, o, o, o, 0)
	if err == nil {
		err = data.Fill(ctx, t.child.Host, s.dimension, s.Size, s.AtWork, s.progress())
	}
	t.child.Stop()
	if err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(dir, "log")); err != nil { // a line for each request
		return err
	}
	return writeJSON(filepath.Join(dir, keptFile), kept{s.AtWork, o, data.Many})
}

// progress tells how filling goes on, every few seconds.
func (s *size) progress() func(done int) {
	told := time.Now()
	return func(done int) {
		if done == s.Size || time.Since(told) > 5*time.Second {
			told = time.Now()
			log.Printf("filling %s: %d of %d", s, done, s.Size)
		}
	}
}

// count asks the database itself how many there are: no client has to be
// believed. The few that belong to the installation are among them.
func (s *size) count(ctx context.Context, file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	s.Bytes = info.Size()
	db, err := sql.Open("sqlite", "file:"+file+"?mode=ro") // the driver comes with Latchkey's store
	if err != nil {
		return err
	}
	statement := map[string]string{
		workload.Activities:       `SELECT count(*) FROM activities`,
		workload.Accounts:         `SELECT count(*) FROM items WHERE kind = 'wallet-account'`,
		workload.SubOrganizations: `SELECT count(*) FROM organizations`,
	}[s.dimension]
	err = errors.Join(db.QueryRowContext(ctx, statement).Scan(&s.Stored), db.Close())
	if err == nil && s.Stored < s.Size {
		err = fmt.Errorf("there are %d and not %d", s.Stored, s.Size)
	}
	return err
}

// start starts Latchkey on a copy of a fixture, a new one or that of the last
// round, and returns how long it took until it was ready.
func (f *fixtures) start(ctx context.Context, s *size, anew bool) (ms float64, err error) {
	dir := filepath.Join(f.work, s.String())
	if anew {
		if err := os.RemoveAll(dir); err != nil {
			return 0, err
		}
		if out, err := exec.CommandContext(ctx, "cp", "-a", filepath.Join(f.dir, s.String()), dir).CombinedOutput(); err != nil {
			return 0, fmt.Errorf("copying: %w: %s", err, out)
		}
		unix.Sync() // writing must not go on while something is measured
	}
	if s.target, err = (latchkey{program: f.latchkey, dir: dir, store: sqliteURL}).serve(); err != nil {
		return 0, err
	}
	s.target.data = workload.One(s.kept.Organization, s.kept.Many, s.Size)
	s.target.source = s.target.data.Source(s.target.child.Host)
	return micros(s.target.child.ReadyIn) / 1000, nil
}

// evict drops a file from the memory of the kernel.
func evict(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	return errors.Join(unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED), f.Close())
}

func (s *size) stop() {
	if s.target != nil {
		s.target.child.Stop()
		s.target = nil
	}
}

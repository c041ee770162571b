package sqlite_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"latchkey/internal/store"
	"latchkey/internal/store/sqlite"
)

// restoring is a restore to a fresh folder.
func restoring(t testing.TB, from string) sqlite.Restoring {
	return sqlite.Restoring{From: from, To: file(t), Now: time.Unix(1_700_000_000, 0)}
}

// filled is a closed database with one organization, a sealed item and some
// activities.
func filled(t testing.TB) string {
	t.Helper()
	path := file(t)
	db := openAt(t, path)
	commit(t, db, &store.Commit{Org: "o", Changes: []store.Change{
		{Kind: "organization", ID: "o", Body: []byte("{}")},
		{Kind: "sealed", ID: "key/k", Body: bytes.Repeat([]byte("s"), 100)},
	}})
	for i := range 50 {
		commit(t, db, &store.Commit{Org: "o", Version: 1, Activity: numbered(i)})
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func commit(t testing.TB, db store.Driver, c *store.Commit) {
	t.Helper()
	if err := db.Commit(context.Background(), c); err != nil {
		t.Fatal(err)
	}
}

func numbered(i int) *store.ActivityRow {
	id := fmt.Sprintf("%06d", i)
	return &store.ActivityRow{
		ID: id, TimestampMs: int64(1000 + i), Fingerprint: sha256.Sum256([]byte(id)),
		Type: "T", Status: "ACTIVITY_STATUS_COMPLETED", Body: bytes.Repeat([]byte(id), 100),
	}
}

func TestBackup(t *testing.T) {
	path, dir := filled(t), t.TempDir()
	out := filepath.Join(dir, "copy.db")
	made, err := sqlite.Backup(t.Context(), path, out)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	want := sqlite.Summary{
		Schema: 3, Organizations: 1, Items: 2, Sealed: 1, Bytes: 2 + 100 + 50*600, Activities: 50, Newest: 1049,
		SHA256: hex.EncodeToString(sum[:]),
	}
	if made != want {
		t.Errorf("made %+v, want %+v", made, want)
	}
	if _, err := sqlite.Backup(t.Context(), path, out); err == nil || !strings.Contains(err.Error(), "never overwrites") {
		t.Errorf("a second backup to the same file: %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	r := restoring(t, out)
	restored, aside, err := sqlite.Restore(t.Context(), r)
	if err != nil || restored != want || aside != "" {
		t.Fatalf("restored %+v, %q, %v", restored, aside, err)
	}
	db := openAt(t, r.To)
	defer db.Close()
	if body, err := db.Get(t.Context(), "o", "sealed", "key/k"); err != nil || len(body) != 100 {
		t.Errorf("the sealed item: %q, %v", body, err)
	}
	if all, err := db.Activities(t.Context(), "o", store.ActivityQuery{}); err != nil || len(all) != 50 {
		t.Errorf("%d activities, %v", len(all), err)
	}
	if _, _, err := sqlite.Restore(t.Context(), r); !errors.Is(err, sqlite.ErrInUse) {
		t.Errorf("restoring over an open database: %v", err)
	}
}

// A server that was killed leaves commits in its WAL; they belong to the
// database, in a backup as well as in what is put aside.
func TestBackupOfKilled(t *testing.T) {
	live := file(t)
	db := openAt(t, live)
	defer db.Close()
	commit(t, db, &store.Commit{Org: "o", Changes: []store.Change{{Kind: "k", ID: "i", Body: []byte("x")}}})
	killed := file(t)
	for _, suffix := range []string{"", "-wal"} { // as after a kill: no index
		text, err := os.ReadFile(live + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(killed+suffix, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(t.TempDir(), "copy.db")
	if s, err := sqlite.Backup(t.Context(), killed, out); err != nil || s.Items != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
	r := restoring(t, filepath.Join(t.TempDir(), "copy.db"))
	if _, err := sqlite.Backup(t.Context(), filled(t), r.From); err != nil {
		t.Fatal(err)
	}
	r.To, r.Replace = killed, true
	s, aside, err := sqlite.Restore(t.Context(), r)
	if err != nil || s.Activities != 50 {
		t.Fatalf("%+v, %v", s, err)
	}
	if s, err := sqlite.Backup(t.Context(), aside, filepath.Join(t.TempDir(), "old.db")); err != nil || s.Items != 1 {
		t.Errorf("what was put aside: %+v, %v", s, err)
	}
	if err := openAt(t, killed).Close(); err != nil {
		t.Error(err)
	}
}

// A database that cannot be opened is a reason to restore; it is kept as it is.
func TestRestoreOverBroken(t *testing.T) {
	r := restoring(t, filepath.Join(t.TempDir(), "copy.db"))
	if _, err := sqlite.Backup(t.Context(), filled(t), r.From); err != nil {
		t.Fatal(err)
	}
	for suffix, text := range map[string]string{"": "broken", "-wal": "its WAL", "-shm": "an index"} {
		if err := os.WriteFile(r.To+suffix, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := sqlite.Restore(t.Context(), r); !errors.Is(err, sqlite.ErrExists) {
		t.Fatalf("without being told to replace: %v", err)
	}
	r.Replace = true
	_, aside, err := sqlite.Restore(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	for suffix, want := range map[string]string{"": "broken", "-wal": "its WAL"} {
		if text, err := os.ReadFile(aside + suffix); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", aside+suffix, text, err)
		}
	}
	if _, err := os.Stat(r.To + "-wal"); !errors.Is(err, os.ErrNotExist) {
		t.Error("the WAL of the old database is beside the new one")
	}
	db := openAt(t, r.To)
	defer db.Close()
	if all, err := db.Activities(t.Context(), "o", store.ActivityQuery{}); err != nil || len(all) != 50 {
		t.Errorf("%d activities, %v", len(all), err)
	}
}

// What is no whole database of ours is neither backed up nor restored, and
// nothing is left behind.
func TestRefusedFiles(t *testing.T) {
	good := filepath.Join(t.TempDir(), "copy.db")
	if _, err := sqlite.Backup(t.Context(), filled(t), good); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name  string
		spoil func(path string)
		want  string
	}{
		{"empty", func(path string) { write(t, path, nil) }, "is not a database of SQLite"},
		{"text", func(path string) { write(t, path, []byte("hello")) }, "is not a database of SQLite"},
		{"cut off", func(path string) { write(t, path, text[:len(text)-4096]) }, "damaged"},
		{"half a page", func(path string) { write(t, path, text[:len(text)/2+100]) }, "damaged"},
		{"one page of noise", func(path string) {
			write(t, path, append(append(bytes.Clone(text[:8192]), bytes.Repeat([]byte{0xaa}, 4096)...), text[12288:]...))
		}, "damaged"},
		{"foreign", func(path string) { run(t, path, "CREATE TABLE notes (id INTEGER)") }, "not of latchkey: it has no table of migrations"},
		{"foreign with migrations", func(path string) {
			run(t, path, "CREATE TABLE migrations (version INTEGER); INSERT INTO migrations VALUES (1)")
		}, "is missing, or not as it should be"},
		{"a trigger", func(path string) {
			write(t, path, text)
			run(t, path, "CREATE TRIGGER t AFTER INSERT ON items BEGIN DELETE FROM activities; END")
		}, "not of latchkey: t does not belong there"},
		{"a table less", func(path string) {
			write(t, path, text)
			run(t, path, "DROP TABLE activities")
		}, "activities"},
		{"an index off by a row", func(path string) {
			write(t, path, text)
			run(t, path, "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET rootpage=(SELECT rootpage FROM sqlite_schema WHERE name='activities_by_status') WHERE name='activities_by_type'")
		}, "damaged"},
		{"newer", func(path string) {
			write(t, path, text)
			run(t, path, "INSERT INTO migrations VALUES (999, 'tomorrow')")
		}, "schema 999, but this latchkey knows only up to 3: run a newer latchkey"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "spoiled.db")
			tc.spoil(path)
			r := restoring(t, path)
			if _, _, err := sqlite.Restore(t.Context(), r); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("restored: %v", err)
			}
			out := filepath.Join(t.TempDir(), "copy.db")
			if _, err := sqlite.Backup(t.Context(), path, out); err == nil {
				t.Error("backed up")
			}
			for _, pattern := range []string{filepath.Dir(out) + "/*", filepath.Dir(out) + "/.*", filepath.Dir(r.To) + "/*.db", filepath.Dir(r.To) + "/.*"} {
				if left, err := filepath.Glob(pattern); err != nil || len(left) > 0 {
					t.Errorf("left behind: %v, %v", left, err)
				}
			}
		})
	}
}

// run executes SQL on a file, which need not be a database of ours.
func run(t testing.TB, path, statements string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(statements); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func write(t testing.TB, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestBackupUnderLoad: whatever was acknowledged before a backup began is in
// it, and what belongs together is there together.
func TestBackupUnderLoad(t *testing.T) {
	path := file(t)
	db := openAt(t, path)
	defer db.Close()
	ctx, stop := context.WithCancel(t.Context())
	var mu sync.Mutex
	acknowledged := map[string]int{} // by organization
	var writers sync.WaitGroup
	for w := range 8 {
		org := fmt.Sprint("org", w)
		writers.Go(func() {
			for i := range 1 << 20 {
				a := numbered(i)
				err := db.Commit(ctx, &store.Commit{
					Org: org, Version: int64(i), Activity: a,
					Changes: []store.Change{{Kind: "newest", ID: "n", Body: []byte(a.ID)}},
				})
				if err != nil {
					if ctx.Err() == nil {
						t.Error(err)
					}
					return
				}
				mu.Lock()
				acknowledged[org] = i + 1
				mu.Unlock()
			}
		})
	}
	for i := range 6 {
		time.Sleep(50 * time.Millisecond)
		mu.Lock()
		before := map[string]int{}
		for org, n := range acknowledged {
			before[org] = n
		}
		mu.Unlock()
		r := restoring(t, filepath.Join(t.TempDir(), "copy.db"))
		if _, err := sqlite.Backup(t.Context(), path, r.From); err != nil {
			t.Fatal(err)
		}
		if _, _, err := sqlite.Restore(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		copied := openAt(t, r.To)
		for org, n := range before {
			all, err := copied.Activities(t.Context(), org, store.ActivityQuery{})
			if err != nil {
				t.Fatal(err)
			}
			newest, err := copied.Get(t.Context(), org, "newest", "n")
			if err != nil {
				t.Fatal(err)
			}
			version, err := copied.Version(t.Context(), org)
			if err != nil {
				t.Fatal(err)
			}
			if len(all) < n {
				t.Errorf("backup %d: %s has %d activities, and %d were acknowledged before it began", i, org, len(all), n)
			}
			if int(version) != len(all) || string(newest) != all[0].ID {
				t.Errorf("backup %d: %s is torn: version %d, %d activities, newest %s and %s", i, org, version, len(all), newest, all[0].ID)
			}
		}
		if err := copied.Close(); err != nil {
			t.Error(err)
		}
	}
	stop()
	writers.Wait()
	t.Logf("acknowledged in all: %v", acknowledged)
}

// A backup that is told to stop leaves nothing.
func TestBackupStopped(t *testing.T) {
	path, out := filled(t), filepath.Join(t.TempDir(), "copy.db")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := sqlite.Backup(ctx, path, out); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if entries, err := os.ReadDir(filepath.Dir(out)); err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

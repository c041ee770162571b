package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"latchkey/internal/store"
	"latchkey/internal/store/sqlite"
	"latchkey/internal/store/storetest"
)

func TestMain(m *testing.M) {
	storetest.KillChild(func(ctx context.Context, target string) (store.Driver, error) {
		return sqlite.Open(ctx, target, sqlite.Config{})
	})
	os.Exit(m.Run())
}

func open(t *testing.T) store.Driver { return openAt(t, file(t)) }

func file(t testing.TB) string { return filepath.Join(t.TempDir(), "latchkey.db") }

func openAt(t testing.TB, path string) store.Driver {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func TestContract(t *testing.T) { storetest.Run(t, open) }

func TestReopen(t *testing.T) {
	path := file(t)
	storetest.RunReopen(t, func(t *testing.T) store.Driver { return openAt(t, path) })
}

func TestKill(t *testing.T) {
	path := file(t)
	storetest.RunKill(t, 60, path, func(t *testing.T) store.Driver { return openAt(t, path) })
}

func TestInUse(t *testing.T) {
	path := file(t)
	db := openAt(t, path)
	_, err := sqlite.Open(t.Context(), path, sqlite.Config{})
	if !errors.Is(err, sqlite.ErrInUse) || !strings.Contains(err.Error(), "in use by another latchkey process") {
		t.Fatalf("second Open: %v", err)
	}
	if err := db.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := openAt(t, path).Close(); err != nil {
		t.Fatal(err)
	}
}

// TestScanLeavesOutIDsThatAreNoText: another program may have written some, which are
// behind all texts, or it is the empty one.
func TestScanLeavesOutIDsThatAreNoText(t *testing.T) {
	path := file(t)
	db := openAt(t, path)
	commit(t, db, &store.Commit{Org: "o", Changes: []store.Change{{Kind: "k", ID: "a", Body: []byte("1")}, {Kind: "k", ID: "b", Body: []byte("2")}}})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	execute(t, path, `INSERT INTO items VALUES ('o', 'k', x'', x'33'), ('o', 'k', x'00', x'34'), ('o', 'k', x'6162', x'35')`)
	db = openAt(t, path)
	defer db.Close()
	for _, r := range []store.Range{{}, {Limit: 10}, {From: "a", To: "c"}} {
		items, err := db.Scan(t.Context(), "o", "k", r)
		if err != nil || len(items) != 2 || items[0].ID != "a" || items[1].ID != "b" {
			t.Errorf("%+v: %+v, %v", r, items, err)
		}
	}
}

func TestNewerDatabase(t *testing.T) {
	path := file(t)
	execute(t, path, `INSERT INTO migrations VALUES (999, 'tomorrow')`)
	_, err := sqlite.Open(t.Context(), path, sqlite.Config{})
	if err == nil || !strings.Contains(err.Error(), "schema 999") {
		t.Fatalf("Open of a newer database: %v", err)
	}
	// The refusal holds nothing.
	if _, err := sqlite.Open(t.Context(), path, sqlite.Config{}); errors.Is(err, sqlite.ErrInUse) {
		t.Fatal(err)
	}
}

// execute runs SQL behind the driver's back, on a database that it has made.
func execute(t *testing.T, path, statement string) {
	t.Helper()
	if err := openAt(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestPaths(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"plain", "with space", "what?.db", "100%41", "a#b&c=d", "ünï"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, name)
			db := openAt(t, path)
			for _, suffix := range []string{"", "-wal", "-shm", ".lock"} {
				info, err := os.Stat(path + suffix)
				if err != nil {
					t.Fatal(err)
				}
				if mode := info.Mode().Perm(); mode != 0o600 {
					t.Errorf("%s has mode %o", path+suffix, mode)
				}
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
	_, err := sqlite.Open(t.Context(), filepath.Join(dir, "missing", "latchkey.db"), sqlite.Config{})
	if err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("Open in a missing folder: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "text"), []byte(strings.Repeat("no database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(t.Context(), filepath.Join(dir, "text"), sqlite.Config{}); err == nil {
		t.Error("a text file was opened")
	}
}

// TestPoison makes SQLite fail on one commit of each group: only that one may
// fail.
func TestPoison(t *testing.T) {
	path := file(t)
	execute(t, path, `CREATE TRIGGER poison BEFORE INSERT ON items WHEN NEW.id = 'poison'
		BEGIN SELECT RAISE(ROLLBACK, 'poisoned'); END`)
	db := openAt(t, path)
	defer func() { _ = db.Close() }()
	const n = 64
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			id := "fine"
			if i%8 == 0 {
				id = "poison"
			}
			errs[i] = db.Commit(t.Context(), &store.Commit{
				Org: fmt.Sprint(i), Activity: &store.ActivityRow{ID: "a"},
				Changes: []store.Change{{Kind: "k", ID: "x", Body: []byte("x")}, {Kind: "k", ID: id, Body: []byte("x")}},
			})
		})
	}
	wg.Wait()
	for i, err := range errs {
		v, verr := db.Version(t.Context(), fmt.Sprint(i))
		x, xerr := db.Get(t.Context(), fmt.Sprint(i), "k", "x")
		a, aerr := db.Activity(t.Context(), fmt.Sprint(i), "a")
		if e := errors.Join(verr, xerr, aerr); e != nil {
			t.Fatal(e)
		}
		if poisoned := i%8 == 0; (err != nil) != poisoned || (v == 0) != poisoned || (x == nil) != poisoned || (a == nil) != poisoned {
			t.Errorf("commit %d ended with %v, version %d, item %s, activity %v", i, err, v, x, a)
		}
	}
}

func BenchmarkCommitAppend(b *testing.B)      { benchmark(b, storetest.BenchmarkAppend) }
func BenchmarkCommitAppendAlone(b *testing.B) { benchmark(b, storetest.BenchmarkAppendAlone) }
func BenchmarkGet(b *testing.B)               { benchmark(b, storetest.BenchmarkGet) }
func BenchmarkScanIndex(b *testing.B)         { benchmark(b, storetest.BenchmarkScanIndex) }
func BenchmarkList(b *testing.B)              { benchmark(b, storetest.BenchmarkList) }

func benchmark(b *testing.B, fn func(*testing.B, store.Driver)) {
	db := openAt(b, file(b))
	defer func() { _ = db.Close() }()
	fn(b, db)
}

package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"latchkey/internal/store"
	"latchkey/internal/store/migration"
)

func openTest(t *testing.T) (*DB, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "latchkey.db")
	db, err := Open(t.Context(), path, Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db, path
}

// TestLockIsLetGo although a copy of its file is open, as that of a program is which is
// being started.
func TestLockIsLetGo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "latchkey.db")
	for range 2 {
		db, err := Open(t.Context(), path, Config{})
		if err != nil {
			t.Fatal(err)
		}
		held, err := unix.Dup(int(db.lock.file.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(held)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// column returns the given column of every row.
func column(t *testing.T, c *conn, i int, sql string, args ...any) []string {
	t.Helper()
	var got []string
	err := c.query(func(row []driver.Value) error {
		got = append(got, fmt.Sprint(row[i]))
		return nil
	}, sql, args...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return got
}

func TestPragmas(t *testing.T) {
	db, _ := openTest(t)
	conns := map[string]*conn{"writer": db.writer.conn}
	for i := range db.readers.n {
		r, err := db.readers.borrow(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer db.readers.giveBack(r)
		conns[fmt.Sprint("reader ", i)] = r.conn
		if err := r.conn.exec("DELETE FROM items"); err == nil {
			t.Error("a reader writes")
		}
	}
	for name, c := range conns {
		for pragma, want := range map[string]string{
			"journal_mode": "wal", "synchronous": "2", "wal_autocheckpoint": "0", "busy_timeout": "5000",
		} {
			if got := column(t, c, 0, "PRAGMA "+pragma); len(got) != 1 || got[0] != want {
				t.Errorf("%s: %s is %s, want %s", name, pragma, got, want)
			}
		}
	}
}

// TestReaders: a reader is lent to one at a time, first the one that came back last, and
// one without a connection last; a caller waits for one no longer than it wants; the
// end waits for those that are lent.
func TestReaders(t *testing.T) {
	db, _ := openTest(t)
	borrow := func(ctx context.Context) *reader {
		r, err := db.readers.borrow(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first, second := borrow(t.Context()), borrow(t.Context())
	if first == second {
		t.Fatal("lent twice")
	}
	db.readers.giveBack(second)
	db.readers.giveBack(first)
	if r := borrow(t.Context()); r != first {
		t.Error("not the one that came back last")
	}
	if err := first.close(); err != nil {
		t.Fatal(err)
	}
	db.readers.giveBack(first)
	var lent []*reader
	for range db.readers.n {
		lent = append(lent, borrow(t.Context()))
	}
	if lent[0] != second || lent[db.readers.n-1] != first {
		t.Error("one without a connection is lent before others")
	}

	ended, end := context.WithCancel(t.Context())
	time.AfterFunc(time.Millisecond, end)
	if _, err := db.readers.borrow(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that waits no longer gets %v", err)
	}
	waited, closed := make(chan error), make(chan error)
	go func() { _, err := db.readers.borrow(t.Context()); waited <- err }()
	go func() { closed <- db.readers.close() }()
	if err := <-waited; !errors.Is(err, ErrClosed) {
		t.Errorf("a caller that waits at the end gets %v", err)
	}
	for _, r := range lent {
		select {
		case err := <-closed:
			t.Fatalf("it does not wait for those that are lent: %v", err)
		case <-time.After(time.Millisecond):
		}
		db.readers.giveBack(r)
	}
	if err := <-closed; err != nil || second.conn != nil {
		t.Errorf("a connection is left: %v", err)
	}
}

// TestTransactionNotEnded: a list whose transaction cannot be ended is complete,
// and the reads after it, on the same reader, see the newest state.
func TestTransactionNotEnded(t *testing.T) {
	for name, spoil := range map[string]func(r *reader) error{
		// As SQLite does by itself after some errors: ROLLBACK has nothing to end.
		"ended before": func(r *reader) error { _, err := r.rollback.exec(); return err },
		// ROLLBACK fails, and the transaction stays open.
		"still open": func(r *reader) error { r.rollback = r.begin; return nil },
	} {
		t.Run(name, func(t *testing.T) {
			db, err := Open(t.Context(), filepath.Join(t.TempDir(), "latchkey.db"), Config{Readers: 1})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			commit := func(c *store.Commit) {
				t.Helper()
				if err := db.Commit(t.Context(), c); err != nil {
					t.Fatal(err)
				}
			}
			record := func(id string) {
				t.Helper()
				a := &store.ActivityRow{ID: id}
				copy(a.Fingerprint[:], id)
				commit(&store.Commit{Org: "org", Version: 1, Activity: a})
			}
			commit(&store.Commit{Org: "org"})
			record("1")
			var list []store.ActivityRow
			err = db.readers.do(t.Context(), func(r *reader) error {
				return r.inTransaction(func() (err error) {
					if list, err = r.activities(t.Context(), "org", store.ActivityQuery{}); err != nil {
						return err
					}
					return spoil(r)
				})
			})
			if err != nil || len(list) != 1 {
				t.Fatalf("%d activities, %v", len(list), err)
			}
			record("2")
			if a, err := db.Activity(t.Context(), "org", "2"); err != nil || a == nil {
				t.Errorf("the newest activity: %v, %v", a, err)
			}
			for range 2 {
				if list, err = db.Activities(t.Context(), "org", store.ActivityQuery{}); err != nil || len(list) != 2 {
					t.Errorf("%d activities, %v", len(list), err)
				}
			}
		})
	}
}

// TestPlans: every read finds its rows through an index, in order.
func TestPlans(t *testing.T) {
	db, _ := openTest(t)
	c := db.writer.conn
	for _, tc := range []struct {
		name   string
		q      store.ActivityQuery
		column string
		index  string
	}{
		{"type", store.ActivityQuery{Limit: 10}, "type", "activities_by_type (org=? AND type=?)"},
		{"type after", store.ActivityQuery{After: "x", Limit: 10}, "type", "activities_by_type (org=? AND type=? AND id<?)"},
		{"type before", store.ActivityQuery{Before: "x", Limit: 10}, "type", "activities_by_type (org=? AND type=? AND id>?)"},
		{"type, completed", store.ActivityQuery{Statuses: []string{completed}}, "type", "activities_by_type (org=? AND type=?)"},
		{"status", store.ActivityQuery{Limit: 10}, "status", "activities_by_status (org=? AND status=?)"},
		{"status before", store.ActivityQuery{Before: "x"}, "status", "activities_by_status (org=? AND status=? AND id>?)"},
		{"status and types", store.ActivityQuery{Types: []string{"a", "b"}}, "status", "activities_by_status (org=? AND status=?)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			sql, args := listActivities("org", tc.q, tc.column, "x", activityColumns)
			plan := strings.Join(column(t, c, 3, "EXPLAIN QUERY PLAN "+sql, args...), "\n")
			if plan != "SEARCH activities USING INDEX "+tc.index {
				t.Errorf("it scans, sorts or uses another index than %s:\n%s", tc.index, plan)
			}
		})
	}
}

// TestWALStaysShort writes many times what the WAL may hold, and reads in
// between. It does not read during the writes: a reader that a busy machine
// delays for long keeps the WAL from being restarted, as it should.
func TestWALStaysShort(t *testing.T) {
	db, path := openTest(t)
	db.writer.wal.limit = 200
	body := make([]byte, 2000)
	if err := db.Commit(t.Context(), &store.Commit{Org: "org"}); err != nil {
		t.Fatal(err)
	}
	for i := range 500 {
		var wg sync.WaitGroup
		for w := range 8 {
			wg.Go(func() {
				id := fmt.Sprintf("%d-%d", w, i)
				a := &store.ActivityRow{ID: id, Body: body}
				copy(a.Fingerprint[:], id)
				if err := db.Commit(t.Context(), &store.Commit{Org: "org", Version: 1, Activity: a}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		// Nor does a background checkpoint last, which on a busy disk may take long: the
		// writer leaves the WAL alone meanwhile.
		db.writer.wal.awaitCheckpoint()
		id := fmt.Sprintf("%d-%d", i%8, i)
		if got, err := db.Activity(t.Context(), "org", id); err != nil || got == nil {
			t.Fatalf("%v, %v", got, err)
		}
	}
	info, err := os.Stat(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	// 4000 records in all are more than 20 MB of WAL.
	if info.Size() > 8<<20 {
		t.Errorf("the WAL has %d bytes", info.Size())
	}
}

// TestWALOfOneStaysShort: a client that is alone writes more pages for each record, and
// these are what counts. Each checkpoint leaves some of them behind, as it does while
// commits go on; without any, SQLite would restart the WAL by itself.
func TestWALOfOneStaysShort(t *testing.T) {
	db, path := openTest(t)
	db.writer.wal.maxPages = 500
	other, err := openConn(t.Context(), path, pragmas())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.close() }()
	checkpoints, err := openConn(t.Context(), path, pragmas())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = checkpoints.close() }()
	if err := db.Commit(t.Context(), &store.Commit{Org: "org"}); err != nil {
		t.Fatal(err)
	}
	record := func(i int) {
		t.Helper()
		db.writer.wal.awaitCheckpoint() // during one the writer leaves the WAL alone
		a := &store.ActivityRow{ID: fmt.Sprintf("%06d", i), TimestampMs: int64(i), Body: make([]byte, 1000)}
		if err := db.Commit(t.Context(), &store.Commit{Org: "org", Version: 1, Activity: a}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 1000 {
		if i%50 > 0 {
			record(i)
			continue
		}
		if err := other.exec("BEGIN"); err != nil {
			t.Fatal(err)
		}
		column(t, other, 0, "SELECT version FROM organizations")
		record(i) // which the checkpoint leaves behind: it is newer than what is read
		db.writer.wal.passive(checkpoints)
		if err := other.exec("ROLLBACK"); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	// 1000 records alone are more than 20 MB of WAL.
	if info.Size() > 8<<20 {
		t.Errorf("the WAL has %d bytes", info.Size())
	}
}

// awaitCheckpoint returns when no checkpoint is under way.
func (w *wal) awaitCheckpoint() {
	w.mu.Lock()
	defer w.mu.Unlock()
}

func TestVersions(t *testing.T) {
	v := newVersions(4)
	want := func(org string, want int64) {
		t.Helper()
		if got, ok, _ := v.get(org); !ok || got != want {
			t.Fatalf("version of %s is %d, %t; want %d", org, got, ok, want)
		}
	}
	unknown := func(org string) uint64 {
		t.Helper()
		got, ok, epoch := v.get(org)
		if ok {
			t.Fatalf("version of %s is %d, should be unknown", org, got)
		}
		return epoch
	}

	epoch := unknown("a")
	v.learn("a", 3, epoch)
	want("a", 3)
	// In doubt it is unknown, and cannot be learned.
	v.flushing(map[string]int64{"a": 4})
	v.learn("a", 3, unknown("a"))
	unknown("a")
	v.flushed()
	want("a", 4)
	// A slow reader does not overwrite what the writer set in the meantime.
	epoch = unknown("b")
	v.flushing(map[string]int64{"b": 2})
	v.flushed()
	v.learn("b", 1, epoch)
	want("b", 2)
	// Not even when it has been forgotten again.
	epoch = unknown("c")
	v.flushing(map[string]int64{"c": 2})
	v.flushed()
	for i := range 20 {
		v.learn(fmt.Sprint("filler ", i), 1, unknown(fmt.Sprint("filler ", i)))
	}
	unknown("c")
	v.learn("c", 1, epoch)
	unknown("c")
	v.forget()
	unknown("filler 19")
}

// TestOlderDatabase opens a database of each earlier schema: everything in it is
// there afterwards, and what was unique still is.
func TestOlderDatabase(t *testing.T) {
	steps, err := migration.Load(migrations)
	if err != nil {
		t.Fatal(err)
	}
	for schema := 1; schema < len(steps); schema++ {
		t.Run(fmt.Sprint(schema), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "latchkey.db")
			older, err := openConn(t.Context(), path, pragmas())
			if err != nil {
				t.Fatal(err)
			}
			if err := migrate(older, steps[:schema]); err != nil {
				t.Fatal(err)
			}
			var want []store.ActivityRow
			for i := range 50 {
				a := store.ActivityRow{
					ID: fmt.Sprintf("%02d", i*7%50), TimestampMs: int64(i), Fingerprint: store.Fingerprint{byte(i % 2)},
					Type: fmt.Sprint("type ", i%3), Status: []string{completed, "FAILED"}[i%2], Body: fmt.Append(nil, "body ", i),
				}
				want = append(want, a)
				for _, org := range []string{"one", "two"} {
					err := older.exec(`INSERT INTO activities (org, id, timestamp_ms, fingerprint, type, status, body) VALUES (?, ?, ?, ?, ?, ?, ?)`,
						org, a.ID, a.TimestampMs, a.Fingerprint[:], a.Type, a.Status, a.Body)
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			err = errors.Join(
				older.exec(`INSERT INTO organizations (org, version) VALUES ('one', 3), ('two', 1)`),
				older.exec(`INSERT INTO items (org, kind, id, body) VALUES ('one', 'k', 'x', CAST('item' AS BLOB))`),
				older.close(),
			)
			if err != nil {
				t.Fatal(err)
			}
			slices.SortFunc(want, func(a, b store.ActivityRow) int { return strings.Compare(b.ID, a.ID) })

			db, err := Open(t.Context(), path, Config{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			for _, org := range []string{"one", "two"} {
				got, err := db.Activities(t.Context(), org, store.ActivityQuery{})
				if diff := cmp.Diff(want, got); err != nil || diff != "" {
					t.Errorf("%s: %v, -want +got:\n%s", org, err, diff)
				}
			}
			item, err := db.Get(t.Context(), "one", "k", "x")
			if err != nil || string(item) != "item" {
				t.Errorf("got %q, %v", item, err)
			}
			again := want[7]
			for name, change := range map[string]func(*store.ActivityRow){
				"id":      func(a *store.ActivityRow) { a.TimestampMs = 99 },
				"request": func(a *store.ActivityRow) { a.ID = "99" },
			} {
				a := again
				change(&a)
				if err := db.Commit(t.Context(), &store.Commit{Org: "one", Version: 3, Activity: &a}); !errors.Is(err, store.ErrRecorded) {
					t.Errorf("the same %s again: %v", name, err)
				}
			}
		})
	}
}

// TestUnwritable: a commit that the disk does not take says why.
func TestUnwritable(t *testing.T) {
	for pragma, want := range map[string]error{
		"PRAGMA max_page_count = 1": store.ErrDiskFull, // which is raised to what the file has
		"PRAGMA query_only = 1":     store.ErrReadOnly,
	} {
		t.Run(pragma, func(t *testing.T) {
			db, _ := openTest(t)
			if err := db.writer.conn.exec(pragma); err != nil {
				t.Fatal(err)
			}
			err := db.Commit(t.Context(), &store.Commit{Org: "org", Changes: []store.Change{{Kind: "k", ID: "i", Body: make([]byte, 1<<20)}}})
			if !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
			if err := db.Ready(t.Context()); err != nil {
				t.Errorf("it can be read: %v", err)
			}
		})
	}
	if err := named(errors.New("another")); errors.Is(err, store.ErrIO) {
		t.Error(err)
	}
}

// TestPutAsideTwice keeps both databases that were replaced within one second.
func TestPutAsideTwice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "latchkey.db")
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	for i, want := range []string{".replaced-20261115T120000Z", ".replaced-20261115T120000Z-2", ".replaced-20261115T120000Z-3"} {
		if err := os.WriteFile(path, []byte{byte(i)}, 0o600); err != nil {
			t.Fatal(err)
		}
		aside, err := putAside(path, now)
		if err != nil || aside != path+want {
			t.Fatalf("%s, %v", aside, err)
		}
		if err := os.Remove(path); err != nil { // the caller replaces it
			t.Fatal(err)
		}
		if text, err := os.ReadFile(aside); err != nil || len(text) != 1 || text[0] != byte(i) {
			t.Errorf("%x, %v", text, err)
		}
	}
}

// TestOwner says whose files they are, also before there are any.
func TestOwner(t *testing.T) {
	dir := t.TempDir()
	want := fmt.Sprintf("%s belongs to user %d, and this is user %d", dir, os.Geteuid(), os.Geteuid())
	if got := owner(filepath.Join(dir, "latchkey.db.lock")); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

package sqlite

import (
	"database/sql/driver"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"latchkey/internal/store"
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
		r := <-db.readers.free
		defer func() { db.readers.free <- r }()
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

// TestPlans: every read finds its rows through an index, in order.
func TestPlans(t *testing.T) {
	db, _ := openTest(t)
	c := db.writer.conn
	for _, tc := range []struct {
		name  string
		q     store.ActivityQuery
		index string
	}{
		{"all", store.ActivityQuery{Limit: 10}, "sqlite_autoindex_activities_1 (org=?)"},
		{"after", store.ActivityQuery{After: "x", Limit: 10}, "sqlite_autoindex_activities_1 (org=? AND id<?)"},
		{"before", store.ActivityQuery{Before: "x", Limit: 10}, "sqlite_autoindex_activities_1 (org=? AND id>?)"},
		{"type", store.ActivityQuery{Types: []string{"a"}, After: "x"}, "activities_by_type (org=? AND type=? AND id<?)"},
		{"types", store.ActivityQuery{Types: []string{"a", "b"}, Limit: 10}, "activities_by_type (org=? AND type=?)"},
		{"status", store.ActivityQuery{Statuses: []string{"a"}, Limit: 10}, "activities_by_status (org=? AND status=?)"},
		{"statuses", store.ActivityQuery{Statuses: []string{"a", "b"}, Before: "x"}, "activities_by_status (org=? AND status=? AND id>?)"},
		{"both", store.ActivityQuery{Statuses: []string{"a"}, Types: []string{"a"}}, "activities_by_status (org=? AND status=?)"},
		{"both, completed", store.ActivityQuery{Statuses: []string{completed}, Types: []string{"a"}}, "activities_by_type (org=? AND type=?)"},
		{"completed", store.ActivityQuery{Statuses: []string{completed}}, "sqlite_autoindex_activities_1 (org=?)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			sql, args := listActivities("org", tc.q)
			plan := strings.Join(column(t, c, 3, "EXPLAIN QUERY PLAN "+sql, args...), "\n")
			branches := strings.Count(sql, "FROM activities")
			if n := strings.Count(plan, "USING INDEX "+tc.index); n != branches {
				t.Errorf("%d of %d branches use %s:\n%s", n, branches, tc.index, plan)
			}
			if strings.Contains(plan, "SCAN activities") || branches == 1 && strings.Contains(plan, "TEMP B-TREE") {
				t.Errorf("scans or sorts:\n%s", plan)
			}
		})
	}
}

// TestWALStaysShort writes many times what the WAL may hold, while readers
// come and go.
func TestWALStaysShort(t *testing.T) {
	db, path := openTest(t)
	db.writer.wal.limit = 200
	body := make([]byte, 2000)
	if err := db.Commit(t.Context(), &store.Commit{Org: "org"}); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 500 {
				id := fmt.Sprintf("%d-%d", w, i)
				a := &store.Activity{ID: id, Body: body}
				copy(a.Fingerprint[:], id)
				if err := db.Commit(t.Context(), &store.Commit{Org: "org", Version: 1, Activity: a}); err != nil {
					t.Error(err)
					return
				}
				if got, err := db.Activity(t.Context(), "org", id); err != nil || got == nil {
					t.Errorf("%v, %v", got, err)
					return
				}
			}
		})
	}
	wg.Wait()
	info, err := os.Stat(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	// 4000 records in all are more than 20 MB of WAL.
	if info.Size() > 8<<20 {
		t.Errorf("the WAL has %d bytes", info.Size())
	}
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
	// In doubt nobody knows, and nobody learns.
	v.flushing(map[string]int64{"a": 4})
	v.learn("a", 3, unknown("a"))
	unknown("a")
	v.flushed()
	want("a", 4)
	// A slow reader does not overwrite what the writer said meanwhile.
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
	if n := len(v.cur) + len(v.old); n > 8 {
		t.Errorf("%d versions are kept", n)
	}
	v.forget()
	unknown("filler 19")
}

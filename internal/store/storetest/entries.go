package storetest

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"latchkey/internal/store"
)

func entry(org, activity, body string) []store.Entry {
	return []store.Entry{{Org: org, Activity: activity, Body: []byte(body)}}
}

// entries are the bodies of the entries that a query finds.
func entries(t *testing.T, db store.Driver, q store.EntryQuery) (bodies []string) {
	t.Helper()
	list, err := db.Entries(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range list {
		if i > 0 && list[i-1].Position >= e.Position {
			t.Errorf("position %d comes after %d", e.Position, list[i-1].Position)
		}
		bodies = append(bodies, string(e.Body))
	}
	return bodies
}

func testEntries(t *testing.T, db store.Driver) {
	commit(t, db, &store.Commit{Org: "org", Changes: []store.Change{put("k", "i", "x")}, Entries: entry("org", "", "created")}, nil)
	appended := &store.Commit{Org: "org", Version: 1, Activity: activity("a"), Entries: entry("org", "a", "appended")}
	commit(t, db, appended, nil)
	commit(t, db, appended, store.ErrRecorded)
	commit(t, db, &store.Commit{Org: "org", Version: 7, Activity: activity("b"), Entries: entry("org", "b", "refused")}, store.ErrConflict)
	commit(t, db, &store.Commit{
		Org: "org", Version: 7, Changes: []store.Change{put("k", "i", "y")}, Entries: entry("org", "", "refused"),
	}, store.ErrConflict)
	commit(t, db, &store.Commit{Org: "org", Version: 1, Activity: activity("b")}, nil) // without one
	commit(t, db, &store.Commit{
		Org: "org", Version: 1, Activity: activity("a"), Replaces: true, Creates: []string{"child"},
		Entries: append(entry("org", "a", "replaced"), entry("child", "", "child")...),
	}, nil)
	all := []string{"created", "appended", "replaced", "child"}
	for _, tt := range []struct {
		name string
		q    store.EntryQuery
		want []string
	}{
		{"all", store.EntryQuery{}, all},
		{"limit", store.EntryQuery{Limit: 2}, all[:2]},
		{"of an activity", store.EntryQuery{Org: "org", Activity: "a"}, []string{"appended", "replaced"}},
		{"of an activity elsewhere", store.EntryQuery{Org: "child", Activity: "a"}, nil},
	} {
		if got := entries(t, db, tt.q); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	first, err := db.Entries(t.Context(), store.EntryQuery{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got := entries(t, db, store.EntryQuery{After: first[0].Position}); !slices.Equal(got, all[1:]) {
		t.Errorf("after the first: %q", got)
	}
	every, err := db.Entries(t.Context(), store.EntryQuery{})
	if err != nil {
		t.Fatal(err)
	}
	at := []int64{every[3].Position, 1 << 40, every[1].Position}
	if got := entries(t, db, store.EntryQuery{At: at}); !slices.Equal(got, []string{"appended", "child"}) {
		t.Errorf("at two positions, and one that is not there: %q", got)
	}
}

// testEntriesAtOnce: who reads the entries in order, and looks again for the
// positions that were missing, misses none, and sees those of each writer in the
// order in which they were acknowledged.
func testEntriesAtOnce(t *testing.T, db store.Driver) {
	const writers, each = 8, 30
	create(t, db, "org")
	var wait sync.WaitGroup
	for w := range writers {
		wait.Go(func() {
			for n := range each {
				id := fmt.Sprintf("%d-%03d", w, n)
				if err := db.Commit(t.Context(), &store.Commit{
					Org: "org", Version: 1, Activity: activity(id), Entries: entry("org", id, id),
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() {
		wait.Wait()
		close(done)
	}()
	reader := store.NewEntryReader(db, 0, nil)
	var seen []string
	for last := false; !last || len(seen) < writers*each; {
		select {
		case <-done:
			if last {
				t.Fatalf("%d entries were seen, %d were written", len(seen), writers*each)
			}
			last = true
		default:
		}
		batch, err := reader.Next(t.Context(), 50)
		if err != nil {
			t.Fatal(err)
		}
		for len(batch) > 0 {
			for _, e := range batch {
				seen = append(seen, string(e.Body))
			}
			if batch, err = reader.Next(t.Context(), 50); err != nil {
				t.Fatal(err)
			}
		}
	}
	newest := map[byte]string{}
	for _, id := range seen {
		if id <= newest[id[0]] {
			t.Errorf("%s comes after %s", id, newest[id[0]])
		}
		newest[id[0]] = id
	}
}

package storetest

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"latchkey/internal/store"
)

func testUpsertAndDelete(t *testing.T, db store.Driver) {
	create(t, db, "org")
	commit(t, db, &store.Commit{Org: "org", Version: 1, Changes: []store.Change{
		put("k", "keep", "1"), put("k", "change", "1"), put("k", "delete", "1"),
	}}, nil)
	commit(t, db, &store.Commit{Org: "org", Version: 2, Changes: []store.Change{
		put("k", "change", "2"), del("k", "delete"), put("k", "new", "2"), del("k", "absent"),
	}}, nil)
	wantItem(t, db, "org", "k", "keep", []byte("1"))
	wantItem(t, db, "org", "k", "change", []byte("2"))
	wantItem(t, db, "org", "k", "delete", nil)
	wantItem(t, db, "org", "k", "new", []byte("2"))
	// A deleted item can come back, and only deleting counts as a change too.
	commit(t, db, &store.Commit{Org: "org", Version: 3, Changes: []store.Change{put("k", "delete", "3")}}, nil)
	wantItem(t, db, "org", "k", "delete", []byte("3"))
	commit(t, db, &store.Commit{Org: "org", Version: 4, Changes: []store.Change{del("k", "delete")}}, nil)
	wantItem(t, db, "org", "k", "delete", nil)
	wantVersion(t, db, "org", 5)
}

func testGet(t *testing.T, db store.Driver) {
	wantItem(t, db, "org", "initial", "item", nil)
	create(t, db, "org")
	wantItem(t, db, "org", "initial", "item", []byte("org"))
	wantItem(t, db, "org", "initial", "", nil)
	wantItem(t, db, "org", "", "item", nil)
	wantItem(t, db, "org", "item", "initial", nil)
}

func testOrganizations(t *testing.T, db store.Driver) {
	want := func(after string, limit int, orgs ...string) {
		t.Helper()
		got, err := db.Organizations(t.Context(), after, limit)
		if err != nil || !slices.Equal(got, orgs) {
			t.Errorf("after %q, %d: %v, %v; want %v", after, limit, got, err, orgs)
		}
	}
	want("", 10)
	for _, org := range []string{"b", "B", "ä", "a"} {
		create(t, db, org)
	}
	want("", 10, "B", "a", "b", "ä")
	want("", 2, "B", "a")
	want("a", 2, "b", "ä")
	want("ä", 2)
}

func testBodies(t *testing.T, db store.Driver) {
	create(t, db, "org")
	large := bytes.Repeat([]byte("0123456789abcdef"), 1<<16) // 1 MiB
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	a := activity("large")
	a.Body = large
	commit(t, db, &store.Commit{Org: "org", Version: 1, Activity: a, Changes: []store.Change{
		{Kind: "k", ID: "large", Body: large},
		{Kind: "k", ID: "all bytes", Body: all},
		{Kind: "k", ID: "empty", Body: []byte{}},
	}}, nil)
	wantItem(t, db, "org", "k", "large", large)
	wantItem(t, db, "org", "k", "all bytes", all)
	wantItem(t, db, "org", "k", "empty", []byte{})
	wantActivity(t, db, "org", "large", a)
	items, err := db.Scan(t.Context(), "org", "k", store.Range{})
	if err != nil || len(items) != 3 || items[1].Body == nil {
		t.Fatalf("Scan: %d items, %v", len(items), err)
	}
	empty := activity("empty")
	empty.Body = nil
	commit(t, db, &store.Commit{Org: "org", Version: 2, Activity: empty}, nil)
	wantActivity(t, db, "org", "empty", empty)
}

func testScan(t *testing.T, db store.Driver) {
	create(t, db, "org")
	var changes []store.Change
	for _, id := range []string{"a", "b", "ba", "bb", "c", "d"} {
		changes = append(changes, put("k", id, "body of "+id), put("kk", id, "not this"))
	}
	commit(t, db, &store.Commit{Org: "org", Version: 1, Changes: changes}, nil)
	for _, tc := range []struct {
		r    store.Range
		want []string
	}{
		{store.Range{}, []string{"a", "b", "ba", "bb", "c", "d"}},
		{store.Range{Limit: 2}, []string{"a", "b"}},
		{store.Range{Limit: 100}, []string{"a", "b", "ba", "bb", "c", "d"}},
		{store.Range{From: "b"}, []string{"b", "ba", "bb", "c", "d"}},
		{store.Range{To: "b"}, []string{"a"}},
		{store.Range{From: "b", To: "c"}, []string{"b", "ba", "bb"}},
		{store.Range{From: "b", To: "c", Limit: 2}, []string{"b", "ba"}},
		{store.Range{From: "b", To: "b"}, nil},
		{store.Range{From: "c", To: "b"}, nil},
		{store.Range{From: "b\x01"}, []string{"ba", "bb", "c", "d"}},
		{store.Range{From: "e"}, nil},
	} {
		t.Run(fmt.Sprintf("%q-%q-%d", tc.r.From, tc.r.To, tc.r.Limit), func(t *testing.T) {
			got, err := db.Scan(t.Context(), "org", "k", tc.r)
			if err != nil {
				t.Fatal(err)
			}
			var want []store.Item
			for _, id := range tc.want {
				want = append(want, store.Item{ID: id, Body: []byte("body of " + id)})
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// testScanOrder: any locale would put these in another order than bytes do.
func testScanOrder(t *testing.T, db store.Driver) {
	ids := []string{
		"Z", "a", "A", "z", "ä", "Ä", "a b", "a-b", "a_b", "ab", "aB", "é", "e\u0301", "ß", "ss", "0", "10", "9",
		"\x01", "~", "\u00a0", "語", "\U0001F511", "\uffff", "a/", "a0", "a.",
	}
	create(t, db, "org")
	var changes []store.Change
	for _, id := range ids {
		changes = append(changes, put("k", id, id))
	}
	commit(t, db, &store.Commit{Org: "org", Version: 1, Changes: changes}, nil)
	slices.Sort(ids)
	for i := range ids {
		items, err := db.Scan(t.Context(), "org", "k", store.Range{From: ids[i]})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, it := range items {
			got = append(got, it.ID)
		}
		if diff := cmp.Diff(ids[i:], got); diff != "" {
			t.Fatalf("from %q, -want +got:\n%s", ids[i], diff)
		}
		items, err = db.Scan(t.Context(), "org", "k", store.Range{To: ids[i]})
		if err != nil || len(items) != i {
			t.Fatalf("to %q: %d items, %v; want %d", ids[i], len(items), err, i)
		}
	}
}

func testIsolation(t *testing.T, db store.Driver) {
	for _, org := range []string{"org", "org1", "or", "ORG"} {
		create(t, db, org)
		commit(t, db, &store.Commit{
			Org: org, Version: 1, Activity: activity("same"), Changes: []store.Change{put("k", "i", "of "+org)},
		}, nil)
	}
	commit(t, db, &store.Commit{Org: "org", Version: 2, Changes: []store.Change{del("k", "i")}}, nil)
	wantVersion(t, db, "org", 3)
	wantItem(t, db, "org", "k", "i", nil)
	for _, org := range []string{"org1", "or", "ORG"} {
		wantVersion(t, db, org, 2)
		wantItem(t, db, org, "k", "i", []byte("of "+org))
		wantActivity(t, db, org, "same", activity("same"))
		if n := countActivities(t, db, org); n != 1 {
			t.Errorf("%s has %d activities", org, n)
		}
		items, err := db.Scan(t.Context(), org, "k", store.Range{})
		if err != nil || len(items) != 1 {
			t.Errorf("%s has %d items, %v", org, len(items), err)
		}
	}
}

func testCase(t *testing.T, db store.Driver) {
	create(t, db, "org")
	commit(t, db, &store.Commit{Org: "org", Version: 1, Activity: activity("a"), Changes: []store.Change{
		put("k", "id", "lower"), put("k", "ID", "upper"), put("K", "id", "kind"), put("k", "id ", "space"),
	}}, nil)
	commit(t, db, &store.Commit{Org: "org", Version: 2, Activity: activity("A")}, nil)
	wantItem(t, db, "org", "k", "id", []byte("lower"))
	wantItem(t, db, "org", "k", "ID", []byte("upper"))
	wantItem(t, db, "org", "K", "id", []byte("kind"))
	wantItem(t, db, "org", "k", "id ", []byte("space"))
	wantItem(t, db, "org", "k", "Id", nil)
	wantActivity(t, db, "org", "a", activity("a"))
	wantActivity(t, db, "org", "A", activity("A"))
	commit(t, db, &store.Commit{Org: "org", Version: 2, Changes: []store.Change{del("k", "ID")}}, nil)
	wantItem(t, db, "org", "k", "id", []byte("lower"))
}

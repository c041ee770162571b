package storetest

import (
	"bytes"
	"slices"
	"testing"

	"latchkey/internal/store"
)

func testKinds(t *testing.T, db store.Driver) {
	want := func(org string, kinds ...string) {
		t.Helper()
		got, err := db.Kinds(t.Context(), org)
		if err != nil || !slices.Equal(got, kinds) {
			t.Errorf("%s: %v, %v; want %v", org, got, err, kinds)
		}
	}
	want("org")
	create(t, db, "org")
	create(t, db, "other")
	commit(t, db, &store.Commit{Org: "org", Version: 1, Changes: []store.Change{
		put("b", "1", ""), put("b", "2", ""), put("B", "1", ""), put("b.name", "1", ""), put("ä", "1", ""),
		// Of an organization that no commit has created.
		{Org: "elsewhere", Kind: "message", ID: "1", Body: []byte{}},
	}}, nil)
	want("org", "B", "b", "b.name", "initial", "ä")
	want("other", "initial")
	want("elsewhere", "message")
	want("or")
}

// testReplaceBodies: other bodies for rows that are there, all or none, whatever
// the version of their organization is.
func testReplaceBodies(t *testing.T, db store.Driver) {
	for _, org := range []string{"org", "other"} {
		create(t, db, org)
		commit(t, db, &store.Commit{Org: org, Version: 1, Activity: activity("a"), Changes: []store.Change{
			put("k", "1", "before"), put("k", "2", "before"), put("kk", "1", "before"),
			{Org: "elsewhere", Kind: "message", ID: org, Body: []byte("before")},
		}}, nil)
		commit(t, db, &store.Commit{Org: org, Version: 2, Activity: activity("b")}, nil)
	}
	large := bytes.Repeat([]byte{0xA1, 0}, 1<<18)
	replace := func(org string, bodies ...store.StoredBody) error {
		return db.ReplaceBodies(t.Context(), org, bodies)
	}
	for _, missing := range []store.StoredBody{{Kind: "k", ID: "3"}, {Kind: "K", ID: "1"}, {ID: "c"}, {ID: "1"}, {Kind: "a", ID: "a"}} {
		if err := replace("org", store.StoredBody{Kind: "k", ID: "1", Body: large}, store.StoredBody{ID: "a", Body: large}, missing); err == nil {
			t.Errorf("%v is not there, and was replaced", missing)
		}
	}
	wantItem(t, db, "org", "k", "1", []byte("before"))
	wantActivity(t, db, "org", "a", activity("a"))
	if err := replace("org"); err != nil {
		t.Errorf("nothing to replace: %v", err)
	}
	if err := replace("org", store.StoredBody{Kind: "k", ID: "1", Body: large}, store.StoredBody{Kind: "k", ID: "2", Body: nil},
		store.StoredBody{ID: "a", Body: large}); err != nil {
		t.Fatal(err)
	}
	if err := replace("elsewhere", store.StoredBody{Kind: "message", ID: "org", Body: []byte("after")}); err != nil {
		t.Fatal(err)
	}
	wantItem(t, db, "org", "k", "1", large)
	wantItem(t, db, "org", "k", "2", []byte{})
	wantItem(t, db, "org", "kk", "1", []byte("before"))
	wantItem(t, db, "other", "k", "1", []byte("before"))
	wantItem(t, db, "elsewhere", "message", "org", []byte("after"))
	wantItem(t, db, "elsewhere", "message", "other", []byte("before"))
	after := activity("a")
	after.Body = large
	wantActivity(t, db, "org", "a", after)
	wantActivity(t, db, "org", "b", activity("b"))
	wantActivity(t, db, "other", "a", activity("a"))
	wantVersion(t, db, "org", 2)
	wantVersion(t, db, "elsewhere", 0)
	// What comes next finds the organization as it was.
	commit(t, db, &store.Commit{Org: "org", Version: 2, Changes: []store.Change{put("k", "1", "later")}}, nil)
	wantItem(t, db, "org", "k", "1", []byte("later"))
}

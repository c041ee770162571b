package storetest

import (
	"testing"

	"latchkey/internal/store"
)

// markSize is how many bytes are before the body of a marked row.
const markSize = 17

// Unmark brings a database to the form of a version that marked no rows and kept
// no heads and no log. Entries of a log that was kept are the caller's to delete.
func Unmark(t testing.TB, db store.Driver) {
	t.Helper()
	orgs, err := db.Organizations(t.Context(), "", 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, org := range orgs {
		unmark(t, db, org)
	}
	unmark(t, db, "outbox")
}

func unmark(t testing.TB, db store.Driver, org string) {
	t.Helper()
	kinds, err := db.Kinds(t.Context(), org)
	if err != nil {
		t.Fatal(err)
	}
	version, err := db.Version(t.Context(), org)
	if err != nil {
		t.Fatal(err)
	}
	var bodies []store.StoredBody
	made := &store.Commit{Org: org, Version: version} // what the earlier version did not have
	for _, kind := range kinds {
		items, err := db.Scan(t.Context(), org, kind, store.Range{})
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range items {
			// Without its mark a tile of the log, which is hashes and nothing else, could
			// look as if it had one.
			if org == store.LogOrganization || kind == "head" || kind == "installation" || kind == "sealed" && item.ID == "row-root" {
				made.Changes = append(made.Changes, store.Change{Org: org, Kind: kind, ID: item.ID})
				continue
			}
			bodies = append(bodies, store.StoredBody{Kind: kind, ID: item.ID, Body: unmarked(t, item.Body)})
		}
	}
	activities, err := db.Activities(t.Context(), org, store.ActivityQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range activities {
		bodies = append(bodies, store.StoredBody{ID: a.ID, Body: unmarked(t, a.Body)})
	}
	if err := db.ReplaceBodies(t.Context(), org, bodies); err != nil {
		t.Fatal(err)
	}
	if len(made.Changes) > 0 {
		if err := db.Commit(t.Context(), made); err != nil {
			t.Fatal(err)
		}
	}
}

func unmarked(t testing.TB, body []byte) []byte {
	t.Helper()
	if len(body) < markSize || body[0] != 0xA1 {
		t.Fatalf("a row is not marked: %.40q", body)
	}
	return body[markSize:]
}

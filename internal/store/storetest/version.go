package storetest

import (
	"fmt"
	"testing"

	"latchkey/internal/store"
)

func testVersion(t *testing.T, db store.Driver) {
	wantVersion(t, db, "org", 0)
	commit(t, db, &store.Commit{Org: "org", Version: 1, Activity: activity("a")}, store.ErrConflict)
	commit(t, db, &store.Commit{Org: "org", Version: 1, Changes: []store.Change{put("k", "i", "x")}}, store.ErrConflict)
	wantVersion(t, db, "org", 0)

	commit(t, db, &store.Commit{Org: "org", Activity: activity("a"), Changes: []store.Change{put("k", "i", "1")}}, nil)
	wantVersion(t, db, "org", 1)
	wantActivity(t, db, "org", "a", activity("a"))
	wantItem(t, db, "org", "k", "i", []byte("1"))

	// An activity alone leaves the version as it is.
	commit(t, db, &store.Commit{Org: "org", Version: 1, Activity: activity("b")}, nil)
	wantVersion(t, db, "org", 1)
	// Changes raise it by one, however many they are, with an activity or not.
	commit(t, db, &store.Commit{
		Org: "org", Version: 1, Activity: activity("c"),
		Changes: []store.Change{put("k", "i", "2"), put("k", "j", "2"), del("k", "absent")},
	}, nil)
	wantVersion(t, db, "org", 2)
	commit(t, db, &store.Commit{Org: "org", Version: 2, Changes: []store.Change{put("k", "i", "3")}}, nil)
	wantVersion(t, db, "org", 3)
	// Neither an older nor a newer version is the version.
	commit(t, db, &store.Commit{Org: "org", Version: 2, Changes: []store.Change{put("k", "i", "x")}}, store.ErrConflict)
	commit(t, db, &store.Commit{Org: "org", Version: 4, Changes: []store.Change{put("k", "i", "x")}}, store.ErrConflict)
	wantVersion(t, db, "org", 3)
	wantVersion(t, db, "other", 0)
}

func testCreateTwice(t *testing.T, db store.Driver) {
	create(t, db, "org")
	commit(t, db, &store.Commit{
		Org: "org", Activity: activity("a"), Changes: []store.Change{put("k", "i", "x")},
	}, store.ErrConflict)
	commit(t, db, &store.Commit{Org: "org", Activity: activity("a")}, store.ErrConflict)
	wantVersion(t, db, "org", 1)
	wantActivity(t, db, "org", "a", nil)
	wantItem(t, db, "org", "k", "i", nil)
}

func testCreateWithoutChanges(t *testing.T, db store.Driver) {
	commit(t, db, &store.Commit{Org: "org", Activity: activity("a")}, nil)
	wantVersion(t, db, "org", 1)
	wantActivity(t, db, "org", "a", activity("a"))
	commit(t, db, &store.Commit{Org: "bare"}, nil)
	wantVersion(t, db, "bare", 1)
}

func testEmptyCommit(t *testing.T, db store.Driver) {
	create(t, db, "org")
	commit(t, db, &store.Commit{Org: "org", Version: 1}, nil)
	commit(t, db, &store.Commit{Org: "org", Version: 2}, store.ErrConflict)
	wantVersion(t, db, "org", 1)
}

func testConflictLeavesNothing(t *testing.T, db store.Driver) {
	create(t, db, "org")
	commit(t, db, &store.Commit{Org: "org", Version: 1, Changes: []store.Change{put("k", "i", "1")}}, nil)
	commit(t, db, &store.Commit{
		Org: "org", Version: 1, Activity: activity("a"),
		Changes: []store.Change{put("k", "i", "x"), put("k", "new", "x"), del("initial", "item")},
	}, store.ErrConflict)
	wantVersion(t, db, "org", 2)
	wantActivity(t, db, "org", "a", nil)
	wantItem(t, db, "org", "k", "i", []byte("1"))
	wantItem(t, db, "org", "k", "new", nil)
	wantItem(t, db, "org", "initial", "item", []byte("org"))
	// The refused request is not recorded: it can be made again.
	commit(t, db, &store.Commit{Org: "org", Version: 2, Activity: activity("a")}, nil)
}

func testRecordedLeavesNothing(t *testing.T, db store.Driver) {
	create(t, db, "org")
	commit(t, db, &store.Commit{Org: "org", Version: 1, Activity: activity("a")}, nil)
	again := activity("a")
	again.ID, again.Body = "b", []byte("other")
	commit(t, db, &store.Commit{
		Org: "org", Version: 1, Activity: again,
		Changes: []store.Change{put("k", "i", "x"), del("initial", "item")},
	}, store.ErrRecorded)
	wantVersion(t, db, "org", 1)
	wantActivity(t, db, "org", "b", nil)
	wantActivity(t, db, "org", "a", activity("a"))
	wantItem(t, db, "org", "k", "i", nil)
	wantItem(t, db, "org", "initial", "item", []byte("org"))
	commit(t, db, &store.Commit{Org: "org", Version: 1, Activity: again}, store.ErrRecorded)
	// Another time, or another organization, makes another request.
	later := *again
	later.TimestampMs++
	commit(t, db, &store.Commit{Org: "org", Version: 1, Activity: &later}, nil)
	create(t, db, "org2")
	commit(t, db, &store.Commit{Org: "org2", Version: 1, Activity: again}, nil)
}

func testRecordedID(t *testing.T, db store.Driver) {
	create(t, db, "org")
	commit(t, db, &store.Commit{Org: "org", Version: 1, Activity: activity("a")}, nil)
	same := activity("a")
	same.Fingerprint = fingerprint("another")
	commit(t, db, &store.Commit{Org: "org", Version: 1, Activity: same}, store.ErrRecorded)
	commit(t, db, &store.Commit{
		Org: "org", Version: 1, Activity: same, Changes: []store.Change{put("k", "i", "x")},
	}, store.ErrRecorded)
	wantVersion(t, db, "org", 1)
	wantActivity(t, db, "org", "a", activity("a"))
	wantItem(t, db, "org", "k", "i", nil)
}

func testAppendAtOldVersion(t *testing.T, db store.Driver) {
	create(t, db, "org")
	commit(t, db, &store.Commit{Org: "org", Version: 1, Changes: []store.Change{put("k", "i", "1")}}, nil)
	commit(t, db, &store.Commit{Org: "org", Version: 1, Activity: activity("a")}, store.ErrConflict)
	wantActivity(t, db, "org", "a", nil)
	// Of two reasons to refuse, the conflict is named.
	commit(t, db, &store.Commit{Org: "org", Version: 2, Activity: activity("a")}, nil)
	commit(t, db, &store.Commit{Org: "org", Version: 1, Activity: activity("a")}, store.ErrConflict)
}

// testVersionsAtOnce asks for versions of several organizations from many sides:
// each gets its own, and none that is older than what it saw acknowledged.
func testVersionsAtOnce(t *testing.T, db store.Driver) {
	const n = 32
	ok, _, _ := concurrently(t, n, func(i int) error {
		org, missing := fmt.Sprint("org ", i), fmt.Sprint("missing ", i)
		for v := range int64(10) {
			if err := db.Commit(t.Context(), &store.Commit{Org: org, Version: v, Changes: []store.Change{put("k", "i", "x")}}); err != nil {
				return err
			}
			if got, err := db.Version(t.Context(), org); err != nil || got != v+1 {
				return fmt.Errorf("%s is at version %d (%w), not %d", org, got, err, v+1)
			}
			if got, err := db.Version(t.Context(), missing); err != nil || got != 0 {
				return fmt.Errorf("%s is at version %d (%w)", missing, got, err)
			}
			found, err := db.Versions(t.Context(), []string{missing, org})
			if err != nil || len(found) != 1 || found[org] != v+1 {
				return fmt.Errorf("%s at %d: %v (%w)", org, v+1, found, err)
			}
		}
		return nil
	})
	if ok != n {
		t.Fatalf("%d of %d were fine", ok, n)
	}
}

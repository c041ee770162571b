package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"latchkey/internal/store"
)

func testReplace(t *testing.T, db store.Driver) {
	commit(t, db, &store.Commit{Org: "org", Activity: activity("a")}, nil)
	replaced := activity("a")
	replaced.Status, replaced.Body = "ACTIVITY_STATUS_FAILED", []byte("replaced")
	commit(t, db, &store.Commit{Org: "org", Version: 1, Activity: replaced, Replaces: true}, nil)
	wantActivity(t, db, "org", "a", replaced)
	wantVersion(t, db, "org", 2) // or two could replace what both of them read
	// With changes, and not at an old version.
	again := *replaced
	again.Body = []byte("again")
	commit(t, db, &store.Commit{
		Org: "org", Version: 1, Activity: &again, Replaces: true, Changes: []store.Change{put("k", "i", "x")},
	}, store.ErrConflict)
	wantActivity(t, db, "org", "a", replaced)
	wantItem(t, db, "org", "k", "i", nil)
	commit(t, db, &store.Commit{
		Org: "org", Version: 2, Activity: &again, Replaces: true, Changes: []store.Change{put("k", "i", "x")},
	}, nil)
	wantActivity(t, db, "org", "a", &again)
	wantItem(t, db, "org", "k", "i", []byte("x"))
	// What is not there cannot be replaced, here or in another organization.
	commit(t, db, &store.Commit{
		Org: "org", Version: 3, Activity: activity("b"), Replaces: true, Changes: []store.Change{put("k", "i", "y")},
	}, store.ErrRecorded)
	create(t, db, "other")
	commit(t, db, &store.Commit{Org: "other", Version: 1, Activity: &again, Replaces: true}, store.ErrRecorded)
	wantVersion(t, db, "org", 3)
	wantItem(t, db, "org", "k", "i", []byte("x"))
}

// testReplaceAtOnce lets many replace one activity: each version is replaced
// by one of them.
func testReplaceAtOnce(t *testing.T, db store.Driver) {
	commit(t, db, &store.Commit{Org: "org", Activity: activity("a")}, nil)
	const writers = 16
	var wait sync.WaitGroup
	errs := make([]error, writers)
	for i := range writers {
		wait.Go(func() {
			a := activity("a")
			a.Body = fmt.Appendf(nil, "by %d", i)
			errs[i] = db.Commit(t.Context(), &store.Commit{Org: "org", Version: 1, Activity: a, Replaces: true})
		})
	}
	wait.Wait()
	won := 0
	for _, err := range errs {
		switch {
		case err == nil:
			won++
		case errors.Is(err, store.ErrConflict):
		default:
			t.Error(err)
		}
	}
	if won != 1 {
		t.Errorf("%d writers replaced the same state", won)
	}
	wantVersion(t, db, "org", 2)
}

func testCreateOthers(t *testing.T, db store.Driver) {
	create(t, db, "parent")
	elsewhere := func(org string, c store.Change) store.Change {
		c.Org = org
		return c
	}
	creation := &store.Commit{
		Org: "parent", Version: 1, Activity: activity("a"), Creates: []string{"child", "twin"},
		Changes: []store.Change{put("k", "mine", "1"), elsewhere("child", put("k", "i", "2")), elsewhere("twin", put("k", "i", "3"))},
	}
	stale := *creation
	stale.Version = 7
	commit(t, db, &stale, store.ErrConflict)
	wantVersion(t, db, "child", 0)
	wantItem(t, db, "child", "k", "i", nil)

	commit(t, db, creation, nil)
	wantVersion(t, db, "parent", 2)
	wantVersion(t, db, "child", 1)
	wantVersion(t, db, "twin", 1)
	wantItem(t, db, "parent", "k", "mine", []byte("1"))
	wantItem(t, db, "child", "k", "i", []byte("2"))
	wantItem(t, db, "twin", "k", "i", []byte("3"))
	wantItem(t, db, "parent", "k", "i", nil)

	// A recorded request creates nothing.
	repeated := *creation
	repeated.Version, repeated.Creates = 2, []string{"another"}
	repeated.Changes = []store.Change{elsewhere("another", put("k", "i", "x"))}
	commit(t, db, &repeated, store.ErrRecorded)
	wantVersion(t, db, "another", 0)
	wantItem(t, db, "another", "k", "i", nil)

	// An organization that exists is not created again, and nothing of the
	// commit happens.
	again := &store.Commit{
		Org: "parent", Version: 2, Activity: activity("b"), Creates: []string{"child"},
		Changes: []store.Change{put("k", "mine", "x"), elsewhere("child", put("k", "i", "x"))},
	}
	if err := db.Commit(t.Context(), again); err == nil {
		t.Error("an organization was created twice")
	}
	wantVersion(t, db, "parent", 2)
	wantVersion(t, db, "child", 1)
	wantItem(t, db, "parent", "k", "mine", []byte("1"))
	wantItem(t, db, "child", "k", "i", []byte("2"))
	wantActivity(t, db, "parent", "b", nil)
	// The child can be changed by itself.
	commit(t, db, &store.Commit{Org: "child", Version: 1, Changes: []store.Change{put("k", "i", "4")}}, nil)
	wantItem(t, db, "child", "k", "i", []byte("4"))
}

// testCreateOthersAtOnce lets many commits of one organization create others:
// all of them can at the same version, and a change can at the same time.
func testCreateOthersAtOnce(t *testing.T, db store.Driver) {
	create(t, db, "parent")
	const writers = 32
	var wait sync.WaitGroup
	errs := make([]error, writers)
	for i := range writers {
		wait.Go(func() {
			child := fmt.Sprint("child", i)
			entry := store.Change{Org: "parent", Kind: "directory", ID: child, Body: []byte{}}
			errs[i] = db.Commit(t.Context(), &store.Commit{
				Org: "parent", Version: 1, Activity: activity(child), Creates: []string{child},
				Changes: []store.Change{entry, {Org: child, Kind: "k", ID: "i", Body: []byte(child)}},
			})
		})
	}
	wait.Wait()
	for i, err := range errs {
		if err != nil {
			t.Error(err)
		}
		child := fmt.Sprint("child", i)
		wantVersion(t, db, child, 1)
		wantItem(t, db, child, "k", "i", []byte(child))
		wantItem(t, db, "parent", "directory", child, []byte{})
	}
	wantVersion(t, db, "parent", 1)

	// One of them against a change: after the change, a commit at the old version
	// is refused, and creates nothing.
	for i := range 20 {
		version, child := int64(i+1), fmt.Sprint("rival", i)
		var created, changed error
		wait.Go(func() {
			created = db.Commit(t.Context(), &store.Commit{
				Org: "parent", Version: version, Activity: activity(child), Creates: []string{child},
			})
		})
		wait.Go(func() {
			changed = db.Commit(t.Context(), &store.Commit{Org: "parent", Version: version, Changes: []store.Change{put("k", "i", child)}})
		})
		wait.Wait()
		if changed != nil || created != nil && !errors.Is(created, store.ErrConflict) {
			t.Fatalf("changed: %v, created: %v", changed, created)
		}
		wantVersion(t, db, "parent", version+1)
		if created == nil {
			wantVersion(t, db, child, 1)
		} else {
			wantVersion(t, db, child, 0)
			wantActivity(t, db, "parent", child, nil)
		}
	}
}

// testItemsElsewhere writes and deletes items of another organization, which
// raises no version, but needs the writer's.
func testItemsElsewhere(t *testing.T, db store.Driver) {
	create(t, db, "child")
	create(t, db, "parent")
	entry := put("directory", "key", "child")
	entry.Org = "parent"
	commit(t, db, &store.Commit{Org: "child", Version: 9, Changes: []store.Change{entry}}, store.ErrConflict)
	wantItem(t, db, "parent", "directory", "key", nil)
	commit(t, db, &store.Commit{Org: "child", Version: 1, Changes: []store.Change{entry}}, nil)
	wantItem(t, db, "parent", "directory", "key", []byte("child"))
	wantItem(t, db, "child", "directory", "key", nil)
	wantVersion(t, db, "parent", 1)
	wantVersion(t, db, "child", 1)
	commit(t, db, &store.Commit{Org: "child", Version: 1, Changes: []store.Change{put("k", "i", "x")}}, nil)
	entry.Body = nil
	commit(t, db, &store.Commit{Org: "child", Version: 1, Changes: []store.Change{entry}}, store.ErrConflict)
	wantItem(t, db, "parent", "directory", "key", []byte("child"))
	commit(t, db, &store.Commit{Org: "child", Version: 2, Changes: []store.Change{entry}}, nil)
	wantItem(t, db, "parent", "directory", "key", nil)
}

// claim is an item of another organization that must be new.
func claim(id, body string) store.Change {
	return store.Change{Org: "elsewhere", Kind: "claim", ID: id, Body: []byte(body), New: true}
}

// testNewItems: a commit with an item that must be new, and is not, leaves
// nothing behind; and neither does one that is refused for another reason.
func testNewItems(t *testing.T, db store.Driver) {
	create(t, db, "a")
	create(t, db, "b")
	both := func(org, id string, version int64, claims ...store.Change) *store.Commit {
		return &store.Commit{
			Org: org, Version: version, Activity: activity(id),
			Changes: append([]store.Change{put("k", id, org)}, claims...),
		}
	}
	commit(t, db, both("a", "stale", 9, claim("x", "a")), store.ErrConflict)
	wantItem(t, db, "elsewhere", "claim", "x", nil)
	commit(t, db, both("a", "first", 1, claim("x", "a"), claim("y", "a")), nil)
	wantItem(t, db, "elsewhere", "claim", "x", []byte("a"))
	wantItem(t, db, "elsewhere", "claim", "y", []byte("a"))

	for _, taken := range []*store.Commit{
		both("b", "second", 1, claim("x", "b")),
		both("b", "second", 1, claim("z", "b"), claim("x", "b")),
		{Org: "b", Version: 1, Changes: []store.Change{claim("z", "b"), claim("x", "b")}},
		{Org: "b", Version: 1, Activity: activity("second"), Creates: []string{"child"}, Changes: []store.Change{claim("x", "b")}},
	} {
		commit(t, db, taken, store.ErrConflict)
		wantItem(t, db, "elsewhere", "claim", "x", []byte("a"))
		wantItem(t, db, "elsewhere", "claim", "z", nil)
		wantItem(t, db, "b", "k", "second", nil)
		wantVersion(t, db, "b", 1)
		wantVersion(t, db, "child", 0)
		wantActivity(t, db, "b", "second", nil)
	}
	// A request that is recorded claims nothing.
	commit(t, db, both("a", "first", 2, claim("z", "a")), store.ErrRecorded)
	wantItem(t, db, "elsewhere", "claim", "z", nil)
	// With a replaced activity, and with none.
	replaced := &store.Commit{Org: "a", Version: 2, Activity: activity("first"), Replaces: true, Changes: []store.Change{claim("z", "a")}}
	commit(t, db, replaced, nil)
	wantItem(t, db, "elsewhere", "claim", "z", []byte("a"))
	commit(t, db, &store.Commit{Org: "b", Version: 1, Changes: []store.Change{claim("free", "b")}}, nil)
	wantItem(t, db, "elsewhere", "claim", "free", []byte("b"))
	// What was deleted is new again.
	gone := del("claim", "free")
	gone.Org = "elsewhere"
	commit(t, db, &store.Commit{Org: "b", Version: 1, Changes: []store.Change{gone}}, nil)
	commit(t, db, &store.Commit{Org: "b", Version: 1, Changes: []store.Change{claim("free", "again")}}, nil)
	wantItem(t, db, "elsewhere", "claim", "free", []byte("again"))
}

// testNewItemsAtOnce lets many organizations write the same new item: one does,
// and the others change nothing.
func testNewItemsAtOnce(t *testing.T, db store.Driver) {
	const writers = 16
	for i := range writers {
		create(t, db, fmt.Sprint("org", i))
	}
	for round := range 5 {
		id := fmt.Sprint("item", round)
		ok, conflict, _ := concurrently(t, writers, func(i int) error {
			org := fmt.Sprint("org", i)
			return db.Commit(t.Context(), &store.Commit{
				Org: org, Version: 1, Activity: activity(id), Changes: []store.Change{claim(id, org)},
			})
		})
		if ok != 1 || conflict != writers-1 {
			t.Errorf("%d of %d commits wrote the item, and %d conflicted", ok, writers, conflict)
		}
		winner, err := db.Get(t.Context(), "elsewhere", "claim", id)
		if err != nil {
			t.Fatal(err)
		}
		for i := range writers {
			org := fmt.Sprint("org", i)
			var want *store.ActivityRow
			if org == string(winner) {
				want = activity(id)
			}
			wantActivity(t, db, org, id, want)
		}
	}
}

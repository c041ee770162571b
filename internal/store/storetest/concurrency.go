package storetest

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"latchkey/internal/store"
)

// concurrently runs fn n times at once and counts the outcomes.
func concurrently(t *testing.T, n int, fn func(i int) error) (ok, conflict, recorded int) {
	t.Helper()
	errs := make([]error, n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			errs[i] = fn(i)
		})
	}
	close(start)
	wg.Wait()
	for i, err := range errs {
		switch {
		case err == nil:
			ok++
		case errors.Is(err, store.ErrConflict):
			conflict++
		case errors.Is(err, store.ErrRecorded):
			recorded++
		default:
			t.Fatalf("commit %d: %v", i, err)
		}
	}
	return ok, conflict, recorded
}

func testParallelAppends(t *testing.T, db store.Driver) {
	const writers, each = 64, 20
	create(t, db, "org")
	ok, _, _ := concurrently(t, writers, func(w int) error {
		for i := range each {
			if err := db.Commit(t.Context(), &store.Commit{
				Org: "org", Version: 1, Activity: activity(fmt.Sprintf("%02d-%02d", w, i)),
			}); err != nil {
				return err
			}
		}
		return nil
	})
	if ok != writers {
		t.Fatalf("%d of %d writers were never refused", ok, writers)
	}
	if n := countActivities(t, db, "org"); n != writers*each {
		t.Fatalf("%d activities, want %d", n, writers*each)
	}
	wantVersion(t, db, "org", 1)
}

func testSameFingerprintAtOnce(t *testing.T, db store.Driver) {
	create(t, db, "org")
	for round := range 10 {
		a := activity(fmt.Sprint("round ", round))
		ok, conflict, recorded := concurrently(t, 50, func(i int) error {
			mine := *a
			mine.ID = fmt.Sprintf("%s-%d", a.ID, i)
			return db.Commit(t.Context(), &store.Commit{Org: "org", Version: 1, Activity: &mine})
		})
		if ok != 1 || conflict != 0 || recorded != 49 {
			t.Fatalf("ok %d, conflict %d, recorded %d; want 1, 0, 49", ok, conflict, recorded)
		}
	}
	if n := countActivities(t, db, "org"); n != 10 {
		t.Fatalf("%d activities, want 10", n)
	}
}

// testSameIDAtOnce: the activity whose commit succeeded is the one that is stored.
func testSameIDAtOnce(t *testing.T, db store.Driver) {
	create(t, db, "org")
	for round := range 10 {
		id := fmt.Sprint("round ", round)
		var winner atomic.Int64
		ok, _, recorded := concurrently(t, 20, func(i int) error {
			a := activity(id)
			a.Body = []byte(strconv.Itoa(i))
			if i%2 == 0 {
				a.Fingerprint = fingerprint(id, i)
			}
			err := db.Commit(t.Context(), &store.Commit{Org: "org", Version: 1, Activity: a})
			if err == nil {
				winner.Store(int64(i))
			}
			return err
		})
		if ok != 1 || recorded != 19 {
			t.Fatalf("ok %d, recorded %d; want 1, 19", ok, recorded)
		}
		got, err := db.Activity(t.Context(), "org", id)
		if err != nil || got == nil || string(got.Body) != strconv.FormatInt(winner.Load(), 10) {
			t.Fatalf("the activity is %+v, %v; the winner was %d", got, err, winner.Load())
		}
	}
}

func testTwoWriters(t *testing.T, db store.Driver) {
	create(t, db, "org")
	for v := int64(1); v <= 100; v++ {
		var winner atomic.Int64
		ok, conflict, _ := concurrently(t, 2, func(i int) error {
			body := fmt.Sprint("writer ", i)
			err := db.Commit(t.Context(), &store.Commit{
				Org: "org", Version: v, Activity: activity(fmt.Sprintf("%d-%d", v, i)),
				Changes: []store.Change{put("k", "a", body), put("k", "b", body)},
			})
			if err == nil {
				winner.Store(int64(i))
			}
			return err
		})
		if ok != 1 || conflict != 1 {
			t.Fatalf("version %d: ok %d, conflict %d", v, ok, conflict)
		}
		want := []byte(fmt.Sprint("writer ", winner.Load()))
		wantItem(t, db, "org", "k", "a", want)
		wantItem(t, db, "org", "k", "b", want)
		wantActivity(t, db, "org", fmt.Sprintf("%d-%d", v, 1-winner.Load()), nil)
	}
	wantVersion(t, db, "org", 101)
	if n := countActivities(t, db, "org"); n != 100 {
		t.Fatalf("%d activities, want 100", n)
	}
}

func testCreateAtOnce(t *testing.T, db store.Driver) {
	for round := range 20 {
		org := fmt.Sprint("org ", round)
		ok, conflict, _ := concurrently(t, 8, func(i int) error {
			return db.Commit(t.Context(), &store.Commit{
				Org: org, Activity: activity(fmt.Sprint("creator ", i)), Changes: []store.Change{put("k", "i", fmt.Sprint(i))},
			})
		})
		if ok != 1 || conflict != 7 {
			t.Fatalf("ok %d, conflict %d; want 1, 7", ok, conflict)
		}
		wantVersion(t, db, org, 1)
		if n := countActivities(t, db, org); n != 1 {
			t.Fatalf("%d activities", n)
		}
	}
}

// testCommitsOfOneGroup sends commits that end in every way at once, which puts
// them into one group, and expects each to have its own outcome.
func testCommitsOfOneGroup(t *testing.T, db store.Driver) {
	const orgs = 4
	for o := range orgs {
		create(t, db, fmt.Sprint("org", o))
		commit(t, db, &store.Commit{Org: fmt.Sprint("org", o), Version: 1, Activity: activity("old")}, nil)
	}
	for v := int64(1); v <= 20; v++ {
		outcomes := make([]error, 8*orgs)
		concurrently(t, len(outcomes), func(i int) error {
			c := &store.Commit{Org: fmt.Sprint("org", i%orgs), Version: v, Activity: activity(fmt.Sprintf("%d-%d", v, i))}
			switch i / orgs {
			case 0, 1: // of two changes at the same version one wins
				c.Changes = []store.Change{put("k", "a", fmt.Sprint(v, i)), put("k", "b", fmt.Sprint(v, i))}
			case 2: // already recorded
				c.Activity = activity("old")
				c.Changes = []store.Change{put("k", "never", "x")}
			case 3: // at a version that will not come
				c.Version = v + 1000
			case 4: // no activity, not at this version
				c.Version, c.Activity, c.Changes = v-1, nil, []store.Change{put("k", "never", "x")}
			default: // appends: fine unless the change came first
			}
			outcomes[i] = db.Commit(t.Context(), c)
			return outcomes[i]
		})
		for o := range orgs {
			org := fmt.Sprint("org", o)
			one, two := outcomes[o] == nil, outcomes[orgs+o] == nil
			if one == two {
				t.Fatalf("version %d: two changes ended with %v and %v", v, outcomes[o], outcomes[orgs+o])
			}
			if err := outcomes[2*orgs+o]; err == nil {
				t.Fatal("a recorded request was recorded again")
			}
			for _, f := range []int{3, 4} {
				if err := outcomes[f*orgs+o]; !errors.Is(err, store.ErrConflict) {
					t.Fatalf("a commit at another version ended with %v", err)
				}
			}
			wantVersion(t, db, org, v+1)
			wantItem(t, db, org, "k", "never", nil)
			for f := range 8 {
				if f == 2 || f == 4 {
					continue
				}
				id := fmt.Sprintf("%d-%d", v, f*orgs+o)
				got, err := db.Activity(t.Context(), org, id)
				if err != nil || (got != nil) != (outcomes[f*orgs+o] == nil) {
					t.Fatalf("activity %s is %v (%v), its commit ended with %v", id, got, err, outcomes[f*orgs+o])
				}
			}
		}
	}
}

// testOneState: reads between two equal versions have seen one state.
func testOneState(t *testing.T, db store.Driver) {
	const changes = 150
	create(t, db, "org")
	commit(t, db, &store.Commit{Org: "org", Version: 1, Changes: []store.Change{put("k", "a", "2"), put("k", "b", "2")}}, nil)
	var done atomic.Bool
	var wg sync.WaitGroup
	defer wg.Wait()
	for range 4 {
		wg.Go(func() {
			for !done.Load() {
				before, err1 := db.Version(t.Context(), "org")
				a, err2 := db.Get(t.Context(), "org", "k", "a")
				b, err3 := db.Get(t.Context(), "org", "k", "b")
				after, err4 := db.Version(t.Context(), "org")
				if err := errors.Join(err1, err2, err3, err4); err != nil {
					t.Error(err)
					return
				}
				if want := strconv.FormatInt(before, 10); before == after && (string(a) != want || string(b) != want) {
					t.Errorf("at version %d: a is of %s, b is of %s", before, a, b)
					return
				}
			}
		})
	}
	defer done.Store(true)
	for v := int64(2); v < changes; v++ {
		body := strconv.FormatInt(v+1, 10)
		commit(t, db, &store.Commit{Org: "org", Version: v, Changes: []store.Change{put("k", "b", body), put("k", "a", body)}}, nil)
	}
}

// testVersionAfterAck: an acknowledged change is seen by the next call.
func testVersionAfterAck(t *testing.T, db store.Driver) {
	ok, _, _ := concurrently(t, 16, func(i int) error {
		org := fmt.Sprint("org ", i)
		for v := range int64(20) {
			if err := db.Commit(t.Context(), &store.Commit{
				Org: org, Version: v, Changes: []store.Change{put("k", "i", strconv.FormatInt(v+1, 10))},
			}); err != nil {
				return err
			}
			got, err := db.Version(t.Context(), org)
			if err != nil || got != v+1 {
				return fmt.Errorf("version %d (%w) after the commit that made it %d", got, err, v+1)
			}
			body, err := db.Get(t.Context(), org, "k", "i")
			if err != nil || string(body) != strconv.FormatInt(v+1, 10) {
				return fmt.Errorf("item of version %s (%w) after the commit of %d", body, err, v+1)
			}
		}
		return nil
	})
	if ok != 16 {
		t.Fatalf("%d of 16 writers were fine", ok)
	}
}

package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"latchkey/internal/store"
)

func testCancelled(t *testing.T, db store.Driver) {
	create(t, db, "org")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, err := range calls(ctx, db) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a cancelled context: %v", name, err)
		}
	}
	wantVersion(t, db, "org", 1)
	wantActivity(t, db, "org", "call", nil)
}

// calls makes every call that has a context.
func calls(ctx context.Context, db store.Driver) map[string]error {
	errs := map[string]error{}
	_, errs["Version"] = db.Version(ctx, "org")
	_, errs["Get"] = db.Get(ctx, "org", "initial", "item")
	_, errs["Scan"] = db.Scan(ctx, "org", "initial", store.Range{})
	_, errs["ScanIndex"] = db.ScanIndex(ctx, "org", "initial", store.Range{}, store.Reference{})
	_, errs["Activity"] = db.Activity(ctx, "org", "a")
	_, errs["Recorded"] = db.Recorded(ctx, "org", 1, fingerprint("a"))
	_, errs["Activities"] = db.Activities(ctx, "org", store.ActivityQuery{})
	errs["Commit"] = db.Commit(ctx, &store.Commit{Org: "org", Version: 1, Activity: activity("call")})
	_, errs["Kinds"] = db.Kinds(ctx, "org")
	errs["ReplaceBodies"] = db.ReplaceBodies(ctx, "org", []store.StoredBody{{Kind: "initial", ID: "item"}})
	errs["Ready"] = db.Ready(ctx)
	return errs
}

// testCancelledInQueue cancels commits at any moment: each ends as done, or
// unknown, and those that ended as done are there.
func testCancelledInQueue(t *testing.T, db store.Driver) {
	create(t, db, "org")
	var mu sync.Mutex
	done := map[string]bool{}
	var wg sync.WaitGroup
	for w := range 32 {
		wg.Go(func() {
			for i := range 20 {
				id := fmt.Sprintf("%d-%d", w, i)
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration((w*7+i*13)%40)*50*time.Microsecond)
				err := db.Commit(ctx, &store.Commit{Org: "org", Version: 1, Activity: activity(id)})
				cancel()
				switch {
				case err == nil:
					mu.Lock()
					done[id] = true
					mu.Unlock()
				case !errors.Is(err, context.DeadlineExceeded):
					t.Errorf("commit ended with %v", err)
				}
			}
		})
	}
	wg.Wait()
	for id := range done {
		wantActivity(t, db, "org", id, activity(id))
	}
	// The driver still works.
	commit(t, db, &store.Commit{Org: "org", Version: 1, Activity: activity("after")}, nil)
}

// testReadsInterrupted cancels reads at any moment: those of other callers are
// not affected.
func testReadsInterrupted(t *testing.T, db store.Driver) {
	create(t, db, "org")
	commit(t, db, &store.Commit{Org: "org", Version: 1, Activity: activity("a")}, nil)
	read := func(ctx context.Context, i int) (err error) {
		switch i % 5 {
		case 0:
			_, err = db.Version(ctx, "org")
		case 1:
			_, err = db.Get(ctx, "org", "initial", "item")
		case 2:
			_, err = db.Scan(ctx, "org", "initial", store.Range{})
		case 3:
			_, err = db.Activities(ctx, "org", store.ActivityQuery{Limit: 3})
		default:
			_, err = db.Organizations(ctx, "", 10)
		}
		return err
	}
	var impatient, patient sync.WaitGroup
	ended := make(chan struct{})
	for w := range 16 {
		impatient.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-ended:
					return
				default:
				}
				ctx, cancel := context.WithCancel(t.Context())
				timer := time.AfterFunc(time.Duration((w*7+i*13)%40)*50*time.Microsecond, cancel)
				err := read(ctx, i)
				if err != nil && ctx.Err() == nil {
					t.Errorf("a read ended with %v", err)
				}
				timer.Stop()
				cancel()
			}
		})
	}
	for range 4 {
		patient.Go(func() {
			for i := range 300 {
				if err := read(t.Context(), i); err != nil {
					t.Errorf("a read whose caller waits: %v", err)
					return
				}
			}
		})
	}
	patient.Wait()
	close(ended)
	impatient.Wait()
}

func testReady(t *testing.T, db store.Driver) {
	if err := db.Ready(t.Context()); err != nil {
		t.Errorf("Ready: %v", err)
	}
}

func testClosed(t *testing.T, open func(t *testing.T) store.Driver) {
	db := open(t)
	create(t, db, "org")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), maxWait)
	defer cancel()
	for name, err := range calls(ctx, db) {
		if err == nil || ctx.Err() != nil {
			t.Errorf("%s after Close: %v", name, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

// testCloseDrains closes while commits arrive: each ends, either done or
// refused because the driver is closed.
func testCloseDrains(t *testing.T, open func(t *testing.T) store.Driver) {
	db := open(t)
	create(t, db, "org")
	var wg sync.WaitGroup
	for w := range 16 {
		wg.Go(func() {
			for i := 0; ; i++ {
				err := db.Commit(t.Context(), &store.Commit{Org: "org", Version: 1, Activity: activity(fmt.Sprintf("%d-%d", w, i))})
				if err != nil {
					if errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrRecorded) {
						t.Errorf("commit ended with %v", err)
					}
					return
				}
				_, _ = db.Version(t.Context(), "org")
			}
		})
	}
	time.Sleep(30 * time.Millisecond)
	if err := db.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	wg.Wait()
}

func testNoLeak(t *testing.T, open func(t *testing.T) store.Driver) {
	before := goleak.IgnoreCurrent()
	db := open(t)
	create(t, db, "org")
	concurrently(t, 8, func(i int) error {
		return db.Commit(t.Context(), &store.Commit{Org: "org", Version: 1, Activity: activity(fmt.Sprint(i))})
	})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for begun := time.Now(); ; {
		err := goleak.Find(before) // which waits a moment itself
		if err == nil {
			return
		}
		if time.Since(begun) > maxWait {
			t.Fatal(err)
		}
	}
}

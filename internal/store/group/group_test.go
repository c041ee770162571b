package group_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"latchkey/internal/store"
	"latchkey/internal/store/group"
)

// start lets one writer work, each group taking flush, and returns the sizes of
// the groups it got.
func start(q *group.Queue, flush time.Duration) (sizes func() []int) {
	var mu sync.Mutex
	var got []int
	go q.Run(group.Writer{Transact: func(_ context.Context, commits []*store.Commit) ([]error, error) {
		mu.Lock()
		got = append(got, len(commits))
		mu.Unlock()
		time.Sleep(flush)
		return make([]error, len(commits)), nil
	}})
	return func() []int {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(got)
	}
}

func TestAloneDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := group.New(group.Config{})
		defer q.Close()
		start(q, 100*time.Microsecond)
		began := time.Now()
		for range 10 {
			if err := q.Do(t.Context(), &store.Commit{}); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took != time.Millisecond {
			t.Errorf("10 flushes of 100 µs took %v", took)
		}
	})
}

func TestExpectedCommitsAreWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := group.New(group.Config{})
		defer q.Close()
		sizes := start(q, 100*time.Microsecond)
		// Each of 8 callers comes back some time after its last commit, all at
		// different times.
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for range 20 {
					time.Sleep(time.Duration(i) * 50 * time.Microsecond)
					if err := q.Do(t.Context(), &store.Commit{}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		got := sizes()
		if len(got) > 30 || !slices.Contains(got, 8) {
			t.Errorf("20 rounds of 8 came in groups of %v", got)
		}
		// When the others have gone, one linger later all is as before.
		for range 2 {
			if err := q.Do(t.Context(), &store.Commit{}); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		if err := q.Do(t.Context(), &store.Commit{}); err != nil || time.Since(began) != 100*time.Microsecond {
			t.Errorf("alone again: %v, %v", time.Since(began), err)
		}
	})
}

func TestWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := group.New(group.Config{})
		ctx, cancel := context.WithCancel(t.Context())
		outcome := make(chan error)
		go func() { outcome <- q.Do(ctx, &store.Commit{Org: "withdrawn"}) }()
		synctest.Wait()
		cancel()
		if err := <-outcome; !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		go func() { outcome <- q.Do(t.Context(), &store.Commit{Org: "kept"}) }()
		synctest.Wait()
		q.Close()
		q.Run(group.Writer{Transact: func(_ context.Context, commits []*store.Commit) ([]error, error) {
			if len(commits) != 1 || commits[0].Org != "kept" {
				t.Errorf("took %d commits", len(commits))
			}
			return []error{store.ErrConflict}, nil
		}})
		if err := <-outcome; !errors.Is(err, store.ErrConflict) {
			t.Fatal(err)
		}
	})
}

// TestTaken: a commit that was taken is not withdrawn, and its caller does not
// wait for it.
func TestTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := group.New(group.Config{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		written := make(chan struct{})
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			q.Run(group.Writer{Transact: func(_ context.Context, commits []*store.Commit) ([]error, error) {
				<-written
				return make([]error, len(commits)), nil
			}})
		}()
		if err := q.Do(ctx, &store.Commit{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		close(written)
		q.Close()
		<-ended // telling a caller that is gone must not block
	})
}

func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := group.New(group.Config{})
		outcome := make(chan error, 1)
		go func() { outcome <- q.Do(t.Context(), &store.Commit{}) }()
		synctest.Wait()
		q.Close()
		if err := q.Do(t.Context(), &store.Commit{}); !errors.Is(err, group.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
		sizes := 0
		q.Run(group.Writer{Transact: func(_ context.Context, commits []*store.Commit) ([]error, error) {
			sizes += len(commits)
			return make([]error, len(commits)), nil
		}})
		if err := <-outcome; err != nil || sizes != 1 {
			t.Errorf("what was waiting: %d commits, %v", sizes, err)
		}
	})
}

// TestCloseWakes: a writer that sleeps learns of the end.
func TestCloseWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := group.New(group.Config{Writers: 2})
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				q.Run(group.Writer{Transact: func(context.Context, []*store.Commit) ([]error, error) {
					t.Error("took from an empty queue")
					return nil, nil
				}})
			})
		}
		synctest.Wait()
		q.Close()
		wg.Wait()
	})
}

func TestLimits(t *testing.T) {
	for _, tc := range []struct {
		cfg  group.Config
		body int
		want []int
	}{
		{group.Config{MaxEntries: 4}, 1, []int{4, 4, 2}},
		{group.Config{MaxBytes: 100}, 30, []int{3, 3, 3, 1}},
		{group.Config{MaxBytes: 100}, 200, []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
		{group.Config{}, 1000, []int{10}},
	} {
		t.Run(fmt.Sprintf("%+v", tc.cfg), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tc.cfg.Linger = -1
				q := group.New(tc.cfg)
				var wg sync.WaitGroup
				for range 10 {
					wg.Go(func() {
						c := &store.Commit{Activity: &store.ActivityRow{Body: make([]byte, tc.body)}}
						if err := q.Do(t.Context(), c); err != nil {
							t.Error(err)
						}
					})
				}
				synctest.Wait()
				q.Close()
				sizes := start(q, 0)
				wg.Wait()
				if got := sizes(); !slices.Equal(got, tc.want) {
					t.Errorf("groups of %v, want %v", got, tc.want)
				}
			})
		})
	}
}

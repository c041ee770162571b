package oidc

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// fetches counts what a cache asks for, and answers with a new set each time.
type fetches struct {
	mu    sync.Mutex
	asked map[string]int
	fail  error
}

func (f *fetches) fetch(_ context.Context, issuer string) (*keySet, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.asked == nil {
		f.asked = make(map[string]int)
	}
	f.asked[issuer]++
	if f.fail != nil {
		return nil, f.fail
	}
	return &keySet{keys: []key{{id: fmt.Sprint(issuer, " ", f.asked[issuer])}}}, nil
}

func (f *fetches) count(issuer string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked[issuer]
}

func (f *fetches) failWith(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail = err
}

func newCache(fetch func(context.Context, string) (*keySet, error)) *cache {
	return &cache{fetch: fetch, now: time.Now, timeout: 4 * time.Second, maxAge: time.Hour}
}

func mustGet(t *testing.T, c *cache, issuer string) *keySet {
	t.Helper()
	set, err := c.get(t.Context(), issuer)
	if err != nil || set == nil {
		t.Fatalf("got %v, %v", set, err)
	}
	return set
}

func TestCacheKeepsKeysForAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f fetches
		c := newCache(f.fetch)
		first := mustGet(t, c, "a")
		time.Sleep(time.Hour - time.Second)
		if again := mustGet(t, c, "a"); again != first || f.count("a") != 1 {
			t.Errorf("asked %d times within the hour", f.count("a"))
		}
		time.Sleep(time.Second)
		if later := mustGet(t, c, "a"); later == first || f.count("a") != 2 {
			t.Errorf("asked %d times after an hour", f.count("a"))
		}
	})
}

// An issuer that is down after an hour must not keep its old keys alive.
func TestCacheDropsOldKeysWhenTheIssuerIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f fetches
		c := newCache(f.fetch)
		mustGet(t, c, "a")
		f.failWith(errors.New("down"))
		time.Sleep(time.Hour)
		if set, err := c.get(t.Context(), "a"); err == nil || set != nil {
			t.Errorf("got %v, %v", set, err)
		}
	})
}

func TestCacheRefreshes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f fetches
		c := newCache(f.fetch)
		first := mustGet(t, c, "a")
		// At once after the first fetch, as a rotation may come then.
		second, err := c.newer(t.Context(), "a", first)
		if err != nil || second == nil || second == first {
			t.Fatalf("got %v, %v", second, err)
		}
		// A caller that still has the first gets the second without a fetch.
		if got, err := c.newer(t.Context(), "a", first); got != second || err != nil {
			t.Errorf("got %v, %v", got, err)
		}
		time.Sleep(refreshEvery - time.Millisecond)
		if got, err := c.newer(t.Context(), "a", second); got != nil || err != nil {
			t.Errorf("too early: got %v, %v", got, err)
		}
		if n := f.count("a"); n != 2 {
			t.Errorf("asked %d times", n)
		}
		time.Sleep(time.Millisecond)
		third, err := c.newer(t.Context(), "a", second)
		if err != nil || third == nil || third == second {
			t.Fatalf("got %v, %v", third, err)
		}
		// When a refresh fails, the known keys stay good.
		f.failWith(errors.New("down"))
		time.Sleep(refreshEvery)
		if _, err := c.newer(t.Context(), "a", third); err == nil {
			t.Error("the failure is hidden")
		}
		if got := mustGet(t, c, "a"); got != third {
			t.Error("the known keys are gone")
		}
	})
}

func TestCacheLeavesAFailingIssuerAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fetches{fail: errors.New("down")}
		c := newCache(f.fetch)
		for range 10 {
			if _, err := c.get(t.Context(), "a"); !errors.Is(err, f.fail) {
				t.Fatal(err)
			}
		}
		if n := f.count("a"); n != 1 {
			t.Errorf("asked %d times", n)
		}
		time.Sleep(failureKept - time.Millisecond)
		if _, err := c.get(t.Context(), "a"); err == nil || f.count("a") != 1 {
			t.Errorf("asked too early: %v", err)
		}
		f.failWith(nil)
		time.Sleep(time.Millisecond)
		mustGet(t, c, "a")
	})
}

// A clock that was set back must not make keys or failures last longer.
func TestCacheWhenTheClockIsSetBack(t *testing.T) {
	var f fetches
	now := at
	c := newCache(f.fetch)
	c.now = func() time.Time { return now }
	first := mustGet(t, c, "a")
	now = now.Add(-time.Minute)
	if mustGet(t, c, "a") == first {
		t.Error("the keys were fetched in the future and still count")
	}
}

func TestCacheFetchesOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		set := &keySet{}
		c := newCache(func(context.Context, string) (*keySet, error) {
			asked.Add(1)
			time.Sleep(time.Second)
			return set, nil
		})
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				if got, err := c.get(t.Context(), "a"); got != set || err != nil {
					t.Errorf("got %v, %v", got, err)
				}
			})
		}
		all.Wait()
		if n := asked.Load(); n != 1 {
			t.Errorf("asked %d times", n)
		}
	})
}

// A caller that stops waiting does not end the fetch for the others, and an issuer
// that hangs does not hold up another one.
func TestCacheWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCache(func(ctx context.Context, issuer string) (*keySet, error) {
			if issuer == "slow" {
				select {
				case <-time.After(2 * time.Second):
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			}
			if issuer == "hanging" {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return &keySet{}, nil
		})
		impatient, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		var all sync.WaitGroup
		all.Go(func() {
			if _, err := c.get(impatient, "slow"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
		})
		synctest.Wait()
		all.Go(func() {
			if _, err := c.get(t.Context(), "slow"); err != nil {
				t.Error(err)
			}
		})
		all.Go(func() {
			if _, err := c.get(t.Context(), "hanging"); err == nil || time.Since(start) != c.timeout {
				t.Errorf("got %v after %v", err, time.Since(start))
			}
		})
		synctest.Wait()
		mustGet(t, c, "other")
		if waited := time.Since(start); waited != 0 {
			t.Errorf("the other issuer waited %v", waited)
		}
		all.Wait()
	})
}

func TestCacheSurvivesAPanic(t *testing.T) {
	c := newCache(func(context.Context, string) (*keySet, error) { panic("hostile document") })
	_, err := c.get(t.Context(), "a")
	if err == nil || !strings.Contains(err.Error(), "cannot be understood") || !strings.Contains(errors.Unwrap(err).Error(), "hostile document") {
		t.Errorf("got %v", err)
	}
}

func TestCacheIsBounded(t *testing.T) {
	var f fetches
	c := newCache(f.fetch)
	for i := range maxIssuers {
		mustGet(t, c, fmt.Sprint("good ", i))
	}
	mustGet(t, c, "good 0") // is now the one used last
	mustGet(t, c, "one more")
	if len(c.entries) != maxIssuers || c.order.Len() != maxIssuers {
		t.Fatalf("%d entries, %d in order", len(c.entries), c.order.Len())
	}
	if c.entries["good 1"] != nil || c.entries["good 0"] == nil || c.entries["good 2"] == nil {
		t.Error("not the one that was used least recently was forgotten")
	}

	// Issuers that do not exist push out each other only.
	f.failWith(errors.New("no such host"))
	for i := range 2 * maxIssuers {
		if _, err := c.get(t.Context(), fmt.Sprint("bad ", i)); err == nil {
			t.Fatal("a bad issuer is good")
		}
	}
	var good int
	for issuer := range c.entries {
		if !strings.HasPrefix(issuer, "bad ") {
			good++
		}
	}
	if len(c.entries) != maxIssuers || good != maxIssuers-1 {
		t.Errorf("%d of %d entries have keys", good, len(c.entries))
	}
}

// An issuer is not evicted while it is being asked: it would be asked twice at
// once.
func TestCacheKeepsWhatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var slow atomic.Int64
		c := newCache(func(_ context.Context, issuer string) (*keySet, error) {
			if issuer == "slow" {
				slow.Add(1)
				time.Sleep(time.Second)
			}
			return &keySet{}, nil
		})
		var all sync.WaitGroup
		all.Go(func() {
			if _, err := c.get(t.Context(), "slow"); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		for i := range 2 * maxIssuers {
			mustGet(t, c, fmt.Sprint(i))
		}
		mustGet(t, c, "slow")
		all.Wait()
		if n := slow.Load(); n != 1 {
			t.Errorf("asked %d times", n)
		}
		if len(c.entries) != maxIssuers {
			t.Errorf("%d entries", len(c.entries))
		}
	})
}

func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newFetchLimiter()
		var back []func()
		for range maxHostFetches {
			done, err := turns.take(t.Context(), "slow")
			if err != nil {
				t.Fatal(err)
			}
			back = append(back, done)
		}
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := turns.take(short, "slow"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("one too many: %v", err)
		}
		done, err := turns.take(t.Context(), "other")
		if err != nil {
			t.Fatal(err)
		}
		done()

		// A caller that waits goes on when another is done.
		time.AfterFunc(time.Minute, back[0])
		waiting, err := turns.take(t.Context(), "slow")
		if err != nil {
			t.Fatal(err)
		}
		for _, done := range append(back[1:], waiting) {
			done()
		}
		if len(turns.hosts) != 0 || len(turns.all) != 0 {
			t.Errorf("something is left: %v", turns.hosts)
		}

		// Many hosts together are bounded too.
		for i := range maxFetches {
			if _, err := turns.take(t.Context(), fmt.Sprint(i)); err != nil {
				t.Fatal(err)
			}
		}
		short, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := turns.take(short, "another"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("one too many: %v", err)
		}
		if _, left := turns.hosts["another"]; left {
			t.Error("who gave up is still counted")
		}
	})
}

package postgres

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// busy has as many questions under way as there may be, until free is called.
func busy(t *testing.T, ask func(ctx context.Context, orgs []string) (map[string]int64, error)) (q *questions, free func()) {
	t.Helper()
	ended := make(chan struct{})
	q = &questions{timeout: time.Minute}
	q.ask = func(ctx context.Context, orgs []string) (map[string]int64, error) {
		if orgs[0] != "stuck" {
			return ask(ctx, orgs)
		}
		<-ended
		return nil, nil
	}
	var wg sync.WaitGroup
	for range maxUnderWay {
		wg.Go(func() { _, _ = q.versions(t.Context(), "stuck") })
	}
	synctest.Wait()
	return q, func() { close(ended); wg.Wait() }
}

// TestSilentConnection: statements that get no answer keep neither those that come
// later nor those that share one from theirs.
func TestSilentConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		q, free := busy(t, func(ctx context.Context, _ []string) (map[string]int64, error) {
			if asked.Add(1) == 1 {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return map[string]int64{"a": 1, "b": 2}, nil
		})
		defer free()
		begun := time.Now()
		var wg sync.WaitGroup
		for org, want := range map[string]int64{"a": 1, "b": 2} {
			wg.Go(func() {
				if found, err := q.versions(t.Context(), org); err != nil || found[org] != want {
					t.Errorf("%s: %v, %v", org, found, err)
				}
			})
		}
		wg.Wait()
		if took := time.Since(begun); took != maxPatience+repeatAfter {
			t.Errorf("answered after %v", took)
		}
	})
}

// TestQuestionOfOneFails: what is wrong with one question is not the failure of
// those that were asked with it; what is wrong with the database is, and no one
// waits for it twice.
func TestQuestionOfOneFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := errors.New("away")
		var alone atomic.Int32
		q, free := busy(t, func(_ context.Context, orgs []string) (map[string]int64, error) {
			switch {
			case orgs[0] == "away":
				return nil, away
			case len(orgs) == 1:
				alone.Add(1)
				if orgs[0] == "wrong" {
					return nil, &pgconn.PgError{Code: "22021"}
				}
				return map[string]int64{orgs[0]: 1}, nil
			}
			return nil, &pgconn.PgError{Code: "22021"}
		})
		defer free()
		var wg sync.WaitGroup
		for _, org := range []string{"wrong", "right"} {
			wg.Go(func() {
				found, err := q.versions(t.Context(), org)
				if (err != nil) != (org == "wrong") || err == nil && found[org] != 1 {
					t.Errorf("%s: %v, %v", org, found, err)
				}
			})
		}
		wg.Wait()
		if alone.Load() != 2 {
			t.Errorf("%d asked alone", alone.Load())
		}
		if _, err := q.versions(t.Context(), "away"); !errors.Is(err, away) {
			t.Errorf("a database that is away: %v", err)
		}
	})
}

// TestQuestionForNoOne: a statement ends with the last caller who waits for it, and
// one that was not sent yet is not sent.
func TestQuestionForNoOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked, ended atomic.Int32
		q, free := busy(t, func(ctx context.Context, _ []string) (map[string]int64, error) {
			asked.Add(1)
			<-ctx.Done()
			ended.Add(1)
			return nil, ctx.Err()
		})
		defer free()
		ask := func() (leave context.CancelFunc) {
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				if _, err := q.versions(ctx, "org"); !errors.Is(err, context.Canceled) {
					t.Errorf("who has left: %v", err)
				}
			}()
			return cancel
		}
		ask()()
		time.Sleep(2 * maxPatience)
		if asked.Load() != 0 {
			t.Error("a question was sent for which no one waits")
		}
		leaves := []context.CancelFunc{ask(), ask()}
		time.Sleep(2 * maxPatience)
		leaves[0]()
		synctest.Wait()
		if asked.Load() != 1 || ended.Load() != 0 {
			t.Errorf("while one still waits, %d were sent and %d ended", asked.Load(), ended.Load())
		}
		leaves[1]()
		synctest.Wait()
		if ended.Load() != 1 {
			t.Error("a statement for which no one waits goes on")
		}
	})
}

// TestQuestionAfterStatement: a caller that asks while statements are on their way,
// shared ones too, is answered by a later one.
func TestQuestionAfterStatement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var present atomic.Int64
		arrive := make(chan struct{})
		q, free := busy(t, func(context.Context, []string) (map[string]int64, error) {
			found := present.Load()
			<-arrive
			return map[string]int64{"org": found}, nil
		})
		defer free()
		var wg sync.WaitGroup
		for want := range int64(5) {
			present.Store(want)
			for range 3 {
				wg.Go(func() {
					if found, err := q.versions(t.Context(), "org"); err != nil || found["org"] < want {
						t.Errorf("asked at version %d: %v, %v", want, found, err)
					}
				})
			}
			synctest.Wait()
			if want%2 == 0 {
				time.Sleep(2 * maxPatience) // they are sent
			}
		}
		time.Sleep(2 * maxPatience)
		close(arrive)
		wg.Wait()
	})
}

package group_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"latchkey/internal/store"
	"latchkey/internal/store/group"
)

var (
	errFailed = errors.New("the database failed")
	errLost   = errors.New("the connection was lost")
)

// database is one that remembers its transactions. A commit of the organization
// "bad" makes it fail, one of "lost" loses the connection, and one of "stale"
// is refused.
type database struct {
	transactions []string
	deadlines    []time.Time // zero: none
}

func (db *database) transact(ctx context.Context, commits []*store.Commit) ([]error, error) {
	var names []string
	refusals := make([]error, len(commits))
	var failure error
	for i, c := range commits {
		names = append(names, c.Org)
		switch c.Org {
		case "bad":
			failure = errFailed
		case "lost":
			failure = errLost
		case "stale":
			refusals[i] = store.ErrConflict
		}
	}
	db.transactions = append(db.transactions, strings.Join(names, " "))
	deadline, _ := ctx.Deadline()
	db.deadlines = append(db.deadlines, deadline)
	time.Sleep(time.Second)
	if failure != nil {
		return nil, failure
	}
	return refusals, nil
}

// writeGroup lets the commits wait in this order, writes them as one group, and
// returns their outcomes. It runs in a bubble.
func writeGroup(t *testing.T, w group.Writer, commits []*store.Commit) []error {
	t.Helper()
	q := group.New(group.Config{Linger: -1})
	outcomes := make([]error, len(commits))
	for i, c := range commits {
		go func() { outcomes[i] = q.Do(t.Context(), c) }()
		synctest.Wait()
	}
	q.Close()
	q.Run(w)
	synctest.Wait()
	return outcomes
}

func commitsOf(orgs string) (commits []*store.Commit) {
	for org := range strings.FieldsSeq(orgs) {
		commits = append(commits, &store.Commit{Org: org})
	}
	return commits
}

// TestFallback: a group that made the database fail is written one by one, if
// that is safe.
func TestFallback(t *testing.T) {
	for _, tc := range []struct {
		name         string
		group        string
		transactions []string
		outcomes     []error
	}{
		{"fine", "a stale b", []string{"a stale b"}, []error{nil, store.ErrConflict, nil}},
		{
			"one fails", "a bad stale b",
			[]string{"a bad stale b", "a", "bad", "stale", "b"},
			[]error{nil, errFailed, store.ErrConflict, nil},
		},
		{"alone", "bad", []string{"bad"}, []error{errFailed}},
		{"outcome unknown", "a lost b", []string{"a lost b"}, []error{errLost, errLost, errLost}},
		{
			"unknown while split", "lost bad a",
			[]string{"lost bad a", "lost", "bad", "a"},
			[]error{errLost, errFailed, nil},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var db database
				got := writeGroup(t, group.Writer{
					Transact:   db.transact,
					RolledBack: func(err error) bool { return errors.Is(err, errFailed) },
				}, commitsOf(tc.group))
				if !slices.Equal(got, tc.outcomes) {
					t.Errorf("outcomes %v, want %v", got, tc.outcomes)
				}
				if !slices.Equal(db.transactions, tc.transactions) {
					t.Errorf("transactions %q, want %q", db.transactions, tc.transactions)
				}
			})
		})
	}
}

// TestFallbackAlways: without RolledBack every error lets the commits be tried
// alone.
func TestFallbackAlways(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var db database
		got := writeGroup(t, group.Writer{Transact: db.transact}, commitsOf("a lost b"))
		if !slices.Equal(got, []error{nil, errLost, nil}) || len(db.transactions) != 4 {
			t.Errorf("outcomes %v in transactions %q", got, db.transactions)
		}
		for _, d := range db.deadlines {
			if !d.IsZero() {
				t.Errorf("a deadline without a timeout: %v", d)
			}
		}
	})
}

// TestFallbackDeadline: a group has a deadline, and its commits one by one share
// another.
func TestFallbackDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const timeout = 10 * time.Second
		var db database
		began := time.Now()
		writeGroup(t, group.Writer{Transact: db.transact, Timeout: timeout}, commitsOf("a bad b"))
		alone := began.Add(time.Second + timeout) // a transaction takes a second
		want := []time.Time{began.Add(timeout), alone, alone, alone}
		if !slices.EqualFunc(db.deadlines, want, time.Time.Equal) {
			t.Errorf("deadlines %v, want %v", db.deadlines, want)
		}
	})
}

// TestDistinctIDs: activities with the same id are not in one transaction, and
// each commit gets its own outcome all the same.
func TestDistinctIDs(t *testing.T) {
	appends := func(org, id string) *store.Commit {
		return &store.Commit{Org: org, Version: 1, Activity: &store.ActivityRow{ID: id}}
	}
	changes := appends("changes", "x")
	changes.Changes = []store.Change{{Kind: "k", ID: "i"}}
	commits := []*store.Commit{
		appends("stale", "x"), appends("b", "x"), appends("b", "x"), appends("b", "y"), appends("stale", "x"),
		changes, changes, appends("b", "x"), appends("bad", "x"), appends("bad", "x"),
	}
	synctest.Test(t, func(t *testing.T) {
		var db database
		got := writeGroup(t, group.Writer{Transact: db.transact, DistinctIDs: true}, commits)
		want := []error{
			store.ErrConflict, nil, nil, nil, store.ErrConflict,
			nil, nil, nil, errFailed, errFailed,
		}
		if !slices.Equal(got, want) {
			t.Errorf("outcomes %v, want %v", got, want)
		}
		rounds := slices.DeleteFunc(db.transactions, func(names string) bool { return !strings.Contains(names, " ") })
		if !slices.Equal(rounds, []string{"stale b b changes changes bad", "b stale bad"}) {
			t.Errorf("rounds %q", rounds)
		}
	})
}

// TestReply: BeforeReply is called while the callers still wait, AfterReply when
// they have their outcomes.
func TestReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := group.New(group.Config{})
		var db database
		var answered atomic.Int64
		var steps []string
		for _, c := range commitsOf("a b") {
			go func() {
				if err := q.Do(t.Context(), c); err != nil {
					t.Error(err)
				}
				answered.Add(1)
			}()
		}
		synctest.Wait()
		q.Close()
		q.Run(group.Writer{
			Transact: db.transact,
			BeforeReply: func(commits []*store.Commit) {
				synctest.Wait()
				if len(db.transactions) != 1 || len(commits) != 2 || answered.Load() != 0 {
					t.Errorf("before: %d commits, %d callers answered", len(commits), answered.Load())
				}
				steps = append(steps, "before")
			},
			AfterReply: func() {
				synctest.Wait()
				if answered.Load() != 2 {
					t.Errorf("after: %d callers answered", answered.Load())
				}
				steps = append(steps, "after")
			},
		})
		if !slices.Equal(steps, []string{"before", "after"}) {
			t.Errorf("steps %v", steps)
		}
	})
}

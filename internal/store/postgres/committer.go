package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"latchkey/internal/store"
)

// maxRetries bounds how often a group is sent again after the database asked
// for it.
const maxRetries = 8

// notSent is an error before anything reached the server.
type notSent struct{ error }

func (e notSent) Unwrap() error { return e.error }

// commit writes groups until the queue is closed and empty.
func (db *DB) commit() {
	for {
		entries, ok := db.queue.Take()
		if !ok {
			return
		}
		if len(entries) == 0 {
			continue
		}
		commits := make([]*store.Commit, len(entries))
		for i, e := range entries {
			commits[i] = e.Commit
		}
		db.queue.Finish(entries, db.write(commits))
	}
}

// write returns the outcome of each commit. Two activities with the same id
// in one statement could not be told apart in its answer, so the second waits
// for the next round.
func (db *DB) write(commits []*store.Commit) []error {
	errs := make([]error, len(commits))
	todo := make([]int, len(commits))
	for i := range todo {
		todo[i] = i
	}
	for len(todo) > 0 {
		var now, later []int
		seen := make(map[[2]string]bool, len(todo))
		for _, i := range todo {
			if c := commits[i]; c.Appends() {
				key := [2]string{c.Org, c.Activity.ID}
				if seen[key] {
					later = append(later, i)
					continue
				}
				seen[key] = true
			}
			now = append(now, i)
		}
		round := make([]*store.Commit, len(now))
		for k, i := range now {
			round[k] = commits[i]
		}
		for k, err := range db.round(round) {
			errs[now[k]] = err
		}
		todo = later
	}
	return errs
}

// round sends the commits together and, if one of them made the database fail,
// each alone, where it can only hurt itself. The callers' contexts do not reach
// here: none of them may stop the others' commits.
func (db *DB) round(commits []*store.Commit) []error {
	errs, err := db.try(commits)
	if err == nil {
		return errs
	}
	errs = make([]error, len(commits))
	for i := range errs {
		errs[i] = fmt.Errorf("committing: %w", err)
	}
	if len(commits) == 1 || !rolledBack(err) {
		return errs
	}
	ctx, cancel := db.deadline() // of all together, or those behind wait too long
	defer cancel()
	for i := range commits {
		one, err := db.retry(ctx, commits[i:i+1])
		if err != nil {
			errs[i] = fmt.Errorf("committing: %w", err)
		} else {
			errs[i] = one[0]
		}
	}
	return errs
}

func (db *DB) try(commits []*store.Commit) ([]error, error) {
	ctx, cancel := db.deadline()
	defer cancel()
	return db.retry(ctx, commits)
}

// deadline is for a server that is gone; one that is there stops a statement
// earlier by itself.
func (db *DB) deadline() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), db.timeout+5*time.Second)
}

// retry sends the commits, again if that is certain to be safe.
func (db *DB) retry(ctx context.Context, commits []*store.Commit) ([]error, error) {
	for attempt := 0; ; attempt++ {
		errs, err := db.send(ctx, commits)
		if err == nil || attempt == maxRetries || !again(err) {
			return errs, err
		}
		if pause(ctx, attempt) != nil {
			return nil, err
		}
	}
}

// again says that a commit certainly did not happen and may if tried again.
func again(err error) bool {
	var early notSent
	switch code(err) {
	case "40001", "40P01": // serialization_failure, deadlock_detected
		return true
	case "":
		return errors.As(err, &early) || pgconn.SafeToRetry(err)
	}
	return false
}

// rolledBack says that the server took the transaction back because of a
// statement. Otherwise the commits may have happened: the connection was lost,
// or the server ended it, possibly after the commit, or says itself that it
// does not know.
func rolledBack(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.SeverityUnlocalized == "ERROR" &&
		pg.Code != "40003" && !strings.HasPrefix(pg.Code, "08")
}

// pause waits a little longer after each attempt, and never as long as
// another node does. The randomness spreads load; nothing is secret about it.
func pause(ctx context.Context, attempt int) error {
	longest := time.Millisecond << min(attempt+1, 8)
	t := time.NewTimer(longest/2 + rand.N(longest/2))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

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
			if c := commits[i]; appends(c) {
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
// each alone, where it can only hurt itself.
func (db *DB) round(commits []*store.Commit) []error {
	errs, err := db.try(commits)
	if err == nil {
		return errs
	}
	errs = make([]error, len(commits))
	for i := range commits {
		errs[i] = fmt.Errorf("committing: %w", err)
		if len(commits) == 1 || unknown(err) {
			continue
		}
		switch one, err := db.try(commits[i : i+1]); {
		case err != nil:
			errs[i] = fmt.Errorf("committing: %w", err)
		default:
			errs[i] = one[0]
		}
	}
	return errs
}

// try sends the commits, again if that is certain to be safe. The callers'
// contexts do not reach here: none of them may stop the others' commits.
func (db *DB) try(commits []*store.Commit) ([]error, error) {
	// The server stops a statement first; this is for a server that is gone.
	ctx, cancel := context.WithTimeout(context.Background(), db.timeout+5*time.Second)
	defer cancel()
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

// unknown says that the commits may have happened: the connection was lost, or
// the server ended it, possibly after the commit, or says itself that it does
// not know.
func unknown(err error) bool {
	var early notSent
	if errors.As(err, &early) || pgconn.SafeToRetry(err) {
		return false
	}
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return true
	}
	return pg.SeverityUnlocalized != "ERROR" || pg.Code == "40003" || strings.HasPrefix(pg.Code, "08")
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

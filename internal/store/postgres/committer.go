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
	"latchkey/internal/store/group"
)

// maxRetries bounds how often a group is sent again.
const maxRetries = 8

// notSent is an error before anything reached the server.
type notSent struct{ error }

func (e notSent) Unwrap() error { return e.error }

// commit writes groups until the queue is closed and empty. An answer to one
// statement names activities by their ids, hence DistinctIDs.
func (db *DB) commit() {
	db.queue.Run(group.Writer{
		Transact:    db.transact,
		RolledBack:  rolledBack,
		DistinctIDs: true,
		// For a server that is gone; one that is there stops a statement earlier
		// by itself.
		Timeout: deadline(db.timeout),
	})
}

// deadline is when a connection is given up on which a statement should have
// ended after timeout.
func deadline(timeout time.Duration) time.Duration { return timeout + timeout/3 }

// transact sends the commits, again if that is certain to be safe.
func (db *DB) transact(ctx context.Context, commits []*store.Commit) ([]error, error) {
	for attempt := 0; ; attempt++ {
		refusals, err := db.send(ctx, commits)
		if err == nil {
			return refusals, nil
		}
		if len(commits) == 1 && lostClaim(commits[0], err) {
			return []error{store.ErrConflict}, nil
		}
		if attempt == maxRetries || !retryable(err) || pause(ctx, attempt) != nil {
			return nil, fmt.Errorf("committing: %w", named(err))
		}
	}
}

// lostClaim says that a commit did not happen because an item that must be new
// is there already; see changeSQL.
func lostClaim(c *store.Commit, err error) bool {
	return c.Claims() && code(err) == "22012" // division_by_zero
}

// retryable says that a commit certainly did not happen and may succeed if sent
// again.
func retryable(err error) bool {
	var early notSent
	switch code(err) {
	case "40001", "40P01": // serialization_failure, deadlock_detected
		return true
	case "":
		return errors.As(err, &early) || pgconn.SafeToRetry(err)
	}
	return false
}

// rolledBack says that the server rolled the transaction back because of a
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

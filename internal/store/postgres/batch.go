package postgres

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"latchkey/internal/store"
)

// batch is one group as it is sent to the server.
type batch struct {
	pgx.Batch
	commits  []*store.Commit
	refusals []error // in the order of commits
}

// send runs the commits as one implicit transaction and returns their
// refusals. Statements are ordered by organization, so that two groups take
// their locks in the same order. The error is of the whole: the outcome is
// known only when Close has read the answer to the Sync that ends the batch,
// for that is when the server commits.
func (db *DB) send(ctx context.Context, commits []*store.Commit) ([]error, error) {
	conn, err := db.writes.acquire(ctx)
	if err != nil {
		return nil, notSent{err}
	}
	defer db.writes.release(conn)

	b := &batch{commits: commits, refusals: make([]error, len(commits))}
	order := make([]int, len(commits))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(commits[i].Org, commits[j].Org) })

	var appends, changes []int
	barrier := false
	for _, i := range order {
		switch c := commits[i]; {
		case c == db.barrier:
			barrier = true
		case c.Appends():
			appends = append(appends, i)
		default:
			changes = append(changes, i)
		}
	}
	b.Queue(settingsSQL, db.settings()...)
	if len(appends) > 0 {
		b.queueAppends(appends)
	}
	for len(changes) > 0 {
		if t := b.nextChain(changes); len(t.numbers) > 0 {
			b.queueChain(t)
			changes = changes[len(t.numbers):]
			continue
		}
		b.queueChange(changes[0])
		changes = changes[1:]
	}
	if barrier {
		b.Queue(barrierSQL) // last, so that groups take their locks in one order
	}
	pg := conn.Conn().PgConn()
	forgetWarning(pg)
	err = conn.SendBatch(ctx, &b.Batch).Close()
	switch {
	case err == nil:
		err = warned(pg)
	case code(err) == undefinedObject:
		return nil, errNoStandby
	}
	if _, doubt := errors.AsType[inDoubt](err); doubt || conn.Conn().IsClosed() {
		db.drop(pg)
	}
	if err != nil {
		return nil, err
	}
	return b.refusals, nil
}

// drop ends every connection after an outcome that is not known: what comes
// next passes the barrier of a new one. Mostly the server is gone, and with it
// the other connections too. The socket is closed at once, where pgx would wait
// for the server to say goodbye, which one that waits for a standby does not.
func (db *DB) drop(conn *pgconn.PgConn) {
	_ = conn.Conn().Close()
	db.writes.conns.Reset()
	db.reads.conns.Reset()
}

// queueAppends puts the commits with these numbers into one statement.
func (b *batch) queueAppends(numbers []int) {
	orgs, versions := make([]string, len(numbers)), make([]int64, len(numbers))
	for k, i := range numbers {
		orgs[k], versions[k] = b.commits[i].Org, b.commits[i].Version
		b.refusals[i] = store.ErrConflict // unless the statement says otherwise
	}
	b.Queue(appendSQL, append([]any{orgs, versions}, b.activityColumns(numbers)...)...).
		Query(func(rows pgx.Rows) error {
			var k int64
			var inserted bool
			_, err := pgx.ForEachRow(rows, []any{&k, &inserted}, func() error {
				b.refusals[numbers[k-1]] = nil
				if !inserted {
					b.refusals[numbers[k-1]] = store.ErrRecorded
				}
				return nil
			})
			return err
		})
}

// activityColumns are arguments of a statement: a list for each column of the
// activities of some commits, and one of their entries in the log.
func (b *batch) activityColumns(numbers []int) []any {
	n := len(numbers)
	var (
		ids, types, statuses          = make([]string, n), make([]string, n), make([]string, n)
		times                         = make([]int64, n)
		fingerprints, bodies, entries = make([][]byte, n), make([][]byte, n), make([][]byte, n)
	)
	for k, i := range numbers {
		c := b.commits[i]
		a := c.Activity
		ids[k], times[k], fingerprints[k], types[k], statuses[k], bodies[k] = a.ID, a.TimestampMs, a.Fingerprint[:], a.Type, a.Status, store.NonNil(a.Body)
		if len(c.Entries) > 0 {
			entries[k] = store.NonNil(c.Entries[0].Body)
		}
	}
	return []any{ids, times, fingerprints, types, statuses, bodies, entries}
}

// queueChange adds the statement of one commit.
func (b *batch) queueChange(i int) {
	c := b.commits[i]
	var orgs, kinds, ids, deletedOrgs, deletedKinds, deletedIDs []string
	var claimedOrgs, claimedKinds, claimedIDs []string
	var bodies, claimedBodies [][]byte
	for k := range c.Changes {
		ch := &c.Changes[k]
		org := cmp.Or(ch.Org, c.Org)
		switch {
		case ch.Body == nil:
			deletedOrgs = append(deletedOrgs, org)
			deletedKinds, deletedIDs = append(deletedKinds, ch.Kind), append(deletedIDs, ch.ID)
		case ch.New:
			claimedOrgs = append(claimedOrgs, org)
			claimedKinds, claimedIDs, claimedBodies = append(claimedKinds, ch.Kind), append(claimedIDs, ch.ID), append(claimedBodies, ch.Body)
		default:
			orgs = append(orgs, org)
			kinds, ids, bodies = append(kinds, ch.Kind), append(ids, ch.ID), append(bodies, ch.Body)
		}
	}
	args := []any{c.Org, c.Version, orgs, kinds, ids, bodies, deletedOrgs, deletedKinds, deletedIDs, c.Creates}
	var entryOrgs, entryActivities []string
	var entryBodies [][]byte
	for k := range c.Entries {
		e := &c.Entries[k]
		entryOrgs, entryActivities = append(entryOrgs, e.Org), append(entryActivities, e.Activity)
		entryBodies = append(entryBodies, store.NonNil(e.Body))
	}
	args = append(args, entryOrgs, entryActivities, entryBodies)
	if a := c.Activity; a != nil {
		args = append(args, a.ID, a.TimestampMs, a.Fingerprint[:], a.Type, a.Status, store.NonNil(a.Body))
	}
	if c.Claims() {
		args = append(args, claimedOrgs, claimedKinds, claimedIDs, claimedBodies)
	}
	if len(c.Follows) > 0 {
		var kinds, ids []string
		var bodies [][]byte
		for _, f := range c.Follows {
			kinds, ids, bodies = append(kinds, f.Kind), append(ids, f.ID), append(bodies, f.Body)
		}
		args = append(args, kinds, ids, bodies)
	}
	b.Queue(changeSQL(c), args...).QueryRow(func(row pgx.Row) error {
		var locked, gate, guard int64
		if err := row.Scan(&locked, &gate, &guard); err != nil {
			return err
		}
		switch {
		case locked == 0:
			b.refusals[i] = store.ErrConflict
		case gate == 0:
			b.refusals[i] = store.ErrRecorded
		}
		return nil
	})
}

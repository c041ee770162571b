// Package store keeps every organization's records. [Store] is the typed layer,
// [Driver] the database below it.
//
// The only way in is a transaction bound to one organization: it can neither
// read nor write another. Transactions are optimistic. Each organization has a
// version that every change raises; a transaction works on the version that it
// found and commits only if the organization is still there, else it runs
// again. A transaction that only appends an activity does not raise the
// version, so any number of them commit side by side, yet none can commit on a
// credential or a policy that was changed in the meantime.
//
// The small kinds that every request needs are kept in memory by (organization,
// version), and can therefore never be stale when it counts.
package store

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"latchkey/internal/fault"
	"latchkey/internal/keys/vault"
)

// ErrNoOrganization says that there is no such organization. Callers decide
// how much of that the client may learn.
var ErrNoOrganization = errors.New("store: no such organization")

// errStale says that the organization was changed while it was being read.
var errStale = errors.New("store: the organization was changed while it was read")

// maxAttempts bounds how often a transaction is run again. It is far above what
// contention on one organization needs; reaching it means that the database is
// in trouble.
const maxAttempts = 64

// Store holds every organization.
type Store struct {
	driver    Driver
	snapshots snapshotCache
	pipelines pipelines
	probe     *probe
	// keys mark the rows; nil until [Store.Bootstrap].
	keys      *vault.RowKeys
	tallies   tallyLines
	clock     databaseClock
	bulks     *bulks
	onFinding func(Finding)
	// held is why nothing may be changed; nil: it may.
	held atomic.Pointer[fault.Error]
}

// New returns a store over a driver, which it owns from then on.
func New(d Driver) *Store {
	return &Store{driver: faultDriver{d}, probe: newProbe(), bulks: newBulks()}
}

// Close waits for commits under way and releases the database.
func (s *Store) Close() error {
	s.bulks.close()
	return s.driver.Close()
}

// View runs fn on a consistent view of the organization. fn may run again when
// the organization is changed concurrently.
func (s *Store) View(ctx context.Context, org string, fn func(*Tx) error) error {
	return s.retry(ctx, org, func(version int64) error {
		if version == 0 {
			return ErrNoOrganization
		}
		tx := s.newTx(ctx, org, version)
		return s.readResult(ctx, tx, fn(tx))
	})
}

// Update runs fn and commits what it wrote when it returns nil. fn may run
// again after a conflict: it must have no effects but through its [Tx].
func (s *Store) Update(ctx context.Context, org string, fn func(*Tx) error) error {
	return s.change(ctx, org, func(tx *Tx) error {
		if tx.version == 0 {
			return ErrNoOrganization
		}
		return fn(tx)
	})
}

// CreateOrganization runs fn on an organization that does not exist yet, and
// creates it. It returns a fault when it does exist.
func (s *Store) CreateOrganization(ctx context.Context, org string, fn func(*Tx) error) error {
	return s.change(ctx, org, func(tx *Tx) error {
		if tx.version != 0 {
			return fault.Taken("organization %s already exists", org)
		}
		return fn(tx)
	})
}

// Instance runs fn on what belongs to the whole installation, and commits it.
func (s *Store) Instance(ctx context.Context, fn func(*Tx) error) error {
	return s.change(ctx, instanceOrg, fn)
}

// Organizations lists organizations after an id, ordered by id, the instance's
// own among them.
func (s *Store) Organizations(ctx context.Context, after string, limit int) ([]string, error) {
	return s.driver.Organizations(ctx, after, limit)
}

// change runs fn and commits what it wrote, again after a conflict.
func (s *Store) change(ctx context.Context, org string, fn func(*Tx) error) error {
	p := s.newPlace(org)
	defer p.leave()
	return attempts(ctx, func() (joined bool, err error) {
		early := p.ahead(ctx, fn)
		tx, err := p.begin(ctx)
		switch {
		case err != nil:
		case early != nil && early.moveTo(tx):
			err = s.commit(ctx, early)
		default:
			err = s.run(ctx, tx, fn)
		}
		return p.end(err), err
	})
}

func (s *Store) run(ctx context.Context, tx *Tx, fn func(*Tx) error) error {
	committed := false
	defer func() { tx.endTallies(committed) }()
	err := fn(tx)
	if problem := tx.awaitDecided(ctx); problem != nil {
		return problem
	}
	if err != nil {
		return s.readResult(ctx, tx, err)
	}
	err = s.commit(ctx, tx)
	committed = err == nil
	return err
}

// commit makes durable what a transaction wrote.
func (s *Store) commit(ctx context.Context, tx *Tx) error {
	commit, err := tx.commit()
	if err != nil {
		return err
	}
	if tx.duringCommit == nil {
		tx.duringCommit = func() error { return nil }
	}
	if commit == nil {
		if tx.base != nil {
			if err := s.readResult(ctx, tx, nil); err != nil {
				return err
			}
		}
		return tx.duringCommit()
	}
	if held := s.held.Load(); held != nil {
		return held
	}
	if err := tx.mark(commit); err != nil {
		return err
	}
	if err := tx.checkFailures(); err != nil {
		return err
	}
	tx.follow(commit)
	var failed error
	var next *snapshot      // of the version that the commit makes
	var state *pendingState // in which others run on it
	defer func() { state.settle(tx.committed) }()
	commit.During = func() {
		tx.talliesQueued()
		next = tx.nextSnapshot(commit)
		state = tx.queued(commit, next)
		failed = tx.duringCommit()
	}
	if err := tx.awaitTallies(ctx); err != nil {
		return err
	}
	err = s.driver.Commit(ctx, commit)
	tx.committed = err == nil
	s.probe.observe(commit, err)
	if tx.committed {
		tx.keepDerived()
		if next != nil {
			s.snapshots.add(tx.org, next)
		}
	}
	return cmp.Or(err, failed)
}

// Hold refuses everything from now on that would change what is stored. What is
// there can be read.
func (s *Store) Hold(why *fault.Error) { s.held.Store(why) }

// readResult is the result of a transaction that commits nothing: err, unless it
// may have read a mixture of two versions; then it has to run again.
func (s *Store) readResult(ctx context.Context, tx *Tx, err error) error {
	if tx.atHand {
		return err // the caller asks
	}
	if tx.base != nil {
		if problem := tx.base.await(ctx); problem != nil {
			return problem
		}
		if problem := tx.checkFailures(); problem != nil {
			return problem
		}
	}
	if tx.uncached {
		if ended := ctx.Err(); ended != nil { // nothing can be checked any more
			return cmp.Or(err, ended)
		}
		if problem := s.checkVersion(ctx, tx.org, tx.version); problem != nil {
			return problem
		}
	}
	tx.keepDerived()
	return err
}

// retry runs attempt on the organization's present version, as [attempts] does.
func (s *Store) retry(ctx context.Context, org string, attempt func(version int64) error) error {
	return attempts(ctx, func() (bool, error) {
		version, err := s.driver.Version(ctx, org)
		if err == nil {
			err = attempt(version)
		}
		return false, err
	})
}

// attempts runs attempt until it neither conflicts nor finds that it read a mixture of
// two versions. It says whether it will wait for its turn the next time.
func attempts(ctx context.Context, attempt func() (inTurn bool, err error)) error {
	for n := range maxAttempts {
		inTurn, err := attempt()
		if !errors.Is(err, ErrConflict) && !errors.Is(err, ErrRecorded) && !errors.Is(err, errStale) {
			return err
		}
		if !inTurn && n > 2 {
			// Another node may be writing the same organization.
			if err := sleep(ctx, rand.N(time.Duration(n)*time.Millisecond)); err != nil {
				return err
			}
		}
	}
	return fault.New(fault.Unavailable, fault.ReasonUnspecified,
		"the organization is being changed by too many requests at once; send the same request again")
}

func (s *Store) newTx(ctx context.Context, org string, version int64) *Tx {
	return s.newTxOn(ctx, org, s.snapshots.get(org, version))
}

func (s *Store) newTxOn(ctx context.Context, org string, on *snapshot) *Tx {
	return &Tx{ctx: ctx, store: s, org: org, version: on.version, snapshot: on, tables: map[string]anyWrites{}}
}

func (s *Store) checkVersion(ctx context.Context, org string, version int64) error {
	now, err := s.driver.Version(ctx, org)
	if err == nil && now != version {
		err = errStale
	}
	return err
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

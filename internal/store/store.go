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
	"hash/maphash"
	"math/rand/v2"
	"sync"
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
	// queues let transactions that lost a conflict wait for each other instead
	// of trying again all at once. They are for speed alone: correctness rests
	// on the version check.
	queues [256]sync.Mutex
	seed   maphash.Seed
	probe  *probe
	// keys mark the rows; nil until [Store.Bootstrap].
	keys      *vault.RowKeys
	tallies   tallyLines
	clock     databaseClock
	onFinding func(Finding)
	// held is why nothing may be changed; nil: it may.
	held atomic.Pointer[fault.Error]
}

// New returns a store over a driver, which it owns from then on.
func New(d Driver) *Store {
	return &Store{driver: faultDriver{d}, seed: maphash.MakeSeed(), probe: newProbe()}
}

// Close waits for commits under way and releases the database.
func (s *Store) Close() error { return s.driver.Close() }

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
	return s.retry(ctx, org, func(version int64) error {
		if version == 0 {
			return ErrNoOrganization
		}
		return s.run(ctx, org, version, fn)
	})
}

// CreateOrganization runs fn on an organization that does not exist yet, and
// creates it. It returns a fault when it does exist.
func (s *Store) CreateOrganization(ctx context.Context, org string, fn func(*Tx) error) error {
	return s.retry(ctx, org, func(version int64) error {
		if version != 0 {
			return fault.Taken("organization %s already exists", org)
		}
		return s.run(ctx, org, 0, fn)
	})
}

// Instance runs fn on what belongs to the whole installation, and commits it.
func (s *Store) Instance(ctx context.Context, fn func(*Tx) error) error {
	return s.retry(ctx, instanceOrg, func(version int64) error {
		return s.run(ctx, instanceOrg, version, fn)
	})
}

// Organizations lists organizations after an id, ordered by id, the instance's
// own among them.
func (s *Store) Organizations(ctx context.Context, after string, limit int) ([]string, error) {
	return s.driver.Organizations(ctx, after, limit)
}

func (s *Store) run(ctx context.Context, org string, version int64, fn func(*Tx) error) error {
	tx := s.newTx(ctx, org, version)
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
		return tx.duringCommit()
	}
	if held := s.held.Load(); held != nil {
		return held
	}
	var failed error
	commit.During = func() {
		tx.talliesQueued()
		failed = tx.duringCommit()
	}
	if err := tx.mark(commit); err != nil {
		return err
	}
	if err := tx.awaitTallies(ctx); err != nil {
		return err
	}
	err = s.driver.Commit(ctx, commit)
	s.probe.observe(commit, err)
	if err == nil && commit.Raises() && tx.version > 0 {
		// No other commit came between: the next version is this one and what
		// was written.
		next := s.snapshots.get(tx.org, tx.version+1)
		next.inherit(tx.snapshot, tx.changedKinds())
		next.head.Store(tx.nextHead)
	}
	return cmp.Or(err, failed)
}

// Hold refuses everything from now on that would change what is stored. What is
// there can be read.
func (s *Store) Hold(why *fault.Error) { s.held.Store(why) }

// readResult is the result of a transaction that commits nothing: err, unless it
// may have read a mixture of two versions; then it has to run again.
func (s *Store) readResult(ctx context.Context, tx *Tx, err error) error {
	if !tx.uncached {
		return err
	}
	if ended := ctx.Err(); ended != nil { // nothing can be checked any more
		return cmp.Or(err, ended)
	}
	return cmp.Or(s.checkVersion(ctx, tx.org, tx.version), err)
}

// retry runs attempt on the organization's present version until it neither
// conflicts nor finds that it read a mixture of two versions.
func (s *Store) retry(ctx context.Context, org string, attempt func(version int64) error) error {
	var queued bool
	for n := range maxAttempts {
		version, err := s.driver.Version(ctx, org)
		if err != nil {
			return err
		}
		err = attempt(version)
		conflict := errors.Is(err, ErrConflict)
		if !conflict && !errors.Is(err, ErrRecorded) && !errors.Is(err, errStale) {
			return err
		}
		if conflict && !queued {
			queue := &s.queues[maphash.String(s.seed, org)%uint64(len(s.queues))]
			queue.Lock()
			defer queue.Unlock()
			queued = true
		} else if n > 2 {
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

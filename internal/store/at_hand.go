package store

import (
	"context"
	"errors"
	"slices"
)

// Views is where views of organizations come from: a [Store], or what [Store.Read]
// hands out.
type Views interface {
	View(ctx context.Context, org string, fn func(*Tx) error) error
}

// Changes are views and changes of organizations: those of a [Store], or what
// [Store.Write] hands out.
type Changes interface {
	Views
	Update(ctx context.Context, org string, fn func(*Tx) error) error
}

// ErrNotAtHand says that something cannot be done on the versions that this process
// knows. What [Store.Read] and [Store.Write] run may return it to be run as ever.
var ErrNotAtHand = errors.New("store: this cannot be done on the versions that are known")

// maxAtHand is how often the versions that are known are tried. The second time they
// are those that the database has just named.
const maxAtHand = 2

// Read runs fn, which reads organizations by views, all of them as new as the call.
//
// Where the version of an organization is a question to a database elsewhere, fn
// first runs on the versions that this process knows, and then one question, asked
// when all was read, finds out whether they are the present ones. If so nothing
// has changed between: versions only grow. Otherwise what fn did counts for
// nothing, and it runs again: it must have no effects but what it leaves to its
// caller, in one goroutine.
//
// certain is false when the database failed before it confirmed what fn relied
// on: then err says so, and nothing that fn found may be used, not even for the
// log.
func (s *Store) Read(ctx context.Context, fn func(Views) error) (certain bool, err error) {
	return s.onVersionsAtHand(ctx, func(c Changes) error { return fn(c) })
}

// Write is Read for an fn that also changes an organization, once and last. A commit
// is accepted on the present version only, so that it confirms what fn relied on, and
// nothing is asked. What commits nothing is confirmed as by Read: a refusal too.
//
// Where changes of the organization are on their way, versions that are known would
// mostly be old ones: there fn runs as ever.
func (s *Store) Write(ctx context.Context, org string, fn func(Changes) error) (certain bool, err error) {
	if s.driver.Remote() && s.isBusy(org) {
		return true, fn(s)
	}
	return s.onVersionsAtHand(ctx, fn)
}

func (s *Store) onVersionsAtHand(ctx context.Context, fn func(Changes) error) (certain bool, err error) {
	if s.driver.Remote() {
		for range maxAtHand {
			a := &atHand{store: s}
			outcome, err := a.run(ctx, fn)
			switch outcome {
			case confirmed:
				return true, err
			case notAnswered:
				return false, err
			}
			if a.impossible {
				break
			}
		}
	}
	return true, fn(s)
}

// outcome is what the database says of a run on the versions at hand.
type outcome int

const (
	refuted     outcome = iota // it must run again
	confirmed                  // what it returned holds
	notAnswered                // the database failed, or the caller waits no more
)

// atHand has views of organizations at the newest versions that this process knows
// of, which may be old.
type atHand struct {
	store *Store
	used  []usedSnapshot // few
	txs   []*Tx
	// impossible says that this cannot be done on versions that are known, or not now.
	impossible bool
}

type usedSnapshot struct {
	org string
	*snapshot
}

// View implements [Views]. What fn returns rests on a version that is not confirmed.
func (a *atHand) View(ctx context.Context, org string, fn func(*Tx) error) error {
	tx, err := a.newTx(ctx, org)
	if err != nil {
		return err
	}
	return fn(tx)
}

// Update implements [Changes]. Only the version of the organization itself is
// confirmed by its commit: what rests on others too is not for here.
func (a *atHand) Update(ctx context.Context, org string, fn func(*Tx) error) error {
	tx, err := a.newTx(ctx, org)
	if err != nil {
		return err
	}
	if len(a.used) > 1 {
		a.impossible = true
		return ErrNotAtHand
	}
	return a.store.run(ctx, tx, fn)
}

func (a *atHand) newTx(ctx context.Context, org string) (*Tx, error) {
	s := a.snapshot(org)
	if s == nil {
		a.impossible = true
		return nil, ErrNotAtHand
	}
	tx := a.store.newTxOn(ctx, org, s)
	tx.atHand = true
	a.txs = append(a.txs, tx)
	return tx, nil
}

// snapshot is the same one for all views of an organization; nil: there is none.
func (a *atHand) snapshot(org string) *snapshot {
	for _, u := range a.used {
		if u.org == org {
			return u.snapshot
		}
	}
	s := a.store.snapshots.newest(org)
	if s != nil {
		a.used = append(a.used, usedSnapshot{org, s})
	}
	return s
}

// run runs fn, and finds out whether that counts.
func (a *atHand) run(ctx context.Context, fn func(Changes) error) (outcome, error) {
	err := fn(a)
	switch {
	case slices.ContainsFunc(a.txs, func(tx *Tx) bool { return tx.committed }): // on the only version that was used
	case a.impossible:
		return refuted, nil
	case errors.Is(err, ErrNotAtHand), errors.Is(err, ErrRecorded):
		a.impossible = true
		return refuted, nil
	case isDatabaseFailure(err): // asking again would only be to wait again
		return notAnswered, err
	default:
		same, problem := a.confirm(ctx)
		switch {
		case problem != nil:
			return notAnswered, problem
		case errors.Is(err, ErrConflict): // which may be about more than the version
			a.impossible = true
			return refuted, nil
		case !same || errors.Is(err, errStale):
			return refuted, nil
		}
	}
	for _, tx := range a.txs {
		tx.keepDerived()
	}
	return confirmed, err
}

// confirm asks once for all versions that were used, and notes which of them are
// not the present ones.
func (a *atHand) confirm(ctx context.Context) (same bool, err error) {
	versions, err := a.present(ctx)
	if err != nil {
		return false, err
	}
	same = true
	for i, u := range a.used {
		if versions[i] != u.version {
			same = false
			a.store.snapshots.refute(u.org, u.version, versions[i])
		}
	}
	return same, nil
}

// present are the versions of the organizations that were used, 0 for one that is
// not there.
func (a *atHand) present(ctx context.Context) ([]int64, error) {
	if len(a.used) == 1 {
		version, err := a.store.driver.Version(ctx, a.used[0].org)
		return []int64{version}, err
	}
	orgs, versions := make([]string, len(a.used)), make([]int64, len(a.used))
	for i, u := range a.used {
		orgs[i] = u.org
	}
	found, err := a.store.driver.Versions(ctx, orgs)
	for i, org := range orgs {
		versions[i] = found[org]
	}
	return versions, err
}

// newest is the snapshot of the newest version that is known, nil when none is.
func (c *snapshotCache) newest(org string) *snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, ok := c.known.Get(org)
	if !ok || known.version == 0 {
		return nil
	}
	return known
}

// refute notes that the organization was not at a version that was known when the
// database was asked, but at another. That is a newer one, or else the known one was
// lost with a server that failed: then it never was, and nothing of it may be kept.
func (c *snapshotCache) refute(org string, version, present int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, ok := c.known.Get(org)
	if !ok || known.version == version || known.version < present {
		c.known.Put(org, newSnapshot(present))
	}
}

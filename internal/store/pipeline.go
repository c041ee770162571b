package store

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"
)

// Changes of one organization come one after the other: each needs the version that
// the one before it makes. If each waited until the one before it is on the disk, one
// busy organization would be as slow as the disk is, and no two of its changes could
// share a flush. So transactions of one process that got in each other's way stand in
// a pipeline. One runs at a time, on the state that the one before it is about to
// commit; as soon as its own commit is queued, the next one runs. Those that wait run
// ahead, side by side: see [place.ahead].
//
// Nothing rests on a state that did not come about. A commit names the head of the
// state that it rests on as what it follows ([Commit.Follows]): if that is not in the
// database, whatever the reason, the driver refuses it, and its transaction runs
// again. A result without a commit is held back until the state is committed. So all
// of this is for speed, on any number of servers; docs/decisions/0049 has the whole
// argument.

// pipelines are those in use, by organization.
type pipelines struct {
	mu    sync.Mutex
	byOrg map[string]*pipeline
}

type pipeline struct {
	places int           // transactions that stand in it, guarded by pipelines.mu
	turn   chan struct{} // filled by the one that runs

	mu sync.Mutex
	// newest is the state that the next transaction runs on; nil: what is committed.
	newest *pendingState
	// items are what commits on their way write, by kind and id.
	items map[string]map[string]pendingItem
	// recording are the requests whose activities are on their way.
	recording map[recordedRequest]bool
	onTheWay  int           // commits that make a state
	broken    bool          // one of them failed: nothing may follow the others
	settled   chan struct{} // closed when none is left; nil: none waits for it
	failures  int           // commits that may have failed, over all time
	inTurn    int           // how many transactions are to run in their turn only
	changed   time.Time     // when the newest state was queued
}

// pendingState is the state of an organization that a commit on its way makes.
type pendingState struct {
	line     *pipeline
	snapshot *snapshot
	head     []byte // as it is stored
	changes  []Change
	request  *recordedRequest
	failures int           // of the pipeline when it was queued
	done     chan struct{} // closed when it is known whether it failed
	failed   bool
}

type pendingItem struct {
	stored []byte // nil: deleted
	by     *pendingState
}

type recordedRequest struct {
	timestampMs int64
	fingerprint Fingerprint
}

// await waits until the state is committed; errStale: it never will be.
func (p *pendingState) await(ctx context.Context) error {
	select {
	case <-p.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	if p.failed {
		return errStale
	}
	return nil
}

// place is where one transaction stands, over all of its attempts.
type place struct {
	store *Store
	org   string
	line  *pipeline // nil: outside, as long as no other transaction is in its way
	runs  bool      // it is its turn
	// waits says that it runs on nothing but what is committed.
	waits bool
}

// newPlace is outside of the pipeline, unless a change is on its way, or was lately:
// what does not follow that is refused.
func (s *Store) newPlace(org string) *place {
	p := &place{store: s, org: org}
	if s.isBusy(org) {
		p.join()
	}
	return p
}

// isBusy reports whether a change of the organization is on its way, or was lately.
func (s *Store) isBusy(org string) bool {
	s.pipelines.mu.Lock()
	line := s.pipelines.byOrg[org]
	s.pipelines.mu.Unlock()
	return line != nil && line.isBusy()
}

// lately is how long a pipeline in which nothing is on its way is joined by those that
// come: outside, they and the one whose turn it is would get in each other's way. It
// is no longer because one that is slow must not keep those waiting that change nothing.
const lately = 10 * time.Millisecond

func (l *pipeline) isBusy() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.newest != nil || time.Since(l.changed) < lately
}

func (p *place) join() {
	all := &p.store.pipelines
	all.mu.Lock()
	defer all.mu.Unlock()
	p.line = all.byOrg[p.org]
	if p.line == nil {
		if all.byOrg == nil {
			all.byOrg = map[string]*pipeline{}
		}
		p.line = &pipeline{turn: make(chan struct{}, 1), items: map[string]map[string]pendingItem{}, recording: map[recordedRequest]bool{}}
		all.byOrg[p.org] = p.line
	}
	p.line.places++
}

func (p *place) leave() {
	p.pass()
	if p.line == nil {
		return
	}
	all := &p.store.pipelines
	all.mu.Lock()
	defer all.mu.Unlock()
	if p.line.places--; p.line.places == 0 {
		delete(all.byOrg, p.org)
	}
}

// begin waits for the turn, and returns the transaction of the next attempt.
func (p *place) begin(ctx context.Context) (*Tx, error) {
	if p.line != nil {
		if !p.runs {
			select {
			case p.line.turn <- struct{}{}:
				p.runs = true
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		base, err := p.line.base(ctx, p.waits)
		if err != nil {
			return nil, err
		}
		if base != nil {
			return p.newTx(ctx, base), nil
		}
	}
	version, err := p.store.driver.Version(ctx, p.org)
	if err != nil {
		return nil, err
	}
	tx := p.store.newTx(ctx, p.org, version)
	tx.place = p
	return tx, nil
}

func (p *place) newTx(ctx context.Context, base *pendingState) *Tx {
	tx := p.store.newTxOn(ctx, p.org, base.snapshot)
	tx.place, tx.base = p, base
	return tx
}

// end ends an attempt. What it failed with says how the next one begins; joined: that
// it will be the first in the pipeline.
func (p *place) end(err error) (joined bool) {
	p.pass()
	p.waits = p.waits || errors.Is(err, errStale)
	if p.line == nil && errors.Is(err, ErrConflict) {
		p.join()
		return true
	}
	return false
}

// pass lets the next transaction run.
func (p *place) pass() {
	if p.runs {
		p.runs = false
		<-p.line.turn
	}
}

// base is the state to run on; nil: what is committed. After a failure, and for a
// transaction that needs it, that is when nothing is on its way any more.
func (l *pipeline) base(ctx context.Context, wait bool) (*pendingState, error) {
	for {
		l.mu.Lock()
		newest := l.newest
		if newest == nil || !l.broken && !wait {
			l.mu.Unlock()
			return newest, nil
		}
		if l.settled == nil {
			l.settled = make(chan struct{})
		}
		settled := l.settled
		l.mu.Unlock()
		select {
		case <-settled:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// checkFailures ends an attempt during which a commit may have failed. That commit may
// be made all the same; then what it wrote was neither on its way any more nor in the
// database when this attempt read it. It is called when all was read. Nothing runs on
// a state after whose queueing a commit failed, so that the state has the number.
func (tx *Tx) checkFailures() error {
	if tx.base == nil {
		return nil
	}
	l := tx.base.line
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failures != tx.base.failures {
		return errStale
	}
	return nil
}

// A transaction that waits for its turn runs ahead, beside others that do, on the
// newest state that is on its way. Others will have changed the organization when its
// turn comes; but if nothing of what it read was changed, it would read the same again,
// and do the same. So it only commits then, and the rest of its work has not held up
// those behind it.
//
// What it reads may already be of a later state than that on which it runs, because
// what is on its way is looked up in one place ([pipeline.items]). Such a state has noted
// before what it changes, so that this counts as changed too.

// maxMissed is for how many transactions it is not tried to run ahead after it was
// in vain once: what always changes the same rows would do everything twice.
const maxMissed = 16

// ahead runs fn before the turn of the transaction has come; nil: that was in vain,
// or it is its turn.
func (p *place) ahead(ctx context.Context, fn func(*Tx) error) *Tx {
	if p.line == nil || p.waits || p.org == instanceOrg { // many of whose rows no version guards
		return nil
	}
	select {
	case p.line.turn <- struct{}{}:
		p.runs = true
		return nil
	default:
	}
	base := p.line.toRunAheadOn()
	if base == nil {
		return nil
	}
	tx := p.newTx(ctx, base)
	tx.ahead, tx.noted = true, true
	err := fn(tx)
	if errors.Is(err, errStale) {
		p.line.missed()
	}
	if err != nil {
		return nil
	}
	return tx
}

// toRunAheadOn is the newest state that is on its way; nil: there is none, or it is
// not worth trying.
func (l *pipeline) toRunAheadOn() *pendingState {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inTurn > 0 {
		l.inTurn--
		return nil
	}
	if l.broken {
		return nil
	}
	return l.newest
}

func (l *pipeline) missed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inTurn = maxMissed
}

// moveTo makes a transaction that ran ahead the one whose turn it is, which has not
// run; false: it would not do the same.
func (tx *Tx) moveTo(turn *Tx) bool {
	made := turn.snapshot.derivations()
	// Versions that were made one from the other in this process have the same notes.
	if tx.checkFailures() != nil || turn.version < tx.version || tx.snapshot.derivations() != made || !made.stillHold(tx.version, tx.of) {
		tx.place.line.missed()
		return false
	}
	tx.version, tx.snapshot, tx.base = turn.version, turn.snapshot, turn.base
	if tx.own != nil {
		tx.own.base = turn.base
	}
	tx.ahead, tx.noted, tx.of = false, false, nil
	return true
}

// canBeFollowed reports whether others can run on what a commit makes. What a vote
// replaces is no item, so that they could not read it; and what has no head cannot be
// followed.
func (tx *Tx) canBeFollowed(c *Commit) bool {
	return tx.place != nil && tx.place.line != nil && tx.nextHead != nil && tx.version > 0 && !c.Replaces
}

// follow makes a commit one of the pipeline, if its transaction is in it.
func (tx *Tx) follow(c *Commit) {
	if tx.base != nil {
		c.Follows = append(c.Follows, StoredBody{Kind: headKind, ID: headID, Body: tx.base.head})
	}
	c.Followed = tx.canBeFollowed(c)
}

// queued lets the next transaction run on the state that a commit makes, which is on
// its way now. It returns nil if the commit makes none, or none that can be followed: in
// that case the next transaction runs when the commit is done.
func (tx *Tx) queued(c *Commit, made *snapshot) *pendingState {
	if !c.Followed {
		if tx.place != nil && !c.Raises() {
			tx.place.pass()
		}
		return nil
	}
	l := tx.place.line
	state := &pendingState{line: l, snapshot: made, done: make(chan struct{})}
	l.mu.Lock()
	defer l.mu.Unlock()
	state.failures = l.failures
	for _, ch := range c.Changes {
		if ch.Org != "" {
			continue // of another organization
		}
		if ch.Kind == headKind {
			state.head = ch.Body
		}
		if l.items[ch.Kind] == nil {
			l.items[ch.Kind] = map[string]pendingItem{}
		}
		l.items[ch.Kind][ch.ID] = pendingItem{ch.Body, state}
		state.changes = append(state.changes, ch)
	}
	if a := c.Activity; a != nil {
		state.request = &recordedRequest{a.TimestampMs, a.Fingerprint}
		l.recording[*state.request] = true
	}
	l.newest, l.changed = state, time.Now()
	l.onTheWay++
	tx.place.pass()
	return state
}

// settle says what became of a commit. Its caller has seen that.
func (p *pendingState) settle(committed bool) {
	if p == nil {
		return
	}
	p.failed = !committed
	close(p.done)
	l := p.line
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range p.changes {
		ch := &p.changes[i]
		if l.items[ch.Kind][ch.ID].by == p {
			delete(l.items[ch.Kind], ch.ID)
		}
	}
	if p.request != nil {
		delete(l.recording, *p.request)
	}
	l.onTheWay--
	if p.failed {
		l.broken = true
		l.failures++
	}
	switch {
	case l.onTheWay == 0:
		l.newest, l.broken = nil, false
		if l.settled != nil {
			close(l.settled)
			l.settled = nil
		}
	case l.newest == p && committed:
		l.newest = nil // those before it are committed too, and have not said so yet
	}
}

// A transaction on a state that is not committed reads what is on its way before it
// reads the database: what is committed between the two is then read twice, and never
// missed.

// item is an item as it will be stored; known: it is on its way.
func (p *pendingState) item(kind, id string) (stored []byte, known bool) {
	if p == nil {
		return nil, false
	}
	p.line.mu.Lock()
	defer p.line.mu.Unlock()
	item, known := p.line.items[kind][id]
	return item.stored, known
}

// itemsIn are the items in a range that are on their way; those that are deleted have
// no body.
func (p *pendingState) itemsIn(kind string, in Range) (list []Item) {
	if p == nil {
		return nil
	}
	p.line.mu.Lock()
	defer p.line.mu.Unlock()
	for id, item := range p.line.items[kind] {
		if id >= in.From && (in.To == "" || id < in.To) {
			list = append(list, Item{id, item.stored})
		}
	}
	slices.SortFunc(list, func(a, b Item) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// overlay puts items that are on their way over those that are stored. Both are in
// order.
func overlay(stored, onTheWay []Item, limit int) (list []Item) {
	for len(stored) > 0 || len(onTheWay) > 0 {
		if limit > 0 && len(list) == limit {
			break
		}
		if len(onTheWay) == 0 || len(stored) > 0 && stored[0].ID < onTheWay[0].ID {
			list, stored = append(list, stored[0]), stored[1:]
			continue
		}
		if len(stored) > 0 && stored[0].ID == onTheWay[0].ID {
			stored = stored[1:]
		}
		if onTheWay[0].Body != nil {
			list = append(list, onTheWay[0])
		}
		onTheWay = onTheWay[1:]
	}
	return list
}

// isRecording reports whether the activity of a request is on its way.
func (p *pendingState) isRecording(r recordedRequest) bool {
	if p == nil {
		return false
	}
	p.line.mu.Lock()
	defer p.line.mu.Unlock()
	return p.line.recording[r]
}

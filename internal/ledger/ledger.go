// Package ledger keeps the transparency log: it numbers the entries that commits
// wrote, puts them into the tree in the order in which they became visible, signs
// checkpoints, and makes receipts.
//
// What it stores is in items of the store, under a pseudo-organization of its own,
// whose version makes certain that of two servers only one puts the same entries
// into the tree. Everything can be computed again from the entries: a crash loses
// nothing that was acknowledged.
//
// It compares the tree with the checkpoints that are remembered elsewhere: in a file,
// and at witnesses. One that contradicts them is neither grown nor signed.
//
// Invariants: the tree only grows; a signed checkpoint is of a tree that was
// committed before; an entry is in exactly one place of one tree. A new epoch is a
// new log, with a tree and keys of its own.
package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
	"latchkey/internal/keys/vault"
	"latchkey/internal/store"
	"latchkey/internal/translog"
	"latchkey/internal/witness"
)

// newest is the id of items of which there is one.
const newest = "newest"

// Pace of the log.
const (
	sequenceEvery = 100 * time.Millisecond
	publishEvery  = 200 * time.Millisecond
	// leaseFor is how long other servers leave the work to the one that did some.
	leaseFor = time.Second
	// maxBatch bounds how many entries are put into the tree in one commit.
	maxBatch = 4096
)

// Config is what a ledger needs.
type Config struct {
	Store *store.Store
	Keys  *vault.LogKeys
	Log   *slog.Logger
	Now   func() time.Time
	// Node tells servers apart.
	Node string

	Installation string
	// Epochs are the logs of the installation, the present one, whose keys Keys is,
	// last.
	Epochs []domain.LogEpoch
	// Witnesses are asked for cosignatures; Quorum of them are needed before a
	// checkpoint is published.
	Witnesses []*witness.Client
	Quorum    int
	// Memory keeps the newest checkpoint outside of the database.
	Memory  Memory
	Metrics Metrics
	// OnRefusal is told once why nothing may be carried out any more.
	OnRefusal func(reason string)
}

// Memory keeps the newest checkpoint outside of the database.
type Memory interface {
	Checkpoint() string // "": none is known
	SetCheckpoint(text string) error
}

// Metrics is what is counted.
type Metrics interface {
	WitnessFailed(witness, reason string)
}

// Ledger is one server's part in keeping the log. Its methods may be called from
// several goroutines, but for Run.
type Ledger struct {
	Config
	known    known
	seen     translog.Head // the largest tree that this server has seen
	couriers []*witness.Courier
	keep     chan []byte // the newest checkpoint on its way to Memory; at most one
	kept     struct {
		at   time.Time
		size int64
	}
	refusal atomic.Pointer[string]

	mu        sync.Mutex
	candidate *candidate // the newest that was signed
	failing   map[string]bool

	growth  growth
	parents parents
}

// state is how far the log is.
type state struct {
	Epoch int64         `json:"epoch,omitzero"` // 0: the first
	First int64         `json:"first,omitzero"` // position of the entry that begins a later epoch
	Size  int64         `json:"size"`
	Root  translog.Hash `json:"root"`
	Place store.Place   `json:"place"`
	// Published is the size of the newest checkpoint, so that one that was
	// removed or put back from an earlier time is noticed.
	Published int64 `json:"published,omitzero"`

	Holder string    `json:"holder"` // the server that did the last work
	Until  time.Time `json:"until"`  // until when others leave it to that one
}

// known is what the server remembers of the state that it wrote last.
type known struct {
	state     []byte // as it is stored
	head      translog.Head
	tree      *translog.Tree
	sequences map[string]store.Logged
}

// New makes a ledger.
func New(c Config) *Ledger {
	l := &Ledger{Config: c, keep: make(chan []byte, 1), failing: map[string]bool{}}
	for _, w := range c.Witnesses {
		l.couriers = append(l.couriers, l.courier(w))
	}
	return l
}

// Run puts entries into the tree, publishes checkpoints and brings them to
// witnesses until ctx ends.
func (l *Ledger) Run(ctx context.Context) {
	var beside sync.WaitGroup
	defer beside.Wait()
	for _, c := range l.couriers {
		beside.Go(func() { c.Run(ctx) })
	}
	beside.Go(func() { l.remember(ctx) })
	tick := time.NewTicker(sequenceEvery)
	defer tick.Stop()
	failing := false
	for {
		err := l.Advance(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !failing:
			l.Log.Error("the log does not grow; what was acknowledged is kept, and follows later", "error", err)
		case err == nil && failing:
			l.Log.Info("the log grows again")
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Advance puts the entries that wait into the tree, and publishes a checkpoint if
// the last one is old enough.
func (l *Ledger) Advance(ctx context.Context) error {
	if l.Refusal() != "" {
		return nil // it was said
	}
	for more := true; more; {
		var err error
		if more, err = l.sequence(ctx); err != nil {
			return err
		}
	}
	if l.known.tree == nil {
		return l.follow(ctx)
	}
	if l.due(l.known.head.Size) {
		return l.publish(ctx)
	}
	return l.rememberTree()
}

// errLeft says that another server does the work.
var errLeft = errors.New("ledger: another server keeps the log")

// sequence puts a batch of entries into the tree; more says that others may wait.
func (l *Ledger) sequence(ctx context.Context) (more bool, err error) {
	var after known
	var given map[string]store.Logged
	var end domain.LogPlace
	var seen []byte // the state that the work began with
	err = l.Store.UpdateLog(ctx, func(items store.LogItems) error {
		before, stored, err := readState(items)
		if err != nil {
			return err
		}
		seen = stored
		if err := l.checkSeen(before); err != nil {
			return err
		}
		now := l.Now()
		end = domain.LogPlace{Epoch: before.epoch(), Index: before.Size}
		if before.epoch() == l.epoch().Number && before.Holder != l.Node && now.Before(before.Until) {
			return errLeft
		}
		first, err := l.begin(ctx, items, &before)
		if err != nil {
			return err
		}
		end = domain.LogPlace{Epoch: before.epoch(), Index: before.Size}
		tree, sequences, err := l.recall(items, before, stored)
		if err != nil {
			return err
		}
		reader := l.Store.ReadLog(before.Place)
		entries, found, err := reader.Next(ctx, maxBatch)
		if err != nil {
			return err
		}
		after, given, more = known{stored, translog.Head{Size: before.Size, Root: before.Root}, tree, sequences}, nil, len(entries) == maxBatch
		if !found && first == nil {
			return nil
		}
		b := &batch{
			items: items, epoch: before.epoch(), first: before.Size, sequences: sequences,
			given: map[string]store.Logged{}, lists: map[List][]Listed{},
			parent: func(org string) (string, error) { return l.Parent(ctx, org) },
		}
		for _, n := range unnumbered(first, entries, before.First) {
			if err := b.add(n); err != nil {
				return err
			}
		}
		grown, tiles := tree.Append(b.leaves...)
		if err := b.write(tiles); err != nil {
			return err
		}
		next := state{
			Epoch: before.Epoch, First: before.First, Size: grown.Size(), Root: grown.Root(), Place: reader.Place(),
			Published: before.Published, Holder: l.Node, Until: now.Add(leaseFor),
		}
		text, err := json.Marshal(&next)
		if err != nil {
			return err
		}
		items.Put(store.LogState, newest, text)
		after, given = known{text, translog.Head{Size: next.Size, Root: next.Root}, grown, sequences}, b.given
		end.Index = grown.Size()
		return nil
	})
	var wrong *contradiction
	switch {
	case errors.Is(err, errLeft):
		l.known = known{}
		l.notice(end)
		return false, nil
	case errors.As(err, &wrong):
		l.known = known{}
		l.refuse(wrong.reason)
		return false, nil
	case err != nil && l.overtaken(ctx, seen):
		l.known = known{}
		return true, nil
	case err != nil:
		l.known = known{}
		return false, fmt.Errorf("putting entries into the log: %w", err)
	}
	l.known, l.seen = after, after.head
	l.notice(end)
	maps.Copy(l.known.sequences, given)
	return more, nil
}

// overtaken reports whether another server has grown the tree since its state was
// read: what was read after that does not fit it, and nothing is wrong.
func (l *Ledger) overtaken(ctx context.Context, seen []byte) bool {
	now, err := l.Store.LogItem(ctx, store.LogState, newest)
	return err == nil && !bytes.Equal(now, seen)
}

func readState(items store.LogItems) (s state, stored []byte, err error) {
	if stored, err = items.Get(store.LogState, newest); err != nil || stored == nil {
		return s, stored, err
	}
	return s, stored, json.Unmarshal(stored, &s)
}

// maxSequences bounds how many organizations' numbers are remembered.
const maxSequences = 100_000

// recall returns the tree and the numbers of organizations as they were left, and
// reads the tree again if another server has worked since.
func (l *Ledger) recall(items store.LogItems, s state, stored []byte) (*translog.Tree, map[string]store.Logged, error) {
	if l.known.tree != nil && bytes.Equal(l.known.state, stored) {
		if len(l.known.sequences) > maxSequences {
			clear(l.known.sequences)
		}
		return l.known.tree, l.known.sequences, nil
	}
	tiles := Stored{Get: items.Get, Epoch: s.epoch()}
	tree, err := translog.LoadTree(s.Size, tiles)
	if err != nil {
		return nil, nil, err
	}
	if s.Size > 0 && tree.Root() != s.Root {
		return nil, nil, fmt.Errorf("ledger: the stored tree of %d entries has another root than it had when it was written", s.Size)
	}
	if err := l.checkGrown(tiles, tree.Head()); err != nil {
		return nil, nil, err
	}
	return tree, map[string]store.Logged{}, nil
}

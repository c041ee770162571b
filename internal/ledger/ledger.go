// Package ledger keeps the transparency log: it numbers the entries that commits
// wrote, puts them into the tree in the order in which they became visible, signs
// checkpoints, and makes receipts.
//
// What it stores is in items of the store, under a pseudo-organization of its own,
// whose version makes certain that of two servers only one puts the same entries
// into the tree. Everything can be computed again from the entries: a crash loses
// nothing that was acknowledged.
//
// Invariants: the tree only grows; a signed checkpoint is of a tree that was
// committed before; an entry is in exactly one place of the tree.
package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"github.com/go-json-experiment/json"

	"latchkey/internal/keys/vault"
	"latchkey/internal/store"
	"latchkey/internal/translog"
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
}

// Ledger is one server's part in keeping the log. Its methods may be called from
// several goroutines, but for Run.
type Ledger struct {
	Config
	known     known
	published struct {
		at   time.Time
		size int64 // of the newest checkpoint, as far as this server knows
	}
}

// state is how far the log is.
type state struct {
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
	tree      *translog.Tree
	sequences map[string]int64
}

// New makes a ledger.
func New(c Config) *Ledger { return &Ledger{Config: c} }

// Run puts entries into the tree and publishes checkpoints until ctx ends.
func (l *Ledger) Run(ctx context.Context) {
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
	for more := true; more; {
		var err error
		if more, err = l.sequence(ctx); err != nil {
			return err
		}
	}
	if l.known.tree == nil || l.known.tree.Size() == l.published.size || l.Now().Sub(l.published.at) < publishEvery {
		return nil
	}
	return l.publish(ctx)
}

// errLeft says that another server does the work.
var errLeft = errors.New("ledger: another server keeps the log")

// sequence puts a batch of entries into the tree; more says that others may wait.
func (l *Ledger) sequence(ctx context.Context) (more bool, err error) {
	var after known
	var given map[string]int64
	err = l.Store.UpdateLog(ctx, func(items store.LogItems) error {
		before, stored, err := readState(items)
		if err != nil {
			return err
		}
		now := l.Now()
		if before.Holder != l.Node && now.Before(before.Until) {
			return errLeft
		}
		tree, sequences, err := l.recall(items, before, stored)
		if err != nil {
			return err
		}
		reader := l.Store.ReadLog(before.Place)
		entries, found, err := reader.Next(ctx, maxBatch)
		if err != nil {
			return err
		}
		after, given, more = known{stored, tree, sequences}, nil, len(entries) == maxBatch
		if !found {
			return nil
		}
		b := &batch{items: items, first: before.Size, sequences: sequences}
		if err := b.add(entries); err != nil {
			return err
		}
		grown, tiles := tree.Append(b.leaves...)
		if err := b.write(tiles); err != nil {
			return err
		}
		next := state{
			Size: grown.Size(), Root: grown.Root(), Place: reader.Place(), Published: before.Published,
			Holder: l.Node, Until: now.Add(leaseFor),
		}
		text, err := json.Marshal(&next)
		if err != nil {
			return err
		}
		items.Put(store.LogState, newest, text)
		after, given = known{text, grown, sequences}, b.given
		return nil
	})
	if errors.Is(err, errLeft) {
		l.known = known{}
		return false, nil
	}
	if err != nil {
		l.known = known{}
		return false, fmt.Errorf("putting entries into the log: %w", err)
	}
	l.known = after
	maps.Copy(l.known.sequences, given)
	return more, nil
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
func (l *Ledger) recall(items store.LogItems, s state, stored []byte) (*translog.Tree, map[string]int64, error) {
	if l.known.tree != nil && bytes.Equal(l.known.state, stored) {
		if len(l.known.sequences) > maxSequences {
			clear(l.known.sequences)
		}
		return l.known.tree, l.known.sequences, nil
	}
	tree, err := translog.LoadTree(s.Size, itemTiles{items})
	if err != nil {
		return nil, nil, err
	}
	if s.Size > 0 && tree.Root() != s.Root {
		return nil, nil, fmt.Errorf("ledger: the stored tree of %d entries has another root than it had when it was written", s.Size)
	}
	return tree, map[string]int64{}, nil
}

// itemTiles reads tiles in a transaction.
type itemTiles struct{ items store.LogItems }

func (t itemTiles) Tile(level int, n int64, _ int) ([]byte, error) {
	return missing(t.items.Get(store.LogTile, tileID(level, n)))
}

func missing(data []byte, err error) ([]byte, error) {
	if err == nil && data == nil {
		err = translog.ErrNoTile
	}
	return data, err
}

func tileID(level int, n int64) string { return fmt.Sprintf("%02d-%016x", level, n) }

// publish signs a checkpoint of the tree, if it has grown since the last one.
func (l *Ledger) publish(ctx context.Context) error {
	head := l.known.tree.Head()
	var stored, marked []byte // the state before and after
	err := l.Store.UpdateLog(ctx, func(items store.LogItems) error {
		stored, marked = nil, nil
		before, err := items.Get(store.LogCheckpoint, newest)
		if err != nil {
			return err
		}
		if before != nil {
			last, err := translog.OpenCheckpoint(before, l.Keys.VerifierKeys(), nil)
			if err != nil {
				return err
			}
			if last.Size >= head.Size {
				return nil
			}
		}
		signed, err := l.Keys.SignCheckpoint(head, l.Now())
		if err != nil {
			return err
		}
		var now state
		if now, stored, err = readState(items); err != nil {
			return err
		}
		now.Published = head.Size
		if marked, err = json.Marshal(&now); err != nil {
			return err
		}
		items.Put(store.LogCheckpoint, newest, signed)
		items.Put(store.LogState, newest, marked)
		return nil
	})
	if err != nil {
		return fmt.Errorf("publishing a checkpoint: %w", err)
	}
	if marked != nil && bytes.Equal(l.known.state, stored) {
		l.known.state = marked // no other server has worked since
	}
	l.published.at, l.published.size = l.Now(), head.Size
	return nil
}

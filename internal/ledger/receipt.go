package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"latchkey/internal/store"
	"latchkey/internal/translog"
)

// What can keep a receipt from being made.
var (
	// ErrNoEntry says that the log has nothing of the activity.
	ErrNoEntry = errors.New("ledger: there is no such entry")
	// ErrNotYet says that the entry is in no published checkpoint yet.
	ErrNotYet = errors.New("ledger: the entry is in no published checkpoint yet")
)

// Checkpoint is the newest that is published; nil: none is.
func (l *Ledger) Checkpoint(ctx context.Context) ([]byte, error) {
	return l.Store.LogItem(ctx, store.LogCheckpoint, newest)
}

// Tile is a tile of the published tree, [translog.ErrNoTile] if it has none with
// so many hashes.
func (l *Ledger) Tile(ctx context.Context, level int, n int64, width int) ([]byte, error) {
	signed, err := l.checkpoint(ctx)
	if err != nil {
		return nil, err
	}
	if signed == nil || width < 1 || n < 0 || n*translog.TileWidth+int64(width) > signed.Size>>(translog.TileHeight*level) {
		return nil, translog.ErrNoTile
	}
	data, err := storedTiles{ctx, l.Store}.Tile(level, n, width)
	if err == nil && len(data) < width*translog.HashSize {
		err = translog.ErrNoTile
	}
	if err != nil {
		return nil, err
	}
	return data[:width*translog.HashSize], nil
}

// Receipt proves that an entry of an activity is in the log: the newest, or the
// newest with a status.
func (l *Ledger) Receipt(ctx context.Context, org, activity, status string) (translog.Receipt, error) {
	none := translog.Receipt{}
	entries, err := l.Store.LogEntriesOf(ctx, org, activity)
	if err != nil {
		return none, err
	}
	entry, err := choose(entries, status)
	if err != nil {
		return none, err
	}
	signed, err := l.checkpoint(ctx)
	if err != nil {
		return none, err
	}
	if signed == nil {
		return none, ErrNotYet
	}
	index, sequence, err := l.find(ctx, entry.Position, signed.Size)
	if err != nil {
		return none, err
	}
	proof, err := translog.ProveInclusion(storedTiles{ctx, l.Store}, signed.Head, index)
	if err != nil {
		return none, err
	}
	record := entry.Record(sequence)
	if err := translog.CheckInclusion(proof, signed.Head, index, leaf(entry, sequence)); err != nil {
		return none, fmt.Errorf("ledger: the entry at %d is not what the tree says: %w", index, err)
	}
	return translog.NewReceipt(record, entry.Salt, index, proof, signed.Note()), nil
}

// choose returns the newest entry, or the newest with a status.
func choose(entries []store.LogEntry, status string) (*store.LogEntry, error) {
	for i := len(entries) - 1; i >= 0; i-- {
		r, err := translog.ParseRecord(string(entries[i].Record(1)))
		if err != nil {
			return nil, err
		}
		if status == "" || r.Status == status {
			return &entries[i], nil
		}
	}
	return nil, ErrNoEntry
}

func (l *Ledger) checkpoint(ctx context.Context) (*translog.Signed, error) {
	note, err := l.Checkpoint(ctx)
	if err != nil || note == nil {
		return nil, err
	}
	return translog.OpenCheckpoint(note, l.Keys.VerifierKeys(), nil)
}

// find returns where in a tree of size the entry at a position is.
func (l *Ledger) find(ctx context.Context, position, size int64) (index, sequence int64, err error) {
	text, err := l.Store.LogItem(ctx, store.LogState, newest)
	if err != nil {
		return 0, 0, err
	}
	var now state
	if text != nil {
		if err := json.Unmarshal(text, &now); err != nil {
			return 0, 0, err
		}
	}
	waits := slices.ContainsFunc(now.Place.Missing, func(m store.Missing) bool { return m.Position == position })
	if waits || position > now.Place.Position {
		return 0, 0, ErrNotYet
	}
	index, sequence, err = l.search(ctx, position, now.Size)
	if err == nil && index >= size {
		err = ErrNotYet
	}
	return index, sequence, err
}

// search looks for the entry at a position that is in the tree. An index is below
// its position by as many as transactions took that came to nothing, and above by
// as many as overtook it: both are few, so it is looked for from there on in both
// directions.
func (l *Ledger) search(ctx context.Context, position, size int64) (index, sequence int64, err error) {
	last := (size - 1) / translog.TileWidth
	guess := min((position-1)/translog.TileWidth, last)
	for distance := int64(0); distance <= last; distance++ {
		for _, n := range slices.Compact([]int64{guess - distance, guess + distance}) {
			if n < 0 || n > last {
				continue
			}
			body, err := l.Store.LogItem(ctx, store.LogBlock, blockID(n))
			if err != nil {
				return 0, 0, err
			}
			for i, p := range placesOf(body) {
				if p.Position == position {
					return n*translog.TileWidth + int64(i), p.Sequence, nil
				}
			}
		}
	}
	return 0, 0, fmt.Errorf("ledger: the entry at position %d was put into the tree and is not found in it", position)
}

// storedTiles reads tiles outside a transaction.
type storedTiles struct {
	ctx   context.Context
	store *store.Store
}

func (t storedTiles) Tile(level int, n int64, _ int) ([]byte, error) {
	return missing(t.store.LogItem(t.ctx, store.LogTile, tileID(level, n)))
}

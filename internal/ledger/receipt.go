package ledger

import (
	"context"
	"errors"
	"fmt"

	"latchkey/internal/domain"
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

// Checkpoint is the newest of the present epoch that is published; nil: none is.
func (l *Ledger) Checkpoint(ctx context.Context) ([]byte, error) {
	return Published(ctx, l.Store, l.epoch().Number)
}

// Published is the newest checkpoint of an epoch that is published; nil: none is.
func Published(ctx context.Context, s *store.Store, epoch int64) ([]byte, error) {
	return s.LogItem(ctx, store.LogCheckpoint, epochID(epoch, newest))
}

// Tile is a tile of the published tree, [translog.ErrNoTile] if it has none with
// so many hashes.
func (l *Ledger) Tile(ctx context.Context, level int, n int64, width int) ([]byte, error) {
	signed, err := l.checkpoint(ctx, l.epoch())
	if err != nil {
		return nil, err
	}
	if signed == nil || width < 1 || n < 0 || n*translog.TileWidth+int64(width) > signed.Size>>(translog.TileHeight*level) {
		return nil, translog.ErrNoTile
	}
	data, err := l.stored(ctx, l.epoch().Number).Tile(level, n, width)
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
	at, err := l.find(ctx, entry.Position)
	if err != nil {
		return none, err
	}
	signed, err := l.checkpoint(ctx, at.epoch)
	if err != nil {
		return none, err
	}
	if signed == nil || at.index >= signed.Size {
		return none, ErrNotYet
	}
	index, sequence := at.index, at.sequence
	proof, err := translog.ProveInclusion(l.stored(ctx, at.epoch.Number), signed.Head, index)
	if err != nil {
		return none, err
	}
	record := entry.Record(sequence)
	if err := translog.CheckInclusion(proof, signed.Head, index, leaf(entry, record)); err != nil {
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

// checkpoint is the newest of an epoch that is published; nil: none is.
func (l *Ledger) checkpoint(ctx context.Context, of *domain.LogEpoch) (*translog.Signed, error) {
	note, err := Published(ctx, l.Store, of.Number)
	if err != nil || note == nil {
		return nil, err
	}
	return l.open(note, of)
}

// open reads a checkpoint of an epoch, with the cosignatures of the witnesses.
func (l *Ledger) open(note []byte, of *domain.LogEpoch) (*translog.Signed, error) {
	keys, err := translog.ParseKeys(of.VerifierKeys...)
	if err != nil {
		return nil, err
	}
	return translog.OpenCheckpoint(note, keys, l.witnessKeys())
}

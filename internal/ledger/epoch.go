package ledger

import (
	"context"
	"fmt"
	"strconv"

	"latchkey/internal/domain"
	"latchkey/internal/store"
	"latchkey/internal/translog"
)

// An epoch is a log of its own. What is stored of a later one has the number of the
// epoch before the id; what is stored of earlier ones stays, and so do the receipts
// that can be made of it. Numbers in organizations go on.

func epochID(epoch int64, id string) string {
	if epoch <= 1 {
		return id
	}
	return strconv.FormatInt(epoch, 10) + "/" + id
}

func (s *state) epoch() int64 { return max(s.Epoch, 1) }

// Origin is the name of an epoch's log, of an installation whose first one has
// another name.
func Origin(first string, epoch int64) string {
	if epoch <= 1 {
		return first
	}
	return first + "/" + EpochName(epoch)
}

// EpochName is how the first entry of a later epoch is found.
func EpochName(epoch int64) string { return "epoch-" + strconv.FormatInt(epoch, 10) }

func (l *Ledger) epoch() *domain.LogEpoch { return &l.Epochs[len(l.Epochs)-1] }

// begin turns the state that an earlier epoch has left into that of an empty tree,
// and returns what it begins with: the entry that says so, and the entries that the
// earlier epoch has not published, with the numbers that they have. None: it has
// begun.
func (l *Ledger) begin(ctx context.Context, items store.LogItems, s *state) ([]numbered, error) {
	now := l.epoch().Number
	if s.epoch() == now {
		return nil, nil
	}
	named, err := l.Store.LogEntriesOf(ctx, l.Installation, EpochName(now))
	if err != nil {
		return nil, err
	}
	if len(named) == 0 {
		return nil, fmt.Errorf("ledger: the entry that begins epoch %d is missing", now)
	}
	first := named[len(named)-1]
	unpublished, err := l.unpublished(ctx, items, s)
	if err != nil {
		return nil, err
	}
	*s = state{Epoch: now, First: first.Position, Place: s.Place, Root: translog.EmptyHead().Root}
	return append([]numbered{{entry: first}}, unpublished...), nil
}

// unpublished are the entries of a tree that no checkpoint covers.
func (l *Ledger) unpublished(ctx context.Context, items store.LogItems, s *state) (all []numbered, err error) {
	var from int64
	tree := Stored{Get: items.Get, Epoch: s.epoch()}
	note, err := tree.Checkpoint()
	if err != nil {
		return nil, err
	}
	if note != nil {
		signed, err := translog.PeekCheckpoint(note)
		if err != nil {
			return nil, err
		}
		from = signed.Size
	}
	var block []Placed
	for index := from; index < s.Size; index++ {
		if n, at := index/translog.TileWidth, index%translog.TileWidth; at == 0 || block == nil {
			if block, err = tree.Block(n); err != nil {
				return nil, err
			}
		}
		at := index % translog.TileWidth
		if int(at) >= len(block) {
			return nil, fmt.Errorf("ledger: the block of entry %d is too short", index)
		}
		p := block[at]
		found, _, err := l.Store.ReadLog(store.Place{Position: p.Position - 1}).Next(ctx, 1)
		if err != nil {
			return nil, err
		}
		if len(found) == 1 && found[0].Position == p.Position { // else it is gone, which an audit says
			all = append(all, numbered{found[0], p.Sequence})
		}
	}
	return all, nil
}

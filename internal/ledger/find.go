package ledger

import (
	"context"
	"fmt"
	"slices"
	"sort"

	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
	"latchkey/internal/store"
	"latchkey/internal/translog"
)

// found is where an entry is.
type found struct {
	epoch           *domain.LogEpoch
	index, sequence int64
}

// find returns where the entry at a position is: in the present tree, or in what an
// earlier epoch has published.
func (l *Ledger) find(ctx context.Context, position int64) (found, error) {
	text, err := l.Store.LogItem(ctx, store.LogState, newest)
	if err != nil {
		return found{}, err
	}
	var now state
	if text != nil {
		if err := json.Unmarshal(text, &now); err != nil {
			return found{}, err
		}
	}
	waits := slices.ContainsFunc(now.Place.Missing, func(m store.Missing) bool { return m.Position == position })
	if waits || position > max(now.Place.Position, now.First) {
		return found{}, ErrNotYet
	}
	for i := len(l.Epochs) - 1; i >= 0; i-- {
		epoch, size := &l.Epochs[i], now.Size
		if epoch.Number > now.epoch() {
			continue // it has not begun
		}
		if epoch.Number < now.epoch() {
			signed, err := l.checkpoint(ctx, epoch)
			if err != nil {
				return found{}, err
			}
			if signed == nil {
				continue
			}
			size = signed.Size
		}
		at, err := l.search(ctx, epoch, size, position)
		if err != nil || at.epoch != nil {
			return at, err
		}
	}
	return found{}, fmt.Errorf("ledger: the entry at position %d was put into the tree and is not found in it", position)
}

// search looks for the entry at a position in a tree. In the first one an index is
// below its position by as many as transactions took that came to nothing, and above
// by as many as overtook it: both are few. Else the first positions of the blocks,
// which grow but for a few that were overtaken, say where to look, and from there on
// in both directions.
func (l *Ledger) search(ctx context.Context, epoch *domain.LogEpoch, size, position int64) (found, error) {
	b := &blocks{stored: l.stored(ctx, epoch.Number), epoch: epoch, read: map[int64][]Placed{}}
	last := (size - 1) / translog.TileWidth
	if at := b.find(min((position-1)/translog.TileWidth, last), position); at.epoch != nil || b.err != nil {
		return at, b.err
	}
	guess := int64(sort.Search(int(last+1), func(n int) bool {
		places := b.get(int64(n))
		return len(places) > 0 && places[0].Position > position
	})) - 1
	for distance := int64(0); distance <= last+1 && b.err == nil; distance++ {
		for _, n := range slices.Compact([]int64{guess - distance, guess + distance}) {
			if n < 0 || n > last {
				continue
			}
			if at := b.find(n, position); at.epoch != nil {
				return at, nil
			}
		}
	}
	return found{}, b.err
}

// blocks reads the blocks of a tree, each once, and keeps the first error.
type blocks struct {
	stored Stored
	epoch  *domain.LogEpoch
	read   map[int64][]Placed
	err    error
}

func (b *blocks) get(n int64) []Placed {
	if known, ok := b.read[n]; ok || b.err != nil {
		return known
	}
	b.read[n], b.err = b.stored.Block(n)
	return b.read[n]
}

// find looks for an entry in one block; without an epoch it is not there.
func (b *blocks) find(n, position int64) found {
	for i, p := range b.get(n) {
		if p.Position == position {
			return found{b.epoch, n*translog.TileWidth + int64(i), p.Sequence}
		}
	}
	return found{}
}

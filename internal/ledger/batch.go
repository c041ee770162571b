package ledger

import (
	"encoding/binary"
	"fmt"
	"slices"

	"latchkey/internal/store"
	"latchkey/internal/translog"
)

// batch is some entries on their way into the tree.
type batch struct {
	items     store.LogItems
	epoch     int64
	first     int64                   // the index of the first one
	sequences map[string]store.Logged // what is known of organizations; not changed: the batch may fail
	given     map[string]store.Logged // what is new of each organization that has entries here
	leaves    []translog.Hash
	text      []byte // of the record that is hashed; used again
	places    []Placed
	parent    func(org string) (string, error)
	lists     map[List][]Listed
}

// numbered is an entry with its number in the organization; 0: it has none yet.
type numbered struct {
	entry    store.LogEntry
	sequence int64
}

// unnumbered adds entries that have no number yet, but for the one at a position.
func unnumbered(all []numbered, entries []store.LogEntry, but int64) []numbered {
	all = slices.Grow(all, len(entries))
	for _, e := range entries {
		if e.Position != but {
			all = append(all, numbered{entry: e})
		}
	}
	return all
}

// add numbers an entry and computes its leaf.
func (b *batch) add(n numbered) error {
	e := &n.entry
	logged, err := b.newest(e.Org)
	if err != nil {
		return err
	}
	if n.sequence == 0 { // else an earlier epoch has numbered and listed it
		logged.Sequence++
		n.sequence = logged.Sequence
		if err := b.list(e, b.first+int64(len(b.places))); err != nil {
			return err
		}
	}
	logged.Version = max(logged.Version, e.Version())
	b.given[e.Org] = logged
	b.places = append(b.places, Placed{e.Position, n.sequence})
	b.text = e.AppendRecord(b.text[:0], n.sequence)
	b.leaves = append(b.leaves, leaf(e, b.text))
	return nil
}

func leaf(e *store.LogEntry, record []byte) translog.Hash {
	return translog.LeafHash(translog.EntryHash(e.Salt, record))
}

// newest is how much of an organization is in the tree, or comes before in the
// batch.
func (b *batch) newest(org string) (store.Logged, error) {
	if logged, ok := b.given[org]; ok {
		return logged, nil
	}
	if logged, ok := b.sequences[org]; ok {
		return logged, nil
	}
	return b.items.Logged(org)
}

// write stores what belongs to the entries besides the state.
func (b *batch) write(tiles []translog.Tile) error {
	for org, logged := range b.given {
		b.items.PutLogged(org, logged)
	}
	for _, t := range tiles {
		b.items.Put(store.LogTile, epochID(b.epoch, tileID(t.Level, t.N)), t.Data)
	}
	b.writeLists()
	return b.writeBlocks()
}

// writeBlocks stores the places, as many to a block as a tile has hashes.
func (b *batch) writeBlocks() error {
	for index, rest := b.first, b.places; len(rest) > 0; {
		n, filled := index/translog.TileWidth, int(index%translog.TileWidth)
		body := make([]byte, 0, translog.TileWidth*placeSize)
		if filled > 0 {
			stored, err := b.items.Get(store.LogBlock, epochID(b.epoch, blockID(n)))
			if err != nil {
				return err
			}
			if len(stored) != filled*placeSize {
				return fmt.Errorf("ledger: block %d has %d bytes, and should have %d", n, len(stored), filled*placeSize)
			}
			body = append(body, stored...)
		}
		take := min(translog.TileWidth-filled, len(rest))
		for _, p := range rest[:take] {
			body = binary.BigEndian.AppendUint64(body, uint64(p.Position))
			body = binary.BigEndian.AppendUint64(body, uint64(p.Sequence))
		}
		b.items.Put(store.LogBlock, epochID(b.epoch, blockID(n)), body)
		index, rest = index+int64(take), rest[take:]
	}
	return nil
}

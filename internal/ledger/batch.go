package ledger

import (
	"encoding/binary"
	"fmt"

	"latchkey/internal/store"
	"latchkey/internal/translog"
)

// batch is some entries on their way into the tree.
type batch struct {
	items     store.LogItems
	first     int64            // the index of the first one
	sequences map[string]int64 // what is known of organizations; not changed: the batch may fail
	given     map[string]int64 // the newest number of each organization that has entries here
	leaves    []translog.Hash
	places    []Place
}

// Place says which entry is at an index of the tree, and its number in the
// organization.
type Place struct {
	Position, Sequence int64
}

const placeSize = 16

// add numbers entries and computes their leaves.
func (b *batch) add(entries []store.LogEntry) error {
	b.given = map[string]int64{}
	for i := range entries {
		e := &entries[i]
		sequence, err := b.newest(e.Org)
		if err != nil {
			return err
		}
		sequence++
		b.given[e.Org] = sequence
		b.places = append(b.places, Place{e.Position, sequence})
		b.leaves = append(b.leaves, leaf(e, sequence))
	}
	return nil
}

func leaf(e *store.LogEntry, sequence int64) translog.Hash {
	return translog.LeafHash(translog.EntryHash(e.Salt, e.Record(sequence)))
}

// newest is the number of the newest entry of an organization.
func (b *batch) newest(org string) (int64, error) {
	if sequence, ok := b.given[org]; ok {
		return sequence, nil
	}
	if sequence, ok := b.sequences[org]; ok {
		return sequence, nil
	}
	body, err := b.items.Get(store.LogSequence, org)
	if err != nil || body == nil {
		return 0, err
	}
	sequence, ok := ParseSequence(body)
	if !ok {
		return 0, fmt.Errorf("ledger: the number of the newest entry of organization %s has %d bytes", org, len(body))
	}
	return sequence, nil
}

// write stores what belongs to the entries besides the state.
func (b *batch) write(tiles []translog.Tile) error {
	for org, sequence := range b.given {
		b.items.Put(store.LogSequence, org, binary.BigEndian.AppendUint64(nil, uint64(sequence)))
	}
	for _, t := range tiles {
		b.items.Put(store.LogTile, tileID(t.Level, t.N), t.Data)
	}
	return b.writeBlocks()
}

// writeBlocks stores the places, as many to a block as a tile has hashes.
func (b *batch) writeBlocks() error {
	for index, rest := b.first, b.places; len(rest) > 0; {
		n, filled := index/translog.TileWidth, int(index%translog.TileWidth)
		body := make([]byte, 0, translog.TileWidth*placeSize)
		if filled > 0 {
			stored, err := b.items.Get(store.LogBlock, blockID(n))
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
		b.items.Put(store.LogBlock, blockID(n), body)
		index, rest = index+int64(take), rest[take:]
	}
	return nil
}

func blockID(n int64) string { return fmt.Sprintf("%016x", n) }

// placesOf reads a block.
func placesOf(body []byte) []Place {
	all := make([]Place, len(body)/placeSize)
	for i := range all {
		all[i].Position = int64(binary.BigEndian.Uint64(body[placeSize*i:]))
		all[i].Sequence = int64(binary.BigEndian.Uint64(body[placeSize*i+8:]))
	}
	return all
}

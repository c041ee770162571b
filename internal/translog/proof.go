package translog

import (
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

// Head is a tree by its size and root.
type Head struct {
	Size int64
	Root Hash
}

// MaxSize is the largest tree that is accepted. tlog computes with 63 bits and does
// not return for sizes above 2^62, and a size comes from a text of others.
const MaxSize = 1 << 60

// EmptyHead is the tree without entries.
func EmptyHead() Head { return new(Tree).Head() }

// ProveInclusion returns the proof that the tree of head has the entry of an index,
// from the leaf up. Every tile that is used is checked against the head's root.
func ProveInclusion(tiles Tiles, head Head, index int64) ([]Hash, error) {
	if index < 0 || index >= head.Size || head.Size > MaxSize {
		return nil, fmt.Errorf("translog: a tree of %d entries has none of index %d", head.Size, index)
	}
	return tlog.ProveRecord(head.Size, index, checkedHashes(tiles, head))
}

// ProveConsistency returns the proof that the tree of head continues the tree of an
// earlier size. Every tile that is used is checked against the head's root.
func ProveConsistency(tiles Tiles, head Head, old int64) ([]Hash, error) {
	switch {
	case old < 0 || old > head.Size || head.Size > MaxSize:
		return nil, fmt.Errorf("translog: a tree of %d entries does not continue one of %d", head.Size, old)
	case old == 0:
		return nil, nil // any tree continues the empty one
	}
	return tlog.ProveTree(head.Size, old, checkedHashes(tiles, head))
}

// RootAt computes the root that the tree of head had at an earlier size, checked
// against the head's root.
func RootAt(tiles Tiles, head Head, old int64) (Hash, error) {
	if old < 0 || old > head.Size || head.Size > MaxSize {
		return Hash{}, fmt.Errorf("translog: a tree of %d entries was never one of %d", head.Size, old)
	}
	return tlog.TreeHash(old, checkedHashes(tiles, head))
}

// CheckInclusion verifies a proof of [ProveInclusion].
func CheckInclusion(proof []Hash, head Head, index int64, leaf Hash) error {
	if index < 0 || index >= head.Size || head.Size > MaxSize {
		return fmt.Errorf("a tree of %d entries has none of index %d", head.Size, index)
	}
	if err := tlog.CheckRecord(proof, head.Size, head.Root, index, leaf); err != nil {
		return fmt.Errorf("the proof does not lead from entry %d to the root of the tree of %d entries", index, head.Size)
	}
	return nil
}

// CheckConsistency verifies a proof of [ProveConsistency]: that head continues old.
func CheckConsistency(proof []Hash, head, old Head) error {
	if old.Size == 0 && old == EmptyHead() && len(proof) == 0 && head.Size >= 0 {
		return nil
	}
	if old.Size < 1 || old.Size > head.Size || head.Size > MaxSize || tlog.CheckTree(proof, head.Size, head.Root, old.Size, old.Root) != nil {
		return fmt.Errorf("the proof does not show that the tree of %d entries continues the one of %d", head.Size, old.Size)
	}
	return nil
}

// checkedHashes reads hashes from tiles and checks those against the root.
func checkedHashes(tiles Tiles, head Head) tlog.HashReader {
	checked := tlog.TileHashReader(tlog.Tree{N: head.Size, Hash: head.Root}, &tileReader{tiles: tiles})
	return tlog.HashReaderFunc(func(indexes []int64) ([]Hash, error) {
		hashes, err := checked.ReadHashes(indexes)
		var tile *TileError
		if err != nil && !errors.As(err, &tile) {
			return nil, fmt.Errorf("translog: the stored tiles do not give the root of the tree of %d entries: %w", head.Size, err)
		}
		return hashes, err
	})
}

// tileReader lends tiles to tlog.
type tileReader struct{ tiles Tiles }

func (*tileReader) Height() int { return TileHeight }

func (*tileReader) SaveTiles([]tlog.Tile, [][]byte) {}

func (r *tileReader) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	all := make([][]byte, 0, len(wanted))
	for _, tile := range wanted {
		data, err := readTile(r.tiles, tile.L, tile.N, tile.W)
		if err != nil {
			return nil, err
		}
		all = append(all, data)
	}
	return all, nil
}

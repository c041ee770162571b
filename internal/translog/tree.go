package translog

import (
	"bytes"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

// Tree is an append-only tree of some size: its right edge, which is the one
// partial tile of each level. That is enough to grow it and to know its root. A
// Tree never changes, so that one which a failed commit was to store is simply
// dropped. The zero value is the empty tree.
type Tree struct {
	size int64
	edge [][]byte // by level: the hashes of the partial tile, perhaps none
}

// LoadTree reads the right edge of a tree of the given size. Nothing is checked:
// compare its Root with that of a signed checkpoint.
func LoadTree(size int64, tiles Tiles) (*Tree, error) {
	if size < 0 || size > MaxSize {
		return nil, fmt.Errorf("translog: a tree cannot have %d entries", size)
	}
	t := &Tree{size: size}
	for level := 0; size>>(TileHeight*level) > 0; level++ {
		data, err := readPartial(tiles, level, size)
		if err != nil {
			return nil, err
		}
		t.edge = append(t.edge, data)
	}
	return t, nil
}

// readPartial reads the partial tile of a level; there may be none.
func readPartial(tiles Tiles, level int, size int64) ([]byte, error) {
	hashes := size >> (TileHeight * level)
	width := int(hashes % TileWidth)
	if width == 0 {
		return nil, nil
	}
	data, err := readTile(tiles, level, hashes/TileWidth, width)
	return bytes.Clone(data), err
}

// Size is the number of entries.
func (t *Tree) Size() int64 { return t.size }

// Root computes the root of the tree. It hashes the right edge: some 10 µs a level.
func (t *Tree) Root() Hash {
	root, err := tlog.TreeHash(t.size, storedHashes{tiles: t, size: t.size})
	if err != nil {
		panic("translog: the edge of a tree does not cover it: " + err.Error())
	}
	return root
}

// Head is the size and root of the tree.
func (t *Tree) Head() Head { return Head{Size: t.size, Root: t.Root()} }

// Tile gives the partial tiles of the right edge.
func (t *Tree) Tile(level int, n int64, width int) ([]byte, error) {
	if level < 0 || level >= len(t.edge) || n != t.size>>(TileHeight*(level+1)) || width*HashSize > len(t.edge[level]) {
		return nil, tileError(level, n, width, ErrNoTile)
	}
	return t.edge[level][:width*HashSize], nil
}

// Append returns the tree with further leaves, and every tile that is thereby new
// or wider: of each level first those that became full, then the partial one. A
// wider tile takes the place of the narrower one of the same level and number.
func (t *Tree) Append(leaves ...Hash) (*Tree, []Tile) {
	grown := &Tree{size: t.size + int64(len(leaves)), edge: append([][]byte(nil), t.edge...)}
	var changed []Tile
	for level := 0; len(leaves) > 0; level++ {
		if level == len(grown.edge) {
			grown.edge = append(grown.edge, nil)
		}
		first := t.size >> (TileHeight * (level + 1))
		var tiles []Tile
		tiles, grown.edge[level] = fill(level, first, grown.edge[level], leaves)
		changed = append(changed, tiles...)
		leaves = nil // from here on: the roots of tiles that became full
		for _, tile := range tiles {
			if tile.Width() == TileWidth {
				leaves = append(leaves, tile.root())
			}
		}
	}
	return grown, changed
}

// fill puts hashes behind those of a partial tile. It returns the tiles that this
// makes, and the hashes of the last one if it is partial. The old bytes stay as
// they are: an earlier Tree has them.
func fill(level int, n int64, partial []byte, hashes []Hash) (tiles []Tile, edge []byte) {
	for len(hashes) > 0 {
		room := min(TileWidth-len(partial)/HashSize, len(hashes))
		data := make([]byte, len(partial), len(partial)+room*HashSize)
		copy(data, partial)
		for i := range hashes[:room] {
			data = append(data, hashes[i][:]...)
		}
		tiles = append(tiles, Tile{Level: level, N: n, Data: data})
		hashes = hashes[room:]
		partial, edge = nil, data
		if len(data) == TileWidth*HashSize {
			edge = nil
			n++
		}
	}
	return tiles, edge
}

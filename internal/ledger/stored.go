package ledger

import (
	"encoding/binary"
	"fmt"

	"github.com/go-json-experiment/json"

	"latchkey/internal/store"
	"latchkey/internal/translog"
)

// Stored reads what is kept of the log where no server does: an audit, of an
// image. Get returns an item by kind and id; nil: there is none.
type Stored struct {
	Get func(kind, id string) ([]byte, error)
}

// Standing is how far the log is.
type Standing struct {
	translog.Head
	Place     store.Place // up to where entries were put into the tree
	Published int64       // the size of the newest checkpoint; 0: there is none yet
}

// Standing reads how far the log is.
func (s Stored) Standing() (Standing, error) {
	text, err := s.Get(store.LogState, newest)
	if err != nil || text == nil {
		return Standing{Head: translog.EmptyHead()}, err
	}
	var now state
	if err := json.Unmarshal(text, &now); err != nil {
		return Standing{}, fmt.Errorf("ledger: the state of the log cannot be read: %w", err)
	}
	return Standing{translog.Head{Size: now.Size, Root: now.Root}, now.Place, now.Published}, nil
}

// Checkpoint is the newest that is published; nil: none is.
func (s Stored) Checkpoint() ([]byte, error) { return s.Get(store.LogCheckpoint, newest) }

// Block returns the places of block n, which has as many as a tile has hashes.
func (s Stored) Block(n int64) ([]Place, error) {
	body, err := s.Get(store.LogBlock, blockID(n))
	return placesOf(body), err
}

// Tile implements [translog.Tiles]; what it returns is not checked.
func (s Stored) Tile(level int, n int64, _ int) ([]byte, error) {
	return missing(s.Get(store.LogTile, tileID(level, n)))
}

// BlockID names the item of a block.
func BlockID(n int64) string { return blockID(n) }

// TileID names the item of a tile.
func TileID(level int, n int64) string { return tileID(level, n) }

// ParseBlockID is the reverse of [BlockID].
func ParseBlockID(id string) (n int64, ok bool) {
	_, err := fmt.Sscanf(id, "%016x", &n)
	return n, err == nil && blockID(n) == id
}

// ParseTileID is the reverse of [TileID].
func ParseTileID(id string) (level int, n int64, ok bool) {
	_, err := fmt.Sscanf(id, "%02d-%016x", &level, &n)
	return level, n, err == nil && tileID(level, n) == id
}

// ParseSequence reads the item with the number of the newest entry of an
// organization.
func ParseSequence(body []byte) (int64, bool) {
	if len(body) != 8 {
		return 0, false
	}
	return int64(binary.BigEndian.Uint64(body)), true
}

// Known reports whether the place names an entry: positions begin at 1.
func (p Place) Known() bool { return p.Position > 0 }

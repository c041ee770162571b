package ledger

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"latchkey/internal/store"
	"latchkey/internal/translog"
)

// Stored reads what is kept of the log of one epoch: in a transaction, outside of
// one, or of an image. Get returns an item by kind and id; nil: there is none.
type Stored struct {
	Get   func(kind, id string) ([]byte, error)
	Epoch int64
}

// stored reads an epoch outside of a transaction.
func (l *Ledger) stored(ctx context.Context, epoch int64) Stored {
	return Stored{Get: func(kind, id string) ([]byte, error) { return l.Store.LogItem(ctx, kind, id) }, Epoch: epoch}
}

// Standing is how far the log is: that of the present epoch.
type Standing struct {
	translog.Head
	Epoch     int64
	Place     store.Place // up to where entries were put into the tree
	Published int64       // the size of the newest checkpoint; 0: there is none yet
}

// Standing reads how far the log is.
func (s Stored) Standing() (Standing, error) {
	now := Standing{Head: translog.EmptyHead(), Epoch: 1}
	text, err := s.Get(store.LogState, newest)
	if err != nil || text == nil {
		return now, err
	}
	var read state
	if err := json.Unmarshal(text, &read); err != nil {
		return now, fmt.Errorf("ledger: the state of the log cannot be read: %w", err)
	}
	return Standing{translog.Head{Size: read.Size, Root: read.Root}, read.epoch(), read.Place, read.Published}, nil
}

// Checkpoint is the newest of the epoch that is published; nil: none is.
func (s Stored) Checkpoint() ([]byte, error) { return s.Get(store.LogCheckpoint, s.CheckpointID()) }

// Placed says which entry is at an index of the tree, and its number in the
// organization.
type Placed struct{ Position, Sequence int64 }

// Known reports whether an entry is named: positions begin at 1.
func (p Placed) Known() bool { return p.Position > 0 }

const placeSize = 16

// Block returns the places of block n, which has as many as a tile has hashes.
func (s Stored) Block(n int64) ([]Placed, error) {
	body, err := s.Get(store.LogBlock, s.BlockID(n))
	if err != nil {
		return nil, err
	}
	all := make([]Placed, len(body)/placeSize)
	for i := range all {
		at := body[placeSize*i:]
		all[i] = Placed{int64(binary.BigEndian.Uint64(at)), int64(binary.BigEndian.Uint64(at[8:]))}
	}
	return all, nil
}

// Tile implements [translog.Tiles]; what it returns is not checked.
func (s Stored) Tile(level int, n int64, _ int) ([]byte, error) {
	data, err := s.Get(store.LogTile, s.TileID(level, n))
	if err == nil && data == nil {
		err = translog.ErrNoTile
	}
	return data, err
}

// CheckpointID names the item of the newest checkpoint.
func (s Stored) CheckpointID() string { return epochID(s.Epoch, newest) }

// BlockID names the item of a block.
func (s Stored) BlockID(n int64) string { return epochID(s.Epoch, blockID(n)) }

// TileID names the item of a tile.
func (s Stored) TileID(level int, n int64) string { return epochID(s.Epoch, tileID(level, n)) }

func blockID(n int64) string { return fmt.Sprintf("%016x", n) }

func tileID(level int, n int64) string { return fmt.Sprintf("%02d-%016x", level, n) }

// EpochOf takes the id of an item of a tree apart: the epoch, and the rest.
func EpochOf(id string) (epoch int64, rest string) {
	number, rest, later := strings.Cut(id, "/")
	if !later {
		return 1, id
	}
	epoch, err := strconv.ParseInt(number, 10, 64)
	if err != nil || epochID(epoch, rest) != id {
		return 0, id
	}
	return epoch, rest
}

// ParseBlockID reads the number of a block, without the epoch.
func ParseBlockID(id string) (n int64, ok bool) {
	_, err := fmt.Sscanf(id, "%016x", &n)
	return n, err == nil && blockID(n) == id
}

// ParseTileID reads level and number of a tile, without the epoch.
func ParseTileID(id string) (level int, n int64, ok bool) {
	_, err := fmt.Sscanf(id, "%02d-%016x", &level, &n)
	return level, n, err == nil && tileID(level, n) == id
}

package translog

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

// A full tile spans 8 levels of the tree: 256 hashes, 8,192 bytes.
const (
	TileHeight = 8
	TileWidth  = 1 << TileHeight
)

// Tiles reads stored tiles: the first width hashes of tile n of a level, or more
// of that tile. [ErrNoTile] says that there is none.
type Tiles interface {
	Tile(level int, n int64, width int) ([]byte, error)
}

// ErrNoTile says that a tile is not there.
var ErrNoTile = errors.New("it is missing")

// TileError says which tile could not be used, by its path.
type TileError struct {
	Path   string
	Reason error
}

func (e *TileError) Error() string { return "translog: " + e.Path + ": " + e.Reason.Error() }

// Unwrap gives the reason.
func (e *TileError) Unwrap() error { return e.Reason }

func tileError(level int, n int64, width int, reason error) error {
	return &TileError{Path: TilePath(level, n, width), Reason: reason}
}

// Tile is a tile with its hashes.
type Tile struct {
	Level int
	N     int64
	Data  []byte
}

// Width is the number of hashes in the tile.
func (t Tile) Width() int { return len(t.Data) / HashSize }

// Path is where the tile is published.
func (t Tile) Path() string { return TilePath(t.Level, t.N, t.Width()) }

// root is the hash of a full tile in the level above.
func (t Tile) root() Hash {
	tile := tlog.Tile{H: TileHeight, L: t.Level, N: t.N, W: TileWidth}
	half := func(n int64) Hash {
		h, err := tlog.HashFromTile(tile, t.Data, tlog.StoredHashIndex(TileHeight*t.Level+TileHeight-1, 2*t.N+n))
		if err != nil {
			panic("translog: " + err.Error())
		}
		return h
	}
	return tlog.NodeHash(half(0), half(1))
}

// TilePath is the path of a tile by tlog-tiles, which are tlog's without the height.
func TilePath(level int, n int64, width int) string {
	path := tlog.Tile{H: TileHeight, L: level, N: n, W: width}.Path()
	return "tile" + strings.TrimPrefix(path, fmt.Sprintf("tile/%d", TileHeight))
}

// ParseTilePath reads a path that [TilePath] wrote. A path of an entry bundle is
// refused: there are none.
func ParseTilePath(path string) (level int, n int64, width int, err error) {
	tile, err := tlog.ParseTilePath(strings.Replace(path, "tile/", fmt.Sprintf("tile/%d/", TileHeight), 1))
	if err != nil || tile.L < 0 || tile.L > 63 || TilePath(tile.L, tile.N, tile.W) != path {
		return 0, 0, 0, fmt.Errorf("translog: %.200q is not the path of a tile, such as tile/0/x001/234 or tile/0/x001/234.p/56", path)
	}
	return tile.L, tile.N, tile.W, nil
}

// readTile reads exactly width hashes of a tile.
func readTile(tiles Tiles, level int, n int64, width int) ([]byte, error) {
	data, err := tiles.Tile(level, n, width)
	var known *TileError
	switch {
	case errors.As(err, &known):
		return nil, err
	case err != nil:
		return nil, tileError(level, n, width, err)
	case len(data) < width*HashSize:
		return nil, tileError(level, n, width, fmt.Errorf("it has %d bytes, and needs %d", len(data), width*HashSize))
	}
	return data[:width*HashSize], nil
}

// storedHashes reads hashes from tiles that are not checked.
type storedHashes struct {
	tiles Tiles
	size  int64
}

// ReadHashes serves [tlog.HashReader].
func (s storedHashes) ReadHashes(indexes []int64) ([]Hash, error) {
	type place struct {
		level int
		n     int64
	}
	read := map[place][]byte{}
	hashes := make([]Hash, 0, len(indexes))
	for _, index := range indexes {
		tile := tlog.TileForIndex(TileHeight, index)
		tile.W = int(min(TileWidth, s.size>>(TileHeight*tile.L)-tile.N*TileWidth))
		at := place{tile.L, tile.N}
		data := read[at]
		if data == nil {
			var err error
			if data, err = readTile(s.tiles, tile.L, tile.N, tile.W); err != nil {
				return nil, err
			}
			read[at] = data
		}
		hash, err := tlog.HashFromTile(tile, data, index)
		if err != nil {
			return nil, fmt.Errorf("translog: %w", err)
		}
		hashes = append(hashes, hash)
	}
	return hashes, nil
}

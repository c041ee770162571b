package audit

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"latchkey/internal/store"
	"latchkey/internal/translog"
)

// treeCheck computes the tree from its entries and compares the stored tiles.
type treeCheck struct {
	audit *Audit
	epochTree
	report func(kind, id, what string) error
	tree   *translog.Tree
	leaves []leaf // of a tile that is not full yet
}

// leaf is an entry as it should be in the tree. Not known: its entry is missing or
// not ours, which was reported.
type leaf struct {
	hash     translog.Hash
	known    bool
	org      string
	position int64
}

func (c *treeCheck) add(l leaf) error {
	if c.leaves = append(c.leaves, l); len(c.leaves) < translog.TileWidth {
		return nil
	}
	return c.tile()
}

// tile compares a tile of leaves. Where the two differ, the tree goes on with what
// is stored: each is then reported where it is, and not once more for every level.
func (c *treeCheck) tile() error {
	n := c.tree.Size() / translog.TileWidth
	stored, err := c.read(0, n, len(c.leaves))
	if err != nil {
		return err
	}
	hashes := make([]translog.Hash, len(c.leaves))
	for i, l := range c.leaves {
		hashes[i] = l.hash
		if stored == nil {
			continue
		}
		copy(hashes[i][:], stored[i*translog.HashSize:])
		if l.known && hashes[i] != l.hash {
			if err := c.audit.report(store.Finding{
				Org: l.org, Kind: "log entry", ID: strconv.FormatInt(l.position, 10),
				What: fmt.Sprintf("it is not what entry %d of the tree is: it was changed, moved or swapped with another one", c.tree.Size()+int64(i)),
			}); err != nil {
				return err
			}
		}
	}
	c.leaves = c.leaves[:0]
	grown, tiles := c.tree.Append(hashes...)
	c.tree = grown
	for _, t := range tiles {
		if t.Level > 0 && t.Width() == translog.TileWidth {
			if err := c.compare(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// read returns a stored tile of a width; nil: there is none, which is reported.
func (c *treeCheck) read(level int, n int64, width int) ([]byte, error) {
	stored, err := c.stored.Tile(level, n, width)
	if err != nil && !errors.Is(err, translog.ErrNoTile) {
		return nil, err
	}
	want := width * translog.HashSize
	if got := len(stored); got < want || got > want && c.present {
		what := fmt.Sprintf("it has %d bytes, and should have %d: it is missing, or was put back from an earlier time", got, want)
		return nil, c.report(store.LogTile, c.stored.TileID(level, n), what)
	}
	return stored[:want], nil // an earlier epoch may have more, which it did not publish
}

func (c *treeCheck) compare(t translog.Tile) error {
	stored, err := c.read(t.Level, t.N, t.Width())
	if err != nil || stored == nil || bytes.Equal(stored, t.Data) {
		return err
	}
	return c.report(store.LogTile, c.stored.TileID(t.Level, t.N), "it does not follow from the tiles below it")
}

// end compares the right edge and the root.
func (c *treeCheck) end() error {
	if len(c.leaves) > 0 {
		if err := c.tile(); err != nil {
			return err
		}
	}
	size := c.tree.Size()
	for level := 1; size>>(translog.TileHeight*level) > 0; level++ {
		hashes := size >> (translog.TileHeight * level)
		width := int(hashes % translog.TileWidth)
		if width == 0 {
			continue
		}
		data, err := c.tree.Tile(level, hashes/translog.TileWidth, width)
		if err != nil {
			return err
		}
		if err := c.compare(translog.Tile{Level: level, N: hashes / translog.TileWidth, Data: data}); err != nil {
			return err
		}
	}
	if c.tree.Root() == c.head.Root {
		return nil
	}
	return c.report(store.LogState, "newest", fmt.Sprintf("the tree of %d entries has another root than it had when it was written", size))
}

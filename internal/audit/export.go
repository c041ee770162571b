package audit

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
	"latchkey/internal/keys/vault"
	"latchkey/internal/ledger"
	"latchkey/internal/request/activity"
	"latchkey/internal/store"
	"latchkey/internal/translog"
)

// Export writes the log out: each entry with its record and salt, in the order of
// the tree, and the activity that it is about as it is now, without the secrets of
// its submitter, as lists show it.
type Export struct {
	Image   store.Image
	Keys    *vault.RowKeys
	Catalog *activity.Catalog
	// After is the cursor of the last entry that is known already; "": none is.
	After string
	// Organization is the one whose entries are wanted; "": all.
	Organization string
	Write        func(*Exported) error

	log    logCheck // of which only what reads is used
	tree   *epochTree
	leaves []byte // of the tile that is being read
}

// Exported is an entry.
type Exported struct {
	Index  int64  `json:"index"`
	Cursor string `json:"cursor"`
	Record string `json:"record"` // the text that was hashed
	Salt   string `json:"salt"`   // hex
	// Activity is null where the entry is about something else, or its row is not
	// ours.
	Activity *activity.View `json:"activity"`
}

// ErrCursor says that a cursor was not given out by this log.
var ErrCursor = errors.New("the cursor is damaged, or of another log: take one that an export of this log has printed, or leave --after out to begin with the first entry")

// Run writes all entries after the cursor, and returns how many of them, or of
// their activities, are not what this installation wrote.
func (x *Export) Run(ctx context.Context) (damaged int64, err error) {
	audit := &Audit{Image: x.Image, Keys: x.Keys, inspector: store.NewInspector(x.Keys)}
	audit.Found = func(store.Finding) error {
		damaged++
		return nil
	}
	x.log.audit = audit
	if err := x.log.begin(ctx); err != nil {
		return 0, err
	}
	first, index, err := x.start()
	if err != nil {
		return damaged, err
	}
	for i := first; i < len(x.log.trees); i++ {
		x.tree = &x.log.trees[i]
		for ; index < x.tree.head.Size; index += translog.TileWidth - index%translog.TileWidth {
			if err := x.block(ctx, index); err != nil {
				return damaged, err
			}
		}
		index = 0
	}
	return damaged, nil
}

// A cursor is the epoch and the index of an entry, and the beginning of its leaf,
// by which a cursor of another log is known.
const (
	cursorIndex = 4
	cursorLeaf  = cursorIndex + 8
	cursorSize  = cursorLeaf + 8
)

func cursorOf(epoch, index int64, leaf []byte) string {
	text := binary.BigEndian.AppendUint32(nil, uint32(epoch))
	text = binary.BigEndian.AppendUint64(text, uint64(index))
	return base64.RawURLEncoding.EncodeToString(append(text, leaf[:cursorSize-cursorLeaf]...))
}

// start is the tree and the index to begin with.
func (x *Export) start() (tree int, index int64, err error) {
	if x.After == "" {
		return 0, 0, nil
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(x.After)
	if err != nil || len(raw) != cursorSize {
		return 0, 0, ErrCursor
	}
	epoch, last := int64(binary.BigEndian.Uint32(raw)), int64(binary.BigEndian.Uint64(raw[cursorIndex:]))
	tree = slices.IndexFunc(x.log.trees, func(t epochTree) bool { return t.stored.Epoch == epoch })
	if tree < 0 || last < 0 || last >= x.log.trees[tree].head.Size {
		return 0, 0, ErrCursor
	}
	x.tree = &x.log.trees[tree]
	if err := x.readLeaves(last / translog.TileWidth); err != nil {
		return 0, 0, err
	}
	if cursorOf(epoch, last, x.leaf(last)) != x.After {
		return 0, 0, ErrCursor
	}
	return tree, last + 1, nil
}

// readLeaves reads the leaves of a block.
func (x *Export) readLeaves(n int64) (err error) {
	width := int(min(translog.TileWidth, x.tree.head.Size-n*translog.TileWidth))
	x.leaves, err = x.tree.stored.Tile(0, n, width)
	if err == nil && len(x.leaves) < width*translog.HashSize {
		err = translog.ErrNoTile
	}
	if err != nil {
		return fmt.Errorf("tile %s of the log: %w; latchkey audit verify says more", x.tree.stored.TileID(0, n), err)
	}
	return nil
}

func (x *Export) leaf(index int64) []byte {
	return x.leaves[index%translog.TileWidth*translog.HashSize:][:translog.HashSize]
}

// block writes the entries of a block, from an index on.
func (x *Export) block(ctx context.Context, from int64) error {
	n := from / translog.TileWidth
	if err := x.readLeaves(n); err != nil {
		return err
	}
	places, err := x.tree.stored.Block(n)
	if err != nil {
		return err
	}
	end := min((n+1)*translog.TileWidth, x.tree.head.Size)
	if int64(len(places)) < end-n*translog.TileWidth {
		return fmt.Errorf("block %s of the log is damaged: latchkey audit verify says more", x.tree.stored.BlockID(n))
	}
	wanted := places[from%translog.TileWidth:][:end-from]
	entries, err := x.entries(ctx, wanted)
	if err != nil {
		return err
	}
	for i, p := range wanted {
		e, index := entries[p.Position], from+int64(i)
		if e == nil || x.Organization != "" && e.Org != x.Organization {
			continue
		}
		if err := x.entry(ctx, index, p.Sequence, e); err != nil {
			return err
		}
	}
	return nil
}

// entries are those at some places, by position; what is not ours is counted and
// left out.
func (x *Export) entries(ctx context.Context, places []ledger.Placed) (map[int64]*store.LogEntry, error) {
	positions := make([]int64, len(places))
	for i, p := range places {
		positions[i] = p.Position
	}
	rows, err := x.Image.EntriesAt(ctx, positions)
	if err != nil {
		return nil, err
	}
	entries := make(map[int64]*store.LogEntry, len(rows))
	for i := range rows {
		e, err := x.log.open(rows[i])
		if err != nil {
			return nil, err
		}
		entries[rows[i].Position] = e.opened
	}
	for range len(places) - len(rows) {
		if err := x.log.found("log entry", "", "it is missing"); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

func (x *Export) entry(ctx context.Context, index, sequence int64, e *store.LogEntry) error {
	record := e.Record(sequence)
	if leaf := translog.LeafHash(translog.EntryHash(e.Salt, record)); string(leaf[:]) != string(x.leaf(index)) {
		return x.log.found("log entry", "", "it is not what the tree has")
	}
	out := &Exported{
		Index: index, Cursor: cursorOf(x.tree.stored.Epoch, index, x.leaf(index)),
		Record: string(record), Salt: hex.EncodeToString(e.Salt[:]),
	}
	if e.Activity != "" && e.Org != x.log.installation {
		var err error
		if out.Activity, err = x.activity(ctx, e); err != nil {
			return err
		}
	}
	return x.Write(out)
}

// activity renders an activity as lists show it; nil: it is missing, or not ours.
func (x *Export) activity(ctx context.Context, e *store.LogEntry) (*activity.View, error) {
	inspector := x.log.audit.inspector
	row, err := x.Image.Activity(ctx, e.Org, e.Activity)
	if err != nil {
		return nil, err
	}
	if row == nil {
		return nil, x.log.found(activityKind, e.Activity, "it is missing")
	}
	a, found, err := inspector.Activity(e.Org, *row)
	if err != nil {
		return nil, err
	}
	if found != nil {
		return nil, x.log.audit.report(*found)
	}
	shown, err := x.Catalog.Redact(a)
	if err != nil {
		return nil, err
	}
	view, err := x.Catalog.Render(shown, func(id string) (*domain.User, error) {
		stored, err := x.Image.Get(ctx, e.Org, "user", id)
		if err != nil || stored == nil {
			return nil, err
		}
		body, ours, err := inspector.Open(e.Org, "user", store.Item{ID: id, Body: stored})
		if err != nil || !ours {
			return nil, err
		}
		user := new(domain.User)
		return user, json.Unmarshal(body, user)
	})
	return &view, err
}

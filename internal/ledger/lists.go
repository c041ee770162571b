package ledger

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"latchkey/internal/domain"
	"latchkey/internal/store"
	"latchkey/internal/translog"
)

// Lists say which entries are about activities of one organization, and which are
// about those of its children, in the order of the tree. So who reads the events
// of an organization reads neither the tree nor the entries of others. A batch
// adds a row to each list that grows, and changes none.

// Listed is an entry as a list has it.
type Listed struct {
	At       domain.LogPlace
	Position int64 // in the store
}

// List names a list: of the entries of an organization, or of its children.
type List struct {
	Org      string
	Children bool
}

func (l List) kind() string {
	if l.Children {
		return store.LogChildren
	}
	return store.LogOwn
}

// maxRow bounds how many entries are in a row of a list.
const maxRow = 256

// rowID is the id of the row that ends with the entry at a point. Ids of rows
// sort as points do, so that a scan from a point begins with the row that has it.
func (l List) rowID(last domain.LogPlace) string {
	return fmt.Sprintf("%s/%08x-%016x", l.Org, last.Epoch, last.Index)
}

// writeLists stores rows for the entries of a batch.
func (b *batch) writeLists() {
	for list, entries := range b.lists {
		for len(entries) > 0 {
			row := entries[:min(len(entries), maxRow)]
			entries = entries[len(row):]
			body := make([]byte, 0, len(row)*placeSize)
			for _, e := range row {
				body = binary.BigEndian.AppendUint64(body, uint64(e.At.Index))
				body = binary.BigEndian.AppendUint64(body, uint64(e.Position))
			}
			b.items.Put(list.kind(), list.rowID(row[len(row)-1].At), body)
		}
	}
}

// list enters an entry in the lists that it belongs to.
func (b *batch) list(e *store.LogEntry, index int64) error {
	if !e.AboutActivity() {
		return nil
	}
	listed := Listed{domain.LogPlace{Epoch: b.epoch, Index: index}, e.Position}
	own := List{Org: e.Org}
	b.lists[own] = append(b.lists[own], listed)
	parent, err := b.parent(e.Org)
	if err != nil || parent == "" {
		return err
	}
	children := List{Org: parent, Children: true}
	b.lists[children] = append(b.lists[children], listed)
	return nil
}

// Listed returns up to limit entries of a list from a point on.
func (l *Ledger) Listed(ctx context.Context, list List, from domain.LogPlace, limit int) (entries []Listed, err error) {
	in := store.Range{From: list.rowID(from), To: list.Org + "0", Limit: min(limit, 256)} // "0" follows "/"
	for {
		rows, err := l.Store.LogRange(ctx, list.kind(), in)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			_, listed, err := ReadRow(list.kind(), row.ID, row.Body)
			if err != nil {
				return nil, err
			}
			in.From = list.rowID(listed[len(listed)-1].At.Next())
			for _, e := range listed {
				if !e.At.Before(from) {
					entries = append(entries, e)
				}
			}
		}
		if len(entries) >= limit {
			return entries[:limit], nil
		}
		if len(rows) < in.Limit {
			return entries, nil
		}
	}
}

// ReadRow reads a row of a list: which one it is of, and its entries, of which
// there is at least one. An error says that no server writes such a row.
func ReadRow(kind, id string, body []byte) (List, []Listed, error) {
	org, last, _ := strings.Cut(id, "/")
	list := List{Org: org, Children: kind == store.LogChildren}
	number, _, _ := strings.Cut(last, "-")
	epoch, _ := strconv.ParseInt(number, 16, 64)
	entries := make([]Listed, len(body)/placeSize)
	for i := range entries {
		at := body[placeSize*i:]
		place := domain.LogPlace{Epoch: epoch, Index: int64(binary.BigEndian.Uint64(at))}
		entries[i] = Listed{place, int64(binary.BigEndian.Uint64(at[8:]))}
	}
	sorted := slices.IsSortedFunc(entries, func(a, b Listed) int { return cmp.Compare(a.At.Index, b.At.Index) })
	if len(entries) == 0 || len(body)%placeSize != 0 || !sorted || list.rowID(entries[len(entries)-1].At) != id {
		return list, nil, fmt.Errorf("ledger: the row %q of a list is not what a server writes", id)
	}
	return list, entries, nil
}

// parents remembers the parents of organizations, which never change.
type parents struct {
	mu    sync.Mutex
	known map[string]string
}

// Parent is the parent of an organization, "" when it has none.
func (l *Ledger) Parent(ctx context.Context, org string) (string, error) {
	l.parents.mu.Lock()
	parent, ok := l.parents.known[org]
	l.parents.mu.Unlock()
	if ok {
		return parent, nil
	}
	parent, known, err := l.Store.Parent(ctx, org)
	if err != nil || !known {
		return "", err
	}
	l.parents.mu.Lock()
	defer l.parents.mu.Unlock()
	if l.parents.known == nil || len(l.parents.known) > maxSequences {
		l.parents.known = map[string]string{}
	}
	l.parents.known[org] = parent
	return parent, nil
}

// Between are the lists that the entries from one point to another are in, of one
// epoch.
func (l *Ledger) Between(ctx context.Context, from, to domain.LogPlace) (lists map[List]bool, err error) {
	lists = map[List]bool{}
	for n := from.Index / translog.TileWidth; n*translog.TileWidth < to.Index; n++ {
		block, err := l.stored(ctx, from.Epoch).Block(n)
		if err != nil {
			return nil, err
		}
		var positions []int64
		for i, p := range block {
			if index := n*translog.TileWidth + int64(i); from.Index <= index && index < to.Index {
				positions = append(positions, p.Position)
			}
		}
		entries, err := l.Store.LogEntriesAt(ctx, positions)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if !e.AboutActivity() {
				continue
			}
			lists[List{Org: e.Org}] = true
			parent, err := l.Parent(ctx, e.Org)
			if err != nil {
				return nil, err
			}
			if parent != "" {
				lists[List{Org: parent, Children: true}] = true
			}
		}
	}
	return lists, nil
}

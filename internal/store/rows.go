package store

import (
	"cmp"
	"context"
	"encoding/binary"
	"strings"

	"latchkey/internal/keys/vault"
)

// Every row that counts is marked with a key of its organization that only the
// vault has: a row that another program wrote, changed or moved is not used. The
// mark is in front of the body, so that drivers need not know of it. Package
// vault has the keys, head.go says how a missing row is noticed, and
// docs/decisions/0026 why it is done this way.

// markFormat is the first byte of a marked body; no body of an earlier version
// begins with it.
const markFormat = 0xA1

const (
	tagSize = 16 // how much of a mark is stored
	prefix  = 1 + tagSize
)

// rows reads the rows of one organization and drops what is not ours.
type rows struct {
	store *Store
	org   string
	key   *vault.RowKey // nil: nothing is checked, see [Store.Bootstrap]
	base  *pendingState // whose rows hide what is stored; nil: none do
	// ahead are items that were read with an index, as they are stored, by kind and
	// id; nil for one that is not there.
	ahead map[[2]string][]byte
}

func (s *Store) rowsOf(org string) (*rows, error) {
	if s.keys == nil {
		return nil, errLocked
	}
	key, err := s.keys.Organization(org)
	return &rows{store: s, org: org, key: key}, err
}

// storedRow is a row as it was read. The body of one that is not ours is nil.
type storedRow struct {
	Item
	mark vault.RowMark
}

// get returns one item, nil when there is none.
func (r *rows) get(ctx context.Context, kind, id string) (*storedRow, error) {
	stored, known := r.base.item(kind, id)
	if !known {
		stored, known = r.ahead[[2]string{kind, id}]
		delete(r.ahead, [2]string{kind, id})
	}
	if !known {
		var err error
		if stored, err = r.store.driver.Get(ctx, r.org, kind, id); err != nil {
			return nil, err
		}
	}
	if stored == nil {
		return nil, nil
	}
	row := r.open(kind, Item{id, stored})
	if row.Body == nil {
		return nil, r.store.found(Finding{r.org, kind, id, notOurs})
	}
	return &row, nil
}

// scan returns items in a range. One that is not ours is reported, and its body
// is nil: it costs what needs it, and not all that was asked for with it.
func (r *rows) scan(ctx context.Context, kind string, in Range) ([]storedRow, error) {
	onTheWay, limit := r.base.itemsIn(kind, in), in.Limit
	if limit > 0 {
		in.Limit += len(onTheWay) // they may delete what is stored
	}
	items, err := r.store.driver.Scan(ctx, r.org, kind, in)
	if err != nil {
		return nil, err
	}
	if len(onTheWay) > 0 {
		items = overlay(items, onTheWay, limit)
	}
	list := make([]storedRow, len(items))
	for i, item := range items {
		list[i] = r.openOrReport(kind, item)
	}
	return list, nil
}

// scanIndex is scan of an index; what its entries lead to is read with them, for
// [rows.get].
func (r *rows) scanIndex(ctx context.Context, kind string, in Range, of Reference) ([]storedRow, error) {
	if r.base != nil {
		return r.scan(ctx, kind, in) // what is on its way is read before what is stored
	}
	found, err := r.store.driver.ScanIndex(ctx, r.org, kind, in, of)
	if err != nil {
		return nil, err
	}
	return r.indexRows(kind, found, of), nil
}

// indexRows are entries of an index; what they lead to is ahead.
func (r *rows) indexRows(kind string, found []IndexRow, of Reference) []storedRow {
	r.ahead = make(map[[2]string][]byte, 2*len(found))
	list := make([]storedRow, len(found))
	for i, row := range found {
		if id, ok := strings.CutPrefix(row.ID, of.Prefix); ok {
			r.ahead[[2]string{of.Kind, id}] = row.Record
			if of.WithKind != "" {
				r.ahead[[2]string{of.WithKind, of.WithPrefix + id}] = row.With
			}
		}
		list[i] = r.openOrReport(kind, row.Item)
	}
	return list
}

// areOurs reports whether an entry, its record and what is of that are there, and ours.
func (r *rows) areOurs(kind string, row IndexRow, of Reference) bool {
	id := strings.TrimPrefix(row.ID, of.Prefix)
	return r.open(kind, row.Item).Body != nil && r.open(of.Kind, Item{id, row.Record}).Body != nil &&
		r.open(of.WithKind, Item{of.WithPrefix + id, row.With}).Body != nil
}

func (r *rows) openOrReport(kind string, item Item) storedRow {
	row := r.open(kind, item)
	if row.Body == nil {
		_ = r.store.found(Finding{r.org, kind, item.ID, notOurs})
	}
	return row
}

// activity checks an activity, and takes the mark from its body; a false one is
// reported.
func (r *rows) activity(a *ActivityRow) error {
	tag, body, ok := cut(a.Body)
	if ok && r.key != nil {
		unmarked := *a
		unmarked.Body = body
		mark := activityMark(r.key, &unmarked)
		ok = [tagSize]byte(mark[:tagSize]) == tag
	}
	if !ok {
		return r.store.found(Finding{r.org, activityKind, a.ID, notOurs})
	}
	a.Body = body
	return nil
}

func (r *rows) open(kind string, item Item) storedRow {
	row := storedRow{Item: Item{ID: item.ID}}
	tag, body, ok := cut(item.Body)
	switch {
	case r.key == nil && !ok:
		row.Body = item.Body // of a database that was not adopted yet
	case r.key == nil:
		row.Body = body
	case ok:
		row.mark = itemMark(r.key, kind, item.ID, body)
		if [tagSize]byte(row.mark[:tagSize]) == tag {
			row.Body = body
		}
	}
	return row
}

// cut takes a stored body apart.
func cut(stored []byte) (tag [tagSize]byte, body []byte, ok bool) {
	if len(stored) < prefix || stored[0] != markFormat {
		return tag, nil, false
	}
	return [tagSize]byte(stored[1:prefix]), stored[prefix:], true
}

func marked(mark vault.RowMark, body []byte) []byte {
	stored := make([]byte, prefix+len(body))
	copy(stored[prefix:], body)
	putMark(stored, mark)
	return stored
}

// putMark fills in the mark of a body that has left room for it.
func putMark(stored []byte, mark vault.RowMark) {
	stored[0] = markFormat
	copy(stored[1:prefix], mark[:tagSize])
}

// The first part of what is marked keeps items and activities apart.
const (
	itemLabel     = "latchkey item 1"
	activityLabel = "latchkey activity 1"
)

func itemMark(key *vault.RowKey, kind, id string, body []byte) vault.RowMark {
	return key.Mark(body, itemLabel, kind, id)
}

func activityMark(key *vault.RowKey, a *ActivityRow) vault.RowMark {
	var time [8]byte
	binary.BigEndian.PutUint64(time[:], uint64(a.TimestampMs))
	return key.Mark(a.Body, activityLabel, a.ID, string(time[:]), string(a.Fingerprint[:]), a.Type, a.Status)
}

// mark puts the marks into a commit that is about to be made.
func (tx *Tx) mark(c *Commit) error {
	others := map[string]*rows{}
	of := func(org string) (*vault.RowKey, error) {
		r, err := others[org], error(nil)
		switch {
		case org == tx.org:
			r, err = tx.rows()
		case r == nil:
			r, err = tx.store.rowsOf(org)
			others[org] = r
		}
		if err != nil {
			return nil, err
		}
		return r.key, nil
	}
	if c.Activity != nil {
		key, err := of(c.Org)
		if err != nil {
			return err
		}
		putMark(tx.recorded, activityMark(key, c.Activity))
		row := *c.Activity
		row.Body = tx.recorded
		c.Activity = &row
	}
	for i := range c.Changes {
		ch := &c.Changes[i]
		if ch.Body == nil {
			continue
		}
		if ch.after == nil {
			key, err := of(cmp.Or(ch.Org, c.Org))
			if err != nil {
				return err
			}
			mark := itemMark(key, ch.Kind, ch.ID, ch.Body)
			ch.after = &mark
		}
		ch.Body = marked(*ch.after, ch.Body)
	}
	return nil
}

package convert

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"strconv"

	"latchkey/internal/store"
)

// Contents is what a database holds.
type Contents struct {
	Organizations Table `json:"organizations"`
	Items         Table `json:"items"`
	Activities    Table `json:"activities"`
	Entries       Table `json:"logEntries"`
}

// Table is how many rows a table has, and SHA-256 over all of them, in hex: of each
// row its columns in the order of their declaration, each as its length in eight bytes,
// the greatest first, and its bytes; numbers are in decimal digits. Rows are in the
// order of their keys: organization, kind and id, or position.
type Table struct {
	Rows   int64  `json:"rows"`
	SHA256 string `json:"sha256"`
}

// table is one of the tables that are copied.
type table int

const (
	organizations table = iota
	items
	activities
	entries
)

func (t table) String() string {
	return [...]string{"organizations", "items", "activities", "log_entries"}[t]
}

// row is a row of any table.
type row struct {
	table    table
	org      string
	version  int64              // of an organization
	kind     string             // of an item
	item     store.Item         //
	activity *store.ActivityRow // an activity
	entry    store.EntryRow     // an entry of the log
}

// columns are those of the row.
func (r *row) columns() [][]byte {
	number := func(n int64) []byte { return strconv.AppendInt(nil, n, 10) }
	switch r.table {
	case organizations:
		return [][]byte{[]byte(r.org), number(r.version)}
	case items:
		return [][]byte{[]byte(r.org), []byte(r.kind), []byte(r.item.ID), r.item.Body}
	case activities:
		a := r.activity
		return [][]byte{
			[]byte(r.org), []byte(a.ID), number(a.TimestampMs), a.Fingerprint[:], []byte(a.Type), []byte(a.Status), a.Body,
		}
	case entries:
		return [][]byte{number(r.entry.Position), []byte(r.entry.Org), []byte(r.entry.Activity), r.entry.Body}
	}
	return nil
}

// key is by what rows of the table are ordered.
func (r *row) key() [3]string {
	switch r.table {
	case items:
		return [3]string{r.org, r.kind, r.item.ID}
	case activities:
		return [3]string{r.org, r.activity.ID}
	case entries:
		return [3]string{fmt.Sprintf("%020d", r.entry.Position)}
	}
	return [3]string{r.org}
}

// size is about how many bytes the row has.
func (r *row) size() (n int) {
	for _, c := range r.columns() {
		n += len(c)
	}
	return n
}

// whole reports whether the row is of a form that a server writes: the body of one
// with another type in a column is nil.
func (r *row) whole() bool {
	switch r.table {
	case items:
		return r.item.Body != nil
	case activities:
		return r.activity.Body != nil
	case entries:
		return r.entry.Body != nil
	}
	return r.version > 0
}

// each gives every row of an image to fn, ordered by key. A row that no server writes,
// or that is out of order, is an error: what is copied must be what is there.
func each(ctx context.Context, from store.Image, fn func(*row) error) error {
	var last [3]string
	var of table = -1
	next := func(r *row) error {
		key := r.key()
		if !r.whole() {
			return fmt.Errorf("the row %q of %s is not as a server writes it: see what latchkey audit verify says", key, r.table)
		}
		if of == r.table && compare(last, key) >= 0 {
			return fmt.Errorf("the rows %q and %q of %s are not in order: the database is damaged", last, key, r.table)
		}
		of, last = r.table, key
		return fn(r)
	}
	err := from.Versions(ctx, func(org string, version int64) error {
		return next(&row{table: organizations, org: org, version: version})
	})
	if err != nil {
		return err
	}
	err = from.Items(ctx, "", "", func(org, kind string, item store.Item) error {
		return next(&row{table: items, org: org, kind: kind, item: item})
	})
	if err != nil {
		return err
	}
	err = from.OrderedActivities(ctx, func(org string, a *store.ActivityRow) error {
		return next(&row{table: activities, org: org, activity: a})
	})
	if err != nil {
		return err
	}
	return from.Entries(ctx, func(e store.EntryRow) error { return next(&row{table: entries, entry: e}) })
}

func compare(a, b [3]string) int {
	return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]), cmp.Compare(a[2], b[2]))
}

// Read is what an image holds; also is called for each row.
func Read(ctx context.Context, from store.Image, also func()) (c Contents, err error) {
	var digests [4]digest
	for i := range digests {
		digests[i].hash = sha256.New()
	}
	err = each(ctx, from, func(r *row) error {
		digests[r.table].add(r)
		also()
		return nil
	})
	return Contents{
		Organizations: digests[organizations].table(), Items: digests[items].table(),
		Activities: digests[activities].table(), Entries: digests[entries].table(),
	}, err
}

// digest is that of a table, as far as it was read.
type digest struct {
	hash hash.Hash
	rows int64
}

func (d *digest) add(r *row) {
	d.rows++
	var length [8]byte
	for _, c := range r.columns() {
		binary.BigEndian.PutUint64(length[:], uint64(len(c)))
		_, _ = d.hash.Write(length[:]) // it never fails
		_, _ = d.hash.Write(c)
	}
}

func (d *digest) table() Table {
	return Table{Rows: d.rows, SHA256: hex.EncodeToString(d.hash.Sum(nil))}
}

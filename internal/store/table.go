package store

import (
	"maps"
	"slices"

	"latchkey/internal/fault"
)

// Kind declares how one type of record is kept.
type Kind[T any] struct {
	Name  string // in the database; never changes
	Label string // in messages
	ID    func(*T) string
	// Resident kinds are small enough to be held in memory whole. Of the
	// others only what is asked for is read, and their indexes are stored.
	Resident bool
	Unique   []Index[T] // a key belongs to one record
	Lists    []Index[T] // a key may belong to many
	// Directory are the keys by which the parent of an organization finds it
	// among its children; see [Store.Children]. nil: there are none.
	Directory func(*T) []string
	// Unguarded says that rows of the kind are also written in commits of other
	// organizations: they are in no head, and that one is missing is not noticed.
	Unguarded bool
	// Expires says that records of the kind end by themselves: the
	// organizations that have some are known; see [Store.Expiring].
	Expires bool
}

// Index finds records by something other than their id.
type Index[T any] struct {
	Name string
	Keys func(*T) []string
	// Taken is the refusal when a key of a unique index already belongs to
	// another record.
	Taken func(key string) error
}

// keys are the record's keys, each once; none for no record.
func (i Index[T]) keys(value *T) []string {
	if value == nil {
		return nil
	}
	return slices.Compact(slices.Sorted(slices.Values(i.Keys(value))))
}

// Table is one kind of record of the transaction's organization. It shows what
// the transaction wrote itself.
type Table[T any] struct {
	tx          *Tx
	kind        *Kind[T]
	ciphertexts string // see [Table.WithCiphertexts]
}

// In is the table of a kind in a transaction.
func In[T any](tx *Tx, kind *Kind[T]) Table[T] { return Table[T]{tx: tx, kind: kind} }

// WithCiphertexts is the table for a caller that needs, of records that it finds by
// [Table.ListBy], also the ciphertexts: their names are the ids behind a prefix. They
// are read with the records, and kept for [Ciphertexts.Sealed] in the transaction.
func (t Table[T]) WithCiphertexts(prefix string) Table[T] {
	t.ciphertexts = prefix
	return t
}

// Get returns the record with this id. It is shared: read it, never write to
// it. A missing one is a fault.
func (t Table[T]) Get(id string) (*T, error) {
	value, err := t.Lookup(id)
	if err == nil && value == nil {
		err = fault.Missing("no %s with id %s in this organization", t.kind.Label, id)
	}
	return value, err
}

// Find returns the record that has this key in a unique index, or nil.
func (t Table[T]) Find(index, key string) (*T, error) {
	id, err := t.owner(index, key)
	if err != nil || id == "" {
		return nil, err
	}
	value, err := t.Lookup(id)
	if err == nil && value == nil {
		err = t.gone(id)
	}
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(t.kind.Unique, func(i Index[T]) bool { return i.Name == index })
	if !slices.Contains(t.kind.Unique[i].Keys(value), key) {
		return nil, t.misplaced(index, key)
	}
	return value, nil
}

// List returns the records after an id, ordered by id, which is the order of
// creation. A limit of 0 means all.
func (t Table[T]) List(after string, limit int) ([]*T, error) {
	var stored []*T
	var err error
	if t.kind.Resident {
		stored, err = t.listResidents(after)
	} else {
		stored, err = t.listStored(after, t.storedLimit(limit))
	}
	if err != nil {
		return nil, err
	}
	return t.merge(stored, after, limit, func(*T) bool { return true }), nil
}

// All lists every record for a caller that keeps what it makes of them: the
// records are not held in memory as well, not even those of a resident kind.
func (t Table[T]) All() ([]*T, error) {
	if t.kind.Resident && t.tx.snapshot.cacheOf(t.kind.Name).loaded() != nil {
		return t.List("", 0)
	}
	if t.kind.Resident {
		t.tx.noteUncachedRead(anyOf(t.kind.Name))
		all, err := readAll(t.tx, t.kind)
		if err != nil {
			return nil, err
		}
		return t.merge(slices.Collect(maps.Values(all.byID)), "", 0, func(*T) bool { return true }), nil
	}
	stored, err := t.listStored("", 0)
	if err != nil {
		return nil, err
	}
	return t.merge(stored, "", 0, func(*T) bool { return true }), nil
}

// ListBy is [Table.List] of the records that have a key in a list index.
func (t Table[T]) ListBy(index, key, after string, limit int) ([]*T, error) {
	i := slices.IndexFunc(t.kind.Lists, func(i Index[T]) bool { return i.Name == index })
	has := func(value *T) bool { return slices.Contains(t.kind.Lists[i].Keys(value), key) }
	if !t.kind.Resident {
		stored, err := t.listIndexed(index, key, after, t.storedLimit(limit))
		return t.merge(stored, after, limit, has), err
	}
	all, err := t.listResidents(after)
	if err != nil {
		return nil, err
	}
	stored := slices.DeleteFunc(all, func(value *T) bool { return !has(value) })
	return t.merge(stored, after, limit, has), nil
}

// Edited lists the records that were there before the transaction and that it
// changed.
func (t Table[T]) Edited() (all []Edit[T]) {
	w, ok := t.tx.tables[t.kind.Name].(*writes[T])
	if !ok {
		return nil
	}
	for _, id := range slices.Sorted(maps.Keys(w.rows)) {
		if r := w.rows[id]; r.before != nil && r.after != nil {
			all = append(all, Edit[T]{Before: r.before, After: r.after})
		}
	}
	return all
}

// Edit is a record before and after a transaction. Both are shared.
type Edit[T any] struct{ Before, After *T }

// Insert adds a record. A taken id or unique key is a fault.
func (t Table[T]) Insert(value *T) error {
	id := t.kind.ID(value)
	present, err := t.Lookup(id)
	if err != nil {
		return err
	}
	if present != nil {
		return fault.Taken("%s %s already exists", t.kind.Label, id)
	}
	return t.put(id, nil, value)
}

// Edit changes a record: fn gets a copy of its own. A missing record and a
// taken unique key are faults.
func (t Table[T]) Edit(id string, fn func(*T) error) error {
	value, err := t.Get(id)
	if err != nil {
		return err
	}
	edited, err := clone(value)
	if err != nil {
		return err
	}
	if err := fn(edited); err != nil {
		return err
	}
	return t.put(id, value, edited)
}

// Delete removes a record. A missing one is a fault.
func (t Table[T]) Delete(id string) error {
	value, err := t.Get(id)
	if err != nil {
		return err
	}
	return t.put(id, value, nil)
}

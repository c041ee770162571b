package store

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

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
	Unique   []Index[T]
}

// Index finds records by something other than their id.
type Index[T any] struct {
	Name string
	Keys func(*T) []string
	// Taken is the refusal when a key already belongs to another record.
	Taken func(key string) error
}

// Table is one kind of record of the transaction's organization. It shows what
// the transaction wrote itself.
type Table[T any] struct {
	tx   *Tx
	kind *Kind[T]
}

// In is the table of a kind in a transaction.
func In[T any](tx *Tx, kind *Kind[T]) Table[T] { return Table[T]{tx, kind} }

// written is what a transaction changed of one kind.
type written[T any] struct {
	kind   *Kind[T]
	rows   map[string]*row[T]
	unique map[string]map[string]string // index, key -> id; "" when freed
}

// row is one changed record: nil before when it is new, nil after when it is
// deleted.
type row[T any] struct{ before, after *T }

// Get returns the record with this id. It is shared: read it, never write to
// it. A missing one is a fault.
func (t Table[T]) Get(id string) (*T, error) {
	value, err := t.lookup(id)
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
	return t.lookup(id)
}

// List returns the records after an id, ordered by id, which is the order of
// creation. A limit of 0 means all.
func (t Table[T]) List(after string, limit int) ([]*T, error) {
	changed := t.written().rows
	var stored []*T
	var err error
	if t.kind.Resident {
		stored, err = t.listResidents(after)
	} else {
		// Deleted rows may hide as many stored ones as were changed.
		stored, err = t.listStored(after, limit, len(changed))
	}
	if err != nil {
		return nil, err
	}
	merged := make(map[string]*T, len(stored))
	for _, value := range stored {
		merged[t.kind.ID(value)] = value
	}
	for id, r := range changed {
		switch {
		case r.after == nil:
			delete(merged, id)
		case id > after:
			merged[id] = r.after
		}
	}
	var list []*T
	for _, id := range slices.Sorted(maps.Keys(merged)) {
		if limit > 0 && len(list) == limit {
			break
		}
		list = append(list, merged[id])
	}
	return list, nil
}

// Insert adds a record. A taken id or unique key is a fault.
func (t Table[T]) Insert(value *T) error {
	id := t.kind.ID(value)
	present, err := t.lookup(id)
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

func (t Table[T]) put(id string, before, after *T) error {
	w := t.written()
	for _, index := range t.kind.Unique {
		if err := t.reindex(w, index, id, before, after); err != nil {
			return err
		}
	}
	if r, ok := w.rows[id]; ok {
		r.after = after
	} else {
		w.rows[id] = &row[T]{before: before, after: after}
	}
	return nil
}

func (t Table[T]) reindex(w *written[T], index Index[T], id string, before, after *T) error {
	taken := w.unique[index.Name]
	if before != nil {
		for _, key := range index.Keys(before) {
			taken[key] = ""
		}
	}
	if after == nil {
		return nil
	}
	for _, key := range index.Keys(after) {
		if !validKey(key) {
			return fault.Invalid("%s: a value holds a NUL or is not UTF-8", t.kind.Label)
		}
		owner, err := t.owner(index.Name, key)
		if err != nil {
			return err
		}
		if owner != "" {
			return index.Taken(key)
		}
		taken[key] = id
	}
	return nil
}

// owner returns the id of the record that has the key, "" when none has.
func (t Table[T]) owner(index, key string) (string, error) {
	if id, ok := t.written().unique[index][key]; ok {
		return id, nil
	}
	if t.kind.Resident {
		all, err := load(t.tx, t.kind)
		if err != nil {
			return "", err
		}
		return all.unique[index][key], nil
	}
	t.tx.looseReads = true
	id, err := t.tx.store.driver.Get(t.tx.ctx, t.tx.org, t.indexKind(index), key)
	return string(id), err
}

func (t Table[T]) lookup(id string) (*T, error) {
	if r, ok := t.written().rows[id]; ok {
		return r.after, nil
	}
	if t.kind.Resident {
		all, err := load(t.tx, t.kind)
		if err != nil {
			return nil, err
		}
		return all.byID[id], nil
	}
	t.tx.looseReads = true
	body, err := t.tx.store.driver.Get(t.tx.ctx, t.tx.org, t.kind.Name, id)
	if err != nil || body == nil {
		return nil, err
	}
	return t.decode(Item{ID: id, Body: body})
}

func (t Table[T]) listResidents(after string) ([]*T, error) {
	all, err := load(t.tx, t.kind)
	if err != nil {
		return nil, err
	}
	list := make([]*T, 0, len(all.ids))
	for _, id := range all.ids {
		if id > after {
			list = append(list, all.byID[id])
		}
	}
	return list, nil
}

func (t Table[T]) listStored(after string, limit, spare int) ([]*T, error) {
	t.tx.looseReads = true
	r := Range{From: after + "\x01"} // the least id that is greater, for ids hold no control characters
	if limit > 0 {
		r.Limit = limit + spare
	}
	items, err := t.tx.store.driver.Scan(t.tx.ctx, t.tx.org, t.kind.Name, r)
	if err != nil {
		return nil, err
	}
	list := make([]*T, 0, len(items))
	for _, item := range items {
		value, err := t.decode(item)
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	return list, nil
}

func (t Table[T]) decode(item Item) (*T, error) {
	value := new(T)
	if err := json.Unmarshal(item.Body, value); err != nil {
		return nil, damaged(t.tx.org, t.kind.Name, item.ID, err)
	}
	return value, nil
}

func (t Table[T]) written() *written[T] {
	if w, ok := t.tx.tables[t.kind.Name]; ok {
		return w.(*written[T])
	}
	w := &written[T]{kind: t.kind, rows: map[string]*row[T]{}, unique: map[string]map[string]string{}}
	for _, index := range t.kind.Unique {
		w.unique[index.Name] = map[string]string{}
	}
	t.tx.tables[t.kind.Name] = w
	return w
}

func (t Table[T]) indexKind(index string) string { return t.kind.Name + "." + index }

// changes renders what was written for the driver, in a fixed order.
func (w *written[T]) changes() ([]Change, error) {
	var all []Change
	for _, id := range slices.Sorted(maps.Keys(w.rows)) {
		r := w.rows[id]
		switch {
		case r.after != nil:
			body, err := json.Marshal(r.after)
			if err != nil {
				return nil, fmt.Errorf("encoding %s %s: %w", w.kind.Label, id, err)
			}
			all = append(all, Change{Kind: w.kind.Name, ID: id, Body: body})
		case r.before != nil:
			all = append(all, Change{Kind: w.kind.Name, ID: id})
		}
	}
	if w.kind.Resident {
		return all, nil // its indexes are made anew when it is loaded
	}
	for _, index := range w.kind.Unique {
		keys := w.unique[index.Name]
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			change := Change{Kind: w.kind.Name + "." + index.Name, ID: key}
			if id := keys[key]; id != "" {
				change.Body = []byte(id)
			}
			all = append(all, change)
		}
	}
	return all, nil
}

func clone[T any](value *T) (*T, error) {
	body, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	copied := new(T)
	return copied, json.Unmarshal(body, copied)
}

// validKey holds for what every driver can keep as an id.
func validKey(key string) bool {
	return !strings.ContainsRune(key, 0) && strings.ToValidUTF8(key, "") == key
}

func damaged(org, kind, id string, err error) error {
	return fmt.Errorf("store: %s %s of organization %s cannot be read: %w", kind, id, org, err)
}

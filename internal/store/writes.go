package store

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"latchkey/internal/fault"
	"latchkey/internal/keys/vault"
)

// This file holds what a transaction wrote and has not committed yet.

// writes is what a transaction changed of one kind; the maps are nil until it does.
type writes[T any] struct {
	kind   *Kind[T]
	rows   map[string]*row[T]
	unique map[string]map[string]string // index, key -> id; "" when freed
}

// row is one changed record: nil before when it is new, nil after when it is
// deleted.
type row[T any] struct{ before, after *T }

// sum is the sum of the organization's head to which rows of a kind belong.
func (k *Kind[T]) sum() string {
	switch {
	case k.Unguarded:
		return ""
	case k.Resident:
		return k.Name
	}
	return restSum
}

func (t Table[T]) put(id string, before, after *T) error {
	w := t.writes()
	if w.rows == nil {
		w.rows, w.unique = map[string]*row[T]{}, map[string]map[string]string{}
		for _, index := range t.kind.Unique {
			w.unique[index.Name] = map[string]string{}
		}
	}
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

func (t Table[T]) reindex(w *writes[T], index Index[T], id string, before, after *T) error {
	taken := w.unique[index.Name]
	for _, key := range index.keys(before) {
		taken[key] = ""
	}
	var wanted []string // a key that the record wants twice is taken, by itself
	if after != nil {
		wanted = index.Keys(after)
	}
	for _, key := range wanted {
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

func (t Table[T]) writes() *writes[T] {
	if w, ok := t.tx.tables[t.kind.Name]; ok {
		return w.(*writes[T])
	}
	w := &writes[T]{kind: t.kind}
	t.tx.tables[t.kind.Name] = w
	return w
}

// changes renders what was written for the driver, in a fixed order.
func (w *writes[T]) changes(tx *Tx) ([]Change, error) {
	var all []Change
	for _, id := range slices.Sorted(maps.Keys(w.rows)) {
		r := w.rows[id]
		var before *vault.RowMark
		if r.before != nil && !w.kind.Unguarded {
			var err error
			if before, err = w.prior(tx, id); err != nil {
				return nil, err
			}
		}
		switch {
		case r.after != nil:
			body, err := json.Marshal(r.after)
			if err != nil {
				return nil, fmt.Errorf("encoding %s %s: %w", w.kind.Label, id, err)
			}
			all = append(all, Change{Kind: w.kind.Name, ID: id, Body: body, sum: w.kind.sum(), before: before})
		case r.before != nil:
			all = append(all, Change{Kind: w.kind.Name, ID: id, sum: w.kind.sum(), before: before})
		}
	}
	if w.kind.Resident {
		return all, nil // its indexes are built when it is loaded
	}
	indexes, err := w.indexChanges(tx)
	return append(all, indexes...), err
}

// prior is the mark of a stored record.
func (w *writes[T]) prior(tx *Tx, id string) (*vault.RowMark, error) {
	if !w.kind.Resident {
		return tx.prior(w.kind.Name, id)
	}
	all, err := load(tx, w.kind)
	if err != nil {
		return nil, err
	}
	mark, ok := all.marks[id]
	if !ok {
		return nil, nil
	}
	return &mark, nil
}

// indexChanges renders the changes of the stored indexes. What is there already
// follows from the records as they were.
func (w *writes[T]) indexChanges(tx *Tx) (all []Change, err error) {
	r, err := tx.rows()
	if err != nil {
		return nil, err
	}
	entry := func(kind, key, id string) *vault.RowMark {
		mark := itemMark(r.key, kind, key, []byte(id))
		return &mark
	}
	for _, index := range w.kind.Unique {
		kind := w.kind.Name + "." + index.Name
		owners := map[string]string{}
		for id, r := range w.rows {
			for _, key := range index.keys(r.before) {
				owners[key] = id
			}
		}
		keys := w.unique[index.Name]
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			change := Change{Kind: kind, ID: key, sum: w.kind.sum()}
			if owner, ok := owners[key]; ok {
				change.before = entry(kind, key, owner)
			}
			if id := keys[key]; id != "" {
				change.Body = []byte(id)
			}
			if change.Body != nil || change.before != nil {
				all = append(all, change)
			}
		}
	}
	for _, index := range w.kind.Lists {
		kind := w.kind.Name + "." + index.Name
		for _, id := range slices.Sorted(maps.Keys(w.rows)) {
			for _, change := range w.listChanges(index, id) {
				if change.sum = w.kind.sum(); change.Body == nil {
					change.before = entry(kind, change.ID, id)
				}
				all = append(all, change)
			}
		}
	}
	return all, nil
}

// listChanges is what a changed record changes in a list index.
func (w *writes[T]) listChanges(index Index[T], id string) (changes []Change) {
	before, after := index.keys(w.rows[id].before), index.keys(w.rows[id].after)
	kind := w.kind.Name + "." + index.Name
	for _, key := range before {
		if !slices.Contains(after, key) {
			changes = append(changes, Change{Kind: kind, ID: listEntryID(key, id)})
		}
	}
	for _, key := range after {
		if !slices.Contains(before, key) {
			changes = append(changes, Change{Kind: kind, ID: listEntryID(key, id), Body: []byte(id)})
		}
	}
	return changes
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

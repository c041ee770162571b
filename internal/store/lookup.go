package store

import (
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
)

// This file holds how tables are read: what a transaction wrote hides what is in
// memory or in the database.

// storedLimit is how many stored records fill a page of limit when the
// transaction has deleted some of them.
func (t Table[T]) storedLimit(limit int) int {
	if limit == 0 {
		return 0
	}
	return limit + len(t.writes().rows)
}

// merge puts what the transaction wrote over what is stored.
func (t Table[T]) merge(stored []*T, after string, limit int, belongs func(*T) bool) []*T {
	merged := make(map[string]*T, len(stored))
	for _, value := range stored {
		merged[t.kind.ID(value)] = value
	}
	for id, r := range t.writes().rows {
		switch {
		case r.after == nil || !belongs(r.after):
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
	return list
}

// owner returns the id of the record that has the key, "" when none has.
func (t Table[T]) owner(index, key string) (string, error) {
	if id, ok := t.writes().unique[index][key]; ok {
		return id, nil
	}
	if t.kind.Resident {
		all, err := load(t.tx, t.kind)
		if err != nil {
			return "", err
		}
		return all.unique[index][key], nil
	}
	id, err := t.tx.get(t.indexKind(index), key)
	return string(id), err
}

// Lookup is [Table.Get] for a record that may be missing: then it is nil.
func (t Table[T]) Lookup(id string) (*T, error) {
	if r, ok := t.writes().rows[id]; ok {
		return r.after, nil
	}
	if t.kind.Resident {
		all, err := load(t.tx, t.kind)
		if err != nil {
			return nil, err
		}
		return all.byID[id], nil
	}
	body, err := t.tx.get(t.kind.Name, id)
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

func (t Table[T]) listStored(after string, limit int) ([]*T, error) {
	r := Range{From: after + "\x01", Limit: limit} // the least id that is greater, for ids hold no control characters
	list := []*T{}
	for {
		items, err := t.tx.scan(t.kind.Name, r)
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			if item.Body == nil {
				continue // reported; the others are as they were
			}
			value, err := t.decode(item.Item)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		if limit == 0 || len(items) < limit || len(list) >= limit {
			return list, nil
		}
		r.From = items[len(items)-1].ID + "\x01"
	}
}

// listEntryID is the id of an entry of a list index.
func listEntryID(key, id string) string { return key + separator + id }

// separator is in no id of a record, so that the last one in an entry is ours.
const separator = "\x1f"

func (t Table[T]) listIndexed(index, key, after string, limit int) ([]*T, error) {
	r := Range{From: listEntryID(key, after), To: key + "\x20", Limit: limit}
	if after != "" {
		r.From += "\x01"
	}
	of := Reference{Prefix: listEntryID(key, ""), Kind: t.kind.Name}
	if t.ciphertexts != "" {
		of.WithKind, of.WithPrefix = ciphertextKind, t.ciphertexts
	}
	var list []*T
	var found error // reported; the others are as they were
	for {
		entries, err := t.tx.scanIndex(t.indexKind(index), key, r, of)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			value, err := t.indexed(index, key, entry)
			switch {
			case isFinding(err):
				found = err
			case err != nil:
				return nil, err
			case value != nil:
				list = append(list, value)
			}
		}
		if limit == 0 || len(entries) < limit || len(list) >= limit {
			if len(list) > 0 {
				found = nil
			}
			return list, found // that there is none must not follow from damage
		}
		r.From = entries[len(entries)-1].ID + "\x01"
	}
}

// indexed is the record of an entry of a list index, nil if that is of a longer
// key that begins like this one.
func (t Table[T]) indexed(index, key string, entry storedRow) (*T, error) {
	if entry.Body == nil {
		return nil, t.tx.store.refusal(t.indexKind(index)) // it was reported
	}
	id := string(entry.Body)
	if entry.ID != listEntryID(key, id) {
		return nil, nil
	}
	body, err := t.tx.get(t.kind.Name, id)
	if err == nil && body == nil {
		err = t.gone(id)
	}
	if err != nil {
		return nil, err
	}
	value, err := t.decode(Item{ID: id, Body: body})
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(t.kind.Lists, func(i Index[T]) bool { return i.Name == index })
	if !slices.Contains(t.kind.Lists[i].Keys(value), key) {
		return nil, t.misplaced(index, entry.ID)
	}
	return value, nil
}

// misplaced is the error for an index row that names a record without its key.
func (t Table[T]) misplaced(index, key string) error {
	// It may have been changed between the two reads.
	if err := t.tx.checkVersion(); err != nil {
		return err
	}
	return t.tx.store.found(Finding{t.tx.org, t.indexKind(index), key, misplaced})
}

// gone is the error for a record to which an index refers and which is not there.
func (t Table[T]) gone(id string) error {
	// It may have been deleted between the two reads.
	if err := t.tx.checkVersion(); err != nil {
		return err
	}
	return t.tx.store.found(Finding{t.tx.org, t.kind.Name, id, isGone})
}

func (t Table[T]) decode(item Item) (*T, error) {
	value := new(T)
	if err := json.Unmarshal(item.Body, value); err != nil {
		return nil, damaged(t.tx.org, t.kind.Name, item.ID, err)
	}
	return value, nil
}

func (t Table[T]) indexKind(index string) string { return t.kind.Name + "." + index }

func damaged(org, kind, id string, err error) error {
	return fmt.Errorf("store: %s %s of organization %s cannot be read: %w", kind, id, org, err)
}

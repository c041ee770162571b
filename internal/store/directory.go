package store

import (
	"context"
	"slices"
	"strings"
)

// The directory of a parent organization says which of its children have a
// credential, a contact, a name or an address. Each entry is owned by the child:
// it is written in the child's commits together with the record that it refers
// to, under the parent's id, and no version of the parent guards it. A caller
// that finds a child by it checks there again, in a transaction of the child,
// before relying on it.

// directoryKind is the kind of the entries.
const directoryKind = "directory"

// directory returns the changes of the parent's directory.
func (w *writes[T]) directory(parent, child string) (changes []Change) {
	if w.kind.Directory == nil {
		return nil
	}
	keys := func(value *T) []string { return Index[T]{Keys: w.kind.Directory}.keys(value) }
	for id, r := range w.rows {
		before, after := keys(r.before), keys(r.after)
		for _, key := range before {
			if !slices.Contains(after, key) {
				changes = append(changes, Change{Org: parent, Kind: directoryKind, ID: directoryID(key, child, id)})
			}
		}
		for _, key := range after {
			if !slices.Contains(before, key) {
				changes = append(changes, Change{Org: parent, Kind: directoryKind, ID: directoryID(key, child, id), Body: []byte{}})
			}
		}
	}
	slices.SortFunc(changes, func(a, b Change) int { return strings.Compare(a.ID, b.ID) })
	return changes
}

// directoryID is the id of an entry. Organizations and records have ids without
// the separator; the key may hold anything.
func directoryID(key, child, id string) string { return key + separator + child + separator + id }

// parent is the organization's parent, "" when it has none.
func (tx *Tx) parent() (string, error) {
	if tx.org == instanceOrg || tx.org == outboxOrg || len(tx.tables) == 0 {
		return "", nil
	}
	org, err := tx.Organizations().Lookup(tx.org)
	if err != nil || org == nil {
		return "", err
	}
	return org.ParentID, nil
}

// Children lists children of the organization that have a key in its directory.
func (tx *Tx) Children(key string, limit int) ([]string, error) {
	if tx.ahead {
		return nil, errStale // what no version guards is read in turn
	}
	return tx.store.Children(tx.ctx, tx.org, key, "", limit)
}

// Children lists the children of an organization that have a key in its
// directory, after one of them, ordered by id. A limit of 0 means all.
func (s *Store) Children(ctx context.Context, parent, key, after string, limit int) (children []string, err error) {
	const page = 256
	r := Range{From: key + separator, To: key + "\x20", Limit: page}
	if after != "" {
		r.From = key + separator + after + "\x20" // after all entries of that child
	}
	rows, err := s.rowsOf(parent)
	if err != nil {
		return nil, err
	}
	for {
		entries, err := rows.scan(ctx, directoryKind, r)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if e.Body == nil {
				continue // not ours
			}
			parts := strings.Split(strings.TrimPrefix(e.ID, key+separator), separator)
			if len(parts) != 2 {
				continue // of a longer key that begins like ours
			}
			if child := parts[0]; len(children) == 0 || children[len(children)-1] != child {
				if limit > 0 && len(children) == limit {
					return children, nil
				}
				children = append(children, child)
			}
		}
		if len(entries) < page {
			return children, nil
		}
		r.From = entries[len(entries)-1].ID + "\x01"
	}
}

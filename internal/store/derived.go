package store

import "slices"

// Derived returns what build makes of the organization's records. It is made
// once, and again only when a kind of record that build read was changed; what
// it returns is shared and never changes.
//
// A transaction that has written something builds its own.
func Derived[T any](tx *Tx, name string, build func() (T, error)) (T, error) {
	if len(tx.changedKinds()) > 0 {
		return build()
	}
	if known, kinds, ok := tx.snapshot.find(name); ok {
		for _, kind := range kinds {
			tx.uses(kind)
		}
		return known.(T), nil
	}
	outer := tx.reads
	tx.reads = reads{building: true}
	made, err := build()
	own := tx.reads
	tx.reads = outer
	tx.loose = outer.loose || own.loose
	for _, kind := range own.kinds {
		tx.uses(kind)
	}
	if err == nil && own.loose {
		// What it read was the newest state. Only if that is still our version
		// may it be kept under it.
		err = tx.store.checkVersion(tx.ctx, tx.org, tx.version)
	}
	if err != nil {
		return made, err
	}
	slices.Sort(own.kinds)
	f := tx.snapshot.of(own.kinds...)
	f.mu.Lock()
	f.derived.Put(name, made)
	f.mu.Unlock()
	return made, nil
}

// reads is what a transaction has read so far, or a build of Derived in it.
type reads struct {
	// loose is set by reads that bypass the snapshot: a view that made some must
	// check that the organization has not moved on.
	loose bool
	// kinds are the kinds that were read, while building.
	kinds    []string
	building bool
}

// uses notes that a kind is read.
func (tx *Tx) uses(kind string) {
	if tx.building && !slices.Contains(tx.kinds, kind) {
		tx.kinds = append(tx.kinds, kind)
	}
}

// bypasses notes that a kind is read in the database itself.
func (tx *Tx) bypasses(kind string) {
	tx.loose = true
	tx.uses(kind)
}

// changedKinds are the kinds of the organization that the transaction wrote.
func (tx *Tx) changedKinds() (kinds []string) {
	for name, table := range tx.tables {
		if table.dirty() {
			kinds = append(kinds, name)
		}
	}
	if len(tx.sealed) > 0 {
		kinds = append(kinds, sealedKind)
	}
	return kinds
}

func (w *written[T]) dirty() bool { return len(w.rows) > 0 }

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
			tx.noteRead(kind)
		}
		return known.(T), nil
	}
	outer := tx.reads
	tx.reads = reads{building: true}
	made, err := build()
	own := tx.reads
	tx.reads = outer
	tx.uncached = outer.uncached || own.uncached
	for _, kind := range own.kinds {
		tx.noteRead(kind)
	}
	if err == nil && own.uncached {
		if tx.base != nil {
			return made, nil // of a state that is not committed nothing read is kept
		}
		// What it read was the newest state. Only if that is still our version
		// may it be kept under it.
		err = tx.checkVersion()
	}
	if err != nil {
		return made, err
	}
	slices.Sort(own.kinds)
	c := tx.snapshot.cacheOf(own.kinds...)
	c.mu.Lock()
	c.derived.Put(name, made)
	c.mu.Unlock()
	return made, nil
}

// reads is what a transaction has read so far, or a build of [Derived] in it.
type reads struct {
	// uncached is set by reads that bypass the snapshot: a view that made some
	// must check that the organization has not been changed.
	uncached bool
	// kinds are the kinds that were read, while building.
	kinds    []string
	building bool
}

// noteRead notes that a kind is read.
func (tx *Tx) noteRead(kind string) {
	if tx.building && !slices.Contains(tx.kinds, kind) {
		tx.kinds = append(tx.kinds, kind)
	}
}

// noteUncachedRead notes that a kind is read in the database itself.
func (tx *Tx) noteUncachedRead(kind string) {
	tx.uncached = true
	tx.noteRead(kind)
}

// changedKinds returns the kinds of the organization that the transaction wrote.
func (tx *Tx) changedKinds() (kinds []string) {
	for name, table := range tx.tables {
		if table.dirty() {
			kinds = append(kinds, name)
		}
	}
	if len(tx.sealed) > 0 {
		kinds = append(kinds, ciphertextKind)
	}
	return kinds
}

func (w *writes[T]) dirty() bool { return len(w.rows) > 0 }

package store

// maxDerived bounds what is remembered of one organization: some of it is for
// each account that signs.
const maxDerived = 4096

// Derived returns what build makes of the organization's records. It is made
// once for each version of the organization; what it returns is shared and never
// changes.
//
// A transaction that has written records builds its own.
func Derived[T any](tx *Tx, name string, build func() (T, error)) (T, error) {
	for _, table := range tx.tables {
		if table.dirty() {
			return build()
		}
	}
	snap := tx.snapshot
	snap.mu.Lock()
	known, ok := snap.derived[name]
	snap.mu.Unlock()
	if ok {
		return known.(T), nil
	}
	before := tx.looseReads
	tx.looseReads = false
	made, err := build()
	loose := tx.looseReads
	tx.looseReads = loose || before
	if err == nil && loose {
		// What it read was the newest state. Only if that is still our version
		// may it be kept under it.
		err = tx.store.checkVersion(tx.ctx, tx.org, tx.version)
	}
	if err != nil {
		return made, err
	}
	snap.mu.Lock()
	if snap.derived == nil || len(snap.derived) >= maxDerived {
		snap.derived = map[string]any{}
	}
	snap.derived[name] = made
	snap.mu.Unlock()
	return made, nil
}

func (w *written[T]) dirty() bool { return len(w.rows) > 0 }

package store

// Derived returns what build makes of the organization's resident records. It
// is made once for each version of the organization: build must read nothing
// but resident kinds, and what it returns is shared and never changes.
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
	made, err := build()
	if err != nil {
		return made, err
	}
	snap.mu.Lock()
	if snap.derived == nil {
		snap.derived = map[string]any{}
	}
	snap.derived[name] = made
	snap.mu.Unlock()
	return made, nil
}

func (w *written[T]) dirty() bool { return len(w.rows) > 0 }

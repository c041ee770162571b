package store

// maxDerived bounds a generation of what is remembered of one organization. Some
// of it is for each account that signs, about a kilobyte: ten thousand accounts
// that all sign fit in two generations.
const maxDerived = 16_384

// derived is what was made of one version of an organization, in two
// generations: when the young one is full it becomes the old one, and what was
// not asked for since is forgotten.
type derived struct{ young, old map[string]any }

func (d *derived) get(name string) (any, bool) {
	known, ok := d.young[name]
	if ok {
		return known, true
	}
	if known, ok = d.old[name]; ok {
		d.put(name, known)
	}
	return known, ok
}

func (d *derived) put(name string, made any) {
	if d.young == nil || len(d.young) >= maxDerived {
		d.young, d.old = map[string]any{}, d.young
	}
	d.young[name] = made
}

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
	known, ok := snap.derived.get(name)
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
	snap.derived.put(name, made)
	snap.mu.Unlock()
	return made, nil
}

func (w *written[T]) dirty() bool { return len(w.rows) > 0 }

package store

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync"

	"latchkey/internal/lru"
)

// Derived returns what build makes of the organization's records. It is made
// once, and again only when something that build read was changed: a record that
// it asked for by its id, the records of a key in an index, or any of a kind that
// it listed. What it returns is shared and never changes.
//
// A transaction that has written something builds its own.
func Derived[T any](tx *Tx, name string, build func() (T, error)) (T, error) {
	if len(tx.changedKinds()) > 0 {
		return build()
	}
	if known, ok := tx.derived(name); ok {
		tx.noteRead(known.of...)
		return known.value.(T), nil
	}
	outer := tx.reads
	tx.reads = reads{noted: true}
	made, err := build()
	own := tx.reads
	tx.reads = outer
	tx.uncached = outer.uncached || own.uncached
	tx.noteRead(own.of...)
	if err == nil && len(tx.made) < maxDerived {
		if tx.made == nil {
			tx.made = map[string]derivation{}
		}
		tx.made[name] = derivation{value: made, version: tx.version, of: own.of}
	}
	return made, err
}

// derived is what was made under a name and holds at the transaction's version.
func (tx *Tx) derived(name string) (derivation, bool) {
	if made, ok := tx.made[name]; ok {
		return made, true
	}
	return tx.snapshot.derivations().find(name, tx.version)
}

// keepDerived keeps what was made in the transaction for others. Its caller has
// made certain that what the transaction read was of its version, and that this
// version is committed.
func (tx *Tx) keepDerived() {
	if len(tx.made) > 0 {
		tx.snapshot.derivations().keep(tx.made)
		tx.made = nil
	}
}

// derivations is what [Derived] made of an organization. The versions that this
// process made one from the other share it.
type derivations struct {
	mu   sync.Mutex
	made lru.Map[string, derivation] // by name
	// changed has the newest version that changed a source; of those up to the
	// horizon it may have none. earlier is the same before it was full.
	changed, earlier         map[source]int64
	newestChanged, atEarlier int64 // the newest versions that they have
	horizon                  int64
	wanted                   wanted
	bulk                     *bulk // nil: none is held
}

type derivation struct {
	value   any
	version int64 // at which it was made; a committed one
	of      []source
}

// maxDerived bounds a generation of what is remembered of one organization. Some
// of it is for each account that signs, about a kilobyte: ten thousand accounts
// that all sign fit in two generations.
const maxDerived = 16_384

// maxChanged bounds a generation of the changes that are remembered of one
// organization. What was made before the last two is made again.
const maxChanged = 4_096

func newDerivations() *derivations {
	return &derivations{made: lru.Map[string, derivation]{Max: maxDerived}}
}

func (d *derivations) find(name string, version int64) (derivation, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	made, ok := d.made.Get(name)
	return made, ok && d.holds(&made, version)
}

// holds reports whether something is the same at a version as when it was made. A
// change on its way that fails may be among those that are remembered: then
// something is made again that need not be.
func (d *derivations) holds(made *derivation, version int64) bool {
	if made.version >= version {
		return made.version == version
	}
	return d.unchanged(made.version, made.of)
}

// unchanged reports whether no change of a source was noted that makes a version
// after this one.
func (d *derivations) unchanged(version int64, of []source) bool {
	return version >= d.horizon && !slices.ContainsFunc(of, func(s source) bool {
		return max(d.changed[s], d.earlier[s]) > version
	})
}

// stillHold is unchanged for those who do not hold the lock.
func (d *derivations) stillHold(version int64, of []source) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.unchanged(version, of)
}

func (d *derivations) keep(all map[string]derivation) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for name, made := range all {
		d.made.Put(name, made)
	}
}

// note notes what a commit changes that makes a version. It may fail for being late:
// what a later one has noted stays.
func (d *derivations) note(changes []Change, version int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.changed) > maxChanged {
		d.horizon = max(d.horizon, d.atEarlier)
		d.earlier, d.atEarlier = d.changed, d.newestChanged
		d.changed = nil
	}
	if d.changed == nil {
		d.changed = map[source]int64{}
	}
	d.newestChanged = max(d.newestChanged, version)
	noted := func(s source) { d.changed[s] = max(d.changed[s], version) }
	for i := range changes {
		ch := &changes[i]
		if ch.Org != "" {
			continue // of another organization
		}
		noted(anyOf(ch.Kind))
		noted(rowOf(ch.Kind, ch.ID))
		if end := strings.LastIndex(ch.ID, separator); end >= 0 {
			noted(rowOf(ch.Kind, ch.ID[:end]))
		}
	}
}

// source is something that a derivation was made of. It is a hash: when two have
// the same, what was made of one is also made again when the other was changed.
type source uint64

var sourceSeed = maphash.MakeSeed()

// rowOf is a row by its id, or all rows of a key in an index.
func rowOf(kind, id string) source {
	var h maphash.Hash
	h.SetSeed(sourceSeed)
	h.WriteString(kind)
	h.WriteByte(0) // in no kind
	h.WriteString(id)
	return source(h.Sum64())
}

// anyOf is a whole kind.
func anyOf(kind string) source { return source(maphash.String(sourceSeed, kind)) }

// reads is what a transaction has read so far, or a build of [Derived] in it.
type reads struct {
	// uncached is set by reads that bypass the snapshot: a view that made some
	// must check that the organization has not been changed.
	uncached bool
	// of is what was read, as long as it is noted: while building, and ahead.
	of    []source
	noted bool
}

// noteRead notes what is read.
func (tx *Tx) noteRead(of ...source) {
	if !tx.noted {
		return
	}
	const few = 16 // that something is noted twice does no harm
	for _, s := range of {
		if !slices.Contains(tx.of[max(0, len(tx.of)-few):], s) {
			tx.of = append(tx.of, s)
		}
	}
}

// noteUncachedRead notes what is read in the database itself.
func (tx *Tx) noteUncachedRead(of source) {
	tx.uncached = true
	tx.noteRead(of)
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

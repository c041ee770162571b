package store

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// After a start each account that signs is looked up for the first time, and one
// lookup takes as long as ten of those that a scan makes. So when several accounts of
// an organization had to be looked up, its index is scanned beside the requests, and
// what it leads to is held for those that come next. It is held as it is stored, for
// some seconds: that it is ours is checked when it is asked for, and what was made of
// it is kept as ever: see [Derived]. What is not there, or is not ours, the caller looks
// up alone.

const (
	// bulkAfter is how many lookups make a bulk.
	bulkAfter = 8
	// bulkStep is how many entries are read at once.
	bulkStep = 512
	// maxBulk bounds the bytes of all bulks of a process. Ten thousand accounts have
	// eleven million.
	maxBulk = 16 << 20
	// rowCost is what a row takes beside its texts.
	rowCost = 120
	// bulkLife is how long a bulk is read and held.
	bulkLife = 10 * time.Second
	// bulkRest is how many times as long as it took to read a bulk none is read after
	// it: those that are of no use cost a twentieth of a processor.
	bulkRest = 20
)

// bulk is entries of an index that were read before a caller asked for them, and what
// they lead to.
type bulk struct {
	wanted
	version int64      // they are the present ones as long as they are not changed after it
	rows    []IndexRow // sorted; only an id: its record was not found, or was taken
	size    int
}

// wanted is what of an index lookups were for.
type wanted struct {
	kind   string    // of the index
	of     Reference // of one of them
	common string    // how the ids of all that were looked up begin
	times  int
}

// bulks is what all bulks of a process may take, of which it reads one at a time.
type bulks struct {
	ctx  context.Context // ends with the store
	stop context.CancelFunc

	mu        sync.Mutex
	size      int // bytes of those that are held
	busy      bool
	notBefore time.Time
	reading   sync.WaitGroup
}

func newBulks() *bulks {
	ctx, stop := context.WithCancel(context.Background())
	return &bulks{ctx: ctx, stop: stop}
}

func (all *bulks) close() {
	all.mu.Lock()
	all.stop()
	all.mu.Unlock()
	all.reading.Wait()
}

// begin reads a bulk beside its caller, of so many bytes at most, if it is time for one,
// and releases it some time later.
func (all *bulks) begin(read func(ctx context.Context, most int) (size int, release func())) {
	all.mu.Lock()
	defer all.mu.Unlock()
	most := maxBulk - all.size
	if all.busy || most == 0 || all.ctx.Err() != nil || time.Now().Before(all.notBefore) {
		return
	}
	all.busy = true
	all.reading.Go(func() {
		start := time.Now()
		ctx, cancel := context.WithTimeout(all.ctx, bulkLife)
		defer cancel()
		size, release := read(ctx, most)
		took := time.Since(start)
		all.mu.Lock()
		defer all.mu.Unlock()
		all.busy, all.notBefore = false, time.Now().Add(bulkRest*took)
		all.size += size
		time.AfterFunc(bulkLife-took, func() {
			release()
			all.mu.Lock()
			defer all.mu.Unlock()
			all.size -= size
		})
	})
}

// fromBulk is the first entry of a key, if it was read in bulk. Like one that is read
// now it may be newer than the transaction's version, which is checked in the end. It
// is there once: what is made of it is kept.
func (tx *Tx) fromBulk(kind, key string, of Reference) (IndexRow, bool) {
	d := tx.snapshot.derivations()
	d.mu.Lock()
	defer d.mu.Unlock()
	b := d.bulk
	if b == nil || !b.isOf(kind, of) {
		return IndexRow{}, false
	}
	i, _ := slices.BinarySearchFunc(b.rows, of.Prefix, func(row IndexRow, id string) int { return strings.Compare(row.ID, id) })
	if i == len(b.rows) || b.rows[i].Record == nil {
		return IndexRow{}, false
	}
	row := b.rows[i]
	id, ok := strings.CutPrefix(row.ID, of.Prefix)
	if !ok || !d.unchanged(b.version, []source{rowOf(kind, key), rowOf(of.Kind, id), rowOf(of.WithKind, of.WithPrefix+id)}) {
		return IndexRow{}, false
	}
	b.rows[i] = IndexRow{Item: Item{ID: row.ID}}
	return row, true
}

// isOf reports whether lookups are of the same index, and by keys of the same length:
// that of the keys says where in an entry the id of its record begins.
func (w *wanted) isOf(kind string, of Reference) bool {
	sameLength := utf8.RuneCountInString(w.of.Prefix) == utf8.RuneCountInString(of.Prefix)
	own := w.of
	own.Prefix, of.Prefix = "", ""
	return w.kind == kind && own == of && sameLength
}

// lookedUp notes that an entry was read alone, and has a bulk read after some of them.
func (tx *Tx) lookedUp(kind string, of Reference) {
	d, version := tx.snapshot.derivations(), tx.version
	w, enough := d.want(kind, of)
	if !enough {
		return
	}
	s, org := tx.store, tx.org
	s.bulks.begin(func(ctx context.Context, most int) (size int, release func()) {
		b := &bulk{wanted: w, version: version}
		if err := b.read(ctx, s.driver, org, most, func() error { return s.changedByOwn(ctx, org, d) }); err != nil {
			return 0, func() {} // a caller that looks for one of these sees the error
		}
		d.hold(b)
		return b.size, func() { d.release(b) }
	})
}

// changedByOwn is nil if d has all changes of the organization, because this process
// made them.
func (s *Store) changedByOwn(ctx context.Context, org string, d *derivations) error {
	now, err := s.driver.Version(ctx, org)
	if err == nil && s.snapshots.get(org, now).derivations() != d {
		err = errStale
	}
	return err
}

// want notes a lookup, and says whether there were enough of its like.
func (d *derivations) want(kind string, of Reference) (w wanted, enough bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.wanted.isOf(kind, of) {
		d.wanted = wanted{kind: kind, of: of, common: of.Prefix}
	}
	for !strings.HasPrefix(of.Prefix, d.wanted.common) {
		_, last := utf8.DecodeLastRuneInString(d.wanted.common)
		d.wanted.common = d.wanted.common[:len(d.wanted.common)-last]
	}
	d.wanted.times++
	if d.wanted.times < bulkAfter {
		return wanted{}, false
	}
	w, d.wanted = d.wanted, wanted{}
	return w, true
}

func (d *derivations) hold(b *bulk) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.bulk = b
}

func (d *derivations) release(b *bulk) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.bulk == b {
		d.bulk = nil
	}
}

// read reads the entries that begin as those that were looked up, up to so many bytes.
// After each step it checks, as a request would, that what it read is of a version that
// this process knows: the next moment another server may have changed the organization,
// and that change be lost with the database.
func (b *bulk) read(ctx context.Context, d Driver, org string, most int, check func() error) error {
	in := Range{From: b.common, Limit: bulkStep}
	for {
		rows, err := d.ScanIndex(ctx, org, b.kind, in, b.of)
		if err == nil {
			err = check()
		}
		if err != nil {
			return err
		}
		for _, row := range rows {
			if row.Record == nil {
				row = IndexRow{Item: Item{ID: row.ID}}
			}
			size := len(row.ID) + len(row.Body) + len(row.Record) + len(row.With) + rowCost
			if !strings.HasPrefix(row.ID, b.common) || b.size+size > most {
				return nil
			}
			b.rows, b.size = append(b.rows, row), b.size+size
		}
		if len(rows) < bulkStep {
			return nil
		}
		in.From = rows[len(rows)-1].ID + "\x01"
	}
}

package store

import (
	"context"
	"strconv"
	"time"
)

// MaxChanged is how many changes are remembered for [Derived].
const MaxChanged = maxChanged

// Sums returns the sums of an organization's head that are not 0.
func (s *Store) Sums(ctx context.Context, org string) (sums map[string]sum, err error) {
	sums = map[string]sum{}
	err = s.View(ctx, org, func(tx *Tx) error {
		h, err := tx.head()
		if err != nil {
			return err
		}
		for name, value := range h.Sums {
			if value != (sum{}) {
				sums[name] = value
			}
		}
		return nil
	})
	return sums, err
}

// VersionForTest is the version that a transaction works on.
func (tx *Tx) VersionForTest() string { return strconv.FormatInt(tx.version, 10) }

// RunsAheadForTest reports whether a transaction runs before its turn.
func (tx *Tx) RunsAheadForTest() bool { return tx.ahead }

// AwaitBulk waits until no bulk is being read.
func (s *Store) AwaitBulk() { s.bulks.reading.Wait() }

// BulkAfter is how many lookups make a bulk.
const BulkAfter = bulkAfter

// HurryBulks lets the next bulk be read without a rest.
func (s *Store) HurryBulks() {
	s.bulks.mu.Lock()
	defer s.bulks.mu.Unlock()
	s.bulks.notBefore = time.Time{}
}

// ReadBulk is how many entries of an index, and how many bytes, are read in bulk that
// begin in a way.
func ReadBulk(ctx context.Context, d Driver, org, kind string, of Reference, common string, most int) (entries, size int, err error) {
	b := &bulk{wanted: wanted{kind: kind, of: of, common: common}}
	err = b.read(ctx, d, org, most, func() error { return nil })
	return len(b.rows), b.size, err
}

package store

import (
	"context"
	"strconv"
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

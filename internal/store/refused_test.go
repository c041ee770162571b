package store_test

import (
	"testing"

	"latchkey/internal/ids"
	"latchkey/internal/store"
)

// TestKeepRefused counts for each user and each day, and only what is committed.
func TestKeepRefused(t *testing.T) {
	eachDriver(t, func(t *testing.T, s *store.Store, driver store.Driver, org string) {
		keep := func(user, day string, size int, want bool) {
			t.Helper()
			id := ids.New()
			err := s.Update(t.Context(), org, func(tx *store.Tx) error {
				kept, err := tx.KeepRefused(user, day, id, size, 100)
				if kept != want {
					t.Errorf("%d bytes of %s on %s: kept %v", size, user, day, kept)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		err := s.Update(t.Context(), org, func(tx *store.Tx) error {
			_, err := tx.KeepRefused("ada", "2026-11-16", ids.New(), 100, 100)
			tx.Discard()
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		keep("ada", "2026-11-16", 60, true)
		keep("ada", "2026-11-16", 41, false)
		keep("ada", "2026-11-16", 40, true)
		keep("ada", "2026-11-16", 1, false)
		keep("adam", "2026-11-16", 100, true)
		keep("ada", "2026-11-17", 100, true)
		keep("ada", "2026-11-16", 100, true) // the day before was forgotten with the next one
		if version, err := driver.Version(t.Context(), org); err != nil || version != 1 {
			t.Errorf("counting refused bodies has changed the organization: version %d, %v", version, err)
		}
	})
}

package store_test

import (
	"errors"
	"sync"
	"testing"

	"latchkey/internal/domain"
	"latchkey/internal/ids"
	"latchkey/internal/store"
	"latchkey/internal/store/storetest"
)

// TestCiphertexts keeps ciphertext with the transaction that it belongs to.
func TestCiphertexts(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store, org string) {
		want := func(name, text string) {
			t.Helper()
			must(t, s.View(t.Context(), org, func(tx *store.Tx) error {
				if got, err := tx.Ciphertexts().Sealed(name); err != nil || string(got) != text || (got == nil) != (text == "") {
					t.Errorf("%s is %q, %v", name, got, err)
				}
				return nil
			}))
		}
		must(t, s.Update(t.Context(), org, func(tx *store.Tx) error {
			must(t, tx.Ciphertexts().Seal("kept", []byte("text")))
			must(t, tx.Ciphertexts().Seal("dropped", []byte("text")))
			if got, err := tx.Ciphertexts().Sealed("kept"); string(got) != "text" || err != nil {
				t.Errorf("in the transaction: %q, %v", got, err)
			}
			return tx.Ciphertexts().Delete("dropped")
		}))
		want("kept", "text")
		want("dropped", "")
		must(t, s.Update(t.Context(), org, func(tx *store.Tx) error {
			must(t, tx.Ciphertexts().Delete("kept"))
			tx.Discard()
			return nil
		}))
		want("kept", "text")
		must(t, s.Update(t.Context(), org, func(tx *store.Tx) error { return tx.Ciphertexts().Delete("kept") }))
		want("kept", "")
	})
}

// TestCiphertextsWithRecords: the ciphertexts of records that are found by an index are
// read with them, and are those of the version that the transaction sees.
func TestCiphertextsWithRecords(t *testing.T) {
	eachDriver(t, func(t *testing.T, _ *store.Store, driver store.Driver, org string) {
		g := &gets{Driver: driver}
		s := storetest.Store(t, g)
		stored := kinds()["stored"]
		in := func(tx *store.Tx) store.Table[note] { return store.In(tx, stored).WithCiphertexts("key/") }
		must(t, s.Update(t.Context(), org, func(tx *store.Tx) error {
			return errors.Join(
				in(tx).Insert(&note{ID: "a", Name: "a", Text: "shared"}), tx.Ciphertexts().Seal("key/a", []byte("of a")),
				in(tx).Insert(&note{ID: "b", Name: "b", Text: "shared lonely"}),
			)
		}))
		g.items = nil
		// find finds the ciphertext of the only record with a word.
		find := func(tx *store.Tx, word string) (string, error) {
			found, err := in(tx).ListBy("text", word, "", 1)
			if err != nil || len(found) == 0 {
				return "no record", err
			}
			sealed, err := tx.Ciphertexts().Sealed("key/" + found[0].ID)
			if sealed == nil {
				return "none", err
			}
			return string(sealed), err
		}
		want := func(word, text string) {
			t.Helper()
			must(t, s.View(t.Context(), org, func(tx *store.Tx) error {
				got, err := find(tx, word)
				if got != text {
					t.Errorf("of %q: %q, want %q", word, got, text)
				}
				return err
			}))
		}
		want("shared", "of a")
		want("lonely", "none")
		if g.of("key/a") != 0 || g.of("key/b") != 0 {
			t.Error("a ciphertext was read apart from its record")
		}

		// What a transaction wrote itself hides what was read ahead.
		must(t, s.Update(t.Context(), org, func(tx *store.Tx) error {
			if _, err := in(tx).ListBy("text", "shared", "", 1); err != nil {
				return err
			}
			must(t, tx.Ciphertexts().Delete("key/a"))
			if got, err := find(tx, "shared"); err != nil || got != "none" {
				t.Errorf("what the transaction deleted is %q, %v", got, err)
			}
			tx.Discard()
			return nil
		}))

		// What another server deletes between the two reads, or after them, is not used.
		other := storetest.Store(t, driver)
		for _, deleted := range []string{"before the ciphertext was asked for", "after"} {
			must(t, other.Update(t.Context(), org, func(tx *store.Tx) error { return tx.Ciphertexts().Seal("key/a", []byte("again")) }))
			remove := sync.OnceFunc(func() {
				must(t, other.Update(t.Context(), org, func(tx *store.Tx) error { return tx.Ciphertexts().Delete("key/a") }))
			})
			var got string
			must(t, s.Update(t.Context(), org, func(tx *store.Tx) (err error) {
				found, err := in(tx).ListBy("text", "shared", "", 1)
				if err != nil {
					return err
				}
				if deleted != "after" {
					remove()
				}
				sealed, err := tx.Ciphertexts().Sealed("key/" + found[0].ID)
				remove()
				got = string(sealed)
				activity := &domain.Activity{ID: ids.New(), OrganizationID: org, TimestampMs: 1, Fingerprint: store.Fingerprint{byte(len(deleted))}}
				return errors.Join(err, tx.Record(activity, store.LogDigests{}))
			}))
			if got != "" {
				t.Errorf("deleted %s: %q was committed with", deleted, got)
			}
		}
		want("shared", "none")

		// A row that another program wrote is none of ours.
		must(t, other.Update(t.Context(), org, func(tx *store.Tx) error { return tx.Ciphertexts().Seal("key/b", []byte("of b")) }))
		want("lonely", "of b")
		row, err := driver.Get(t.Context(), org, "sealed", "key/b")
		must(t, err)
		row[len(row)-1]++
		must(t, driver.ReplaceBodies(t.Context(), org, []store.StoredBody{{Kind: "sealed", ID: "key/b", Body: row}}))
		fresh := storetest.Store(t, driver)
		err = fresh.View(t.Context(), org, func(tx *store.Tx) error { _, err := find(tx, "lonely"); return err })
		if !isIntegrity(err) {
			t.Errorf("a ciphertext that was changed in the database: %v", err)
		}
	})
}

package store_test

import (
	"testing"

	"latchkey/internal/store"
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

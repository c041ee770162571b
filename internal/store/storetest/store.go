package storetest

import (
	"testing"

	"latchkey/internal/keys/vault"
	"latchkey/internal/store"
)

// masterKey is that of all stores of [Store], so that several can be opened over
// one database.
type masterKey [32]byte

func (masterKey) Name() string { return "a test" }

func (k masterKey) Unseal(use func(*[32]byte) error) error { return use((*[32]byte)(&k)) }

// Store returns a store over a driver, with the row keys of [Vault].
func Store(t testing.TB, driver store.Driver) *store.Store {
	t.Helper()
	s := store.New(driver)
	v := Vault(t)
	err := s.Bootstrap(t.Context(), func(c store.Ciphertexts, _ bool) (*vault.RowKeys, error) {
		keys, err := v.LoadRowKeys(c)
		if err == nil && keys == nil {
			keys, err = v.CreateRowKeys(c)
		}
		return keys, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Vault opens the vault of all stores of [Store].
func Vault(t testing.TB) *vault.Vault {
	t.Helper()
	v, _, err := vault.Open(masterKey{1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	return v
}

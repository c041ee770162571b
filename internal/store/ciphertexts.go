package store

// sealedKind is the kind of everything that only the vault can read.
const sealedKind = "sealed"

// Ciphertexts holds ciphertext by name, in the transaction: a key and the record that
// speaks of it are committed together. What is on it means nothing to anyone
// but the vault.
type Ciphertexts struct{ tx *Tx }

// Ciphertexts is the organization's ciphertext.
func (tx *Tx) Ciphertexts() Ciphertexts { return Ciphertexts{tx} }

// Sealed returns what is kept under a name, nil when there is nothing.
func (s Ciphertexts) Sealed(name string) ([]byte, error) {
	if body, ok := s.tx.sealed[name]; ok {
		return body, nil
	}
	return Derived(s.tx, sealedKind+" "+name, func() ([]byte, error) {
		s.tx.bypasses(sealedKind)
		return s.tx.store.driver.Get(s.tx.ctx, s.tx.org, sealedKind, name)
	})
}

// Seal keeps ciphertext under a name.
func (s Ciphertexts) Seal(name string, ciphertext []byte) error {
	s.write(name, ciphertext)
	return nil
}

// Delete removes what is kept under a name; it is no mistake if nothing is.
func (s Ciphertexts) Delete(name string) error {
	s.write(name, nil)
	return nil
}

func (s Ciphertexts) write(name string, body []byte) {
	if s.tx.sealed == nil {
		s.tx.sealed = map[string][]byte{}
	}
	s.tx.sealed[name] = body
}

// Names lists what is kept, for those who tidy up.
func (s Ciphertexts) Names() ([]string, error) {
	items, err := s.tx.store.driver.Scan(s.tx.ctx, s.tx.org, sealedKind, Range{})
	names := make([]string, len(items))
	for i, item := range items {
		names[i] = item.ID
	}
	return names, err
}

package store

// ciphertextKind is the kind of everything that only the vault can read.
const ciphertextKind = "sealed"

// Ciphertexts holds ciphertext by name, in the transaction: a key and the record
// that refers to it are committed together. Only the vault can read it.
type Ciphertexts struct{ tx *Tx }

// Ciphertexts holds the organization's ciphertext.
func (tx *Tx) Ciphertexts() Ciphertexts { return Ciphertexts{tx} }

// Sealed returns the ciphertext under a name, nil when there is none.
func (c Ciphertexts) Sealed(name string) ([]byte, error) {
	if body, ok := c.tx.sealed[name]; ok {
		return body, nil
	}
	return Derived(c.tx, ciphertextKind+" "+name, func() ([]byte, error) {
		return c.tx.get(ciphertextKind, name)
	})
}

// Derived returns the ciphertext that build makes of others: see [Derived].
func (c Ciphertexts) Derived(name string, build func() ([]byte, error)) ([]byte, error) {
	return Derived(c.tx, "of "+ciphertextKind+" "+name, build)
}

// Seal stores ciphertext under a name.
func (c Ciphertexts) Seal(name string, ciphertext []byte) error {
	c.write(name, ciphertext)
	return nil
}

// Delete removes the ciphertext under a name; that there is none is no error.
func (c Ciphertexts) Delete(name string) error {
	c.write(name, nil)
	return nil
}

// Gone is the error for a ciphertext to which a record refers and which is not
// there.
func (c Ciphertexts) Gone(name string) error {
	tx := c.tx
	// It may have been deleted between the two reads.
	if err := tx.checkVersion(); err != nil {
		return err
	}
	return tx.store.found(Finding{tx.org, ciphertextKind, name, isGone})
}

func (c Ciphertexts) write(name string, body []byte) {
	if c.tx.sealed == nil {
		c.tx.sealed = map[string][]byte{}
	}
	c.tx.sealed[name] = body
}

// Names lists the names, to find what is no longer needed.
func (c Ciphertexts) Names() ([]string, error) {
	items, err := c.tx.scan(ciphertextKind, Range{})
	names := make([]string, len(items))
	for i, item := range items {
		names[i] = item.ID
	}
	return names, err
}

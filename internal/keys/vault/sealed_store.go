package vault

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"latchkey/internal/keys/vault/internal/seal"
	"latchkey/internal/keys/vault/internal/secret"
)

// sealedStore puts secrets on one organization's shelf and takes them from it.
type sealedStore struct {
	vault *Vault
	org   string
	ciphertexts CiphertextStore
	// opens is a data key of the organization, the last that was used.
	opens atomic.Pointer[seal.Key]
	// seals is the data key that is on the shelf in this transaction. Only
	// that may seal: another would be lost with the transaction that made it.
	// Two goroutines that both made one would lose the first; hence the lock.
	mu    sync.Mutex
	seals *seal.Key
}

// put seals a secret that is new.
func (d *sealedStore) put(kind, id string, plain *secret.Bytes) error {
	name, err := nameOf(kind, id)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	// Overwriting a key would be the loss of it.
	if there, err := d.ciphertexts.Sealed(name); err != nil {
		return err
	} else if there != nil {
		return fmt.Errorf("vault: there already is a %s %q", kind, id)
	}
	key, err := d.sealing()
	if err != nil {
		return err
	}
	return d.ciphertexts.Seal(name, key.Seal(d.context(kind, id), plain))
}

// get opens a secret, nil when there is none.
func (d *sealedStore) get(kind, id string) (*secret.Bytes, error) {
	name, err := nameOf(kind, id)
	if err != nil {
		return nil, err
	}
	sealed, err := d.ciphertexts.Sealed(name)
	if err != nil || sealed == nil {
		return nil, err
	}
	key, err := d.opening(sealed)
	if err != nil {
		return nil, fmt.Errorf("vault: %s %q: %w", kind, id, err)
	}
	plain, err := key.Open(d.context(kind, id), sealed, d.vault.pool)
	if err != nil {
		return nil, fmt.Errorf("vault: %s %q: %w", kind, id, err)
	}
	return plain, nil
}

// must opens a secret that is known to be there.
func (d *sealedStore) must(kind, id string) (*secret.Bytes, error) {
	plain, err := d.get(kind, id)
	if err == nil && plain == nil {
		err = fmt.Errorf("vault: there is no %s %q", kind, id)
	}
	return plain, err
}

func (d *sealedStore) context(kind, id string) seal.Context {
	return seal.Context{Org: d.org, Kind: kind, ID: id}
}

// sealing returns the data key on the shelf, and makes it when there is none.
// The caller holds the lock, or is alone.
func (d *sealedStore) sealing() (*seal.Key, error) {
	if d.seals != nil {
		return d.seals, nil
	}
	wrapped, err := d.ciphertexts.Sealed(kindDataKey)
	if err != nil {
		return nil, err
	}
	var key *secret.Bytes
	var id seal.ID
	if wrapped == nil {
		key, id, err = d.create()
	} else {
		key, id, err = d.vault.unwrap(d.org, wrapped)
	}
	if err != nil {
		return nil, err
	}
	d.seals, err = d.keep(key, id)
	return d.seals, err
}

func (d *sealedStore) create() (*secret.Bytes, seal.ID, error) {
	key := d.vault.pool.Random(dataKeySize)
	id, err := seal.IDOf(key)
	if err == nil {
		var wrapped []byte
		if wrapped, err = d.vault.wrap(d.org, key); err == nil {
			err = d.ciphertexts.Seal(kindDataKey, wrapped)
		}
	}
	if err != nil {
		key.Wipe()
		return nil, id, err
	}
	return key, id, nil
}

// opening returns the data key that sealed an item.
func (d *sealedStore) opening(sealed []byte) (*seal.Key, error) {
	id, err := seal.KeyID(sealed)
	if err != nil {
		return nil, err
	}
	if key := d.opens.Load(); key != nil && key.ID() == id {
		return key, nil
	}
	if key, err := d.vault.ring.get(d.org, id); err != nil || key != nil {
		d.opens.Store(key)
		return key, err
	}
	wrapped, err := d.ciphertexts.Sealed(kindDataKey)
	if err != nil {
		return nil, err
	}
	if wrapped == nil {
		return nil, fmt.Errorf("the organization %q has no data key", d.org)
	}
	key, actual, err := d.vault.unwrap(d.org, wrapped)
	if err != nil {
		return nil, err
	}
	return d.keep(key, actual) // if it is not the right one, it will not open
}

// keep hands a data key to the ring and returns it ready for use.
func (d *sealedStore) keep(key *secret.Bytes, id seal.ID) (*seal.Key, error) {
	ready, err := seal.DataKey(key, id)
	if err != nil {
		key.Wipe()
		return nil, err
	}
	d.vault.ring.put(d.org, id, key)
	d.opens.Store(ready)
	return ready, nil
}

// nameOf is the name of an item on the shelf.
func nameOf(kind, id string) (string, error) {
	if id == "" && kind != kindServerKeys || !utf8.ValidString(id) || strings.ContainsRune(id, 0) {
		return "", fmt.Errorf("vault: %q cannot be the id of a %s", id, kind)
	}
	if id == "" {
		return kind, nil
	}
	return kind + "/" + id, nil
}

// Package vault is the only package that holds secret bytes: seeds, private
// keys, secrets that organizations keep, the one-time keys of imports, the
// server's own signing keys, and the keys under which all of these are sealed.
//
// No function or method of it returns a secret. Names, public keys, payloads
// and signatures cross its border; a secret crosses only when it is sealed to
// a recipient's public key. testdata/exported.golden lists the whole border,
// so that a change of it shows in review.
//
// Nothing is done without an [Authorization], which only the [Issuer] can make
// and which is for one intent of one activity: no signature without a decision.
//
// Secrets are sealed in two layers. A master key, which an Unsealer provides,
// wraps one random data key for each organization; the data key seals the
// organization's secrets. Ciphertext is in the [CiphertextStore] of the transaction
// at hand, so that a key and the record of its creation share one commit. It opens
// only in the organization, for the kind and under the id that it was sealed
// for. Package internal/seal draws the formats.
//
// Standards: BIP-32, BIP-39, SLIP-0010, BIP-340, BIP-341, RFC 6979, RFC 8032,
// RFC 9180.
package vault

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"latchkey/internal/keys/vault/internal/mnemonic"
	"latchkey/internal/keys/vault/internal/seal"
	"latchkey/internal/keys/vault/internal/secret"
)

// Unsealer provides the master key. Package unseal has the ways to do so.
type Unsealer interface {
	// Name says in messages where the key came from.
	Name() string
	// Unseal lends the key to use, and wipes it after use has returned.
	Unseal(use func(master *[32]byte) error) error
}

// CiphertextStore is where the open transaction of one organization keeps ciphertext.
// Names are UTF-8 without NUL. What was stored in a transaction is there
// to be read in the same transaction.
type CiphertextStore interface {
	// Sealed returns what is kept under a name, nil when there is nothing.
	Sealed(name string) ([]byte, error)
	// Derived returns the ciphertext that build makes of others that it reads. It may
	// be remembered, and made again when one of those was changed.
	Derived(name string, build func() ([]byte, error)) ([]byte, error)
	// Seal keeps ciphertext under a name, in the place of what was there.
	Seal(name string, ciphertext []byte) error
	// Delete forgets a name.
	Delete(name string) error
	// Gone is the error for a name under which something must be kept, and
	// nothing is.
	Gone(name string) error
}

// Instance stands for the installation itself where an organization is named:
// its ciphertexts hold the server's keys. No authorization can name it.
const Instance = "instance"

// Vault seals, opens and signs. It is safe for concurrent use.
type Vault struct {
	mu      sync.RWMutex // held for reading by every operation; Close takes it
	closed  bool
	pool    *secret.Pool
	masters atomic.Pointer[[]*master] // the current one, then perhaps a previous one
	ring    keyring
	books   func() *mnemonic.Books
}

// master is a master key.
type master struct {
	name string
	id   seal.ID
	key  *secret.Bytes
}

var errClosed = errors.New("vault: it is closed")

// Open returns the vault and the one object that can authorize work in it.
func Open(u Unsealer) (*Vault, *Issuer, error) {
	return open(u)
}

// OpenBoth opens a vault that seals under current and also opens what is still
// under previous, so that a server can run while Rewrap goes through its
// organizations.
func OpenBoth(current, previous Unsealer) (*Vault, *Issuer, error) {
	return open(current, previous)
}

func open(unsealers ...Unsealer) (*Vault, *Issuer, error) {
	v := &Vault{pool: &secret.Pool{}, ring: keyring{data: kept[ringName]{most: maxKeys}}, books: sync.OnceValue(mnemonic.Load)}
	masters, err := v.unsealMasters(unsealers)
	if err != nil {
		v.Close()
		return nil, nil, err
	}
	v.masters.Store(&masters)
	return v, &Issuer{vault: v}, nil
}

// known are the master keys. An operation that reads them twice may see others.
func (v *Vault) known() []*master {
	if masters := v.masters.Load(); masters != nil {
		return *masters
	}
	return nil
}

func (v *Vault) unsealMasters(unsealers []Unsealer) (masters []*master, err error) {
	for _, u := range unsealers {
		m, err := v.unsealMaster(u)
		if err != nil {
			for _, m := range masters {
				m.key.Wipe()
			}
			return nil, fmt.Errorf("vault: the master key from %s: %w", u.Name(), err)
		}
		masters = append(masters, m)
	}
	return masters, nil
}

func (v *Vault) unsealMaster(u Unsealer) (*master, error) {
	m := &master{name: u.Name()}
	err := u.Unseal(func(key *[32]byte) error {
		if *key == ([32]byte{}) {
			return errors.New("it is all zeros")
		}
		m.key = v.pool.New(len(key))
		copy(m.key.Raw(), key[:])
		var err error
		m.id, err = seal.IDOf(m.key)
		return err
	})
	if err == nil && m.key == nil {
		err = errors.New("it was not provided")
	}
	if err != nil {
		m.key.Wipe()
		return nil, err
	}
	return m, nil
}

// OnUnlocked has report called once, with the reason, when a secret is in memory
// that is not locked, and could be written to swap space: now, if one is already.
// report must not use the vault.
func (v *Vault) OnUnlocked(report func(error)) { v.pool.OnUnlocked(report) }

// Unlocked is why a secret is in memory that is not locked; nil: none is.
func (v *Vault) Unlocked() error { return v.pool.Unlocked() }

// Close waits for operations under way and wipes everything. Whatever comes
// later is refused.
func (v *Vault) Close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return
	}
	v.closed = true
	v.ring.wipe()
	for _, m := range v.known() {
		m.key.Wipe()
	}
	v.pool.Close()
}

// String keeps the fields out of logs.
func (*Vault) String() string { return "[vault]" }

// GoString keeps the fields out of logs.
func (*Vault) GoString() string { return "[vault]" }

// enter begins an operation; leave ends it.
func (v *Vault) enter() error {
	v.mu.RLock()
	if v.closed {
		v.mu.RUnlock()
		return errClosed
	}
	return nil
}

func (v *Vault) leave() { v.mu.RUnlock() }

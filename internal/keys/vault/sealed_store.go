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

// sealedStore seals the secrets of one organization and opens them.
type sealedStore struct {
	vault       *Vault
	org         string
	ciphertexts CiphertextStore
	isNew       bool // created in this transaction: nothing can have been sealed before
	// opens is a data key of the organization, the last that was used.
	opens atomic.Pointer[seal.Key]
	// seals is the data key that is stored in this transaction. Only
	// that may seal: another would be lost with the transaction that made it.
	// Two goroutines that both made one would lose the first; hence the lock.
	mu    sync.Mutex
	seals *seal.Key
}

// put seals a secret that is new.
func (s *sealedStore) put(kind, id string, plain *secret.Bytes) error {
	name, err := nameOf(kind, id)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// Overwriting a key would be the loss of it.
	if there, err := s.ciphertexts.Sealed(name); err != nil {
		return err
	} else if there != nil {
		return fmt.Errorf("vault: there already is a %s %q", kind, id)
	}
	key, err := s.sealing()
	if err != nil {
		return err
	}
	return s.ciphertexts.Seal(name, key.Seal(s.context(kind, id), plain))
}

// get opens a secret, nil when there is none.
func (s *sealedStore) get(kind, id string) (*secret.Bytes, error) {
	name, err := nameOf(kind, id)
	if err != nil {
		return nil, err
	}
	sealed, err := s.ciphertexts.Sealed(name)
	if err != nil || sealed == nil {
		return nil, err
	}
	return s.open(s.context(kind, id), sealed)
}

// open opens a ciphertext that was sealed for a place.
func (s *sealedStore) open(at seal.Context, sealed []byte) (*secret.Bytes, error) {
	key, err := s.opening(sealed)
	if err != nil {
		return nil, fmt.Errorf("vault: %s %q: %w", at.Kind, at.ID, err)
	}
	plain, err := key.Open(at, sealed, s.vault.pool)
	if err != nil {
		return nil, fmt.Errorf("vault: %s %q: %w", at.Kind, at.ID, err)
	}
	return plain, nil
}

// must opens a secret that is known to be there.
func (s *sealedStore) must(kind, id string) (*secret.Bytes, error) {
	plain, err := s.get(kind, id)
	if err != nil || plain != nil {
		return plain, err
	}
	name, err := nameOf(kind, id)
	if err != nil {
		return nil, err
	}
	return nil, s.ciphertexts.Gone(name)
}

func (s *sealedStore) context(kind, id string) seal.Context {
	return seal.Context{Org: s.org, Kind: kind, ID: id}
}

// sealing returns the stored data key, and makes it when there is none. The
// caller holds the lock, or is alone.
func (s *sealedStore) sealing() (*seal.Key, error) {
	if s.seals != nil {
		return s.seals, nil
	}
	key, id, err := s.vault.dataKey(s.org, s.ciphertexts)
	switch {
	case err != nil:
		return nil, err
	case key == nil:
		key, id, err = s.create()
	case s.isNew:
		key.Wipe()
		return nil, fmt.Errorf("vault: organization %q is not new: it has a data key", s.org)
	}
	if err != nil {
		return nil, err
	}
	s.seals, err = s.keep(key, id)
	return s.seals, err
}

// create makes a data key. While the master key is replaced it is stored under
// both, see Rewrap.
func (s *sealedStore) create() (*secret.Bytes, seal.ID, error) {
	key := s.vault.pool.Random(dataKeySize)
	id, err := seal.IDOf(key)
	masters := s.vault.known()
	if err == nil {
		err = s.wrapAs(kindDataKey, masters[len(masters)-1], key)
	}
	if err == nil && len(masters) > 1 {
		err = s.wrapAs(kindNextDataKey, masters[0], key)
	}
	if err != nil {
		key.Wipe()
		return nil, id, err
	}
	return key, id, nil
}

func (s *sealedStore) wrapAs(name string, m *master, key *secret.Bytes) error {
	wrapped, err := s.vault.wrap(m, s.org, key)
	if err != nil {
		return err
	}
	return s.ciphertexts.Seal(name, wrapped)
}

// opening returns the data key that sealed an item.
func (s *sealedStore) opening(sealed []byte) (*seal.Key, error) {
	id, err := seal.KeyID(sealed)
	if err != nil {
		return nil, err
	}
	if key := s.opens.Load(); key != nil && key.ID() == id {
		return key, nil
	}
	if s.isNew {
		return nil, fmt.Errorf("organization %q is not new: the secret was sealed before", s.org)
	}
	if key, err := s.vault.ring.get(s.org, id); err != nil || key != nil {
		s.opens.Store(key)
		return key, err
	}
	key, actual, err := s.vault.dataKey(s.org, s.ciphertexts)
	if err != nil {
		return nil, err
	}
	if key == nil {
		return nil, s.ciphertexts.Gone(kindDataKey)
	}
	return s.keep(key, actual) // if it is not the right one, it will not open
}

// keep hands a data key to the ring and returns it ready for use.
func (s *sealedStore) keep(key *secret.Bytes, id seal.ID) (*seal.Key, error) {
	ready, err := seal.DataKey(key, id)
	if err != nil {
		key.Wipe()
		return nil, err
	}
	s.vault.ring.put(s.org, id, key)
	s.opens.Store(ready)
	return ready, nil
}

// nameOf is the name under which an item is stored.
func nameOf(kind, id string) (string, error) {
	single := kind == kindServerKeys || kind == kindRowRoot || kind == kindAdoptingRowRoot
	if id == "" && !single || !utf8.ValidString(id) || strings.ContainsRune(id, 0) {
		return "", fmt.Errorf("vault: %q cannot be the id of a %s", id, kind)
	}
	if id == "" {
		return kind, nil
	}
	return kind + "/" + id, nil
}

package vault

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"sync"

	"latchkey/internal/keys/vault/internal/seal"
	"latchkey/internal/keys/vault/internal/secret"
)

// Kinds of things that are sealed; with the id they make the name under which an item is
// stored. The texts are in databases, and stay.
const (
	kindDataKey     = "data-key"  // one, without an id
	kindNextDataKey = NextDataKey // the same key again, while the master key is replaced
	kindServerKeys  = "identity"  // one, without an id
	kindRowRoot     = "row-root"  // one, without an id
	// kindAdoptingRowRoot is the same while rows are being marked with it.
	kindAdoptingRowRoot = "adopting-row-root"
	kindSeed            = "seed"
	kindNode            = "node" // of a seed; in memory alone
	kindKey             = "key"
	kindTarget          = "target"
	kindMessageTarget   = "note-target"
	kindLogKeys         = "log-keys"    // one an epoch of the log
	kindWebhookKey      = "webhook-key" // by number
	kindSecret          = "secret"
	kindClientSecret    = "client-secret" // of OAuth 2.0
)

// NextDataKey is the name under which an organization's data key is kept a
// second time while the master key is replaced: under the new master key, beside
// the one under the previous, which servers that do not know the new one yet can
// open. A store may list the organizations that have it.
const NextDataKey = "next-data-key"

// KeyNames is what the names of private keys in a store begin with; their ids follow.
// So a store can read a key, still sealed, together with the record that has the id.
const KeyNames = kindKey + "/"

const dataKeySize = 32

// maxKeys bounds the data keys that are kept open, and the row keys. Each fill one
// megabyte.
const maxKeys = 8192

// keyring keeps data keys open. They are found by organization and key id, and
// the id follows from the key: a key that was made in a transaction which then
// failed stays here unused, and can never be taken for the one that another
// transaction committed.
type keyring struct {
	data kept[ringName]
	mu   sync.Mutex
	own  []interface{ Wipe() } // what else is to be wiped at the end
}

type ringName struct {
	org string
	id  seal.ID
}

// get returns nil when the key is not kept.
func (r *keyring) get(org string, id seal.ID) (key *seal.Key, err error) {
	r.data.use(ringName{org, id}, func(b *secret.Bytes) { key, err = seal.DataKey(b, id) })
	return key, err
}

// put takes the key over.
func (r *keyring) put(org string, id seal.ID, key *secret.Bytes) {
	r.data.put(ringName{org, id}, key)
}

func (r *keyring) wipe() {
	r.data.Wipe()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.own {
		s.Wipe()
	}
	r.own = nil
}

// Held is how many data keys of organizations are open in memory.
func (v *Vault) Held() int { return v.ring.data.count() }

// MemorySize is how many bytes of memory the secrets have.
func (v *Vault) MemorySize() int { return v.pool.Size() }

// hold remembers secrets that are to be wiped with the ring.
func (r *keyring) hold(s interface{ Wipe() }) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.own = append(r.own, s)
}

// wrapContext is where an organization's data key opens.
func wrapContext(org string) seal.Context {
	return seal.Context{Org: org, Kind: kindDataKey}
}

// wrap seals a data key under a master key.
func (v *Vault) wrap(m *master, org string, key *secret.Bytes) ([]byte, error) {
	c := wrapContext(org)
	wrapping, err := seal.WrappingKey(m.key, m.id, c)
	if err != nil {
		return nil, err
	}
	return wrapping.Seal(c, key), nil
}

// dataKey opens the organization's data key: as it is stored, or the second copy
// that is stored while the master key is replaced. nil: there is none.
func (v *Vault) dataKey(org string, s CiphertextStore) (*secret.Bytes, seal.ID, error) {
	wrapped, err := s.Sealed(kindDataKey)
	if err != nil || wrapped == nil {
		return nil, seal.ID{}, err
	}
	key, id, err := v.unwrap(org, wrapped)
	if !IsWrongMasterKey(err) {
		return key, id, err
	}
	next, problem := s.Sealed(kindNextDataKey)
	if problem != nil || next == nil {
		return nil, seal.ID{}, cmp.Or(problem, err)
	}
	return v.unwrap(org, next)
}

// unwrap opens a data key with whichever master key it is under.
func (v *Vault) unwrap(org string, wrapped []byte) (*secret.Bytes, seal.ID, error) {
	var none seal.ID
	under, err := seal.KeyID(wrapped)
	if err != nil {
		return nil, none, err
	}
	for _, m := range v.known() {
		if m.id != under {
			continue
		}
		c := wrapContext(org)
		wrapping, err := seal.WrappingKey(m.key, m.id, c)
		if err != nil {
			return nil, none, err
		}
		key, err := wrapping.Open(c, wrapped, v.pool)
		if err != nil {
			return nil, none, fmt.Errorf("vault: the data key of organization %q: %w", org, err)
		}
		if key.Len() != dataKeySize {
			key.Wipe()
			return nil, none, fmt.Errorf("vault: the data key of organization %q has a wrong size", org)
		}
		id, err := seal.IDOf(key)
		if err != nil {
			key.Wipe()
			return nil, none, err
		}
		return key, id, nil
	}
	return nil, none, &wrongMasterError{v.known(), under}
}

// IsWrongMasterKey reports whether an error says that the database is sealed under
// another master key than the one that was given.
func IsWrongMasterKey(err error) bool {
	var wrong *wrongMasterError
	return errors.As(err, &wrong)
}

// wrongMasterError says that a data key is under another master key.
type wrongMasterError struct {
	given  []*master
	needed seal.ID
}

// Error names the keys by their fingerprints, which tell nothing about them: a
// database has that of its key in the clear.
func (e *wrongMasterError) Error() string {
	names := make([]string, len(e.given))
	for i, m := range e.given {
		names[i] = fmt.Sprintf("%s (fingerprint %x)", m.name, m.id[:4])
	}
	const help = "; it needs the one with the fingerprint %x: name that in masterKey, " +
		"or, to replace it, in previousMasterKey"
	if len(names) == 1 {
		return fmt.Sprintf("vault: the master key from %s does not open this database"+help, names[0], e.needed[:4])
	}
	return fmt.Sprintf("vault: neither the master key from %s opens this database"+help, strings.Join(names, " nor that from "), e.needed[:4])
}

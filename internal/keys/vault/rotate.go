package vault

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"latchkey/internal/keys/vault/internal/seal"
)

// Rotate gives an organization (or the Instance) a new data key, under the present
// master key alone, and seals under it everything that names lists, which is all
// that the organization has. The old data key is forgotten: who kept it, or a master
// key and an old row that hold it, opens nothing that is stored from now on. All of
// it is one change of the store. It returns how many secrets were sealed anew.
//
// An organization without a data key has nothing to seal.
func (v *Vault) Rotate(org string, s CiphertextStore, names []string) (secrets int, err error) {
	if err := v.enter(); err != nil {
		return 0, err
	}
	defer v.leave()
	old, _, err := v.dataKey(org, s)
	if err != nil || old == nil {
		return 0, err
	}
	old.Wipe()
	key := v.pool.Random(dataKeySize)
	id, err := seal.IDOf(key)
	if err != nil {
		key.Wipe()
		return 0, err
	}
	from := &sealedStore{vault: v, org: org, ciphertexts: s}
	to := &sealedStore{vault: v, org: org, ciphertexts: s}
	wrapped, err := v.wrap(v.known()[0], org, key)
	if err == nil {
		to.seals, err = to.keep(key, id) // which takes the key over
	}
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		if name == kindDataKey || name == kindNextDataKey {
			continue
		}
		if err := reseal(from, to, name); err != nil {
			return 0, err
		}
		secrets++
	}
	if err := s.Seal(kindDataKey, wrapped); err != nil {
		return 0, err
	}
	next, err := s.Sealed(kindNextDataKey)
	if err == nil && next != nil {
		err = s.Delete(kindNextDataKey)
	}
	return secrets, err
}

// reseal takes a secret from under one data key to another, and looks whether it can
// be opened there.
func reseal(from, to *sealedStore, name string) error {
	kind, id, _ := strings.Cut(name, "/")
	plain, err := from.get(kind, id)
	if err != nil {
		return err
	}
	if plain == nil {
		return from.ciphertexts.Gone(name)
	}
	defer plain.Wipe()
	c := to.context(kind, id)
	sealed := to.seals.Seal(c, plain)
	again, err := to.seals.Open(c, sealed, to.vault.pool)
	if err == nil {
		defer again.Wipe()
		if !bytes.Equal(again.Raw(), plain.Raw()) {
			err = errors.New("another secret came back")
		}
	}
	if err != nil {
		return fmt.Errorf("vault: %s %q did not open after it was sealed: %w", kind, id, err)
	}
	return to.ciphertexts.Seal(name, sealed)
}

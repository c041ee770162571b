package vault

import (
	"encoding/hex"
	"errors"
	"fmt"

	"latchkey/internal/keys/vault/internal/seal"
)

// Check makes sure that the master key is that of this database: it opens the
// instance's data key, or makes it in a new database. A wrong master key is
// refused here, at the start, by the name of its provider.
func (v *Vault) Check(s CiphertextStore) error {
	if err := v.enter(); err != nil {
		return err
	}
	defer v.leave()
	d := &sealedStore{vault: v, org: Instance, ciphertexts: s}
	_, err := d.sealing()
	return err
}

// Rewrap takes the data key of one organization (or of the Instance, and with it
// the server's keys) one step further in the replacement of the master key, so that
// every server can open it at any time, whatever it knows. One blob changes; the
// secrets under the data key stay as they are.
//
// A vault of OpenBoth stores the data key a second time, under the new master
// key: a server that was not told of the new key opens the first one. A vault of
// Open with the new key alone, which is opened when all servers know it, puts the
// second one in the place of the first; from then on the previous master key
// opens nothing.
//
// An organization for which there is nothing to do, or that has no data key yet,
// is left alone: Rewrap can stop at any organization and start over.
func (v *Vault) Rewrap(org string, s CiphertextStore) (changed bool, err error) {
	if err := v.enter(); err != nil {
		return false, err
	}
	defer v.leave()
	// Also what is left alone must be what it says it is.
	key, _, err := v.dataKey(org, s)
	if err != nil || key == nil {
		return false, err
	}
	defer key.Wipe()
	first, err := v.under(s, kindDataKey)
	if err != nil {
		return false, err
	}
	second, err := v.under(s, kindNextDataKey)
	if err != nil {
		return false, err
	}
	current := v.known()[0]
	if first == current {
		return false, nil
	}
	if first == nil { // so it was the second that opened
		next, err := s.Sealed(kindNextDataKey)
		if err != nil {
			return false, err
		}
		if err := s.Seal(kindDataKey, next); err != nil {
			return false, err
		}
		if second == current {
			return true, s.Delete(kindNextDataKey)
		}
	} else if second == current {
		return false, nil
	}
	wrapped, err := v.wrap(current, org, key)
	if err != nil {
		return false, err
	}
	// What does not open again must not be relied on.
	again, _, err := v.unwrap(org, wrapped)
	if err != nil {
		return false, errors.Join(errors.New("vault: a data key did not open after it was wrapped"), err)
	}
	again.Wipe()
	return true, s.Seal(kindNextDataKey, wrapped)
}

// under returns the master key of this vault under which a data key is stored;
// nil: under none of them, or it is not stored.
func (v *Vault) under(s CiphertextStore, name string) (*master, error) {
	wrapped, err := s.Sealed(name)
	if err != nil || wrapped == nil {
		return nil, err
	}
	id, err := seal.KeyID(wrapped)
	if err != nil {
		return nil, fmt.Errorf("vault: the %s: %w", name, err)
	}
	for _, m := range v.known() {
		if m.id == id {
			return m, nil
		}
	}
	return nil, nil
}

// MasterID names the master key under which the vault seals, without revealing it.
func (v *Vault) MasterID() (string, error) {
	if err := v.enter(); err != nil {
		return "", err
	}
	defer v.leave()
	return hex.EncodeToString(v.known()[0].id[:]), nil
}

// HasData reports whether something is sealed among the instance's ciphertexts:
// then there is a master key already, and no other will do.
func HasData(s CiphertextStore) (bool, error) {
	wrapped, err := s.Sealed(kindDataKey)
	return wrapped != nil, err
}

// Replacing reports whether the vault knows two master keys.
func (v *Vault) Replacing() bool { return len(v.known()) > 1 }

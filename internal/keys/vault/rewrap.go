package vault

import (
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

// Rewrap brings the data key of one organization (or of the Instance, and with
// it the server's keys) from a master key of from under the current one of to. One blob
// changes; the secrets under the data key stay as they are. An organization
// that is under the new key already, or has no data key yet, is left alone:
// Rewrap can stop at any organization and start over.
//
// A server that is to run at the same time opens its vault with OpenBoth; that vault
// can stand for both.
func Rewrap(from, to *Vault, org string, s CiphertextStore) (changed bool, err error) {
	if err := from.enter(); err != nil {
		return false, err
	}
	defer from.leave()
	if to != from {
		if err := to.enter(); err != nil {
			return false, err
		}
		defer to.leave()
	}
	wrapped, err := s.Sealed(kindDataKey)
	if err != nil || wrapped == nil {
		return false, err
	}
	under, err := seal.KeyID(wrapped)
	if err != nil {
		return false, fmt.Errorf("vault: the data key of organization %q: %w", org, err)
	}
	if under == to.masters[0].id {
		// Left alone, but only if it is what it says it is.
		key, _, err := to.unwrap(org, wrapped)
		key.Wipe()
		return false, err
	}
	key, _, err := from.unwrap(org, wrapped)
	if err != nil {
		return false, err
	}
	defer key.Wipe()
	if wrapped, err = to.wrap(org, key); err != nil {
		return false, err
	}
	// What does not open again must not take the place of what does.
	again, _, err := to.unwrap(org, wrapped)
	if err != nil {
		return false, errors.Join(errors.New("vault: a data key did not open after it was wrapped"), err)
	}
	again.Wipe()
	if err := s.Seal(kindDataKey, wrapped); err != nil {
		return false, err
	}
	return true, nil
}

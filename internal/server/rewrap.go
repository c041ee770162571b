package server

import (
	"context"

	"latchkey/internal/keys/vault"
	"latchkey/internal/store"
)

// Rewrap brings every organization under the vault's current master key. It
// may be stopped at any moment and started again, and runs beside servers that
// know both keys. It returns how many organizations it changed.
func Rewrap(ctx context.Context, s *store.Store, v *vault.Vault) (changed int, err error) {
	err = eachOrganization(ctx, s, func(org string) error {
		var did bool
		err := s.Update(ctx, org, func(tx *store.Tx) (err error) {
			did, err = vault.Rewrap(v, v, org, tx.Ciphertexts())
			return err
		})
		if err == nil && did {
			changed++
		}
		return err
	})
	return changed, err
}

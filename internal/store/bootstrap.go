package store

import (
	"context"

	"latchkey/internal/keys/vault"
)

// Bootstrap runs fn on the ciphertexts of the installation, before there are keys
// by which rows could be checked: they are among these ciphertexts, which nothing
// but the vault can make. The keys that fn returns are those of the store from
// then on; without any the store stays locked. isNew says that the database
// holds nothing yet.
func (s *Store) Bootstrap(ctx context.Context, fn func(c Ciphertexts, isNew bool) (*vault.RowKeys, error)) error {
	return s.retry(ctx, instanceOrg, func(version int64) error {
		tx := s.newTx(ctx, instanceOrg, version)
		tx.own = &rows{store: s, org: instanceOrg}
		keys, err := fn(tx.Ciphertexts(), version == 0)
		if err != nil {
			return err
		}
		if keys == nil {
			return nil
		}
		s.keys, tx.own, tx.priors = keys, nil, nil
		if len(tx.sealed) == 0 {
			return nil
		}
		return s.commit(ctx, tx)
	})
}

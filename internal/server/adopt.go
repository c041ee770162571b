package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"latchkey/internal/keys/vault"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
	"latchkey/internal/store/postgres"
)

// Adopt marks the rows of the database of a config, which is of an earlier
// version, and remembers that outside of it. No server may use the database
// meanwhile. It can be interrupted and goes on when it is called again; when the
// rows are marked already, the error is [store.ErrAdopted].
func Adopt(ctx context.Context, c *config.Config, log *slog.Logger, progress func(store.Adoption)) (store.Adoption, error) {
	if !strings.HasPrefix(c.Store, "sqlite:") { // which has a lock
		if err := postgres.Alone(ctx, c.Store); err != nil {
			return store.Adoption{}, err
		}
	}
	s, err := OpenConfigured(ctx, c, log)
	if err != nil {
		return store.Adoption{}, err
	}
	done, err := adopt(ctx, s, c, log, progress)
	return done, errors.Join(err, s.Close())
}

func adopt(ctx context.Context, s *store.Store, c *config.Config, log *slog.Logger, progress func(store.Adoption)) (done store.Adoption, err error) {
	err = withVault(ctx, s, c, nil, func(o openedVault, _ *vault.Issuer) error {
		err := s.Bootstrap(ctx, func(sealed store.Ciphertexts, _ bool) (*vault.RowKeys, error) {
			known, err := o.vault.LoadRowKeys(sealed)
			if err != nil {
				return nil, err
			}
			if known != nil {
				return nil, store.ErrAdopted
			}
			if path := StateFile(c); path != "" {
				return nil, oldCopy(path)
			}
			return nil, nil
		})
		if err == nil {
			done, err = s.Adopt(ctx, o.vault, progress)
		}
		marked := errors.Is(err, store.ErrAdopted)
		if err != nil && !marked {
			return err
		}
		if endErr := endAdoption(ctx, s, c, log, o, done, marked); endErr != nil {
			return endErr
		}
		if err == nil {
			o.close()
		}
		return err
	})
	return done, err
}

// endAdoption says in the log that the rows were marked, and remembers it outside of
// the database. If they were marked already, it does what an adoption left undone
// that was killed after its last row. The vault is the one that is open: some master
// keys can be read only once.
func endAdoption(
	ctx context.Context, s *store.Store, c *config.Config, log *slog.Logger, o openedVault, done store.Adoption, marked bool,
) error {
	keys := KeyServices{Vault: o.vault, Seal: o.seal}
	rows, _, err := keys.load(ctx, s, c)
	if err != nil {
		return err
	}
	status := describe(done)
	if marked {
		status = "the rows were marked already"
	}
	if !marked || StateFile(c) == "" {
		if err := note(ctx, s, store.Note{Installation: keys.Installation, Kind: store.LogAdopted, Status: status}); err != nil {
			return err
		}
	}
	_, err = openState(c, rows, keys.Installation, !marked, log)
	return err
}

func describe(a store.Adoption) string {
	return fmt.Sprintf("%d organizations, %d rows, %d activities", a.Organizations, a.Rows, a.Activities)
}

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
		if err == nil {
			o.close()
		}
		return err
	})
	marked := errors.Is(err, store.ErrAdopted)
	if err != nil && !marked {
		return done, err
	}
	// Also if they were marked before: an adoption that was ended after its last
	// row did not come as far as the state.
	keys, openErr := OpenKeys(ctx, s, c, log)
	if openErr != nil {
		return done, openErr
	}
	defer keys.Close()
	if marked {
		return done, err
	}
	return done, note(ctx, s, store.Note{Installation: keys.Installation, Kind: store.LogAdopted, Status: describe(done)})
}

func describe(a store.Adoption) string {
	return fmt.Sprintf("%d organizations, %d rows, %d activities", a.Organizations, a.Rows, a.Activities)
}

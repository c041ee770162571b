package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"latchkey/internal/server"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
)

type vaultCommand struct {
	Rewrap rewrapCommand `cmd:"" help:"Bring all keys from the previous master key under the present one."`
}

type rewrapCommand struct {
	Config string `required:"" placeholder:"FILE" help:"Config file with masterKey (the new one) and previousMasterKey (the old one)."`
}

// Run goes through all organizations. What is done stays done: it can be
// stopped and run again.
func (cmd rewrapCommand) Run(ctx context.Context) error {
	c, err := config.Load(cmd.Config)
	if err != nil {
		return err
	}
	if c.PreviousMasterKey == "" {
		return errors.New("previousMasterKey is not set: name the old key there and the new one in masterKey")
	}
	s, err := server.OpenConfigured(ctx, c, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	return errors.Join(rewrap(ctx, c, s), s.Close())
}

func rewrap(ctx context.Context, c *config.Config, s *store.Store) error {
	keys, err := server.OpenKeys(ctx, s, c.MasterKey, c.PreviousMasterKey)
	if err != nil {
		return err
	}
	defer keys.Vault.Close()
	changed, err := server.Rewrap(ctx, s, keys.Vault)
	fmt.Printf("%d organizations were brought under the new master key\n", changed)
	return err
}

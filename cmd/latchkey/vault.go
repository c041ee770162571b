package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"latchkey/internal/server"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
)

type vaultCommand struct {
	Rewrap rewrapCommand `cmd:"" help:"Bring all keys under the new master key; without previousMasterKey, take them from under the old one."`
}

type rewrapCommand struct {
	Config string `required:"" placeholder:"FILE" help:"Config file with masterKey (the new one) and, until every server knows it, previousMasterKey (the old one)."`
}

// Run goes through all organizations. What is done stays done: it can be
// stopped and run again.
func (cmd rewrapCommand) Run(ctx context.Context) error {
	c, err := config.Load(cmd.Config)
	if err != nil {
		return err
	}
	s, err := server.OpenConfigured(ctx, c, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	return errors.Join(rewrap(ctx, c, s), s.Close())
}

func rewrap(ctx context.Context, c *config.Config, s *store.Store) error {
	keys, err := server.OpenKeys(ctx, s, c, warnings())
	if err != nil {
		return err
	}
	defer keys.Vault.Close()
	server.WarnUnlocked(keys.Vault, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	changed, err := server.Rewrap(ctx, s, keys.Vault)
	if keys.Vault.Replacing() {
		fmt.Printf("%d organizations were brought under the new master key\n", changed)
	} else {
		fmt.Printf("%d organizations were taken from under the previous master key\n", changed)
	}
	return err
}

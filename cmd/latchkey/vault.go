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
	"latchkey/internal/store/sqlite"
)

type vaultCommand struct {
	Rotate rotateCommand `cmd:"" help:"Give every organization a new data key and seal all secrets under it, after a recipient was taken away from the seal; run again, it goes on where it was. Every server must know the newest seal."`
	Rewrap rewrapCommand `cmd:"" help:"Bring all keys under the new master key; without previousMasterKey, take them from under the old one."`
}

// rotateCommand goes through the server if one runs: it may hold the storage.
type rotateCommand struct {
	Config string `required:"" placeholder:"FILE" help:"Config file of the server."`
	Status bool   `help:"Only tell how far it is."`
	JSON   bool   `name:"json" help:"Print the result as JSON, for programs."`
}

// Run replaces the data keys, or goes on with that.
func (cmd rotateCommand) Run(ctx context.Context) error {
	c, err := config.Load(cmd.Config)
	if err != nil {
		return err
	}
	status, err := cmd.rotate(ctx, c)
	if err != nil {
		return err
	}
	if cmd.JSON {
		return printJSON(status)
	}
	fmt.Printf("%d of %d organizations have new data keys; %d secrets were sealed under them\n", status.Done, status.Organizations, status.Secrets)
	return nil
}

func (cmd rotateCommand) rotate(ctx context.Context, c *config.Config) (server.Rotation, error) {
	if c.Operator.Socket != "" {
		status, err := server.AskRotate(ctx, c.Operator.Socket, cmd.Status)
		if !errors.Is(err, server.ErrNoOperator) {
			return status, err
		}
	}
	s, err := server.OpenConfigured(ctx, c, slog.New(slog.DiscardHandler))
	if errors.Is(err, sqlite.ErrInUse) {
		return server.Rotation{}, fmt.Errorf("%w; set operator.socket in the config of the server, to do this while it runs", err)
	}
	if err != nil {
		return server.Rotation{}, err
	}
	status, err := cmd.rotateStore(ctx, c, s)
	return status, errors.Join(err, s.Close())
}

func (cmd rotateCommand) rotateStore(ctx context.Context, c *config.Config, s *store.Store) (server.Rotation, error) {
	keys, err := server.OpenKeys(ctx, s, c, warnings())
	if err != nil {
		return server.Rotation{}, err
	}
	defer keys.Close()
	if cmd.Status {
		return server.RotationStatus(ctx, s)
	}
	return server.Rotate(ctx, s, &keys, "")
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
	defer keys.Close()
	server.WarnUnlocked(keys.Vault, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	changed, err := server.Rewrap(ctx, s, keys.Vault)
	if keys.Vault.Replacing() {
		fmt.Printf("%d organizations were brought under the new master key\n", changed)
	} else {
		fmt.Printf("%d organizations were taken from under the previous master key\n", changed)
	}
	return err
}

package main

import (
	"context"
	"errors"
	"log/slog"
	"os"

	"latchkey/internal/server"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
)

type serveCommand struct {
	Config string `required:"" placeholder:"FILE" help:"Config file; deploy/latchkey.example.yaml lists every setting."`
}

// Run serves until a signal comes.
func (cmd serveCommand) Run(ctx context.Context) error {
	c, err := config.Load(cmd.Config)
	if err != nil {
		return err
	}
	log := server.NewLogger(os.Stderr, c.Log)
	s, err := server.OpenConfigured(ctx, c, log)
	if err != nil {
		return err
	}
	return errors.Join(cmd.serve(ctx, c, s, log), s.Close())
}

func (serveCommand) serve(ctx context.Context, c *config.Config, s *store.Store, log *slog.Logger) error {
	keys, err := server.OpenKeys(ctx, s, c.MasterKey, c.PreviousMasterKey)
	if err != nil {
		return err
	}
	defer keys.Vault.Close()
	collectLater()
	srv, err := server.New(c, s, keys, log, version)
	if err != nil {
		return err
	}
	log.Info("ready", "address", srv.BaseURL(), "version", version)
	if c.PreviousMasterKey == "" {
		return srv.Run(ctx)
	}
	// Embedded storage is held by this process, so that no other can do it.
	rewrapped := make(chan struct{})
	go func() {
		defer close(rewrapped)
		changed, err := server.Rewrap(ctx, s, keys.Vault)
		if err != nil {
			log.Error("bringing keys under the new master key; the next start goes on", "organizations", changed, "error", err)
			return
		}
		log.Info("all keys are under the new master key; previousMasterKey is not needed any more", "organizations", changed)
	}()
	err = srv.Run(ctx)
	<-rewrapped
	return err
}

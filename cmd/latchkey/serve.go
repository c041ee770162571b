package main

import (
	"context"
	"errors"
	"os"

	"latchkey/internal/config"
	"latchkey/internal/server"
	"latchkey/internal/serverkeys"
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
	var keys *serverkeys.Keys
	if c.ServerKeys != "" {
		if keys, err = serverkeys.LoadOrCreate(c.ServerKeys); err != nil {
			return err
		}
	}
	log := server.NewLogger(os.Stderr, c.Log)
	s, err := server.OpenStore(ctx, c.Store)
	if err != nil {
		return err
	}
	srv, err := server.New(c, s, keys, log, version)
	if err != nil {
		return errors.Join(err, s.Close())
	}
	log.Info("ready", "address", srv.BaseURL(), "version", version)
	return errors.Join(srv.Run(ctx), s.Close())
}

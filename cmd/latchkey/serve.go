package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"latchkey/internal/keys/vault/sealfile"
	"latchkey/internal/server"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
	"latchkey/internal/supervisor"
)

type serveCommand struct {
	Config string        `required:"" placeholder:"FILE" help:"Config file; deploy/latchkey.example.yaml lists every setting."`
	Wait   time.Duration `placeholder:"DURATION" help:"How long to wait for a database of PostgreSQL that is away at the start, such as 2m. Default: not at all."`
}

// Run serves until a signal comes.
func (cmd serveCommand) Run(ctx context.Context) error {
	// From the first moment on, lest it ends the server.
	reload := make(chan os.Signal, 1)
	signal.Notify(reload, syscall.SIGHUP)
	watch := newWatched(supervisor.FromEnvironment())
	c, err := config.Load(cmd.Config)
	if err != nil {
		return err
	}
	log, level := server.NewLogger(os.Stderr, c.Log)
	bound, err := server.Bind(c)
	if err != nil {
		return err
	}
	defer bound.Close()
	defer watch.begin(ctx)()
	seal, err := bound.Unseal(ctx, log, func() { watch.Ready("sealed: waiting for shares") })
	if err != nil {
		return startError(ctx, log, err)
	}
	opened := watch.Waiting("opening the database")
	s, err := server.OpenWaiting(ctx, c, log, cmd.Wait, func(why error, pause time.Duration) {
		log.Warn("the database is away; it is tried again", "in", pause.String(), "error", why)
	})
	opened()
	if err != nil {
		return startError(ctx, log, err)
	}
	return errors.Join(cmd.serve(ctx, c, bound, s, seal, log, func(ctx context.Context, srv *server.Server) {
		watch.serving(ctx, srv, c)
		looks := time.NewTicker(server.LookAtCertificate)
		defer looks.Stop()
		srv.ReloadOn(ctx, reload, looks.C, cmd.Config, level)
	}), s.Close())
}

// startError is none where the server was asked to stop while it waited: it did.
func startError(ctx context.Context, log *slog.Logger, err error) error {
	if ctx.Err() == nil {
		return err
	}
	log.Info("stopped before it was ready", "reason", err.Error())
	return nil
}

// serve runs the server, and reload beside it.
func (serveCommand) serve(ctx context.Context, c *config.Config, bound *server.Bound, s *store.Store, seal *sealfile.Opened, log *slog.Logger, reload func(context.Context, *server.Server)) error {
	keys, err := server.OpenSealedKeys(ctx, s, c, seal, log)
	if err != nil {
		return err
	}
	defer keys.Close()
	if err := server.RequireLocked(keys.Vault, c); err != nil {
		return err
	}
	known, err := server.HasOrganizations(ctx, s)
	if err != nil {
		return err
	}
	if !known {
		log.Warn("new database, no organization yet: run latchkey init")
	}
	collectLater()
	srv, err := server.New(bound, s, keys, log, version)
	if err != nil {
		return err
	}
	log.Info("ready", "address", srv.BaseURL(), "version", version)
	until, stop := context.WithCancel(ctx)
	var reloading sync.WaitGroup
	reloading.Go(func() { reload(until, srv) })
	err = srv.Run(ctx)
	stop()
	reloading.Wait()
	return err
}

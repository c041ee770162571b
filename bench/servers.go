package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"runtime/debug"
	"time"

	"latchkey/bench/baseline"
	"latchkey/internal/server"
	"latchkey/internal/server/config"
)

type baselineCommand struct {
	Listen string         `required:"" help:"Address to listen on."`
	File   string         `required:"" help:"Where records go."`
	Reply  map[string]int `help:"Sizes of the replies by operation, such as query/whoami=120."`
}

// Run serves until a signal comes.
func (cmd *baselineCommand) Run(ctx context.Context) error {
	collectLater()
	if err := baseline.Start(cmd.Listen, cmd.File, cmd.Reply); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// serveCommand is `latchkey serve` with one thing more: profiles, which the
// product does not offer.
type serveCommand struct {
	Config   string `required:"" help:"Config file."`
	Profiles string `required:"" help:"Address to listen on for profiles."`
}

// Run serves until a signal comes.
func (cmd *serveCommand) Run(ctx context.Context) error {
	collectLater()
	c, err := config.Load(cmd.Config)
	if err != nil {
		return err
	}
	bound, err := server.Bind(c)
	if err != nil {
		return err
	}
	defer bound.Close()
	s, err := server.OpenStore(ctx, c.Store)
	if err != nil {
		return err
	}
	defer s.Close()
	log, _ := server.NewLogger(os.Stderr, c.Log)
	keys, err := server.OpenKeys(ctx, s, c, log)
	if err != nil {
		return err
	}
	defer keys.Vault.Close()
	srv, err := server.New(bound, s, keys, log, "profiled")
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", cmd.Profiles)
	if err != nil {
		return err
	}
	profiles := &http.Server{Handler: http.HandlerFunc(pprof.Profile), ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = profiles.Serve(listener) }()
	return errors.Join(srv.Run(ctx), profiles.Close())
}

// collectLater does what cmd/latchkey does: servers that are compared must not
// differ in how often their garbage is collected.
func collectLater() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(300)
	}
}

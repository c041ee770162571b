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

	"github.com/go-json-experiment/json"

	"latchkey/bench/baseline"
	"latchkey/bench/process"
	"latchkey/internal/server"
	"latchkey/internal/server/config"
)

type baselineCommand struct {
	File  string         `required:"" help:"Where records go."`
	Reply map[string]int `help:"Sizes of the replies by operation, such as query/whoami=120."`
}

// Run serves until a signal comes.
func (cmd *baselineCommand) Run(ctx context.Context) error {
	collectLater()
	s, err := baseline.Start(cmd.File, cmd.Reply)
	if err != nil {
		return err
	}
	if err := ready(process.Line{Address: s.URL, Signer: s.Address}); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// serveCommand is `latchkey serve` with one thing more: profiles, which the
// product does not offer.
type serveCommand struct {
	Config string `required:"" help:"Config file."`
}

// Run serves until a signal comes.
func (cmd *serveCommand) Run(ctx context.Context) error {
	collectLater()
	c, err := config.Load(cmd.Config)
	if err != nil {
		return err
	}
	s, err := server.OpenStore(ctx, c.Store)
	if err != nil {
		return err
	}
	defer s.Close()
	keys, err := server.OpenKeys(ctx, s, c.MasterKey, c.PreviousMasterKey)
	if err != nil {
		return err
	}
	defer keys.Vault.Close()
	srv, err := server.New(c, s, keys, server.NewLogger(os.Stderr, c.Log), "profiled")
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	profiles := &http.Server{Handler: http.HandlerFunc(pprof.Profile), ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = profiles.Serve(listener) }()
	err = ready(process.Line{Address: srv.BaseURL(), Debug: "http://" + listener.Addr().String()})
	if err == nil {
		err = srv.Run(ctx)
	}
	return errors.Join(err, profiles.Close())
}

// collectLater does what cmd/latchkey does: servers that are compared must not
// differ in how often their garbage is collected.
func collectLater() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(300)
	}
}

// ready tells the process that started this one.
func ready(line process.Line) error {
	line.Message = "ready"
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(append(text, '\n'))
	return err
}

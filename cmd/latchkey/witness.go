package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"latchkey/internal/translog"
	"latchkey/internal/witness"
)

type witnessCommand struct {
	Data   string   `required:"" placeholder:"DIR" help:"Folder for keys and state; it is made if it is not there. Never put an older copy of it in place."`
	Listen string   `required:"" placeholder:"ADDR" help:"Address to listen on, such as 127.0.0.1:8090."`
	Log    []string `required:"" sep:"none" placeholder:"VKEY" help:"Verifier key of a log whose checkpoints are cosigned, or @FILE with some, one a line. Each key of a log must have signed; give both."`
	Name   string   `help:"Name of the witness in its signatures, such as witness.example.com; a random one if it is not given. It stays."`
}

// Run serves until a signal comes.
func (cmd witnessCommand) Run(ctx context.Context) error {
	logs, err := readKeys(cmd.Log, translog.ParseKeys)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	w, err := witness.Open(cmd.Data, cmd.Name, logs, log, time.Now)
	if err != nil {
		return err
	}
	return errors.Join(cmd.serve(ctx, w, log), w.Close())
}

func (cmd witnessCommand) serve(ctx context.Context, w *witness.Witness, log *slog.Logger) error {
	listener, err := net.Listen("tcp", cmd.Listen)
	if err != nil {
		return err
	}
	for _, key := range w.VerifierKeys().Texts() {
		fmt.Println(key)
	}
	log.Info("ready", "address", "http://"+listener.Addr().String(), "witness", w.Name(), "version", version)
	srv := &http.Server{
		Handler: w.Handler(), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
		WriteTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
	}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	return srv.Shutdown(drain)
}

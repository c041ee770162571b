package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"path/filepath"
	"time"

	"latchkey/bench/process"
	"latchkey/internal/server"
	"latchkey/internal/server/config"
)

// profiledCommand is `latchkey serve` with one thing more: profiles, which the
// product does not offer.
type profiledCommand struct {
	Config string `required:"" help:"Config file."`
}

// Run serves until a signal comes.
func (cmd *profiledCommand) Run(ctx context.Context) error {
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
	collectLater()
	srv, err := server.New(c, s, keys, server.NewLogger(os.Stderr, c.Log), "profiled")
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	go func() {
		mux := http.NewServeMux()
		mux.HandleFunc("/", pprof.Profile)
		mux.Handle("/heap", pprof.Handler("heap"))
		_ = (&http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}).Serve(listener)
	}()
	if err := ready(process.Line{Address: srv.BaseURL(), Debug: "http://" + listener.Addr().String()}); err != nil {
		return err
	}
	return srv.Run(ctx)
}

// profile loads every row of Latchkey once more, and leaves a profile of the
// server in dir.
func (m *measurement) profile(ctx context.Context, rows []*row, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, r := range rows {
		t := m.site.targets[r.Target]
		if r.err != nil || t == nil || t.debug == "" {
			continue
		}
		name := fmt.Sprintf("%s-%s-%d.pprof", r.Workload, r.Target, r.Connections)
		if r.Many {
			name = "many-" + name
		}
		s, err := m.profileRow(ctx, r, t.debug, filepath.Join(dir, name))
		if err != nil {
			return fmt.Errorf("profile of %s: %w", r.cell, err)
		}
		fmt.Fprintf(m.note, "%s: %d requests of %.0f µs\n", filepath.Join(dir, name), s.Requests, s.cpu())
	}
	return nil
}

func (m *measurement) profileRow(ctx context.Context, r *row, debug, file string) (*sample, error) {
	// Profiles are of whole seconds.
	seconds := math.Max(1, math.Round(m.time.Seconds()))
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/?seconds=%.0f", debug, seconds), nil)
	if err != nil {
		return nil, err
	}
	fetched := make(chan error, 1)
	n := int(reserve*r.perSecond*seconds) + 2*r.Connections
	_, s, err := m.takeWith(r.cell, n, time.Duration(seconds)*time.Second, func() {
		go func() { fetched <- fetch(request, file) }()
	})
	if err != nil {
		return nil, err
	}
	return s, <-fetched
}

// fetchHeap leaves a profile of what is in the server's memory, after a
// collection.
func fetchHeap(ctx context.Context, debug, file string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, debug+"/heap?gc=1", nil)
	if err != nil {
		return err
	}
	return fetch(request, file)
}

func fetch(request *http.Request, file string) error {
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("HTTP %d", response.StatusCode)
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, response.Body)
	return errors.Join(err, out.Close())
}

// Package server puts the service together: it opens the store, wires the
// layers, listens, and drains when it is told to stop.
package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"latchkey/internal/activity"
	"latchkey/internal/api"
	"latchkey/internal/config"
	"latchkey/internal/domain"
	"latchkey/internal/engine"
	"latchkey/internal/openapi"
	"latchkey/internal/ops"
	"latchkey/internal/serverkeys"
	"latchkey/internal/store"
	"latchkey/internal/store/postgres"
	"latchkey/internal/store/sqlite"
)

// Server is everything that listens.
type Server struct {
	config   *config.Config
	log      *slog.Logger
	listener net.Listener
	main     *http.Server
	metrics  *http.Server // nil: on the main listener
	draining atomic.Bool
}

// OpenStore opens the store that a URL names.
func OpenStore(ctx context.Context, url string) (*store.Store, error) {
	var driver store.Driver
	var err error
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		driver, err = sqlite.Open(ctx, path, sqlite.Config{})
	} else if strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://") {
		driver, err = postgres.Open(ctx, url, postgres.Config{})
	} else {
		// Not quoted: it may be a mistyped address with a password in it.
		return nil, errors.New("the store must be sqlite:PATH or postgres://…")
	}
	if err != nil {
		return nil, err
	}
	return store.New(driver), nil
}

// New listens, but does not answer yet. keys may be nil. The store stays the
// caller's.
func New(c *config.Config, s *store.Store, keys *serverkeys.Keys, log *slog.Logger, version string) (*Server, error) {
	catalog := ops.Catalog()
	documents, err := documents(catalog, keys, version)
	if err != nil {
		return nil, err
	}
	limits := domain.Limits{
		Users: c.Limits.Users, Tags: c.Limits.Tags,
		LongLivedAPIKeys: c.Limits.LongLivedAPIKeys, ExpiringAPIKeys: c.Limits.ExpiringAPIKeys,
	}
	srv := &Server{config: c, log: log}
	metrics := api.NewMetrics()
	handler := api.New(api.Config{
		Engine:  engine.New(s, catalog, limits, time.Now),
		Catalog: catalog, Log: log, Metrics: metrics, Documents: documents,
		Ready: func(ctx context.Context) error {
			if srv.draining.Load() {
				return errors.New("shutting down")
			}
			return s.Ready(ctx)
		},
		MaxBody: c.Limits.Body, MaxHeader: c.Limits.Header,
		Timeout:     c.Timeouts.Request,
		ServeMetric: c.Metrics.Listen == "",
	})
	if srv.listener, err = net.Listen("tcp", c.Listen); err != nil {
		return nil, fmt.Errorf("listening on %s: %w", c.Listen, err)
	}
	srv.main = httpServer(c, handler, log)
	if c.Metrics.Listen != "" {
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", metrics.Handler())
		srv.metrics = httpServer(c, mux, log)
		srv.metrics.Addr = c.Metrics.Listen
	}
	return srv, nil
}

func documents(catalog *activity.Catalog, keys *serverkeys.Keys, version string) (map[string][]byte, error) {
	description, err := openapi.Document(catalog, version)
	if err != nil {
		return nil, err
	}
	known := wellKnown{Version: version}
	if keys != nil {
		known.SignerPublicKey, known.SessionPublicKey = keys.SignerPublicKey(), keys.SessionPublicKey()
	}
	identity, err := json.Marshal(known)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{"/openapi.json": description, "/.well-known/latchkey.json": identity}, nil
}

// wellKnown is what clients need to know to trust this server's signatures.
type wellKnown struct {
	Version          string `json:"version"`
	SignerPublicKey  string `json:"signerPublicKey,omitzero"`
	SessionPublicKey string `json:"sessionPublicKey,omitzero"`
}

func httpServer(c *config.Config, h http.Handler, log *slog.Logger) *http.Server {
	t := c.Timeouts
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: t.Header,
		ReadTimeout:       t.Header + t.Body,
		WriteTimeout:      t.Header + t.Body + t.Request + 5*time.Second, // and the time to send the reply
		IdleTimeout:       t.Idle,
		// A header somewhat over the limit still gets our own answer; what is
		// far over it is cut off by net/http.
		MaxHeaderBytes: int(4 * c.Limits.Header),
		ErrorLog:       slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// BaseURL is the address at which the server answers on this machine.
func (s *Server) BaseURL() string {
	scheme := "http"
	if s.config.TLS.Enabled() {
		scheme = "https"
	}
	address := s.listener.Addr().(*net.TCPAddr)
	host := address.IP.String()
	if address.IP.IsUnspecified() {
		host = "127.0.0.1" // it listens on all addresses, this one among them
	}
	return scheme + "://" + net.JoinHostPort(host, strconv.Itoa(address.Port))
}

// Run answers requests until ctx ends, then lets those under way finish.
func (s *Server) Run(ctx context.Context) error {
	failed := make(chan error, 2)
	go func() {
		if s.config.TLS.Enabled() {
			failed <- s.main.ServeTLS(s.listener, s.config.TLS.Certificate, s.config.TLS.Key)
		} else {
			failed <- s.main.Serve(s.listener)
		}
	}()
	if s.metrics != nil {
		go func() { failed <- s.metrics.ListenAndServe() }()
	}
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	s.draining.Store(true)
	s.log.Info("shutting down", "drain", s.config.Timeouts.Drain)
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.config.Timeouts.Drain)
	defer cancel()
	err := s.main.Shutdown(drain)
	if s.metrics != nil {
		err = errors.Join(err, s.metrics.Shutdown(drain))
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("some requests did not finish within %v", s.config.Timeouts.Drain)
	}
	return err
}

// NewLogger makes the logger that the config asks for.
func NewLogger(w io.Writer, c config.Log) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Level)); err != nil {
		level = slog.LevelInfo // the config was checked
	}
	options := &slog.HandlerOptions{Level: level}
	if c.Format == "text" {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}

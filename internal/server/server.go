// Package server puts the service together: it opens the store, wires the
// layers, listens, and drains when it is told to stop.
package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"latchkey/internal/console"
	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/feed"
	"latchkey/internal/frames"
	"latchkey/internal/ids"
	"latchkey/internal/keys/vault"
	"latchkey/internal/ledger"
	"latchkey/internal/outbox"
	"latchkey/internal/proof/oidc"
	"latchkey/internal/request/api"
	"latchkey/internal/request/authproxy"
	"latchkey/internal/request/engine"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
	"latchkey/internal/store/postgres"
	"latchkey/internal/store/sqlite"
	"latchkey/internal/tracing"
	"latchkey/internal/webhook"
)

// Server is everything that listens.
type Server struct {
	config  *config.Config
	log     *slog.Logger
	store   *store.Store
	vault   *vault.Vault
	address *net.TCPAddr
	// authProxyAddress is where the auth proxy is, framesAddress where frames are; nil:
	// there are none.
	authProxyAddress, framesAddress *net.TCPAddr

	serving  []*serving // the interface first
	outbox   *outbox.Outbox
	ledger   *ledger.Ledger
	feed     *feed.Feed
	webhooks *webhook.Deliverer
	traces   *tracing.Tracer // nil: there are none
	draining atomic.Bool
	sealing  sync.Mutex   // held while the seal or the data keys are replaced
	keys     *KeyServices // whose seal is replaced under sealing
	// sealChanged wakes the replacement of the master key: the one before is forgotten.
	sealChanged chan struct{}
	refused     chan struct{} // closed when nothing may be carried out any more

	engine      *engine.Engine
	api         *api.Server
	authProxy   *authproxy.Proxy
	certificate atomic.Pointer[tls.Certificate] // of the interface, if it has TLS

	certificateFiles certificateFiles

	node, version string       // its own id, and that of the program
	generation    atomic.Int64 // of the seal of its master key

	after func(time.Duration) <-chan time.Time
}

// serving is one listener with what answers on it.
type serving struct {
	listener net.Listener
	http     *http.Server
}

// OpenStore opens the store that a URL names, for what needs no config.
func OpenStore(ctx context.Context, url string) (*store.Store, error) {
	return OpenConfigured(ctx, &config.Config{Store: url}, slog.New(slog.DiscardHandler))
}

// OpenConfigured opens the store of a config, and logs where its commits go.
func OpenConfigured(ctx context.Context, c *config.Config, log *slog.Logger) (*store.Store, error) {
	if path, ok := strings.CutPrefix(c.Store, "sqlite:"); ok {
		db, err := sqlite.Open(ctx, path, sqlite.Config{})
		if err != nil {
			return nil, err
		}
		return store.New(db), nil
	}
	if !strings.HasPrefix(c.Store, "postgres://") && !strings.HasPrefix(c.Store, "postgresql://") {
		// Not quoted: it may be a mistyped address with a password in it.
		return nil, errors.New("the store must be sqlite:PATH or postgres://…")
	}
	db, err := postgres.Open(ctx, c.Store, postgres.Config{Durability: c.Durability})
	if err != nil {
		return nil, err
	}
	log.Info("the database is open", "durability", db.Durability(), "configured", c.Durability != "", "pooler", db.Pooled())
	return store.New(db), nil
}

// OpenImage opens what the store that a URL names holds now, for an audit.
func OpenImage(ctx context.Context, url string) (store.Image, error) {
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		return sqlite.OpenImage(ctx, path)
	}
	return postgres.OpenImage(ctx, url)
}

// New makes the server. The store, the keys and what is bound stay the caller's.
func New(b *Bound, s *store.Store, keys KeyServices, log *slog.Logger, version string) (*Server, error) {
	c := b.config
	catalog := catalog()
	issuer, err := newIssuer(b, keys.ServerKeys)
	if err != nil {
		return nil, err
	}
	documents, err := documents(keys, issuer, version)
	if err != nil {
		return nil, err
	}
	srv := &Server{config: c, log: log, store: s, vault: keys.Vault, after: time.After, refused: make(chan struct{}), sealChanged: make(chan struct{}, 1), node: ids.New(), version: version, keys: &keys}
	if keys.Seal != nil {
		srv.generation.Store(int64(keys.Seal.Generation()))
	}
	srv.certificate.Store(b.certificate)
	srv.certificateFiles.TLS = c.TLS
	metrics := api.NewMetrics(api.Sources{
		Version: version, Pool: s.Pool, Log: func() (int64, time.Time) { return srv.ledger.Seen() },
		DataKeys: keys.Vault.Held, VaultMemory: keys.Vault.MemorySize,
	})
	s.OnFinding(func(f store.Finding) {
		metrics.IntegrityFailure()
		log.Error("a stored record is not used; see docs/integrity.md",
			"organization", f.Org, "kind", f.Kind, "id", f.ID, "finding", f.What)
	})
	WarnUnlocked(keys.Vault, log, metrics.MemoryNotLocked)
	srv.outbox = outbox.New(outbox.Config{
		Store: s, Keys: keys.ServerKeys, Router: b.router, Log: log, Metrics: metrics, Now: time.Now, Poll: poll(c),
	})
	srv.ledger = ledger.New(ledger.Config{
		Store: s, Keys: keys.LogKeys, Log: log, Now: time.Now, Node: srv.node,
		Installation: keys.Installation, Epochs: keys.Epochs, Witnesses: b.witnesses, Quorum: c.Log.Quorum,
		Memory: keys.State, Metrics: metrics, OnRefusal: func(string) {
			metrics.LogRefused()
			s.Hold(held())
			close(srv.refused)
		},
	})
	if err := srv.checkLog(keys, version); err != nil {
		return nil, err
	}
	srv.feed = feed.New(s, srv.ledger, catalog)
	if srv.webhooks, err = srv.newDeliverer(keys.WebhookKeys, metrics); err != nil {
		return nil, err
	}
	srv.engine = engine.New(engine.Config{
		Store: s, Catalog: catalog, Decider: keys.Decider, ServerKeys: keys.ServerKeys, Limits: limits(&c.Limits), Now: time.Now,
		Tokens: oidc.New(oidc.Options{Own: issuer.own(), Loopback: c.Dev.LoopbackIssuers, Timeout: c.OIDC.Timeout, MaxAge: c.OIDC.MaxAge}),
		OAuth2: newOAuth2(b.providers, issuer),
		Outbox: b.router, Webhooks: srv.webhooks, Receipts: srv.ledger, Feed: srv.feed, ConsoleOrigin: consoleOrigin(b), ConsoleURL: consoleURL(b),
	})
	srv.authProxy = authproxy.New(srv.engine, authproxy.Limits(c.AuthProxy.Limits), time.Now)
	if to := b.collector; to != nil {
		to.Log, to.Metrics = log, metrics
		srv.traces, err = tracing.New(context.Background(), tracing.NewCollector(*to), c.Traces.Sample, tracing.Server{Version: version, Node: srv.node})
		if err != nil {
			return nil, err
		}
	}
	srv.api = api.New(api.Config{
		AuthProxy: srv.authProxy.Handlers(), AuthProxyApart: b.authProxy != nil,
		Engine: srv.engine, Catalog: catalog, Log: log, Metrics: metrics, Documents: documents, Description: description(catalog, version), TransparencyLog: srv.ledger,
		Ready:   srv.ready,
		MaxBody: c.Limits.Body, MaxHeader: c.Limits.Header,
		Timeout:        c.Timeouts.Request,
		Rate:           api.Rate(c.Limits.Rate),
		TrustedProxies: c.TrustedProxies, RequestIDs: c.Log.RequestIDs, Traces: srv.traces, Now: time.Now,
		ServeMetrics: c.Metrics.Listen == "",
	})
	srv.address = b.listeners[0].Addr().(*net.TCPAddr)
	srv.authProxyAddress = srv.address
	if b.authProxy != nil {
		srv.authProxyAddress = b.authProxy.Addr().(*net.TCPAddr)
	}
	if err := srv.serveAll(b, srv.api); err != nil {
		return nil, err
	}
	if b.authProxy != nil {
		srv.serve(srv.encrypted(b.authProxy), http.HandlerFunc(srv.api.ServeAuthProxy))
	}
	if b.operator != nil {
		// A rotation takes its time.
		operator := &http.Server{Handler: srv.operatorHandler(&keys), ReadHeaderTimeout: c.Timeouts.Header}
		srv.serving = append(srv.serving, &serving{listener: b.operator, http: operator})
	}
	if b.frames != nil {
		if err := srv.serveFrames(b.frames, keys.ServerKeys.SignerPublicKey()); err != nil {
			return nil, err
		}
	}
	if b.metrics != nil {
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", metrics.Handler())
		srv.serve(b.metrics, mux)
	}
	return srv, nil
}

// serveAll serves the interface, and the console on its listener before it.
func (s *Server) serveAll(b *Bound, handler http.Handler) error {
	if !s.config.Console.Enabled {
		s.serve(s.encrypted(b.listeners[0]), handler)
		return nil
	}
	pages, err := newPages(s.config, "")
	if err != nil {
		return err
	}
	if b.console != b.listeners[0] {
		s.serve(s.encrypted(b.listeners[0]), handler)
	}
	s.serve(s.encrypted(b.console), pages.Before(handler))
	return nil
}

// newPages are those of the console; of a server that is sealed they say so.
func newPages(c *config.Config, sealed console.Shares) (*console.Handler, error) {
	return console.New(console.Config{
		RelyingParty: c.Console.RelyingParty, Idle: c.Console.Idle, DevFolder: c.Dev.Folder, Sealed: sealed,
	})
}

// serveFrames serves the frames on a listener of their own.
func (s *Server) serveFrames(on net.Listener, signerPublicKey string) error {
	h, err := frames.New(frames.Config{SignerPublicKey: signerPublicKey, AllowedOrigins: s.engine.FrameOrigins})
	if err != nil {
		return err
	}
	s.framesAddress = on.Addr().(*net.TCPAddr)
	s.serve(s.encrypted(on), h)
	return nil
}

// consoleOrigin is the origin of the console's pages, as far as the server can
// know it: what is said in the config, or that of a browser on this machine.
func consoleOrigin(b *Bound) string {
	c := b.config
	if !c.Console.Enabled || c.Console.Origin != "" || c.TLS.Enabled() {
		return c.Console.Origin
	}
	address := b.console.Addr().(*net.TCPAddr)
	if !address.IP.IsLoopback() {
		return ""
	}
	return "http://localhost:" + strconv.Itoa(address.Port)
}

// consoleURL is where the console's pages are, as far as the server can know it.
func consoleURL(b *Bound) string {
	origin := consoleOrigin(b)
	if !b.config.Console.Enabled || origin == "" {
		return ""
	}
	return origin + console.Root
}

func limits(c *config.Limits) domain.Limits {
	return domain.Limits{
		Users: c.Users, Tags: c.Tags, ChildTags: c.ChildTags,
		LongLivedAPIKeys: c.LongLivedAPIKeys, ExpiringAPIKeys: c.ExpiringAPIKeys,
		Wallets: c.Wallets, PrivateKeys: c.PrivateKeys, Secrets: c.Secrets, Policies: c.Policies, VelocityControls: c.VelocityControls,
		Authenticators: c.Authenticators, OAuthProviders: c.OAuthProviders, WebhookEndpoints: c.WebhookEndpoints,
	}
}

func (s *Server) serve(on net.Listener, h http.Handler) {
	s.serving = append(s.serving, &serving{listener: on, http: httpServer(s.config, h, s.log)})
}

// encrypted puts TLS on the interface when the config asks for it.
func (s *Server) encrypted(listener net.Listener) net.Listener {
	if !s.config.TLS.Enabled() {
		return listener
	}
	return tls.NewListener(listener, &tls.Config{
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return s.certificate.Load(), nil },
		MinVersion:     tls.VersionTLS12, NextProtos: []string{"http/1.1"},
	})
}

// ready is what /readyz tells.
func (s *Server) ready(ctx context.Context) error {
	if s.draining.Load() {
		return notReady(errors.New("the server is shutting down"), nil)
	}
	if why := s.ledger.Refusal(); why != "" {
		return notReady(errors.New(why), nil)
	}
	err := s.store.Ready(ctx)
	for _, cause := range []error{store.ErrDiskFull, store.ErrReadOnly, store.ErrIO} {
		if errors.Is(err, cause) {
			return notReady(cause, err)
		}
	}
	switch _, failed := fault.As(err); {
	case errors.Is(err, context.DeadlineExceeded):
		return notReady(errors.New("the database did not complete a write in time"), err)
	case failed:
		return notReady(errors.New("the database takes no writes; the server's log says why"), err)
	}
	return err
}

func notReady(why, cause error) error {
	return fault.New(fault.Unavailable, fault.ReasonUnspecified, "not ready: %v", why).Because(cause)
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
func (s *Server) BaseURL() string { return s.urlOf(s.address) }

// AuthProxyURL is the address at which the auth proxy answers on this machine.
func (s *Server) AuthProxyURL() string { return s.urlOf(s.authProxyAddress) }

// FramesURL is the address at which frames are on this machine; empty: nowhere.
func (s *Server) FramesURL() string {
	if s.framesAddress == nil {
		return ""
	}
	return s.urlOf(s.framesAddress)
}

func (s *Server) urlOf(address *net.TCPAddr) string { return urlOf(s.config, address) }

// urlOf is the address of a listener, for clients on this machine.
func urlOf(c *config.Config, address *net.TCPAddr) string {
	scheme := "http"
	if c.TLS.Enabled() {
		scheme = "https"
	}
	host := address.IP.String()
	if address.IP.IsUnspecified() {
		host = "127.0.0.1" // it listens on all addresses, this one among them
	}
	return scheme + "://" + net.JoinHostPort(host, strconv.Itoa(address.Port))
}

// Loopback reports whether only this machine can reach the server.
func (s *Server) Loopback() bool { return s.address.IP.IsLoopback() }

// Run answers requests and sends messages until ctx ends, then lets those under
// way finish.
func (s *Server) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	var background sync.WaitGroup
	background.Go(func() { s.feed.Run(ctx) })
	background.Go(func() { s.engine.WatchStreams(ctx) })
	background.Go(func() { s.announce(ctx) })
	background.Go(func() {
		select {
		case <-s.refused:
		default:
			s.work(ctx)
		}
	})
	defer func() {
		stop()
		background.Wait()
		s.finishLog(ctx)
		s.closeSeal()
		s.finishTraces(ctx)
	}()
	failed := make(chan error, len(s.serving))
	for _, on := range s.serving {
		go func() { failed <- on.http.Serve(on.listener) }()
	}
	select {
	case err := <-failed:
		stop()
		return errors.Join(err, s.shutdown(ctx))
	case <-ctx.Done():
	}
	s.draining.Store(true)
	s.api.EndStreams() // nothing looks after them any more
	s.log.Info("shutting down", "lameDuck", s.config.Timeouts.LameDuck.String(), "drain", s.config.Timeouts.Drain.String())
	// Balancers need a moment to see that the server is not ready; until then
	// requests come, and are answered.
	select {
	case <-s.after(s.config.Timeouts.LameDuck):
		return s.shutdown(ctx)
	case err := <-failed:
		return errors.Join(err, s.shutdown(ctx))
	}
}

// finishLog puts into the log what was acknowledged last. What it does not get to
// is done by another server, or at the next start.
func (s *Server) finishLog(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if err := s.ledger.Finish(ctx); err != nil {
		s.log.Info("the newest entries of the log are left to the next start", "error", err)
	}
}

func (s *Server) shutdown(ctx context.Context) (err error) {
	s.api.EndStreams()
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.config.Timeouts.Drain)
	defer cancel()
	for _, on := range s.serving {
		err = errors.Join(err, on.http.Shutdown(drain))
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("some requests did not finish within %v", s.config.Timeouts.Drain)
	}
	return err
}

// NewLogger makes the logger that the config describes, and the level of it,
// which can be changed.
func NewLogger(w io.Writer, c config.Log) (*slog.Logger, *slog.LevelVar) {
	level := new(slog.LevelVar)
	setLevel(level, c)
	options := &slog.HandlerOptions{Level: level}
	if c.Format == "text" {
		return slog.New(slog.NewTextHandler(w, options)), level
	}
	return slog.New(slog.NewJSONHandler(w, options)), level
}

func setLevel(to *slog.LevelVar, c config.Log) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Level)); err != nil {
		level = slog.LevelInfo // the config was checked
	}
	to.Set(level)
}

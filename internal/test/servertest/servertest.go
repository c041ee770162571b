// Package servertest runs the real service for tests: real store, real HTTP on
// loopback, real signatures. Nothing in it is a stand-in.
package servertest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"latchkey/client"
	"latchkey/internal/domain"
	"latchkey/internal/ids"
	"latchkey/internal/request/engine"
	"latchkey/internal/server"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
	"latchkey/internal/test/testkit"
)

// Server is a running service with one organization.
type Server struct {
	URL   string
	Kind  string // of the store: sqlite or postgres
	Store *store.Store
	Keys  server.KeyServices
	Whole *server.Server
	Root  *Caller // its root user
	Log   *Log    // everything that was logged
	// Outbox is the folder that messages are written to; see [Server.Mail]. Empty: the
	// config says how to send them.
	Outbox string
	Stop   func(testing.TB) // ends the server before the test does

	earlier map[string]bool // what other tests have left in the outbox
}

// Each runs a test on every store, in an organization of its own. The server is
// the test's alone, unless [Main] shares it.
func Each(t *testing.T, test func(t *testing.T, s *Server)) {
	t.Helper()
	for name, url := range stores() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if s := shared.visit(t, name); s != nil {
				test(t, s)
				return
			}
			test(t, Start(t, url(t), config.Default()))
		})
	}
}

// EachStore runs a test with a fresh store of every kind.
func EachStore(t *testing.T, test func(t *testing.T, storeURL string)) {
	t.Helper()
	for name, url := range stores() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, url(t))
		})
	}
}

func stores() map[string]func(testing.TB) string {
	return map[string]func(testing.TB) string{
		"sqlite":   SQLite,
		"postgres": Postgres,
	}
}

// SQLite is the URL of a fresh embedded store.
func SQLite(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "latchkey.db") }

// Start runs the service on a store until the test ends. Issuers of tokens on
// this machine are accepted, and unless the config says how to send mail or SMS,
// both are written to a folder.
func Start(t testing.TB, storeURL string, c config.Config) *Server {
	t.Helper()
	return StartWith(t, storeURL, c, MasterKey(t, storeURL), "")
}

// StartWith is [Start] with master keys of the test's own.
func StartWith(t testing.TB, storeURL string, c config.Config, master, previous string) *Server {
	t.Helper()
	running := Resume(t, storeURL, c, master, previous)
	running.Root = running.CreateOrganization(t, "Test organization")
	return running
}

// Resume is [StartWith] on a store that has organizations already: it makes none.
func Resume(t testing.TB, storeURL string, c config.Config, master, previous string) *Server {
	t.Helper()
	s, err := TryResume(t, storeURL, c, master, previous)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TryResume is [Resume] for a store on which a server may refuse to start.
func TryResume(t testing.TB, storeURL string, c config.Config, master, previous string) (_ *Server, err error) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	c.Store = storeURL
	s, err := server.OpenConfigured(ctx, &c, slog.New(slog.DiscardHandler))
	if err != nil {
		stop()
		return nil, err
	}
	defer func() {
		if err != nil {
			stop()
			err = errors.Join(err, s.Close())
		}
	}()
	c = patient(c)
	if c.Timeouts.LameDuck == config.Default().Timeouts.LameDuck {
		c.Timeouts.LameDuck = 0 // no balancer looks
	}
	c.Listen, c.Dev.LoopbackIssuers, c.Dev.LoopbackWebhooks, c.Dev.LoopbackOAuth2 = "127.0.0.1:0", true, true, true
	c.Dev.Resolver = noNames()
	if c.Mail.Host == "" && c.SMS.URL == "" && c.Dev.Outbox == "" {
		c.Dev.Outbox = filepath.Join(t.TempDir(), "outbox")
	}
	log := new(Log)
	logger := slog.New(slog.NewJSONHandler(log, nil))
	c.MasterKey, c.PreviousMasterKey = master, previous
	keys, err := server.OpenKeys(ctx, s, &c, logger)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			keys.Vault.Close()
		}
	}()
	bound, err := server.Bind(&c)
	if err != nil {
		return nil, err
	}
	srv, err := server.New(bound, s, keys, logger, "test")
	if err != nil {
		return nil, err
	}
	done := make(chan error, 1)
	go func() { done <- srv.Run(ctx) }()
	var once sync.Once
	end := func(t testing.TB) {
		once.Do(func() {
			// A server that drains waits some seconds for a connection on which
			// nothing came yet; the client keeps such ones in reserve.
			http.DefaultClient.CloseIdleConnections()
			stop()
			if err := <-done; err != nil {
				t.Errorf("the server did not stop cleanly: %v", err)
			}
			keys.Vault.Close()
			if err := s.Close(); err != nil {
				t.Errorf("closing the store: %v", err)
			}
			if t.Failed() {
				t.Logf("what the server complained about:\n%s", log.Complaints())
			}
		})
	}
	t.Cleanup(func() { end(t) })
	kind, _, _ := strings.Cut(storeURL, ":")
	return &Server{URL: srv.BaseURL(), Kind: kind, Store: s, Keys: keys, Whole: srv, Log: log, Stop: end, Outbox: c.Dev.Outbox}, nil
}

// noNames resolves nothing: servers under test post to this machine alone.
func noNames() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("tests resolve no names")
	}}
}

// patient raises the time-outs that the test has left as they are: that a busy
// machine is slow is not an error.
func patient(c config.Config) config.Config {
	usual := config.Default()
	for limit, of := range map[*time.Duration]time.Duration{
		&c.Timeouts.Header: usual.Timeouts.Header, &c.Timeouts.Body: usual.Timeouts.Body,
		&c.Timeouts.Request: usual.Timeouts.Request, &c.Timeouts.Drain: usual.Timeouts.Drain,
		&c.OIDC.Timeout: usual.OIDC.Timeout, &c.OAuth2.Timeout: usual.OAuth2.Timeout,
	} {
		if *limit == of {
			*limit = testkit.Patience
		}
	}
	return c
}

// MasterKey is the same for all nodes on one store.
func MasterKey(t testing.TB, storeURL string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "master.key")
	if err := os.WriteFile(path, fmt.Appendf(nil, "%x\n", sha256.Sum256([]byte(storeURL))), 0o600); err != nil {
		t.Fatal(err)
	}
	return "file:" + path
}

// CreateOrganization creates a further organization and returns its root user.
func (s *Server) CreateOrganization(t testing.TB, name string) *Caller {
	t.Helper()
	root := s.stranger(t, client.P256)
	root.OrganizationID, root.UserID = ids.New(), ids.New()
	err := engine.CreateOrganization(context.Background(), s.Store, engine.NewOrganization{
		OrganizationID: root.OrganizationID, OrganizationName: name,
		UserID: root.UserID, UserName: "Root user", APIKeyID: ids.New(), APIKeyName: "Root key",
		PublicKey: root.Key.PublicKey(), KeyType: domain.CredentialP256,
	}, true, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return root
}

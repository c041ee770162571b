package server_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"latchkey/internal/server"
	"latchkey/internal/server/config"
	"latchkey/internal/test/pgtest"
	"latchkey/internal/test/testkit"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// start runs a server on a fresh SQLite file; stop ends it and returns what
// Run returned.
func start(t *testing.T, c config.Config) (srv *server.Server, stop func() error) {
	t.Helper()
	return startLogging(t, c, slog.New(slog.DiscardHandler))
}

func startLogging(t *testing.T, c config.Config, log *slog.Logger) (srv *server.Server, stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s, err := server.OpenStore(ctx, "sqlite:"+filepath.Join(t.TempDir(), "db"))
	if err != nil {
		t.Fatal(err)
	}
	keys, err := server.OpenKeys(ctx, s, &config.Config{MasterKey: "file:" + filepath.Join(t.TempDir(), "master.key")}, log)
	if err != nil {
		t.Fatal(err)
	}
	c.Listen = "127.0.0.1:0"
	bound, err := server.Bind(&c)
	if err != nil {
		t.Fatal(err)
	}
	if srv, err = server.New(bound, s, keys, log, "test"); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- srv.Run(ctx) }()
	var stopped bool
	stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		http.DefaultClient.CloseIdleConnections()
		cancel()
		err := <-done
		keys.Vault.Close()
		if closing := s.Close(); closing != nil {
			t.Error(closing)
		}
		return err
	}
	t.Cleanup(func() { _ = stop() })
	return srv, stop
}

// patient is a config under which no request is ever too slow.
func patient() config.Config {
	c := config.Default()
	c.Timeouts.Header, c.Timeouts.Body, c.Timeouts.Request, c.Timeouts.Drain = time.Hour, time.Hour, time.Hour, time.Hour
	c.Timeouts.LameDuck = 0
	return c
}

// sendHalf sends half of a request, and returns when the server is at work on it.
func sendHalf(t *testing.T, srv *server.Server) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(srv.BaseURL(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	fmt.Fprint(conn, "POST /public/v1/query/whoami HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n{")
	replies := bufio.NewReader(conn)
	// net/http asks for the body when a handler reads it.
	for _, want := range []string{"HTTP/1.1 100 Continue\r\n", "\r\n"} {
		if line, err := replies.ReadString('\n'); line != want {
			t.Fatalf("got %q, %v", line, err)
		}
	}
	return conn, replies
}

// TestDrain stops the server while a request is half sent: the request is
// answered, new ones are not taken, and nothing is left running.
func TestDrain(t *testing.T) {
	others := goleak.IgnoreCurrent() // other tests may have started PostgreSQL
	srv, stop := start(t, patient())
	conn, replies := sendHalf(t, srv)

	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	testkit.Until(t, "new connections are refused", func() bool {
		probe, err := net.Dial("tcp", conn.RemoteAddr().String())
		if err == nil {
			probe.Close()
		}
		return err != nil
	})
	select {
	case err := <-stopped:
		t.Fatalf("the server did not wait for the request: %v", err)
	default:
	}
	fmt.Fprint(conn, "}")
	reply, err := http.ReadResponse(replies, nil)
	if err != nil {
		t.Fatalf("the request was not answered: %v", err)
	}
	body, _ := io.ReadAll(reply.Body)
	reply.Body.Close()
	if reply.StatusCode != http.StatusBadRequest || !strings.Contains(string(body), "organizationId") {
		t.Errorf("HTTP %d: %s", reply.StatusCode, body)
	}
	if err := <-stopped; err != nil {
		t.Errorf("Run: %v", err)
	}
	conn.Close()
	var left error
	defer func() {
		if t.Failed() {
			t.Log(left)
		}
	}()
	testkit.Until(t, "nothing is left running", func() bool { left = goleak.Find(others); return left == nil })
}

// TestDrainGivesUp does not wait forever for a request that never ends.
func TestDrainGivesUp(t *testing.T) {
	c := patient()
	c.Timeouts.Drain = 100 * time.Millisecond
	srv, stop := start(t, c)
	sendHalf(t, srv)
	if err := stop(); err == nil || !strings.Contains(err.Error(), "did not finish within 100ms") {
		t.Errorf("Run: %v", err)
	}
}

// TestLameDuck: a server that was told to stop says so at once, and still takes
// requests for a while.
func TestLameDuck(t *testing.T) {
	srv, stop := start(t, patient())
	over := make(chan time.Time)
	srv.EndLameDuck(over)
	status := func(path string) int {
		reply, err := http.Get(srv.BaseURL() + path)
		if err != nil {
			t.Fatalf("the listener is closed: %v", err)
		}
		reply.Body.Close()
		http.DefaultClient.CloseIdleConnections() // the next one is new
		return reply.StatusCode
	}
	if got := status("/readyz"); got != http.StatusOK {
		t.Fatalf("before: HTTP %d", got)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	testkit.Until(t, "it is not ready", func() bool { return status("/readyz") == http.StatusServiceUnavailable })
	for range 3 {
		if got := status("/healthz"); got != http.StatusOK {
			t.Errorf("meanwhile: HTTP %d", got)
		}
	}
	over <- time.Now()
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if conn, err := net.Dial("tcp", strings.TrimPrefix(srv.BaseURL(), "http://")); err == nil {
		_ = conn.Close()
		t.Error("it still listens")
	}
}

// writeCertificate makes a certificate for this machine, and its files.
func writeCertificate(t *testing.T, c config.TLS) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{
		c.Certificate: {Type: "CERTIFICATE", Bytes: certificate},
		c.Key:         {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	parsed, err := x509.ParseCertificate(certificate)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// trusting asks a server whose certificate must be this one.
func trusting(t *testing.T, srv *server.Server, certificate *x509.Certificate) error {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(certificate)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	defer transport.CloseIdleConnections()
	reply, err := (&http.Client{Transport: transport}).Get(srv.BaseURL() + "/healthz")
	if err != nil {
		return err
	}
	reply.Body.Close()
	if reply.StatusCode != http.StatusOK || !strings.HasPrefix(srv.BaseURL(), "https://") {
		t.Errorf("HTTP %d at %s", reply.StatusCode, srv.BaseURL())
	}
	return nil
}

// TestTLS serves with a certificate.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	c := patient()
	c.TLS.Certificate, c.TLS.Key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	certificate := writeCertificate(t, c.TLS)
	srv, _ := start(t, c)
	if err := trusting(t, srv, certificate); err != nil {
		t.Fatal(err)
	}
}

// TestReload takes a new certificate and the level of the log from a config that
// is good, and nothing from one that is not.
func TestReload(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "latchkey.yaml")
	write := func(more string) {
		t.Helper()
		if err := os.WriteFile(file, []byte("listen: 127.0.0.1:0\ntls: {certificate: cert.pem, key: key.pem}\n"+more), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("timeouts: {lameDuck: 0}\n")
	c, err := config.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	first := writeCertificate(t, c.TLS)
	var text lockedText
	log, level := server.NewLogger(&text, c.Log)
	srv, _ := startLogging(t, *c, log)
	signals, looks := make(chan os.Signal), make(chan time.Time)
	reloading := func() (end func()) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { srv.ReloadOn(ctx, signals, looks, file, level); close(ended) }()
		return func() { cancel(); <-ended }
	}
	end := reloading()
	reload := func(says string) {
		t.Helper()
		text.clear()
		signals <- syscall.SIGHUP
		testkit.Until(t, "the log says "+says, func() bool { return strings.Contains(text.String(), says) })
	}
	serves := func(certificate *x509.Certificate) {
		t.Helper()
		if err := trusting(t, srv, certificate); err != nil {
			t.Error(err)
		}
	}
	serves(first)
	second := writeCertificate(t, c.TLS)
	serves(first) // until it is told
	for _, bad := range []string{"lisen: x\n", "log: {level: loud}\n", "templates: nowhere\nlog: {level: debug}\n"} {
		write(bad)
		reload("the config was not reloaded; nothing has changed")
		serves(first)
	}
	write("log: {level: debug}\ntimeouts: {lameDuck: 0}\n")
	if err := os.Rename(c.TLS.Key, c.TLS.Key+".away"); err != nil {
		t.Fatal(err)
	}
	reload("key.pem")
	serves(first)
	if level.Level() != slog.LevelInfo {
		t.Errorf("a refused config changed the level to %v", level.Level())
	}
	if err := os.Rename(c.TLS.Key+".away", c.TLS.Key); err != nil {
		t.Fatal(err)
	}
	reload(`"msg":"the config was reloaded"`)
	serves(second)
	if level.Level() != slog.LevelDebug {
		t.Errorf("the level is %v", level.Level())
	}
	write("log: {format: text}\nlimits: {users: 5}\ntimeouts: {lameDuck: 0}\n")
	reload(`"restart":["log.format"]`)
	end()

	// The files are looked at without being told: a pair that does not fit is left, and
	// told once; one that fits is taken.
	look := func() {
		end := reloading()
		looks <- time.Now()
		looks <- time.Now() // there is nothing new
		end()               // before the files are written again
	}
	look()
	text.clear()
	key, err := os.ReadFile(c.TLS.Key)
	if err != nil {
		t.Fatal(err)
	}
	third := writeCertificate(t, c.TLS)
	newKey, err := os.ReadFile(c.TLS.Key)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		key    []byte
		serves *x509.Certificate
		says   string
	}{
		{key, second, "the TLS certificate or its key was changed and cannot be used; the one before is served"},
		{newKey, third, "the TLS certificate was renewed"},
	} {
		if err := os.WriteFile(c.TLS.Key, step.key, 0o600); err != nil {
			t.Fatal(err)
		}
		look()
		serves(step.serves)
		if n := strings.Count(text.String(), step.says); n != 1 {
			t.Errorf("%d times in the log: %s\n%s", n, step.says, text.String())
		}
	}
}

// lockedText is a log that is read while it is written.
type lockedText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *lockedText) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Reset()
}

// TestKeys: the server's own keys are published, stay the same, and do not open
// with another master key.
func TestKeys(t *testing.T) {
	dir := t.TempDir()
	open := func(masterKey string) (server.KeyServices, func(), error) {
		s, err := server.OpenStore(t.Context(), "sqlite:"+filepath.Join(dir, "db"))
		if err != nil {
			t.Fatal(err)
		}
		keys, err := server.OpenKeys(t.Context(), s, &config.Config{MasterKey: masterKey}, slog.New(slog.DiscardHandler))
		return keys, func() {
			if err == nil {
				keys.Vault.Close()
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}, err
	}
	var known [2]string
	for i := range known {
		keys, done, err := open("file:" + filepath.Join(dir, "master.key"))
		if err != nil {
			t.Fatal(err)
		}
		known[i] = keys.ServerKeys.SignerPublicKey() + keys.ServerKeys.SessionPublicKey()
		done()
	}
	if known[0] != known[1] || len(known[0]) != 2*130 {
		t.Errorf("the server's keys changed: %v", known)
	}
	_, done, err := open("file:" + filepath.Join(dir, "other.key"))
	done()
	if err == nil || !strings.Contains(err.Error(), "other.key") {
		t.Errorf("another master key: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "other.key")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a key was made beside a database that has one: %v", err)
	}
	for _, wrong := range []string{"", "file:" + filepath.Join(dir, "none", "key"), "env:LATCHKEY_TEST_NOT_SET", "fd:999", "secret:x"} {
		_, done, err := open(wrong)
		done()
		if err == nil {
			t.Errorf("%q opened the vault", wrong)
		}
	}
	dir = t.TempDir()
	for _, passphrase := range []string{"correct horse", "battery staple"} { // the first one makes the file
		t.Setenv("LATCHKEY_PASSPHRASE", passphrase)
		_, done, err := open("passphrase:" + filepath.Join(dir, "master.age"))
		done()
		if (err == nil) != (passphrase == "correct horse") {
			t.Errorf("with %q: %v", passphrase, err)
		}
	}
}

// TestWellKnown publishes the public halves of the server's keys.
func TestWellKnown(t *testing.T) {
	srv, _ := start(t, patient())
	reply, err := http.Get(srv.BaseURL() + "/.well-known/latchkey.json")
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	body, _ := io.ReadAll(reply.Body)
	if !regexp.MustCompile(`^{"version":"test","signerPublicKey":"04[0-9a-f]{128}","sessionPublicKey":"04[0-9a-f]{128}",` +
		`"oauth2ClientSecretPublicKey":"04[0-9a-f]{128}","logOrigin":"latchkey/[0-9a-f-]{36}","logVerifierKeys":\["latchkey/[^"]+","latchkey/[^"]+"\]}$`).Match(body) {
		t.Errorf("got %s", body)
	}
}

// TestMetricsListener keeps the metrics off the public listener.
func TestMetricsListener(t *testing.T) {
	c := patient()
	c.Metrics.Listen = "127.0.0.1:0"
	srv, _ := start(t, c)
	for url, want := range map[string]int{
		srv.BaseURL() + "/metrics":                             http.StatusNotFound,
		"http://" + srv.MetricsAddress().String() + "/metrics": http.StatusOK,
	} {
		reply, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		reply.Body.Close()
		if reply.StatusCode != want {
			t.Errorf("%s: HTTP %d, want %d", url, reply.StatusCode, want)
		}
	}
}

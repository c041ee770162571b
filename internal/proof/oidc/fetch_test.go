package oidc

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"latchkey/internal/test/oidctest"
	"latchkey/internal/test/testkit"
)

// Without Loopback, nothing on this machine is ever connected to.
func TestNoConnectionToThisMachine(t *testing.T) {
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var connections atomic.Int64
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			_ = c.Close()
		}
	}()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	v := New(Options{Now: func() time.Time { return at }})
	for _, tt := range []struct{ host, want string }{
		{"127.0.0.1", "is in a private network or on this machine"},
		{"localhost", "is in a private network or on this machine"}, // by its name
		{"[::ffff:127.0.0.1]", "is in a private network or on this machine"},
		{"[::1]", "is in a private network or on this machine"},
		{"0.0.0.0", "is in a private network or on this machine"}, // which connects to this machine
		{"2130706433", "invalid OIDC token: "},                    // some resolvers read this as 127.0.0.1
		{"127.1", "invalid OIDC token: "},
	} {
		t.Run(tt.host, func(t *testing.T) {
			issuer := "https://" + tt.host + ":" + port
			token := jwt(goodHeader, with(fmt.Sprintf(`"iss":%q`, issuer)))
			_, err := v.Verify(t.Context(), token)
			checkRefusal(t, err, token, tt.want)
		})
	}
	// That the listener would have noticed.
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.ReadAll(c)
	_ = c.Close()
	_ = listener.Close()
	<-ended
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections arrived, one of them ours", n)
	}
}

// A working issuer on this machine is refused as long as it is not allowed.
func TestLoopbackIsForDevelopment(t *testing.T) {
	issuer := oidctest.Start(t)
	token := issuer.Mint(nil, "")
	refused(t, New(Options{}), token, "it must be an https address")
	if s := issuer.Stats(); s.Discovery != 0 || s.Connections > 1 {
		t.Errorf("the issuer was asked: %+v", s)
	}
	accept(t, New(Options{Loopback: true, Timeout: testkit.Patience}), token)
}

// A fetch releases its place, whatever its outcome, and waits for one no longer
// than its time.
func TestFetchTakesTurns(t *testing.T) {
	issuer := oidctest.Start(t)
	f := newFetcher(Options{Loopback: true, MaxBytes: 1 << 20})
	for i := range 2 * maxHostFetches {
		if _, err := f.fetch(t.Context(), issuer.URL); err != nil {
			t.Fatal(err)
		}
		if _, err := f.fetch(t.Context(), fmt.Sprint(issuer.URL, "/", i)); err == nil {
			t.Fatal("an issuer that does not exist has keys")
		}
	}
	if len(f.turns.all) != 0 || len(f.turns.hosts) != 0 {
		t.Errorf("turns were not given back: %v", f.turns.hosts)
	}
	for range maxHostFetches {
		if _, err := f.turns.take(t.Context(), host(issuer.URL)); err != nil {
			t.Fatal(err)
		}
	}
	before := issuer.Stats()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err := f.fetch(ctx, issuer.URL)
	if err == nil || !strings.HasPrefix(err.Error(), "too many tokens of issuer") {
		t.Errorf("got %v", err)
	}
	if after := issuer.Stats(); after.Discovery != before.Discovery {
		t.Error("the issuer was asked all the same")
	}
}

func TestNoProxy(t *testing.T) {
	transport := newFetcher(Options{}).client.Transport.(*bounded).base.(*http.Transport)
	if transport.Proxy != nil {
		t.Error("a proxy would connect past the guard")
	}
}

// endless is a body without an end that counts what was read of it.
type endless struct{ read, closed int64 }

func (e *endless) Read(p []byte) (int, error) {
	e.read += int64(len(p))
	return len(p), nil
}

func (e *endless) Close() error {
	e.closed++
	return nil
}

type answer struct{ *http.Response }

func (a answer) RoundTrip(*http.Request) (*http.Response, error) { return a.Response, nil }

func TestBounded(t *testing.T) {
	const most = 1000
	body := func(n int) io.ReadCloser { return io.NopCloser(strings.NewReader(strings.Repeat("a", n))) }
	tests := []struct {
		name   string
		answer http.Response
		want   error
	}{
		{"just fits", http.Response{StatusCode: 200, Body: body(most), ContentLength: most}, nil},
		{"just fits, length unknown", http.Response{StatusCode: 200, Body: body(most), ContentLength: -1}, nil},
		{"too long, length unknown", http.Response{StatusCode: 200, Body: body(most + 1), ContentLength: -1}, errTooLarge},
		{"too long by its word", http.Response{StatusCode: 200, Body: body(0), ContentLength: most + 1}, errTooLarge},
		{"redirect", http.Response{StatusCode: 307, Header: http.Header{"Location": {"https://evil.example"}}, Body: body(0)}, statusError(307)},
		{"no content", http.Response{StatusCode: 204, Body: body(0)}, statusError(204)},
		{"error", http.Response{StatusCode: 503, Body: body(10)}, statusError(503)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			client := http.Client{Transport: &bounded{base: answer{&tt.answer}, maxBytes: most}}
			resp, err := client.Get("https://issuer.example")
			if !errors.Is(err, tt.want) {
				t.Fatalf("got %v", err)
			}
			if err != nil {
				return
			}
			defer func() { _ = resp.Body.Close() }()
			if text, err := io.ReadAll(resp.Body); len(text) != most || err != nil {
				t.Errorf("got %d bytes, %v", len(text), err)
			}
		})
	}
	t.Run("endless", func(t *testing.T) {
		var e endless
		client := http.Client{Transport: &bounded{base: answer{&http.Response{StatusCode: 200, Body: &e, ContentLength: -1}}, maxBytes: most}}
		resp, err := client.Get("https://issuer.example")
		if err == nil {
			_ = resp.Body.Close()
		}
		if !errors.Is(err, errTooLarge) || e.read != most+1 || e.closed != 1 {
			t.Errorf("got %v; %d bytes read, closed %d times", err, e.read, e.closed)
		}
	})
}

// Over TLS: a certificate of an unknown authority is refused, and so are keys
// from a server without TLS.
func TestTLS(t *testing.T) {
	var document string
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/keys" {
			_, _ = io.WriteString(w, `{"keys":[]}`)
			return
		}
		_, _ = io.WriteString(w, document)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // it would tell of the refused certificate
	s.StartTLS()
	defer s.Close()
	trusted := func() *fetcher {
		f := newFetcher(Options{Loopback: true, MaxBytes: 1000})
		roots := x509.NewCertPool()
		roots.AddCert(s.Certificate())
		tlsConfig := s.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
		tlsConfig.RootCAs = roots
		f.client.Transport.(*bounded).base.(*http.Transport).TLSClientConfig = tlsConfig
		return f
	}

	tests := []struct {
		name     string
		fetcher  *fetcher
		document string
		want     string
	}{
		{"good", trusted(), fmt.Sprintf(`{"issuer":%q,"jwks_uri":%q}`, s.URL, s.URL+"/keys?p=1"), ""},
		{"unknown authority", newFetcher(Options{Loopback: true, MaxBytes: 1000}), "{}", "the certificate of the server"},
		{"keys without TLS", trusted(), fmt.Sprintf(`{"issuer":%q,"jwks_uri":"http://keys.example"}`, s.URL), "jwks_uri of issuer"},
		{"no keys", trusted(), fmt.Sprintf(`{"issuer":%q}`, s.URL), `jwks_uri of issuer "` + s.URL + `" is ""`},
		{"keys in a file", trusted(), fmt.Sprintf(`{"issuer":%q,"jwks_uri":"file:///etc/passwd"}`, s.URL), "jwks_uri of issuer"},
		{"no issuer", trusted(), `{}`, `says that it is of issuer ""`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			document = tt.document
			_, err := tt.fetcher.fetch(t.Context(), s.URL)
			if tt.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

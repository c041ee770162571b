// Package oidctest is an OpenID Connect issuer for tests: a real HTTP server in
// a process of its own, with keys that rotate, and with the ways to misbehave
// that a hostile or broken issuer has. Only tests may use it.
//
// In Go, [Start] builds the command internal/test/oidctest/issuer, runs it until the
// test ends, and calls the addresses below. Other languages build and run the
// command themselves:
//
//	go build -o issuer ./internal/test/oidctest/issuer
//
// It listens on a free port of 127.0.0.1, and its first line on stdout is
// {"url":"http://127.0.0.1:PORT"}. That URL is the issuer. It ends at SIGTERM
// or when stdin is closed, so that it does not outlive its parent: give it
// a pipe, and keep that open.
//
// What an issuer has:
//
//	GET /.well-known/openid-configuration   the discovery document
//	GET /keys                               the key set
//
// What a test needs besides; bodies are JSON, and these addresses work whatever
// the issuer was told to do:
//
//	POST /token    makes a token: {"token":"..."}. Every member is optional:
//	               claims  object; added to iss (the URL), sub ("user"), aud
//	                       ("client"), iat (now) and exp (in an hour); null
//	                       removes a claim
//	               alg     RS256 (default), RS384, RS512, PS256, ES256, ES384,
//	                       EdDSA; none; or HS256 with the public RSA key as the
//	                       secret, an old trick
//	               key     "current" (default); "previous", from before the last
//	                       rotation; "stranger", one that was never published;
//	                       "impostor", the same under the id of the current key
//	               header  object; added to alg, typ ("JWT") and kid; null
//	                       removes a member
//	POST /rotate   makes new keys; the old ones are no longer published, unless
//	               {"keep":true} is sent
//	POST /behave   {"mode":"..."}, one of Modes, until the next call
//	GET  /stats    what the server saw: {"connections":0,"discovery":0,"keys":0,
//	               "bytes":0}; the last is how much of huge answers was taken
//
// The answer to a wrong request is 400 with the reason as text.
package oidctest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Modes are the ways in which the issuer can behave. Those that begin with
// keys- leave the discovery document alone.
var Modes = []string{
	"normal",
	"hang",         // accept the request for the discovery document, and never answer
	"drip",         // answer it one byte at a time
	"huge",         // answer it with 100 MB
	"error",        // answer it with status 500
	"redirect",     // answer it with a redirect to a good one
	"not-json",     // answer it with HTML
	"wrong-issuer", // say in it to be another issuer
	"keys-hang", "keys-drip", "keys-huge", "keys-error", "keys-redirect", "keys-not-json",
	"keys-none",    // publish an empty key set
	"keys-private", // name a key server in a private network
	"keys-http",    // name a key server elsewhere without TLS
}

// hugeAnswer is the size of the answer in mode huge.
const hugeAnswer = 100_000_000

// Stats is what the server saw.
type Stats struct {
	Connections int64 `json:"connections"`
	Discovery   int64 `json:"discovery"`
	Keys        int64 `json:"keys"`
	Bytes       int64 `json:"bytes"`
}

type server struct {
	url string

	connections, discovery, keys, bytes atomic.Int64

	mu        sync.Mutex
	mode      string
	rings     []*ring // all that were made, the current one last
	published []*ring
	stranger  *ring
}

// Run serves an issuer on a free port until ctx ends. It writes the issuer's
// URL to out when it is ready.
func Run(ctx context.Context, out io.Writer) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := &server{url: "http://" + listener.Addr().String(), mode: "normal"}
	if err := s.rotate(false); err != nil {
		return err
	}
	h := &http.Server{Handler: s.routes(), ReadHeaderTimeout: time.Minute, ConnState: s.connState}
	context.AfterFunc(ctx, func() { _ = h.Close() })
	if err := json.NewEncoder(out).Encode(map[string]string{"url": s.url}); err != nil {
		return err
	}
	if err := h.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (s *server) connState(c net.Conn, state http.ConnState) {
	if state != http.StateNew {
		return
	}
	s.connections.Add(1)
	// What waits in the kernel counts as taken; little of it makes the count
	// of huge answers mean something.
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(64 << 10)
	}
}

func (s *server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, r *http.Request) {
		s.discovery.Add(1)
		s.misbehave(w, r, "", s.configuration())
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, r *http.Request) {
		s.keys.Add(1)
		s.misbehave(w, r, "keys-", s.keySet())
	})
	// Where redirects lead: a client that follows them gets good answers.
	mux.HandleFunc("GET /elsewhere/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) { write(w, s.configuration()) })
	mux.HandleFunc("GET /elsewhere/keys", func(w http.ResponseWriter, _ *http.Request) { write(w, s.keySet()) })

	mux.HandleFunc("POST /token", handle(func(request Token) (any, error) {
		text, err := s.mint(request)
		return map[string]string{"token": text}, err
	}))
	mux.HandleFunc("POST /rotate", handle(func(request struct {
		Keep bool `json:"keep"`
	},
	) (any, error) {
		return struct{}{}, s.rotate(request.Keep)
	}))
	mux.HandleFunc("POST /behave", handle(func(request struct {
		Mode string `json:"mode"`
	},
	) (any, error) {
		if !slices.Contains(Modes, request.Mode) {
			return nil, fmt.Errorf("mode %q is not one of %s", request.Mode, strings.Join(Modes, ", "))
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.mode = request.Mode
		return struct{}{}, nil
	}))
	mux.HandleFunc("GET /stats", func(w http.ResponseWriter, _ *http.Request) {
		write(w, Stats{s.connections.Load(), s.discovery.Load(), s.keys.Load(), s.bytes.Load()})
	})
	return mux
}

// handle serves a function of JSON. An empty body is an empty object.
func handle[R any](f func(R) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var request R
		dec := json.NewDecoder(r.Body)
		dec.DisallowUnknownFields()
		if err := dec.Decode(&request); err != nil && !errors.Is(err, io.EOF) {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		reply, err := f(request)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		write(w, reply)
	}
}

func write(w http.ResponseWriter, document any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(document)
}

func (s *server) behaviour() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mode
}

func (s *server) configuration() any {
	issuer, keys := s.url, s.url+"/keys"
	switch s.behaviour() {
	case "wrong-issuer":
		issuer = "https://issuer.example"
	case "keys-private":
		keys = "https://10.255.255.1/keys"
	case "keys-http":
		keys = "http://issuer.example/keys"
	}
	return map[string]any{
		"issuer":                                issuer,
		"jwks_uri":                              keys,
		"authorization_endpoint":                s.url + "/authorize",
		"response_types_supported":              []string{"id_token"},
		"subject_types_supported":               []string{"public"},
		"id_token_signing_alg_values_supported": []string{"RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA"},
	}
}

// misbehave answers with the document, or as the mode says. prefix selects the
// modes that concern it.
func (s *server) misbehave(w http.ResponseWriter, r *http.Request, prefix string, document any) {
	mode, concerned := strings.CutPrefix(s.behaviour(), prefix)
	if !concerned {
		mode = "normal"
	}
	switch mode {
	case "hang":
		<-r.Context().Done()
	case "drip":
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, " ")
			_ = http.NewResponseController(w).Flush()
			time.Sleep(50 * time.Millisecond)
		}
	case "huge":
		chunk := []byte(strings.Repeat(" ", 10_000))
		for sent := 0; sent < hugeAnswer; sent += len(chunk) {
			n, err := w.Write(chunk)
			s.bytes.Add(int64(n))
			if err != nil {
				return
			}
		}
	case "error":
		http.Error(w, "out of order", http.StatusInternalServerError)
	case "redirect":
		http.Redirect(w, r, "/elsewhere"+r.URL.Path, http.StatusFound)
	case "not-json":
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html>Welcome</html>")
	default:
		write(w, document)
	}
}

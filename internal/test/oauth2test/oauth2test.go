// Package oauth2test is a provider of OAuth 2.0 for tests: a real HTTP server in a
// process of its own, which issues codes and takes them for tokens as RFC 6749 and
// RFC 7636 (PKCE) say, and which can misbehave as a broken provider does. Only
// tests may use it.
//
// In Go, [Start] builds the command internal/test/oauth2test/provider and runs it
// until the test ends. Other languages build and run the command themselves. It
// listens on a free port of 127.0.0.1, and its first line on stdout is
// {"url":"http://127.0.0.1:PORT"}. It ends at SIGTERM or when stdin is closed.
//
// What a provider has:
//
//	GET  /authorize   response_type=code, client_id, redirect_uri, state,
//	                  code_challenge, code_challenge_method=S256; and user, who
//	                  logs in: sends the browser back with a code
//	POST /token       takes a code for a token, once
//	GET  /users/me    whose the token is: {"data":{"id":"…"}}
//	GET  /users/@me   the same in another form: {"id":"…"}
//
// What a test needs besides; bodies are JSON:
//
//	POST /clients     {"clientId","clientSecret"}: a client
//	POST /behave      {"mode":"..."}, one of Modes, until the next call
//	GET  /stats       {"tokens":0,"users":0}: how often it was asked
package oauth2test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// Modes are the ways in which the provider can behave. Those that begin with users-
// are about the user information, the others about tokens.
var Modes = []string{
	"normal",
	"hang",     // accept the request, and never answer
	"drip",     // answer it one byte at a time
	"huge",     // answer it without an end
	"error",    // answer it with status 500
	"redirect", // answer it with a redirect to itself
	"not-json", // answer it with HTML
	"empty",    // answer it with an object that has nothing in it
	"users-hang", "users-drip", "users-huge", "users-error", "users-redirect", "users-not-json", "users-empty",
	"users-forbidden", // refuse the token
	"slow",            // give a token when the mode is changed
}

// Stats is how often the provider was asked.
type Stats struct {
	Tokens int `json:"tokens"`
	Users  int `json:"users"`
}

// grant is what a code stands for.
type grant struct{ client, redirect, challenge, user string }

type server struct {
	mu      sync.Mutex
	mode    string
	changed chan struct{} // closed when the mode is changed
	clients map[string]string
	codes   map[string]grant
	tokens  map[string]string // to users
	stats   Stats
}

// Run serves a provider on a free port until ctx ends. It writes its URL to out
// when it is ready.
func Run(ctx context.Context, out io.Writer) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := &server{mode: "normal", changed: make(chan struct{}), clients: map[string]string{}, codes: map[string]grant{}, tokens: map[string]string{}}
	h := &http.Server{Handler: s.routes(), ReadHeaderTimeout: time.Minute}
	context.AfterFunc(ctx, func() { _ = h.Close() })
	if err := json.NewEncoder(out).Encode(map[string]string{"url": "http://" + listener.Addr().String()}); err != nil {
		return err
	}
	if err := h.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (s *server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /authorize", s.authorize)
	mux.HandleFunc("POST /token", s.token)
	mux.HandleFunc("GET /users/me", s.user(func(id string) any { return map[string]any{"data": map[string]string{"id": id, "name": "User"}} }))
	mux.HandleFunc("GET /users/@me", s.user(func(id string) any { return map[string]string{"id": id, "username": "user"} }))
	mux.HandleFunc("POST /clients", s.control(func(sent map[string]string) error {
		s.clients[sent["clientId"]] = sent["clientSecret"]
		return nil
	}))
	mux.HandleFunc("POST /behave", s.control(func(sent map[string]string) error {
		if !slices.Contains(Modes, sent["mode"]) {
			return fmt.Errorf("mode %q is not one of %s", sent["mode"], strings.Join(Modes, ", "))
		}
		s.mode = sent["mode"]
		close(s.changed)
		s.changed = make(chan struct{})
		return nil
	}))
	mux.HandleFunc("GET /stats", func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		write(w, http.StatusOK, s.stats)
	})
	return mux
}

// control is something that a test sets.
func (s *server) control(set func(map[string]string) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var sent map[string]string
		err := json.NewDecoder(r.Body).Decode(&sent)
		if err == nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			err = set(sent)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		write(w, http.StatusOK, struct{}{})
	}
}

// authorize is the page on which a user logs in (RFC 6749 section 4.1.1). The user
// is in the address; there is nothing to click.
func (s *server) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	s.mu.Lock()
	defer s.mu.Unlock()
	back, err := url.Parse(q.Get("redirect_uri"))
	_, known := s.clients[q.Get("client_id")]
	if err != nil || !known || q.Get("response_type") != "code" || q.Get("user") == "" ||
		q.Get("code_challenge") == "" || q.Get("code_challenge_method") != "S256" {
		http.Error(w, "not a request for a code", http.StatusBadRequest)
		return
	}
	code := rand.Text()
	s.codes[code] = grant{q.Get("client_id"), q.Get("redirect_uri"), q.Get("code_challenge"), q.Get("user")}
	answer := back.Query()
	answer.Set("code", code)
	answer.Set("state", q.Get("state"))
	back.RawQuery = answer.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

// token takes a code (RFC 6749 section 4.1.3).
func (s *server) token(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.stats.Tokens++
	mode, changed := s.mode, s.changed
	s.mu.Unlock()
	if mode == "slow" {
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	} else if misbehave(w, r, mode) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	refuse := func(status int, reason string) {
		write(w, status, map[string]string{"error": reason, "error_description": "no"})
	}
	id, secret, _ := r.BasicAuth()
	id, idErr := url.QueryUnescape(id)
	secret, secretErr := url.QueryUnescape(secret)
	if expected, known := s.clients[id]; !known || idErr != nil || secretErr != nil || secret != expected {
		refuse(http.StatusUnauthorized, "invalid_client")
		return
	}
	code := r.PostFormValue("code")
	granted, known := s.codes[code]
	delete(s.codes, code)
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	switch {
	case r.PostFormValue("grant_type") != "authorization_code":
		refuse(http.StatusBadRequest, "unsupported_grant_type")
	case !known || granted.client != id || granted.redirect != r.PostFormValue("redirect_uri") ||
		granted.challenge != base64.RawURLEncoding.EncodeToString(sum[:]):
		refuse(http.StatusBadRequest, "invalid_grant")
	default:
		bearer := rand.Text()
		s.tokens[bearer] = granted.user
		write(w, http.StatusOK, map[string]any{"access_token": bearer, "token_type": "bearer", "expires_in": 7200, "scope": "users.read"})
	}
}

// user says whose a token is.
func (s *server) user(form func(id string) any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.stats.Users++
		bearer, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		user, known := s.tokens[bearer]
		mode, concerned := strings.CutPrefix(s.mode, "users-")
		s.mu.Unlock()
		switch {
		case concerned && misbehave(w, r, mode):
		case !known || concerned && mode == "forbidden":
			write(w, http.StatusForbidden, map[string]string{"title": "Forbidden"})
		default:
			write(w, http.StatusOK, form(user))
		}
	}
}

// misbehave answers as a mode says, and reports whether it has.
func misbehave(w http.ResponseWriter, r *http.Request, mode string) bool {
	switch mode {
	case "hang":
		_, _ = io.Copy(io.Discard, r.Body) // else the end of the request is not seen
		<-r.Context().Done()
	case "drip":
		_, _ = io.Copy(io.Discard, r.Body)
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, " ")
			_ = http.NewResponseController(w).Flush()
			time.Sleep(50 * time.Millisecond)
		}
	case "huge":
		chunk := []byte(strings.Repeat(" ", 10_000))
		for {
			if _, err := w.Write(chunk); err != nil {
				return true
			}
		}
	case "error":
		http.Error(w, "out of order", http.StatusInternalServerError)
	case "redirect":
		http.Redirect(w, r, r.URL.Path, http.StatusTemporaryRedirect)
	case "not-json":
		_, _ = io.WriteString(w, "<html>Welcome</html>")
	case "empty":
		write(w, http.StatusOK, struct{}{})
	default:
		return false
	}
	return true
}

func write(w http.ResponseWriter, status int, document any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(document)
}

package oidctest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"latchkey/internal/test/testkit"
)

// Issuer is a running issuer. Its methods fail the test that started it, so
// they belong on that test's goroutine.
type Issuer struct {
	URL string // the issuer, as tokens name it
	t   testing.TB
}

// Clean removes the program that Start built; for TestMain, after the tests.
func Clean() { testkit.CleanCommands() }

// Start runs an issuer until the test ends.
func Start(t testing.TB) *Issuer {
	t.Helper()
	return &Issuer{URL: testkit.StartCommand(t, "latchkey/internal/test/oidctest/issuer"), t: t}
}

// Mint makes a token. Claims are added to the usual ones; alg may be empty.
func (i *Issuer) Mint(claims map[string]any, alg string) string {
	i.t.Helper()
	return i.MintToken(Token{Claims: claims, Alg: alg})
}

// MintToken makes a token in every detail.
func (i *Issuer) MintToken(request Token) string {
	i.t.Helper()
	var reply struct{ Token string }
	i.call("/token", request, &reply)
	return reply.Token
}

// Rotate replaces the issuer's keys. The old ones are no longer published.
func (i *Issuer) Rotate() {
	i.t.Helper()
	i.call("/rotate", nil, nil)
}

// Behave makes the issuer behave in one of Modes.
func (i *Issuer) Behave(mode string) {
	i.t.Helper()
	i.call("/behave", map[string]string{"mode": mode}, nil)
}

// Stats tells what the issuer saw. Calls of these methods are connections too,
// unless they come in on one that is open already.
func (i *Issuer) Stats() Stats {
	i.t.Helper()
	var s Stats
	i.call("/stats", nil, &s)
	return s
}

// call gets an address, or posts to it if there is something to send or
// nothing to receive.
func (i *Issuer) call(path string, request, reply any) {
	i.t.Helper()
	var body []byte
	method := http.MethodGet
	if request != nil || reply == nil {
		method = http.MethodPost
	}
	if request != nil {
		var err error
		if body, err = json.Marshal(request); err != nil {
			i.t.Fatalf("oidctest: %v", err)
		}
	}
	r, err := http.NewRequest(method, i.URL+path, bytes.NewReader(body))
	if err != nil {
		i.t.Fatalf("oidctest: %v", err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		i.t.Fatalf("oidctest: %v", err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		i.t.Fatalf("oidctest: %s %s: %s %s %v", method, path, resp.Status, text, err)
	}
	if reply != nil {
		if err := json.Unmarshal(text, reply); err != nil {
			i.t.Fatalf("oidctest: %s %s: %v", method, path, err)
		}
	}
}

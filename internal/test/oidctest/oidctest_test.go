package oidctest

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"latchkey/internal/test/testkit"
)

func TestMain(m *testing.M) {
	code := m.Run()
	Clean()
	os.Exit(code)
}

// That tokens verify is tested where they are verified, in internal/proof/oidc.

func TestDocuments(t *testing.T) {
	issuer := Start(t)
	var discovery struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	issuer.call("/.well-known/openid-configuration", nil, &discovery)
	if discovery.Issuer != issuer.URL || discovery.Keys != issuer.URL+"/keys" {
		t.Errorf("got %+v", discovery)
	}
	ids := func() string {
		var set struct{ Keys []struct{ Kid string } }
		issuer.call("/keys", nil, &set)
		found := map[string]bool{}
		for _, k := range set.Keys {
			found[k.Kid] = true
		}
		var all []string
		for _, id := range []string{"rsa-1", "p256-1", "p384-1", "ed25519-1", "rsa-2", "p256-2", "rsa-3"} {
			if found[id] {
				all = append(all, id)
			}
		}
		return strings.Join(all, " ")
	}
	if got := ids(); got != "rsa-1 p256-1 p384-1 ed25519-1" {
		t.Errorf("published: %s", got)
	}
	issuer.Rotate()
	if got := ids(); got != "rsa-2 p256-2" {
		t.Errorf("published after a rotation: %s", got)
	}
	issuer.call("/rotate", map[string]bool{"keep": true}, nil)
	if got := ids(); got != "rsa-2 p256-2 rsa-3" {
		t.Errorf("published after a gentle rotation: %s", got)
	}
	if s := issuer.Stats(); s.Discovery != 1 || s.Keys != 3 || s.Connections < 1 {
		t.Errorf("saw %+v", s)
	}
}

func TestToken(t *testing.T) {
	issuer := Start(t)
	issuer.Rotate()
	tests := []struct {
		name    string
		request Token
		header  map[string]any
		claims  map[string]any // nil: absent
	}{
		{"usual", Token{}, map[string]any{"alg": "RS256", "kid": "rsa-2", "typ": "JWT"}, map[string]any{"iss": issuer.URL, "sub": "user", "aud": "client", "nonce": nil}},
		{"changed", Token{Claims: map[string]any{"sub": "x", "aud": nil, "nonce": "n"}, Alg: "ES256"}, map[string]any{"alg": "ES256", "kid": "p256-2"}, map[string]any{"sub": "x", "aud": nil, "nonce": "n"}},
		{"header changed", Token{Header: map[string]any{"kid": nil, "typ": "at+jwt"}}, map[string]any{"kid": nil, "typ": "at+jwt"}, nil},
		{"previous", Token{Key: "previous"}, map[string]any{"kid": "rsa-1"}, nil},
		{"stranger", Token{Key: "stranger"}, map[string]any{"kid": "rsa-stranger"}, nil},
		{"impostor", Token{Key: "impostor"}, map[string]any{"kid": "rsa-2"}, nil},
		{"none", Token{Alg: "none"}, map[string]any{"alg": "none"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			parts := strings.Split(issuer.MintToken(tt.request), ".")
			if len(parts) != 3 || (parts[2] == "") != (tt.request.Alg == "none") {
				t.Fatalf("got %d parts", len(parts))
			}
			for i, want := range []map[string]any{tt.header, tt.claims} {
				raw, err := base64.RawURLEncoding.DecodeString(parts[i])
				if err != nil {
					t.Fatal(err)
				}
				var got map[string]any
				if err := json.Unmarshal(raw, &got); err != nil {
					t.Fatal(err)
				}
				for name, value := range want {
					if got[name] != value {
						t.Errorf("%s is %v", name, got[name])
					}
				}
			}
		})
	}
}

func TestWrongRequests(t *testing.T) {
	issuer := Start(t)
	for _, tt := range []struct{ name, path, body string }{
		{"unknown mode", "/behave", `{"mode":"nice"}`},
		{"unknown member", "/rotate", `{"kep":true}`},
		{"unknown alg", "/token", `{"alg":"ES512"}`},
		{"unknown key", "/token", `{"key":"mine"}`},
		{"no previous key", "/token", `{"key":"previous"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			resp, err := http.Post(issuer.URL+tt.path, "application/json", strings.NewReader(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = resp.Body.Close() }()
			if text, err := io.ReadAll(resp.Body); resp.StatusCode != http.StatusBadRequest || len(text) == 0 || err != nil {
				t.Errorf("got %s %s %v", resp.Status, text, err)
			}
		})
	}
}

// The command ends when its stdin is closed or at SIGTERM, also while it hangs.
func TestCommandEnds(t *testing.T) {
	path, err := testkit.BuildCommand("latchkey/internal/test/oidctest/issuer")
	if err != nil {
		t.Fatal(err)
	}
	for name, end := range map[string]func(*exec.Cmd, io.Closer) error{
		"stdin closed": func(_ *exec.Cmd, stdin io.Closer) error { return stdin.Close() },
		"SIGTERM":      func(c *exec.Cmd, _ io.Closer) error { return c.Process.Signal(syscall.SIGTERM) },
	} {
		t.Run(name, func(t *testing.T) {
			command := exec.Command(path)
			stdin, err := command.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			stdout, err := command.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			kill := time.AfterFunc(2*time.Minute, func() { _ = command.Process.Kill() })
			defer kill.Stop()
			line, err := bufio.NewReader(stdout).ReadBytes('\n')
			var ready map[string]string
			if err != nil || json.Unmarshal(line, &ready) != nil || len(ready) != 1 {
				t.Fatalf("said %q, %v", line, err)
			}
			issuer := &Issuer{URL: ready["url"], t: t}
			issuer.Behave("hang")
			gone := make(chan error)
			go func() {
				resp, err := http.Get(issuer.URL + "/.well-known/openid-configuration")
				if err == nil {
					_ = resp.Body.Close()
				}
				gone <- err
			}()
			for issuer.Stats().Discovery == 0 {
				time.Sleep(time.Millisecond)
			}
			if err := end(command, stdin); err != nil {
				t.Fatal(err)
			}
			if err := <-gone; err == nil {
				t.Error("the hanging request got an answer")
			}
			if err := command.Wait(); err != nil {
				t.Errorf("did not end cleanly: %v", err)
			}
		})
	}
}

package oidctest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// Issuer is a running issuer. Its methods fail the test that started it, so
// they belong on that test's goroutine.
type Issuer struct {
	URL string // the issuer, as tokens name it
	t   testing.TB
}

// built is the program, made once for the test process. This is state of the
// process, not of the package.
var built struct {
	sync.Mutex
	dir string
}

// program builds the command, once.
func program() (string, error) {
	built.Lock()
	defer built.Unlock()
	if built.dir == "" {
		dir, err := os.MkdirTemp("", "latchkey-oidctest-")
		if err != nil {
			return "", err
		}
		// The flags are those of make build: what it compiled is not compiled again.
		build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", filepath.Join(dir, "issuer"), "latchkey/internal/test/oidctest/issuer")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if output, err := build.CombinedOutput(); err != nil {
			_ = os.RemoveAll(dir)
			return "", fmt.Errorf("building the issuer: %w\n%s", err, output)
		}
		built.dir = dir
	}
	return filepath.Join(built.dir, "issuer"), nil
}

// Clean removes the program that Start built; for TestMain, after the tests.
// Without it a file stays behind in the folder for temporary ones.
func Clean() {
	built.Lock()
	defer built.Unlock()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
		built.dir = ""
	}
}

// Start runs an issuer until the test ends.
func Start(t testing.TB) *Issuer {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatalf("oidctest: %v", err)
	}
	command := exec.Command(path)
	command.Stderr = os.Stderr
	stdin, err := command.StdinPipe()
	if err != nil {
		t.Fatalf("oidctest: %v", err)
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatalf("oidctest: %v", err)
	}
	if err := command.Start(); err != nil {
		t.Fatalf("oidctest: %v", err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		kill := time.AfterFunc(2*time.Minute, func() { _ = command.Process.Kill() })
		defer kill.Stop()
		if err := command.Wait(); err != nil {
			t.Errorf("oidctest: the issuer did not end cleanly: %v", err)
		}
	})
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err != nil {
		t.Fatalf("oidctest: the issuer did not start: %v", err)
	}
	i := &Issuer{t: t}
	var ready struct{ URL string }
	if err := json.Unmarshal(line, &ready); err != nil || ready.URL == "" {
		t.Fatalf("oidctest: the issuer said %q instead of its URL", line)
	}
	i.URL = ready.URL
	return i
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

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"latchkey/client"
	"latchkey/internal/test/testkit"
)

// TestInstancesSideBySide runs twenty development servers at once, as the test
// runs of a busy machine do. Each answers for its own organization alone, and
// ends cleanly.
func TestInstancesSideBySide(t *testing.T) {
	t.Parallel()
	const instances = 20
	servers := make([]*instance, instances)
	for i := range servers {
		servers[i] = startDev(t, "latchkey", filepath.Join(t.TempDir(), fmt.Sprint(i)))
	}
	seen := map[string]bool{}
	for _, s := range servers {
		testkit.Until(t, "the server answers", s.ready)
		if seen[s.dev.OrganizationID] || seen[s.dev.BaseURL] {
			t.Errorf("two servers are %s or have the organization %s", s.dev.BaseURL, s.dev.OrganizationID)
		}
		seen[s.dev.OrganizationID], seen[s.dev.BaseURL] = true, true
	}
	var group sync.WaitGroup
	for i, s := range servers {
		group.Go(func() {
			if err := s.whoami(); err != nil {
				t.Error(err)
			}
			// The key of another server's owner is a stranger's here.
			stranger := *s
			stranger.dev.APIPrivateKey = servers[(i+1)%instances].dev.APIPrivateKey
			var refusal *client.Error
			if err := stranger.whoami(); !errors.As(err, &refusal) || refusal.Status != http.StatusUnauthorized {
				t.Errorf("the key of another server: %v", err)
			}
		})
	}
	group.Wait()
	for _, s := range servers {
		if err := s.stop(); err != nil {
			t.Errorf("%v\n%s", err, s.log)
		}
	}
}

// BenchmarkDevReady measures how long a new development server takes from its
// start to its first answer to a signed request. LATCHKEY_BIN names a build as
// people run it; by default the program is this test's:
//
//	make build && LATCHKEY_BIN=$PWD/bin/latchkey go test ./cmd/latchkey -run '^$' -bench DevReady -benchtime 20x
func BenchmarkDevReady(b *testing.B) {
	program := cmp.Or(os.Getenv("LATCHKEY_BIN"), "latchkey")
	for i := range b.N {
		s := startDev(b, program, filepath.Join(b.TempDir(), fmt.Sprint(i)))
		for !s.ready() {
			time.Sleep(time.Millisecond)
		}
		if err := s.whoami(); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := s.stop(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// instance is a running `latchkey dev`.
type instance struct {
	cmd *exec.Cmd
	dir string
	dev devFile
	log *strings.Builder
}

func startDev(t testing.TB, program, dir string) *instance {
	t.Helper()
	s := &instance{cmd: exec.Command(program, "dev", "--listen", "127.0.0.1:0", "--data", dir), dir: dir, log: new(strings.Builder)}
	s.cmd.Stderr = s.log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill() // it has mostly ended already
		_ = s.cmd.Wait()
	})
	return s
}

// ready reports whether the server answers, and then knows its address.
func (s *instance) ready() bool {
	dev, err := readDevFile(s.dir)
	if err != nil || dev.BaseURL == "" {
		return false
	}
	s.dev = *dev
	return answers(dev.BaseURL)
}

// whoami asks the server who the owner of its key is.
func (s *instance) whoami() error {
	stamper, err := client.NewAPIKeyStamper(client.P256, s.dev.APIPrivateKey)
	if err != nil {
		return err
	}
	c := &client.Client{BaseURL: s.dev.BaseURL, Stamper: stamper, HTTP: &http.Client{Timeout: testkit.Patience}}
	reply, err := c.Post(context.Background(), "/public/v1/query/whoami", []byte(`{"organizationId":"`+s.dev.OrganizationID+`"}`))
	if err == nil && !strings.Contains(string(reply), s.dev.UserID) {
		err = fmt.Errorf("the server takes its owner for %s", reply)
	}
	return err
}

func (s *instance) stop() error {
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	return s.cmd.Wait()
}

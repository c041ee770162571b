package main

import (
	"bytes"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json"

	"latchkey/internal/test/mailtest"
	"latchkey/internal/test/servertest"
	"latchkey/internal/test/testkit"
)

// TestKilledWhileSending kills the program while it sends a mail. The next start
// sends it, when the lease of the first has ended; the mail server recognises a
// copy by its Message-ID.
func TestKilledWhileSending(t *testing.T) {
	t.Parallel()
	const to = "ada@example.com"
	for _, tt := range []struct {
		name   string
		hold   bool // the mail server does not answer until the program is dead
		copies int
	}{
		{"before the mail was handed over", true, 1},
		{"after it was handed over", false, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := mailtest.Start(t)
			g := servertest.NewBlockingProxy(t)
			var dead atomic.Bool
			if !tt.hold {
				g.Open()
				// The first program does not hear that its mail was taken.
				g.Withhold = func() bool { return !dead.Load() && received(m) > 0 }
			}
			g.Listen(t, m.SMTP)
			p := newProgram(t, m, g.Address)
			server, _ := p.serve()
			p.run("request", "--url", p.url, "--key", p.path("key"), "--organization", p.organization,
				"init_otp", `{"otpType":"OTP_TYPE_EMAIL","contact":"`+to+`","appName":"Test"}`)
			testkit.Until(t, "the mail is being sent", func() bool {
				return g.Came.Load() > 0 && (tt.hold || received(m) > 0)
			})
			if err := server.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = server.Wait() // killed
			dead.Store(true)
			g.Open()
			server, log := p.serve()
			testkit.Until(t, "the mail has come", func() bool { return received(m) == tt.copies })
			if err := server.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			if err := server.Wait(); err != nil { // it finishes what it sends
				t.Fatalf("%v\n%s", err, log)
			}
			if !strings.Contains(log.String(), `"msg":"a message was sent"`) || !strings.Contains(log.String(), `"attempts":2`) {
				t.Errorf("the log says %s", log)
			}
			for _, mail := range m.Messages() {
				if mail.To != to || mail.Header.Get("Message-ID") != m.Messages()[0].Header.Get("Message-ID") {
					t.Errorf("another mail came: %v", mail.Header)
				}
			}
			if n := received(m); n != tt.copies {
				t.Errorf("%d mails came", n)
			}
		})
	}
}

// program is a production server with one organization.
type program struct {
	t            *testing.T
	dir          string
	url          string
	organization string
}

func newProgram(t *testing.T, m *mailtest.Server, mail string) *program {
	t.Helper()
	listen := testkit.Reserve(t)
	p := &program{t: t, dir: t.TempDir(), url: "http://" + listen}
	host, port, err := net.SplitHostPort(mail)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"password": m.Password + "\n",
		"latchkey.yaml": "listen: " + listen + "\nmail: {host: " + host + ", port: " + port + ", ca: " + m.CAFile +
			", username: " + m.Username + ", password: file:password, from: login@example.com}\n",
	} {
		if err := os.WriteFile(p.path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	public := strings.TrimSpace(p.run("keygen", "--out", p.path("key")))
	var created struct {
		OrganizationID string `json:"organizationId"`
	}
	given := p.run("init", "--config", p.path("latchkey.yaml"), "--organization", "Acme", "--user", "Ada", "--public-key", public)
	if err := json.Unmarshal([]byte(given), &created); err != nil {
		t.Fatal(err)
	}
	p.organization = created.OrganizationID
	return p
}

func (p *program) path(name string) string { return filepath.Join(p.dir, name) }

func (p *program) run(args ...string) string {
	p.t.Helper()
	var out, complaints bytes.Buffer
	cmd := exec.Command("latchkey", args...)
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		p.t.Fatalf("latchkey %v: %v\n%s", args, err, complaints.String())
	}
	return out.String()
}

// serve starts the server and waits until it answers. Its log may be read when
// it has ended.
func (p *program) serve() (*exec.Cmd, *bytes.Buffer) {
	p.t.Helper()
	log := new(bytes.Buffer)
	return p.start(p.path("latchkey.yaml"), p.url, log), log
}

// start starts a server with a config of its own; nil: its log is not kept.
func (p *program) start(config, url string, log io.Writer) *exec.Cmd {
	p.t.Helper()
	cmd := exec.Command("latchkey", "serve", "--config", config)
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		_ = cmd.Process.Kill() // it has mostly ended already
		_ = cmd.Wait()
	})
	testkit.Until(p.t, "the server answers", func() bool { return answers(url) })
	return cmd
}

// received counts the mails that have come whole.
func received(m *mailtest.Server) (n int) {
	entries, _ := os.ReadDir(m.MailDir) // what cannot be read has not come
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			n++
		}
	}
	return n
}

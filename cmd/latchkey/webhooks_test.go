package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"latchkey/client"
	"latchkey/internal/test/pgtest"
	"latchkey/internal/test/testkit"
)

// TestKilledWhileDelivering kills the program again and again while it delivers
// events, on both stores. Every event of an acknowledged activity comes, and they
// come in order. LATCHKEY_TEST_EVENTS makes it longer: make deliveries.
func TestKilledWhileDelivering(t *testing.T) {
	t.Parallel()
	events := testkit.Number(t, "LATCHKEY_TEST_EVENTS", 45)
	for name, store := range map[string]func() string{
		"sqlite":   func() string { return "sqlite:latchkey.db" },
		"postgres": func() string { return pgtest.URL(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newHook(t)
			p := newHookProgram(t, store())
			server, _ := p.serve()
			c := p.client()
			made, _, err := c.CreateWebhookEndpoint(context.Background(), client.CreateWebhookEndpointParameters{
				URL: r.URL, Name: "Receiver", Subscriptions: []client.WebhookSubscription{{EventType: "ACTIVITY_UPDATES"}},
			})
			if err != nil {
				t.Fatal(err)
			}
			var wanted []string
			for n := range events {
				_, activity, err := c.CreateUserTag(context.Background(), client.CreateUserTagParameters{UserTagName: "Tag " + strconv.Itoa(n), UserIDs: []string{}})
				if err != nil {
					t.Fatal(err)
				}
				if wanted = append(wanted, activity.ID); n%(events/3) == events/3-1 {
					kill(t, server)
					server, _ = p.serve()
				}
			}
			testkit.Until(t, "all events have come", func() bool { return len(r.order()) == len(wanted) })
			if got := r.order(); !slices.Equal(got, wanted) {
				t.Errorf("events of %v, want %v", got, wanted)
			}
			p.testCommands(r, made.EndpointID, events)
		})
	}
}

func kill(t *testing.T, server *exec.Cmd) {
	t.Helper()
	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = server.Wait() // killed
}

// testCommands shows the endpoint, tries it, and has everything come again.
func (p *program) testCommands(r *hook, endpoint string, events int) {
	p.t.Helper()
	here := []string{"--url", p.url, "--key", p.path("key"), "--organization", p.organization}
	run := func(args ...string) string { return p.run(append(append([]string{"webhooks"}, args...), here...)...) }
	if text := run("list"); !strings.Contains(text, endpoint) || !strings.Contains(text, "DELIVERING") {
		p.t.Errorf("list prints %s", text)
	}
	if text := run("test", "--endpoint", endpoint); !strings.Contains(text, "was taken") {
		p.t.Errorf("test prints %s", text)
	}
	before := r.count()
	if text := run("replay", "--endpoint", endpoint, "--since", "2020-01-01T00:00:00Z"); !strings.Contains(text, "delivered to "+endpoint) {
		p.t.Errorf("replay prints %s", text)
	}
	testkit.Until(p.t, "the events come again", func() bool { return r.count() >= before+events })
	for _, bad := range [][]string{
		{"replay", "--endpoint", endpoint},
		{"replay", "--endpoint", endpoint, "--since", "yesterday"},
		{"replay", "--endpoint", endpoint, "--after", "x"},
		{"test", "--endpoint", p.organization},
	} {
		cmd := exec.Command("latchkey", append(append([]string{"webhooks"}, bad...), here...)...)
		if out, err := cmd.CombinedOutput(); err == nil {
			p.t.Errorf("webhooks %v succeeds: %s", bad, out)
		}
	}
}

// newHookProgram is a production server that may post to this machine.
func newHookProgram(t *testing.T, store string) *program {
	t.Helper()
	listen := testkit.Reserve(t)
	p := &program{t: t, dir: t.TempDir(), url: "http://" + listen}
	text := "listen: " + listen + "\nstore: " + store + "\nlimits: {tags: 0}\nwebhooks: {allow: [127.0.0.1], timeout: 2s}\n"
	if err := os.WriteFile(p.path("latchkey.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
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

// client is a client of the organization's first user.
func (p *program) client() *client.Client {
	p.t.Helper()
	text, err := os.ReadFile(p.path("key"))
	if err != nil {
		p.t.Fatal(err)
	}
	key, err := client.ParseKeyFile(string(text))
	if err != nil {
		p.t.Fatal(err)
	}
	return &client.Client{BaseURL: p.url, Stamper: key.Stamper(), OrganizationID: p.organization}
}

// hook is a receiver.
type hook struct {
	*httptest.Server
	mu   sync.Mutex
	ids  []string // of activities, in the order in which they first came
	seen map[string]bool
	all  int
}

func newHook(t *testing.T) *hook {
	h := &hook{seen: map[string]bool{}}
	h.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var activity struct {
			ID string `json:"id"`
		}
		if err != nil || json.Unmarshal(body, &activity) != nil {
			return
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.all++
		if id := r.Header.Get("X-Turnkey-Event-Id"); activity.ID != "" && !h.seen[id] {
			h.seen[id] = true
			h.ids = append(h.ids, activity.ID)
		}
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *hook) order() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.ids)
}

func (h *hook) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.all
}

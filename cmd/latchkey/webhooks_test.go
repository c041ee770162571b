package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"latchkey/client"
	"latchkey/internal/test/pgtest"
	"latchkey/internal/test/testkit"
)

// TestKilledWhileDelivering kills servers, the receiver and PostgreSQL again and
// again while events of three organizations are delivered and read, on PostgreSQL
// with two servers; for a third of the time the receiver is away. Feed and receiver
// have every event of an acknowledged activity, in the same order in each
// organization. LATCHKEY_TEST_EVENTS makes it longer, and
// LATCHKEY_TEST_LEDGER is where what was delivered is left for others to verify:
// make deliveries.
func TestKilledWhileDelivering(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		newDelivering(t, 1, "sqlite:latchkey.db").test()
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		db := pgtest.Start(t)
		d := newDelivering(t, 2, db.URL(t))
		d.disturbances = append(d.disturbances, func() { db.Kill(t); db.Restart(t) })
		d.test()
	})
}

// delivering is servers and a receiver of their events, which are killed.
type delivering struct {
	*program
	servers      []*exec.Cmd
	nodes        []*client.Client // of the servers
	receiver     *hook
	disturbances []func()
	acknowledged atomic.Int64
}

func newDelivering(t *testing.T, servers int, store string) *delivering {
	t.Helper()
	d := &delivering{program: newHookProgram(t, store), servers: make([]*exec.Cmd, servers), receiver: newHook(t)}
	config, err := os.ReadFile(d.path("latchkey.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for n := range servers {
		url, file := d.url, d.path("latchkey.yaml")
		if n > 0 {
			listen := testkit.Reserve(t)
			url, file = "http://"+listen, d.path("other.yaml")
			text := strings.Replace(string(config), strings.TrimPrefix(d.url, "http://"), listen, 1)
			if err := os.WriteFile(file, []byte(text+"log: {state: other.state}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		c := d.client()
		c.BaseURL = url
		d.nodes = append(d.nodes, c)
		d.servers[n] = d.start(file, url, nil)
		d.disturbances = append(d.disturbances, func() {
			kill(t, d.servers[n])
			d.servers[n] = d.start(file, url, nil)
		})
	}
	d.disturbances = append(d.disturbances, d.receiver.restart)
	return d
}

func (d *delivering) test() {
	t := d.t
	events := testkit.Number(t, "LATCHKEY_TEST_EVENTS", 60)
	seed := testkit.Number(t, "LATCHKEY_TEST_SEED", int(time.Now().UnixNano()))
	t.Logf("seed %d", seed)
	organizations := []string{d.organization, d.newChild(1), d.newChild(2)}
	made, _, err := d.nodes[0].CreateWebhookEndpoint(t.Context(), client.CreateWebhookEndpointParameters{
		URL: d.receiver.url, Name: "Receiver", Subscriptions: []client.WebhookSubscription{{EventType: "ACTIVITY_UPDATES"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	each := events / len(organizations)
	total := each * len(organizations)
	written := map[string][]string{}
	var fed map[string][]string
	var work sync.WaitGroup
	var mu sync.Mutex
	for _, organization := range organizations {
		work.Go(func() {
			ids := d.write(organization, each)
			mu.Lock()
			defer mu.Unlock()
			written[organization] = ids
		})
	}
	work.Go(func() { fed = d.readFeed(total) })
	kills := max(8, events/250)
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	for i := range kills {
		part := int64((i + 1) * total / (kills + 1))
		testkit.Until(t, "some were acknowledged", func() bool { return d.acknowledged.Load() >= part })
		switch i {
		case kills / 3:
			d.receiver.leave()
		case 2 * kills / 3:
			d.receiver.start()
		default:
			d.disturbances[random.IntN(len(d.disturbances))]()
		}
	}
	work.Wait()
	var delivered map[string][]string
	testkit.Until(t, "all events have come", func() bool {
		if d.receiver.count() < total {
			return false
		}
		delivered = d.receiver.order()
		return len(slices.Concat(slices.Collect(maps.Values(delivered))...)) >= total
	})
	for _, organization := range organizations {
		if !slices.Equal(fed[organization], written[organization]) {
			t.Errorf("%s: the feed has %d events, or in another order than %d activities were acknowledged", organization, len(fed[organization]), each)
		}
		if !slices.Equal(delivered[organization], written[organization]) {
			t.Errorf("%s: %d events were delivered, or in another order than %d activities were acknowledged", organization, len(delivered[organization]), each)
		}
	}
	t.Logf("%d events through %d kills, delivered %d times", total, kills, d.receiver.count())
	d.leaveLedger()
	d.testCommands(d.receiver, made.EndpointID, total)
}

// newChild makes a sub-organization with the same root user.
func (d *delivering) newChild(n int) string {
	d.t.Helper()
	made, _, err := d.nodes[0].CreateSubOrganization(d.t.Context(), client.CreateSubOrganizationParameters{
		SubOrganizationName: "Child " + strconv.Itoa(n), RootQuorumThreshold: 1,
		RootUsers: []client.RootUserParameters{{UserName: "Ada", APIKeys: []client.APIKeyParameters{{
			APIKeyName: "Key", PublicKey: d.key().PublicKey(), CurveType: client.APIKeyCurveP256,
		}}}},
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return made.SubOrganizationID
}

// write submits activities one after the other, each until a server has
// acknowledged it, and returns their ids.
func (d *delivering) write(organization string, n int) (ids []string) {
	for i := range n {
		body := fmt.Appendf(nil, `{"type":"ACTIVITY_TYPE_CREATE_USER_TAG","timestampMs":"%d","organizationId":%q,"parameters":{"userTagName":"Tag %d","userIds":[]}}`,
			time.Now().UnixMilli(), organization, i)
		tries := i
		testkit.Until(d.t, "the activity is acknowledged", func() bool {
			tries++
			reply, err := d.nodes[tries%len(d.nodes)].Post(d.t.Context(), "/public/v1/submit/create_user_tag", body)
			var got struct {
				Activity struct {
					ID string `json:"id"`
				} `json:"activity"`
			}
			if refused := (*client.Error)(nil); errors.As(err, &refused) && refused.Status < http.StatusInternalServerError {
				d.t.Errorf("%s: %v", organization, err)
				return true
			}
			if err != nil || json.Unmarshal(reply, &got) != nil {
				return false
			}
			ids = append(ids, got.Activity.ID)
			return true
		})
		d.acknowledged.Add(1)
	}
	return ids
}

// readFeed reads until it has seen so many events, and returns their activities by
// organization.
func (d *delivering) readFeed(want int) map[string][]string {
	seen, tries := map[string][]string{}, 0
	q := client.EventsRequest{Types: looked, IncludeSubOrganizations: true}
	testkit.Until(d.t, "the feed has all", func() bool {
		tries++
		page, err := d.nodes[tries%len(d.nodes)].Events(d.t.Context(), q)
		if err != nil {
			return false // it is down
		}
		for _, e := range page.Events {
			seen[e.OrganizationID] = append(seen[e.OrganizationID], e.Activity.ID)
			want--
		}
		q.After = page.Cursor
		return want <= 0
	})
	return seen
}

// leaveLedger leaves what was delivered, and the keys, if someone wants to verify it.
func (d *delivering) leaveLedger() {
	dir := os.Getenv("LATCHKEY_TEST_LEDGER")
	if dir == "" {
		return
	}
	name := filepath.Join(dir, filepath.Base(d.t.Name()))
	reply, err := http.Get(d.url + "/public/v1/discovery/webhooks/jwks")
	if err != nil {
		d.t.Fatal(err)
	}
	defer reply.Body.Close()
	keys, err := io.ReadAll(reply.Body)
	if err == nil {
		err = os.WriteFile(name+".keys.json", keys, 0o600)
	}
	ledger, problem := os.ReadFile(d.receiver.ledger)
	if problem == nil {
		problem = os.WriteFile(name+".jsonl", ledger, 0o600)
	}
	if err := errors.Join(err, problem); err != nil {
		d.t.Fatal(err)
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
	// How far it is, is stored about once a second.
	testkit.Until(p.t, "the endpoint is listed as one that delivers", func() bool {
		text := run("list")
		return strings.Contains(text, endpoint) && strings.Contains(text, "DELIVERING")
	})
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
	text := "listen: " + listen + "\nstore: " + store + "\nlimits: {tags: 0, subOrganizationTags: 0}\nwebhooks: {allow: [127.0.0.1], timeout: 2s}\n"
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
	return &client.Client{BaseURL: p.url, Stamper: p.key().Stamper(), OrganizationID: p.organization}
}

// key is that of the organization's first user.
func (p *program) key() client.PrivateKey {
	p.t.Helper()
	text, err := os.ReadFile(p.path("key"))
	if err != nil {
		p.t.Fatal(err)
	}
	key, err := client.ParseKeyFile(string(text))
	if err != nil {
		p.t.Fatal(err)
	}
	return key
}

// hook is a receiver, in a process of its own that keeps a ledger: what is in it was
// received, however the process ended.
type hook struct {
	t                    *testing.T
	url, address, ledger string
	process              *exec.Cmd
}

// delivery is a line of the ledger.
type delivery struct {
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

func newHook(t *testing.T) *hook {
	address := testkit.Reserve(t)
	h := &hook{t: t, url: "http://" + address + "/", address: address, ledger: filepath.Join(t.TempDir(), "ledger")}
	h.start()
	t.Cleanup(func() { h.leave() })
	return h
}

// leave ends the process until the next start.
func (h *hook) leave() {
	kill(h.t, h.process)
	h.process = nil
}

func (h *hook) start() {
	h.process = exec.Command("receiver", h.address, h.ledger)
	if err := h.process.Start(); err != nil {
		h.t.Fatal(err)
	}
}

func (h *hook) restart() {
	if h.process != nil {
		h.leave()
		h.start()
	}
}

// runReceiver is the process: it takes a delivery when it is in the ledger.
func runReceiver() {
	ledger, err := os.OpenFile(os.Args[2], os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		err = http.ListenAndServe(os.Args[1], http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return
			}
			taken := delivery{Headers: map[string]string{}, Body: string(body)}
			for name := range r.Header {
				taken.Headers[strings.ToLower(name)] = r.Header.Get(name)
			}
			line, err := json.Marshal(taken)
			if err == nil {
				// The one before it may have been cut off by the end of a process.
				_, err = ledger.Write(slices.Concat([]byte("\n"), line, []byte("\n")))
			}
			if err != nil {
				w.WriteHeader(http.StatusInternalServerError)
			}
		}))
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func (h *hook) read() []byte {
	text, err := os.ReadFile(h.ledger)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		h.t.Fatal(err)
	}
	return text
}

// count is how many deliveries came.
func (h *hook) count() int { return bytes.Count(h.read(), []byte("\n{")) }

// order has the activities of each organization in the order in which they first came.
func (h *hook) order() map[string][]string {
	seen, order := map[string]bool{}, map[string][]string{}
	for line := range bytes.Lines(h.read()) {
		var d delivery
		var activity struct {
			ID             string `json:"id"`
			OrganizationID string `json:"organizationId"`
		}
		if json.Unmarshal(line, &d) != nil || json.Unmarshal([]byte(d.Body), &activity) != nil || activity.ID == "" {
			continue // cut off, or a trial
		}
		if id := d.Headers["x-turnkey-event-id"]; !seen[id] {
			seen[id] = true
			order[activity.OrganizationID] = append(order[activity.OrganizationID], activity.ID)
		}
	}
	return order
}

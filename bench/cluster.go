package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"latchkey/bench/process"
	"latchkey/bench/workload"
)

// The servers of a run. Those of --against have the suffix old.
const (
	onBaseline = "baseline"
	onSQLite   = "sqlite"
	onPostgres = "postgres"
	onPeer     = "peer"
	old        = "-old"
)

// target is a server to load.
type target struct {
	source workload.Source
	data   *workload.Dataset // what the requests are about; nil: a peer
	pids   []int             // its processes
	store  func() []int      // the processes of its database; nil: it has none
	child  *process.Child    // nil: a peer
	debug  string            // HOST:PORT of its profiles, if any
}

// cluster is the servers of a run.
type cluster struct {
	targets map[string]*target
	stops   []func()
	hooks   *httptest.Server // takes webhooks; nil until it is needed
	hook    atomic.Int64     // when the last one came, in nanoseconds
}

// receiver is the URL of a server that takes every webhook.
func (c *cluster) receiver() string {
	if c.hooks == nil {
		c.hooks = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			c.hook.Store(time.Now().UnixNano())
			w.WriteHeader(http.StatusNoContent)
		}))
		c.stops = append(c.stops, c.hooks.Close)
	}
	return c.hooks.URL
}

// settle waits until no more webhooks come: what one row left to deliver would be
// in the figures of the next.
func (c *cluster) settle(ctx context.Context) error {
	const quiet = 300 * time.Millisecond
	for {
		left := quiet - time.Since(time.Unix(0, c.hook.Load()))
		if left <= 0 {
			return nil
		}
		select {
		case <-time.After(left):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (c *cluster) stop() {
	for i := len(c.stops) - 1; i >= 0; i-- {
		c.stops[i]()
	}
	c.stops = nil
}

// start runs the servers and sets them up.
func (cmd *runCommand) start(ctx context.Context, dir string) (_ *cluster, err error) {
	c := &cluster{targets: map[string]*target{}}
	defer func() {
		if err != nil {
			c.stop()
		}
	}()
	for _, store := range []string{onSQLite, onPostgres} {
		if store == onPostgres && cmd.Postgres == "" {
			continue
		}
		for _, t := range []struct{ name, program string }{{store, cmd.Latchkey}, {store + old, cmd.Against}} {
			if t.program == "" {
				continue
			}
			if err := cmd.startLatchkey(ctx, c, t.name, t.program, filepath.Join(dir, t.name)); err != nil {
				return nil, fmt.Errorf("starting %s: %w", t.name, err)
			}
		}
	}
	if err := c.startBaseline(dir); err != nil {
		return nil, fmt.Errorf("starting the baseline: %w", err)
	}
	return c, cmd.addPeer(c)
}

// startLatchkey runs a program in a folder, on a store of its own, and sets it
// up.
func (cmd *runCommand) startLatchkey(ctx context.Context, c *cluster, name, program, dir string) error {
	store, processes := sqliteURL, (func() []int)(nil)
	if strings.HasPrefix(name, onPostgres) {
		d, err := newDatabase(ctx, cmd.Postgres)
		if err != nil {
			return err
		}
		c.stops = append(c.stops, d.drop)
		store, processes = d.url.String(), d.processes
	}
	l := latchkey{program: program, dir: dir, store: store, other: strings.HasSuffix(name, old)}
	var owners [3]*workload.Organization
	for i, organization := range []string{"Hot", "Growing", "Parent"} {
		var err error
		if owners[i], err = l.createOrganization(organization); err != nil {
			return err
		}
	}
	start := l.serve
	if cmd.Profile != "" && !l.other {
		start = l.serveProfiled
	}
	t, err := start()
	if err != nil {
		return err
	}
	c.stops = append(c.stops, t.child.Stop)
	if t.data, err = workload.Setup(t.child.Host, owners[0], owners[1], owners[2], cmd.Organizations); err != nil {
		return err
	}
	if !l.other { // an older one may have neither limits nor webhooks
		if err := t.data.SetUpPairs(t.child.Host, withPlain(cmd.Workload), c.receiver()); err != nil {
			return err
		}
	}
	t.source, t.store = t.data.Source(t.child.Host), processes
	c.targets[name] = t
	return nil
}

const (
	configFile = "latchkey.yaml"
	sqliteURL  = "sqlite:" + databaseFile // in the folder of the config
)

// latchkey is a Latchkey to run in a folder.
type latchkey struct {
	program, dir, store string
	other               bool // another version: its config has only what every version knows
}

func (l latchkey) config() string { return filepath.Join(l.dir, configFile) }

// writeConfig makes the folder, with the config.
func (l latchkey) writeConfig(listen string) error {
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return err
	}
	text := fmt.Appendf(nil, "listen: %s\nstore: %q\n", listen, l.store)
	if !l.other {
		// No balancer looks; webhooks come to this program.
		text = append(text, "timeouts: {lameDuck: 0}\nwebhooks: {allow: [127.0.0.0/8]}\n"...)
	}
	return os.WriteFile(l.config(), text, 0o600)
}

// serve runs Latchkey at an address that is free. It knows no more of the program
// than its command line and that it answers /readyz.
func (l latchkey) serve() (*target, error) {
	return l.serveWith(l.program, "serve", "--config", l.config())
}

// serveProfiled runs this program in place of Latchkey: it has a command serve,
// too.
func (l latchkey) serveProfiled() (*target, error) {
	debug, err := process.FreeHost()
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	t, err := l.serveWith(self, "serve", "--config", l.config(), "--profiles", debug)
	if err == nil {
		t.debug = debug
	}
	return t, err
}

func (l latchkey) serveWith(program string, args ...string) (*target, error) {
	host, err := process.FreeHost()
	if err != nil {
		return nil, err
	}
	if err := l.writeConfig(host); err != nil {
		return nil, err
	}
	child, err := process.Start(filepath.Join(l.dir, "log"), host, program, args...)
	if err != nil {
		return nil, err
	}
	return &target{child: child, pids: []int{child.PID}}, nil
}

func (t *target) residentMB() float64 { return float64(process.Resident(t.pids...)) / 1e6 }

// createOrganization creates a parent organization, empty but for its owner.
func (l latchkey) createOrganization(name string) (*workload.Organization, error) {
	if err := l.writeConfig("127.0.0.1:0"); err != nil {
		return nil, err
	}
	key, err := workload.NewKey()
	if err != nil {
		return nil, err
	}
	init := exec.Command(l.program, "init", "--config", l.config(),
		"--organization", name, "--user", "Root", "--public-key", key.PublicKey())
	init.Stderr = os.Stderr
	out, err := init.Output()
	if err != nil {
		return nil, fmt.Errorf("%s init: %w", l.program, err)
	}
	var created struct {
		OrganizationID string `json:"organizationId"`
	}
	if err := json.Unmarshal(out, &created); err != nil {
		return nil, fmt.Errorf("%s init: %w", l.program, err)
	}
	return &workload.Organization{ID: created.OrganizationID, Root: key}, nil
}

// startBaseline runs the bare server, a process of this program. Its replies
// are as long as those of Latchkey on SQLite.
func (c *cluster) startBaseline(dir string) error {
	like := c.targets[onSQLite]
	sizes, err := like.data.ReplySizes(like.source.Host)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	host, err := process.FreeHost()
	if err != nil {
		return err
	}
	args := []string{"baseline", "--listen", host, "--file", filepath.Join(dir, "records")}
	for operation, size := range sizes {
		args = append(args, fmt.Sprintf("--reply=%s=%d", operation, size))
	}
	child, err := process.Start(filepath.Join(dir, "baseline.log"), host, self, args...)
	if err != nil {
		return err
	}
	c.stops = append(c.stops, child.Stop)
	c.targets[onBaseline] = &target{
		source: like.data.Baseline(host, child.Ready), data: like.data, pids: []int{child.PID}, child: child,
	}
	return nil
}

// addPeer adds the other server, if there is one. It is already running.
func (cmd *runCommand) addPeer(c *cluster) error {
	if cmd.Peer == "" {
		return nil
	}
	source, err := workload.Peer(cmd.Peer, cmd.PeerHeader, cmd.PeerBody, cmd.PeerWant)
	if err != nil {
		return fmt.Errorf("--peer: %w", err)
	}
	t := &target{source: source}
	if cmd.PeerPID != 0 {
		t.pids = []int{cmd.PeerPID}
	}
	c.targets[onPeer] = t
	return nil
}

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

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
}

func (c *cluster) stop() {
	for i := len(c.stops) - 1; i >= 0; i-- {
		c.stops[i]()
	}
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
	if err := writeConfig(dir, store, "127.0.0.1:0"); err != nil {
		return err
	}
	var owners [3]*workload.Organization
	for i, organization := range []string{"Hot", "Growing", "Parent"} {
		var err error
		if owners[i], err = createOrganization(program, dir, organization); err != nil {
			return err
		}
	}
	start := serve
	if cmd.Profile != "" && !strings.HasSuffix(name, old) {
		start = serveProfiled
	}
	t, err := start(program, dir, store)
	if err != nil {
		return err
	}
	c.stops = append(c.stops, t.child.Stop)
	if t.data, err = workload.Setup(t.child.Host, owners[0], owners[1], owners[2], cmd.Organizations); err != nil {
		return err
	}
	t.source, t.store = t.data.Source(t.child.Host), processes
	c.targets[name] = t
	return nil
}

const (
	configFile = "latchkey.yaml"
	sqliteURL  = "sqlite:" + databaseFile // in the folder of the config
)

// writeConfig makes a folder with the config of a Latchkey.
func writeConfig(dir, store, listen string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, configFile), fmt.Appendf(nil, "listen: %s\nstore: %q\n", listen, store), 0o600)
}

// serve runs Latchkey in a folder, at an address that is free. It knows no more
// of the program than its command line and that it answers /readyz.
func serve(program, dir, store string) (*target, error) {
	return serveWith(program, dir, store, "serve", "--config", filepath.Join(dir, configFile))
}

// serveProfiled runs this program in place of Latchkey: it has a command serve,
// too.
func serveProfiled(_, dir, store string) (*target, error) {
	debug, err := process.FreeHost()
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	t, err := serveWith(self, dir, store, "serve", "--config", filepath.Join(dir, configFile), "--profiles", debug)
	if err == nil {
		t.debug = debug
	}
	return t, err
}

func serveWith(program, dir, store string, args ...string) (*target, error) {
	host, err := process.FreeHost()
	if err != nil {
		return nil, err
	}
	if err := writeConfig(dir, store, host); err != nil {
		return nil, err
	}
	child, err := process.Start(filepath.Join(dir, "log"), host, program, args...)
	if err != nil {
		return nil, err
	}
	return &target{child: child, pids: []int{child.PID}}, nil
}

func (t *target) residentMB() float64 { return float64(process.Resident(t.pids...)) / 1e6 }

// createOrganization creates a parent organization, empty but for its owner.
func createOrganization(program, dir, name string) (*workload.Organization, error) {
	key, err := workload.NewKey()
	if err != nil {
		return nil, err
	}
	init := exec.Command(program, "init", "--config", filepath.Join(dir, configFile),
		"--organization", name, "--user", "Root", "--public-key", key.PublicKey())
	init.Stderr = os.Stderr
	out, err := init.Output()
	if err != nil {
		return nil, fmt.Errorf("%s init: %w", program, err)
	}
	var created struct {
		OrganizationID string `json:"organizationId"`
	}
	if err := json.Unmarshal(out, &created); err != nil {
		return nil, fmt.Errorf("%s init: %w", program, err)
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

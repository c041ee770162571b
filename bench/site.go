package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"

	"latchkey/bench/process"
	"latchkey/bench/workload"
	"latchkey/client"
)

// site is the servers of a run.
type site struct {
	targets map[string]*target
	absent  map[string]error // targets that are not there, and why
	ends    []func()
}

// target is a server to load.
type target struct {
	address string // host:port
	source  workload.Source
	pids    func() []int // its processes
	store   func() []int // the processes of its database; nil: it has none
	debug   string       // base URL of its profiles; empty: there are none
	world   *workload.World
}

func (s *site) stop() {
	for len(s.ends) > 0 {
		last := len(s.ends) - 1
		s.ends[last]()
		s.ends = s.ends[:last]
	}
}

// start runs the servers and sets them up.
func (cmd *runCommand) start(ctx context.Context, dir string) (_ *site, err error) {
	s := &site{targets: map[string]*target{}, absent: map[string]error{}}
	defer func() {
		if err != nil {
			s.stop()
		}
	}()
	embedded, err := cmd.latchkey(s, filepath.Join(dir, "sqlite"), "")
	if err != nil {
		return nil, fmt.Errorf("starting Latchkey on SQLite: %w", err)
	}
	s.targets[onSQLite] = embedded
	sizes, err := embedded.world.ReplySizes()
	if err != nil {
		return nil, err
	}
	if err := s.startFloor(dir, sizes, embedded.world); err != nil {
		return nil, fmt.Errorf("starting the floor: %w", err)
	}
	if err := cmd.startPostgres(ctx, s, dir); err != nil {
		s.absent[onPostgres] = err
	}
	return s, cmd.addPeer(s)
}

// addPeer adds the other server, if there is one. It is already running.
func (cmd *runCommand) addPeer(s *site) error {
	if cmd.Peer == "" {
		return nil
	}
	peer, err := workload.NewPeer(cmd.Peer, cmd.PeerHeader, cmd.PeerBody, cmd.PeerWant)
	if err != nil {
		return fmt.Errorf("--peer: %w", err)
	}
	s.targets[onPeer] = &target{address: peer.Address, source: peer, pids: func() []int {
		if cmd.PeerPID == 0 {
			return nil
		}
		return []int{cmd.PeerPID}
	}}
	return nil
}

// latchkey runs Latchkey in a folder; store is the URL of its store, or empty
// for SQLite in that folder.
func (cmd *runCommand) latchkey(s *site, dir, store string) (*target, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	config, err := writeConfig(dir, store)
	if err != nil {
		return nil, err
	}
	var founders workload.Founders
	for name, founder := range map[string]*workload.Founder{"Hot": &founders.Hot, "Growing": &founders.Growing, "Parent": &founders.Parent} {
		if *founder, err = found(cmd.Latchkey, config, name); err != nil {
			return nil, err
		}
	}
	child, err := serve(cmd.Latchkey, dir, config, cmd.Profile != "")
	if err != nil {
		return nil, err
	}
	s.ends = append(s.ends, child.Stop)
	world, err := workload.Setup(child.Ready.Address, founders, cmd.Organizations)
	if err != nil {
		return nil, err
	}
	return &target{
		address: strings.TrimPrefix(child.Ready.Address, "http://"), source: world, world: world,
		pids: func() []int { return []int{child.PID} }, debug: child.Ready.Debug,
	}, nil
}

// writeConfig writes the config file of a Latchkey in a folder.
func writeConfig(dir, store string) (config string, err error) {
	if store == "" {
		store = "sqlite:latchkey.db"
	}
	config = filepath.Join(dir, "latchkey.yaml")
	text := fmt.Sprintf("listen: 127.0.0.1:0\nstore: %q\n", store)
	return config, os.WriteFile(config, []byte(text), 0o600)
}

// serve runs Latchkey, in this program if it shall be profiled.
func serve(latchkey, dir, config string, profiled bool) (*process.Child, error) {
	program, args := latchkey, []string{"serve", "--config", config}
	if profiled {
		var err error
		if program, err = os.Executable(); err != nil {
			return nil, err
		}
		args[0] = "profiled"
	}
	return process.Start(filepath.Join(dir, "log"), program, args...)
}

// found creates a parent organization.
func found(latchkey, config, name string) (workload.Founder, error) {
	key, err := client.GenerateKey(client.P256)
	if err != nil {
		return workload.Founder{}, err
	}
	out, err := exec.Command(latchkey, "init", "--config", config, "--organization", name, "--user", "Root", "--public-key", key.PublicKey()).Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return workload.Founder{}, fmt.Errorf("latchkey init: %w: %s", err, failed.Stderr)
	}
	if err != nil {
		return workload.Founder{}, fmt.Errorf("latchkey init: %w", err)
	}
	var created struct {
		OrganizationID string `json:"organizationId"`
	}
	if err := json.Unmarshal(out, &created); err != nil {
		return workload.Founder{}, fmt.Errorf("latchkey init: %w", err)
	}
	return workload.Founder{OrganizationID: created.OrganizationID, Key: key}, nil
}

// startFloor runs the bare server, a process of this program.
func (s *site) startFloor(dir string, sizes map[string]int, world *workload.World) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{"floor", "--file", filepath.Join(dir, "floor.records")}
	for operation, size := range sizes {
		args = append(args, fmt.Sprintf("--reply=%s=%d", operation, size))
	}
	child, err := process.Start(filepath.Join(dir, "floor.log"), program, args...)
	if err != nil {
		return err
	}
	s.ends = append(s.ends, child.Stop)
	source, err := workload.NewFloor(world, child.Ready.Address, child.Ready.Signer)
	if err != nil {
		return err
	}
	s.targets[onFloor] = &target{
		address: strings.TrimPrefix(child.Ready.Address, "http://"), source: source,
		pids: func() []int { return []int{child.PID} },
	}
	return nil
}

// startPostgres runs Latchkey on a database of its own.
func (cmd *runCommand) startPostgres(ctx context.Context, s *site, dir string) error {
	if cmd.Postgres == "" {
		return errors.New("no --postgres was given")
	}
	server, err := dialServer(ctx, cmd.Postgres)
	if err != nil {
		return err
	}
	s.ends = append(s.ends, server.close)
	name, err := server.create(ctx, "")
	if err != nil {
		return err
	}
	s.ends = append(s.ends, func() { server.drop(name) })
	t, err := cmd.latchkey(s, filepath.Join(dir, "postgres"), server.url(name))
	if err != nil {
		return err
	}
	if server.local() {
		t.store = server.processes
	}
	s.targets[onPostgres] = t
	return nil
}

package patroni

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"latchkey/internal/test/pgtest"
	"latchkey/internal/test/testkit"
)

// Machine is one of the three: Patroni, its PostgreSQL, and the ways to and from them.
type Machine struct {
	Name string

	cluster *Cluster
	dir     string
	port    int // of PostgreSQL
	rest    int // of Patroni's interface

	clients *link // from Latchkey to PostgreSQL
	peers   *link // from the other machines to PostgreSQL
	watch   *link // from the other machines to Patroni
	etcd    *link // from this machine to etcd

	patroni *process
}

func (c *Cluster) newMachine(name string) (_ *Machine, err error) {
	m := &Machine{Name: name, cluster: c, dir: filepath.Join(c.dir, name)}
	if err := c.folder(m.dir); err != nil {
		return nil, err
	}
	if m.port, err = pgtest.FreePort(); err != nil {
		return nil, err
	}
	if m.rest, err = pgtest.FreePort(); err != nil {
		return nil, err
	}
	for _, way := range []struct {
		link **link
		to   int
	}{{&m.clients, m.port}, {&m.peers, m.port}, {&m.watch, m.rest}, {&m.etcd, c.etcdPort}} {
		if *way.link, err = newLink(way.to); err != nil {
			return nil, err
		}
	}
	return m, os.WriteFile(m.config(), []byte(m.settings()), 0o644)
}

func (m *Machine) config() string { return filepath.Join(m.dir, "patroni.yml") }
func (m *Machine) data() string   { return filepath.Join(m.dir, "data") }

// settings is Patroni's config. A leader that is not heard of for five seconds is
// replaced: the defaults, with 30, would be tested in the same way, only slower.
func (m *Machine) settings() string {
	return fmt.Sprintf(`scope: latchkey
name: %[1]s
restapi: {listen: "127.0.0.1:%[2]d", connect_address: "%[3]s"}
etcd: {host: "%[4]s", use_proxies: true}
watchdog: {mode: "off"}
bootstrap:
  dcs:
    ttl: 5
    loop_wait: 1
    retry_timeout: 2
    master_start_timeout: 0
    synchronous_mode: true
    synchronous_mode_strict: true
    postgresql:
      use_pg_rewind: true
      parameters: {wal_log_hints: "on", max_connections: 100, wal_keep_size: 256MB, hot_standby: "on"}
  initdb: [{encoding: UTF8}, {locale: C.UTF-8}, {auth: trust}]
  pg_hba: ["local all all trust", "host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"]
postgresql:
  listen: "127.0.0.1:%[5]d"
  connect_address: "%[6]s"
  data_dir: %[7]s
  bin_dir: %[8]s
  pgpass: %[9]s/pgpass
  authentication:
    replication: {username: replicator, password: unused}
    superuser: {username: postgres, password: unused}
  parameters: {unix_socket_directories: %[9]s, wal_receiver_timeout: 5s, wal_sender_timeout: 5s}
`, m.Name, m.rest, m.watch.address(), m.etcd.address(), m.port, m.peers.address(), m.data(), m.cluster.bin, m.dir)
}

// start starts Patroni, which starts PostgreSQL.
func (m *Machine) start() (err error) {
	m.patroni, err = m.cluster.run(filepath.Join(m.dir, "log"), "patroni", m.config())
	return err
}

// processes are all that run on the machine, Patroni first.
func (m *Machine) processes() (all []int) {
	if m.patroni != nil {
		all = descendants(m.patroni.id())
	}
	// PostgreSQL may have lost its parent.
	if text, err := os.ReadFile(filepath.Join(m.data(), "postmaster.pid")); err == nil {
		line, _, _ := strings.Cut(string(text), "\n")
		if pid, err := strconv.Atoi(line); err == nil && m.owns(pid) {
			all = append(all, descendants(pid)...)
		}
	}
	return all
}

// owns tells a PostgreSQL of this machine from another process that has got the number
// of one that has ended.
func (m *Machine) owns(pid int) bool {
	arguments, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && strings.Contains(string(arguments), m.data())
}

func descendants(pid int) []int {
	all := []int{pid}
	for _, child := range pgtest.ChildrenOf(pid) {
		all = append(all, descendants(child)...)
	}
	return all
}

// signal reaches every process of the machine, also those that were just being born.
func (m *Machine) signal(s syscall.Signal) {
	reached := map[int]bool{}
	for more := true; more; {
		more = false
		for _, pid := range m.processes() {
			if !reached[pid] {
				reached[pid], more = true, true
				_ = syscall.Kill(pid, s)
			}
		}
	}
}

// Kill ends everything on the machine at once.
func (m *Machine) Kill() error {
	m.signal(syscall.SIGSTOP) // so that nothing new appears meanwhile
	pids := m.processes()
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	<-m.patroni.exited
	for _, pid := range pids {
		if !gone(pid) {
			return fmt.Errorf("%s: process %d did not end", m.Name, pid)
		}
	}
	return nil
}

// gone waits for the end of a process, which this one has adopted.
func gone(pid int) bool {
	return testkit.Await(func() bool { return syscall.Kill(pid, 0) != nil })
}

// Revive starts the machine again after [Machine.Kill].
func (m *Machine) Revive() error { return m.start() }

// Stop freezes everything on the machine: connections stay open, nothing comes.
func (m *Machine) Stop() { m.signal(syscall.SIGSTOP) }

// Continue lets a machine that was stopped go on, as if no time had passed.
func (m *Machine) Continue() { m.signal(syscall.SIGCONT) }

// Cut takes the machine off the network.
func (m *Machine) Cut(cut bool) {
	m.Part(cut)
	m.clients.set(cut)
}

// Part cuts the machine off from the rest of its cluster, while Latchkey still
// reaches it.
func (m *Machine) Part(cut bool) {
	for _, l := range []*link{m.peers, m.watch, m.etcd} {
		l.set(cut)
	}
}

// close ends the machine for good.
func (m *Machine) close() {
	for _, l := range []*link{m.clients, m.peers, m.watch, m.etcd} {
		if l != nil {
			l.close()
		}
	}
	if m.patroni != nil {
		_ = m.Kill()
	}
}

// State is what Patroni says of its machine.
type State struct {
	Role     string `json:"role"`
	State    string `json:"state"`
	Timeline int    `json:"timeline"`
	Sync     bool   `json:"sync_standby"` // Patroni may make it primary
	// Replication is there on a leader.
	Replication []struct {
		State string `json:"state"`
		Sync  string `json:"sync_state"`
	} `json:"replication"`
}

// Leads says that the machine has the primary.
func (s State) Leads() bool {
	return (s.Role == "master" || s.Role == "primary") && s.State == "running"
}

// whole says that a leader has two standbys, and commits wait for one of them.
func (s State) whole() bool {
	streaming, synchronous := 0, 0
	for _, standby := range s.Replication {
		if standby.State == "streaming" {
			streaming++
		}
		if standby.Sync == "sync" {
			synchronous++
		}
	}
	return streaming == machines-1 && synchronous == 1
}

// State asks Patroni.
func (m *Machine) State(ctx context.Context) (s State, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+local(m.rest)+"/patroni", nil)
	if err != nil {
		return s, err
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		return s, err
	}
	defer func() { _ = reply.Body.Close() }()
	return s, json.NewDecoder(reply.Body).Decode(&s)
}

// process is a program that runs until it is ended.
type process struct {
	cmd    *exec.Cmd
	exited chan struct{}
}

func (p *process) id() int { return p.cmd.Process.Pid }

// run starts a program as PostgreSQL's user. It ends with this process.
func (c *Cluster) run(log, name string, arguments ...string) (*process, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer func() { _ = out.Close() }()
	cmd := exec.Command(name, arguments...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = c.dir, pgtest.Environment(), out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.cred, Setpgid: true, Pdeathsig: syscall.SIGKILL}
	p := &process{cmd: cmd, exited: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The kernel means the death of the thread, so the thread must stay.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
			close(p.exited)
		}
	}()
	return p, <-started
}

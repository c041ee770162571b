// Package patroni gives tests a real cluster of PostgreSQL servers that elect their
// primary themselves: etcd, and three machines with Patroni, in strict synchronous mode.
// All of it runs privately on this one, on loopback ports, in one folder, as an ordinary
// user. Each machine can be killed, stopped, or taken off the network.
//
// etcd has one member, which never fails: what is tested is who loses data when
// primaries fail, not how etcd agrees.
package patroni

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"latchkey/internal/test/pgtest"
)

const machines = 3

// Cluster is a running cluster.
type Cluster struct {
	Machines []*Machine

	dir      string
	bin      string // folder of PostgreSQL's programs
	cred     *syscall.Credential
	etcdPort int
	etcd     *process
	closed   chan struct{}
}

// Start starts a cluster in a folder, and returns when it is whole.
func Start(ctx context.Context, dir string) (_ *Cluster, err error) {
	c := &Cluster{dir: dir, closed: make(chan struct{})}
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	if c.bin, err = pgtest.Programs(); err != nil {
		return nil, err
	}
	if os.Geteuid() == 0 { // PostgreSQL refuses to run as root
		if c.cred, err = pgtest.Credential("postgres"); err != nil {
			return nil, err
		}
	}
	if err := c.adopt(); err != nil {
		return nil, err
	}
	if err := c.startEtcd(ctx); err != nil {
		return nil, err
	}
	for i := range machines {
		m, err := c.newMachine(fmt.Sprint("machine", i+1))
		if err != nil {
			return nil, err
		}
		c.Machines = append(c.Machines, m)
		if err := m.start(); err != nil {
			return nil, err
		}
	}
	_, err = c.Whole(ctx)
	return c, err
}

func (c *Cluster) folder(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil || c.cred == nil {
		return err
	}
	return os.Chown(path, int(c.cred.Uid), int(c.cred.Gid))
}

func (c *Cluster) startEtcd(ctx context.Context) (err error) {
	dir := filepath.Join(c.dir, "etcd")
	if err := c.folder(dir); err != nil {
		return err
	}
	if c.etcdPort, err = pgtest.FreePort(); err != nil {
		return err
	}
	peers, err := pgtest.FreePort()
	if err != nil {
		return err
	}
	client, peer := "http://"+local(c.etcdPort), "http://"+local(peers)
	// The second interface of etcd: by way of the third, Patroni 3.0.2 lets a primary that
	// was stopped take the lead back from its successor (mended in 3.0.3).
	c.etcd, err = c.run(filepath.Join(dir, "log"), "etcd", "--enable-v2", "--name", "etcd", "--data-dir", filepath.Join(dir, "data"),
		"--listen-client-urls", client, "--advertise-client-urls", client,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "etcd="+peer)
	if err != nil {
		return err
	}
	return c.await(ctx, "etcd answers", func() bool {
		reply, err := http.Get(client + "/health")
		if err != nil {
			return false
		}
		_ = reply.Body.Close()
		return reply.StatusCode == http.StatusOK
	})
}

// Close ends all processes.
func (c *Cluster) Close() {
	for _, m := range c.Machines {
		m.close()
	}
	if c.etcd != nil {
		_ = c.etcd.cmd.Process.Kill()
		<-c.etcd.exited
	}
	close(c.closed)
}

// Patience is how long a cluster may take to elect a primary, or to become whole.
const Patience = 2 * time.Minute

// await waits until holds returns true.
func (c *Cluster) await(ctx context.Context, what string, holds func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	for !holds() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("not within %v: %s", Patience, what)
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil
}

// Whole returns the machine with the primary when all three take part and commits wait
// for a standby.
func (c *Cluster) Whole(ctx context.Context) (leader *Machine, err error) {
	err = c.await(ctx, "the cluster is whole", func() bool {
		leader = nil
		heir := false
		for _, m := range c.Machines {
			s, err := m.State(ctx)
			if err == nil && s.Leads() && s.whole() {
				leader = m
			}
			heir = heir || err == nil && s.Sync
		}
		return leader != nil && heir
	})
	if err != nil {
		err = errors.Join(err, c.complaint())
	}
	return leader, err
}

// Successor returns the machine that leads after another one.
func (c *Cluster) Successor(ctx context.Context, former *Machine) (leader *Machine, s State, err error) {
	err = c.await(ctx, "another machine leads", func() bool {
		for _, m := range c.Machines {
			if m == former {
				continue
			}
			if s, err = m.State(ctx); err == nil && s.Leads() {
				leader = m
				return true
			}
		}
		return false
	})
	if err != nil {
		err = errors.Join(err, c.complaint())
	}
	return leader, s, err
}

// complaint is the end of what the machines have logged.
func (c *Cluster) complaint() error {
	var all strings.Builder
	for _, m := range c.Machines {
		text, _ := os.ReadFile(filepath.Join(m.dir, "log"))
		lines := strings.Split(string(text), "\n")
		fmt.Fprintf(&all, "--- %s\n%s\n", m.Name, strings.Join(lines[max(0, len(lines)-15):], "\n"))
	}
	return errors.New(all.String())
}

// CreateDatabase makes a role and a database of its own, by way of the leader, and
// returns when all machines have it.
func (c *Cluster) CreateDatabase(ctx context.Context, leader *Machine, name string) error {
	conn, err := leader.connect(ctx, "postgres")
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	quoted := pgx.Identifier{name}.Sanitize()
	for _, sql := range []string{"CREATE ROLE " + quoted + " LOGIN", "CREATE DATABASE " + quoted + " OWNER " + quoted} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return c.await(ctx, "all machines have the database", func() bool {
		for _, m := range c.Machines {
			conn, err := m.connect(ctx, name)
			if err != nil {
				return false
			}
			_ = conn.Close(ctx)
		}
		return true
	})
}

// connect connects to a database as administrator.
func (m *Machine) connect(ctx context.Context, database string) (*pgx.Conn, error) {
	return pgx.Connect(ctx, fmt.Sprintf("postgres://postgres@%s/%s?sslmode=disable", local(m.port), database))
}

// URL names all machines, and a role and a database of that name.
func (c *Cluster) URL(name string, options ...string) string {
	var hosts []string
	for _, m := range c.Machines {
		hosts = append(hosts, m.clients.address())
	}
	return fmt.Sprintf("postgres://%s@%s/%s?%s", name, strings.Join(hosts, ","), name, strings.Join(append([]string{"sslmode=disable"}, options...), "&"))
}

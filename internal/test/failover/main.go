// Command failover lets primaries fail under load, and compares what is left with a
// ledger that it keeps itself: docs/operations.md, "Failover, tried out". `make failover`
// builds and runs it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"latchkey/internal/test/patroni"
)

func main() {
	t := trial{}
	flag.StringVar(&t.program, "latchkey", "bin/latchkey", "the program")
	flag.StringVar(&t.dir, "dir", "", "folder for everything (required)")
	flag.IntVar(&t.failovers, "failovers", 3, "how many times a primary fails")
	kinds := flag.String("kinds", "kill,stop,cut,part", "how, in turns: kill, stop, cut, part")
	flag.Parse()
	t.kinds = strings.Split(*kinds, ",")
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := t.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "failover:", err)
		os.Exit(1)
	}
}

type trial struct {
	program, dir string
	failovers    int
	kinds        []string

	cluster *patroni.Cluster
	servers []*server
	load    *load
	results []result
}

// result is one failover.
type result struct {
	kind    string
	without time.Duration // any acknowledged write
}

// failures are the ways to fail: the first ends the service of the machine, the second
// brings it back.
func failures(m *patroni.Machine) map[string][2]func() error {
	done := func(f func()) func() error { return func() error { f(); return nil } }
	return map[string][2]func() error{
		"kill": {m.Kill, m.Revive},
		"stop": {done(m.Stop), done(m.Continue)},
		"cut":  {done(func() { m.Cut(true) }), done(func() { m.Cut(false) })},
		"part": {done(func() { m.Part(true) }), done(func() { m.Part(false) })},
	}
}

func (t *trial) run(ctx context.Context) (err error) {
	for _, kind := range t.kinds {
		if _, ok := failures(nil)[kind]; !ok {
			return fmt.Errorf("a primary does not fail by %q: use kill, stop, cut or part", kind)
		}
	}
	if t.dir == "" || t.failovers < 1 {
		return errors.New("give a folder with -dir, and at least one failover")
	}
	begun := time.Now()
	if t.cluster, err = patroni.Start(ctx, t.dir); err != nil {
		return err
	}
	defer t.cluster.Close()
	defer func() {
		for _, s := range t.servers {
			s.end(syscall.SIGKILL)
		}
	}()
	if err := t.startServers(ctx); err != nil {
		return err
	}
	fmt.Printf("a cluster of three and two servers are up after %.0f s\n", time.Since(begun).Seconds())
	t.load.start()
	for i := range t.failovers {
		if err = t.fail(ctx, i); err != nil {
			break
		}
	}
	t.load.end()
	if err == nil {
		err = t.checkAll(ctx)
	}
	t.report(time.Since(begun))
	if n := len(t.load.violations); n > 0 {
		err = errors.Join(err, fmt.Errorf("%d violations", n))
	}
	return err
}

func (t *trial) startServers(ctx context.Context) error {
	leader, err := t.cluster.Whole(ctx)
	if err != nil {
		return err
	}
	if err := t.cluster.CreateDatabase(ctx, leader, "latchkey"); err != nil {
		return err
	}
	store := t.cluster.URL("latchkey", "connect_timeout=2", "statement_timeout=4000")
	for i := range 2 {
		s, err := newServer(t.program, filepath.Join(t.dir, fmt.Sprint("server", i+1)), store)
		if err != nil {
			return err
		}
		t.servers = append(t.servers, s)
	}
	parent, err := t.servers[0].initialize(ctx)
	if err != nil {
		return err
	}
	master, err := os.ReadFile(filepath.Join(t.servers[0].dir, "master.key"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(t.servers[1].dir, "master.key"), master, 0o600); err != nil {
		return err
	}
	for _, s := range t.servers {
		if err := s.start(); err != nil {
			return err
		}
		if err := s.ready(); err != nil {
			return err
		}
	}
	t.load = &load{
		ledger: new(ledger), servers: t.servers, parent: parent, stop: make(chan struct{}),
		http: &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 2 * writers}},
	}
	return nil
}

// fail lets the primary fail once, and checks everything that may have suffered.
func (t *trial) fail(ctx context.Context, i int) error {
	t.load.round.Store(int64(i + 1))
	former, err := t.cluster.Whole(ctx)
	if err != nil {
		return err
	}
	before, err := former.State(ctx)
	if err != nil {
		return err
	}
	if err := t.acknowledgeMore(ctx, 50); err != nil { // there is something to lose
		return err
	}
	kind := t.kinds[i%len(t.kinds)]
	t.load.resetGap()
	way := failures(former)[kind]
	if err := way[0](); err != nil {
		return err
	}
	// Each fourth time a server knows of the failover only what the database says.
	late := i%4 == 3
	if late {
		t.servers[1].end(syscall.SIGKILL)
		if err := t.servers[1].start(); err != nil {
			return err
		}
	}
	successor, after, err := t.cluster.Successor(ctx, former)
	if err != nil {
		return err
	}
	if after.Timeline <= before.Timeline {
		return fmt.Errorf("%s leads on timeline %d, after timeline %d", successor.Name, after.Timeline, before.Timeline)
	}
	// The former primary comes back before, while or after the servers find the new one.
	time.Sleep(time.Duration(i%3) * time.Second)
	if err := way[1](); err != nil {
		return err
	}
	if err := t.acknowledgeMore(ctx, 20); err != nil {
		return err
	}
	without := t.load.gap()
	if _, err := t.cluster.Whole(ctx); err != nil {
		return err
	}
	for _, s := range t.servers {
		if err := errors.Join(s.runs(), s.ready()); err != nil {
			return err
		}
	}
	if err := t.check(ctx, t.recent()); err != nil {
		return err
	}
	t.results = append(t.results, result{kind, without})
	now := t.load.now()
	fmt.Printf("%3d/%d %s of %s: %s leads on timeline %d, %.1f s without writes; %d acknowledged, %d were in doubt, %d lost, %d twice, %d revoked keys accepted\n",
		i+1, t.failovers, kind, former.Name, successor.Name, after.Timeline, without.Seconds(), now.acknowledged, now.doubted, now.lost, now.twice, now.accepted)
	return nil
}

// acknowledgeMore waits for n more writes.
func (t *trial) acknowledgeMore(ctx context.Context, n int) error {
	want := t.load.now().acknowledged + n
	for begun := time.Now(); t.load.now().acknowledged < want; time.Sleep(20 * time.Millisecond) {
		if time.Since(begun) > patroni.Patience || ctx.Err() != nil {
			return fmt.Errorf("no %d writes within %v", n, time.Since(begun).Round(time.Second))
		}
	}
	return nil
}

// recent are the organizations of this failover and the one before.
func (t *trial) recent() []*organization {
	t.load.mu.Lock()
	defer t.load.mu.Unlock()
	all := t.load.organizations
	return slices.Clone(all[max(0, len(all)-2*writers):])
}

// check compares both servers with the ledger, and audits the log.
func (t *trial) check(ctx context.Context, organizations []*organization) error {
	for i := range t.servers {
		if err := t.load.check(i, organizations); err != nil {
			return err
		}
	}
	return t.audit(ctx)
}

// audit checks the log. An audit that could not be carried out (status 2), because the
// cluster has chosen another primary by itself meanwhile, says nothing: it is tried again.
func (t *trial) audit(ctx context.Context) error {
	for begun := time.Now(); ; time.Sleep(time.Second) {
		_, err := t.servers[0].run(ctx, "audit", "verify", "--config", t.servers[0].config())
		if err == nil {
			return nil
		}
		if ended, ok := errors.AsType[*exec.ExitError](err); ok && ended.ExitCode() == 1 {
			t.load.violation(other, "%v", err)
			return nil
		}
		if time.Since(begun) > patroni.Patience || ctx.Err() != nil {
			return err
		}
	}
}

func (t *trial) checkAll(ctx context.Context) error { return t.check(ctx, t.load.organizations) }

func (t *trial) report(took time.Duration) {
	c := t.load.now()
	var gaps []time.Duration
	byKind := map[string]int{}
	for _, r := range t.results {
		gaps = append(gaps, r.without)
		byKind[r.kind]++
	}
	slices.Sort(gaps)
	fmt.Printf("\nfailovers              %d (", len(t.results))
	for i, kind := range t.kinds {
		if i > 0 {
			fmt.Print(", ")
		}
		fmt.Printf("%s %d", kind, byKind[kind])
	}
	fmt.Printf(") in %v\n", took.Round(time.Second))
	fmt.Printf("writes acknowledged    %d\n", c.acknowledged)
	fmt.Printf("writes in doubt        %d, of which %d were not sent again\n", c.doubted, c.abandoned)
	fmt.Printf("keys revoked           %d, tried %d times, %d writes with them refused\n", c.revoked, c.probes, c.refused)
	fmt.Printf("reads                  %d\n", c.reads)
	fmt.Printf("lost                   %d\n", c.lost)
	fmt.Printf("twice                  %d\n", c.twice)
	fmt.Printf("revoked keys accepted  %d\n", c.accepted)
	fmt.Printf("other violations       %d\n", c.other)
	if n := len(gaps); n > 0 {
		fmt.Printf("time without writes    %.1f s median, %.1f s longest\n", gaps[n/2].Seconds(), gaps[n-1].Seconds())
	}
}

// Command failover lets primaries fail under load, and compares what is left with a
// ledger that it keeps itself: docs/operations.md, "Failover, tried out". `make failover`
// builds and runs it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"latchkey/internal/test/patroni"
	"latchkey/internal/test/trial"
)

func main() {
	t := failover{}
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

type failover struct {
	program, dir string
	failovers    int
	kinds        []string

	cluster *patroni.Cluster
	servers []*trial.Server
	load    *trial.Load
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

func (t *failover) run(ctx context.Context) (err error) {
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
			s.End(syscall.SIGKILL)
		}
	}()
	if err := t.startServers(ctx); err != nil {
		return err
	}
	fmt.Printf("a cluster of three and two servers are up after %.0f s\n", time.Since(begun).Seconds())
	t.load.Start()
	for i := range t.failovers {
		if err = t.fail(ctx, i); err != nil {
			break
		}
	}
	t.load.End()
	if err == nil {
		err = t.load.CheckAll(ctx)
	}
	return errors.Join(err, t.report(time.Since(begun)))
}

func (t *failover) startServers(ctx context.Context) error {
	leader, err := t.cluster.Whole(ctx)
	if err != nil {
		return err
	}
	if err := t.cluster.CreateDatabase(ctx, leader, "latchkey"); err != nil {
		return err
	}
	store := fmt.Sprintf("{url: %q, durability: replica}", t.cluster.URL("latchkey", "connect_timeout=2", "statement_timeout=4000"))
	for i := range 2 {
		s, err := trial.NewServer(t.program, filepath.Join(t.dir, fmt.Sprint("server", i+1)), store)
		if err != nil {
			return err
		}
		t.servers = append(t.servers, s)
	}
	parent, err := t.servers[0].Initialize(ctx)
	if err != nil {
		return err
	}
	master, err := os.ReadFile(filepath.Join(t.servers[0].Dir, "master.key"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(t.servers[1].Dir, "master.key"), master, 0o600); err != nil {
		return err
	}
	for _, s := range t.servers {
		if err := s.Start(); err != nil {
			return err
		}
		if err := s.Ready(); err != nil {
			return err
		}
	}
	t.load = trial.NewLoad(t.servers, parent, 150*time.Millisecond, os.Stdout)
	return nil
}

// fail lets the primary fail once, and checks everything that may have suffered.
func (t *failover) fail(ctx context.Context, i int) error {
	former, err := t.cluster.Whole(ctx)
	if err != nil {
		return err
	}
	before, err := former.State(ctx)
	if err != nil {
		return err
	}
	if err := t.load.NextRound(ctx, 50); err != nil {
		return err
	}
	kind := t.kinds[i%len(t.kinds)]
	t.load.ResetGap()
	way := failures(former)[kind]
	if err := way[0](); err != nil {
		return err
	}
	// Each fourth time a server knows of the failover only what the database says.
	late := i%4 == 3
	if late {
		t.servers[1].End(syscall.SIGKILL)
		if err := t.servers[1].Start(); err != nil {
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
	if err := t.load.AcknowledgeMore(ctx, 20); err != nil {
		return err
	}
	without := t.load.Gap()
	if _, err := t.cluster.Whole(ctx); err != nil {
		return err
	}
	if err := t.load.Check(ctx); err != nil {
		return err
	}
	t.results = append(t.results, result{kind, without})
	fmt.Printf("%3d/%d %s of %s: %s leads on timeline %d, %.1f s without writes; %s\n",
		i+1, t.failovers, kind, former.Name, successor.Name, after.Timeline, without.Seconds(), t.load.Sum())
	return nil
}

func (t *failover) report(took time.Duration) error {
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
	err := t.load.Report()
	if n := len(gaps); n > 0 {
		fmt.Printf("time without writes    %.1f s median, %.1f s longest\n", gaps[n/2].Seconds(), gaps[n-1].Seconds())
	}
	return err
}

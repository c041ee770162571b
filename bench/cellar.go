package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"latchkey/bench/process"
	"latchkey/bench/workload"
)

// cellar holds filled databases, each in a folder with the config and the
// master key of a Latchkey, and what is needed to speak to it. A measurement
// works on a copy of a folder: the ones in the cellar are never changed by it.
type cellar struct {
	latchkey string
	dir      string // of the filled folders
	work     string // of the copies
	keep     bool   // the databases outlive the run
	mayFill  bool
	profiled bool
	postgres *postgresServer // nil: SQLite
	note     *notes
	drops    []string // databases to drop at the end
	mu       sync.Mutex
}

// Files of a folder.
const (
	worldFile    = "world.json"
	databaseFile = "database" // PostgreSQL: the name of the database
	countFile    = "stored"   // how many there are, counted by the database
)

// notes are lines for people who wait.
type notes struct {
	mu sync.Mutex
	w  io.Writer
}

func (n *notes) say(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	fmt.Fprintf(n.w, format+"\n", args...)
}

// Write implements io.Writer.
func (n *notes) Write(text []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.w.Write(text)
}

func (c *cellar) close() {
	if c.postgres == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range c.drops {
		c.postgres.drop(name)
	}
	c.postgres.close()
}

// fillAll fills the dimensions side by side, the largest of each first: some
// of them keep only one processor busy.
func (c *cellar) fillAll(ctx context.Context, all [][]grownSize) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var filling sync.WaitGroup
	errs := make([]error, len(all))
	for i, sizes := range all {
		filling.Go(func() {
			for k := len(sizes) - 1; k >= 0 && errs[i] == nil; k-- {
				if err := c.fill(ctx, sizes[k]); err != nil {
					errs[i] = fmt.Errorf("filling %s: %w", sizes[k], err)
					cancel() // the others need not go on
				}
			}
		})
	}
	filling.Wait()
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
	}
	return errors.Join(errs...)
}

// fill makes one database, or goes on where it was left.
func (c *cellar) fill(ctx context.Context, s grownSize) error {
	dir := filepath.Join(c.dir, s.String())
	world, err := c.world(dir, s)
	if err != nil {
		return err
	}
	if world != nil && world.Finished {
		return nil
	}
	if !c.mayFill {
		return errors.New("it is not there, or not filled to the end: --keep fills it")
	}
	var founder workload.Founder
	if world == nil {
		if founder, err = c.begin(ctx, dir); err != nil {
			return err
		}
	}
	p := &progress{name: s.String(), of: s.size, began: time.Now(), note: c.note}
	keep := func() error {
		p.tell(world.Filled)
		return c.keepWorld(dir, world)
	}
	if world == nil {
		err := c.serving(dir, func(address string) (err error) {
			world, err = workload.Found(address, founder, s.dimension, s.size, s.atWork)
			return err
		})
		if err != nil {
			return err
		}
	}
	p.from, p.began = world.Filled, time.Now()
	if err := keep(); err != nil {
		return err
	}
	if err := fillChildren(ctx, filepath.Join(dir, "latchkey.yaml"), world, keep); err != nil {
		return err
	}
	err = c.serving(dir, func(address string) error {
		if err := world.MoveTo(address); err != nil {
			return err
		}
		return world.Fill(ctx, keep)
	})
	if err != nil {
		return err
	}
	return c.count(ctx, dir, s)
}

// serving runs Latchkey on a folder while do runs.
func (c *cellar) serving(dir string, do func(address string) error) error {
	server, err := serve(c.latchkey, dir, filepath.Join(dir, "latchkey.yaml"), false)
	if err != nil {
		return err
	}
	defer os.Remove(filepath.Join(dir, "log")) // a line for each request
	defer server.Stop()
	return do(server.Ready.Address)
}

// begin makes an empty database with one organization.
func (c *cellar) begin(ctx context.Context, dir string) (none workload.Founder, err error) {
	if err := os.RemoveAll(dir); err != nil { // of a run that did not get far
		return none, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return none, err
	}
	var url string
	if c.postgres != nil {
		name, err := c.postgres.create(ctx, "")
		if err != nil {
			return none, err
		}
		if !c.keep {
			c.dropLater(name)
		}
		if err := os.WriteFile(filepath.Join(dir, databaseFile), []byte(name), 0o600); err != nil {
			return none, err
		}
		url = c.postgres.url(name)
	}
	config, err := writeConfig(dir, url)
	if err != nil {
		return none, err
	}
	return found(c.latchkey, config, "Grown")
}

func (c *cellar) dropLater(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drops = append(c.drops, name)
}

// world reads what is known of a folder, nil when there is nothing.
func (c *cellar) world(dir string, s grownSize) (*workload.Grown, error) {
	text, err := os.ReadFile(filepath.Join(dir, worldFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	g, err := workload.Load(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; delete the folder to fill it anew", filepath.Join(dir, worldFile), err)
	}
	if g.AtWork != s.atWork || g.Size != s.size || g.Dimension != s.dimension {
		return nil, fmt.Errorf("%s was filled with %d of %d at work and not %d of %d: ask for the same, or delete the folder", dir, g.AtWork, g.Size, s.atWork, s.size)
	}
	return g, nil
}

// keepWorld replaces the file whole: a run that is killed leaves the old one.
func (c *cellar) keepWorld(dir string, g *workload.Grown) error {
	text, err := g.Keep()
	if err != nil {
		return err
	}
	file := filepath.Join(dir, worldFile)
	if err := os.WriteFile(file+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// progress tells how filling goes on, every few seconds.
type progress struct {
	name     string
	of, from int
	began    time.Time
	told     time.Time
	note     *notes
}

func (p *progress) tell(done int) {
	const every = 5 * time.Second
	now := time.Now()
	if now.Sub(p.told) < every && done < p.of || done == p.from {
		return
	}
	p.told = now
	rate := float64(done-p.from) / now.Sub(p.began).Seconds()
	left := time.Duration(float64(p.of-done) / rate * float64(time.Second))
	p.note.say("filling %s: %d of %d, %.0f/s, %v left", p.name, done, p.of, rate, left.Round(time.Second))
}

// open copies a filled database, if there is no copy or it shall be a new one,
// and starts Latchkey on it.
func (c *cellar) open(ctx context.Context, s grownSize, anew bool) (*process.Child, error) {
	dir := filepath.Join(c.work, s.String())
	if anew {
		if err := c.copy(ctx, s, dir); err != nil {
			return nil, fmt.Errorf("copying %s: %w", s, err)
		}
	}
	return serve(c.latchkey, dir, filepath.Join(dir, "latchkey.yaml"), c.profiled)
}

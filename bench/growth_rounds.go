package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"latchkey/bench/process"
	"latchkey/bench/workload"
)

// grown is one size while it is measured.
type grown struct {
	grownSize
	world  *workload.Grown
	stored int
	bytes  int64
	rows   []*row // by workload
	// In milliseconds and bytes, one for each round.
	start, rest, loaded []float64
	cold                float64 // start after the database was dropped from memory

	server *process.Child
	target *target
}

// copyAgain is the size up to which a database is copied anew for each round. A
// round adds a few thousand activities; to what is larger that is nothing.
const copyAgain = 256 << 20

// measure goes through the sizes of one dimension in rounds. In each, all sizes
// are served at the same time and take turns with every workload.
func (cmd *growthCommand) measure(ctx context.Context, c *cellar, sizes []grownSize) (*growthDimension, error) {
	all := make([]*grown, len(sizes))
	for i, s := range sizes {
		world, err := c.world(filepath.Join(c.dir, s.String()), s)
		if err != nil {
			return nil, err
		}
		g := &grown{grownSize: s, world: world}
		if g.stored, g.bytes, err = c.stored(ctx, s); err != nil {
			return nil, err
		}
		for _, name := range cmd.Workload {
			_, many := world.SpreadOver(name)
			g.rows = append(g.rows, &row{cell: cell{name, cmd.Connections, many, s.String()}})
		}
		all[i] = g
	}
	defer func() {
		for _, g := range all {
			g.stop()
		}
	}()
	for round := range cmd.Rounds {
		c.note.say("%s: round %d of %d, %v each", sizes[0].dimension, round+1, cmd.Rounds, cmd.Time)
		order := slices.Clone(all)
		if round%2 == 1 { // so that none always comes after the same
			slices.Reverse(order)
		}
		if err := cmd.round(ctx, c, order, round == 0); err != nil {
			return nil, err
		}
	}
	for _, g := range all {
		if err := c.coldStart(ctx, g); err != nil {
			return nil, err
		}
	}
	return newGrowthDimension(all), cmd.profileAll(ctx, c, all)
}

// round starts every size, measures and stops it.
func (cmd *growthCommand) round(ctx context.Context, c *cellar, all []*grown, first bool) error {
	s := &site{targets: map[string]*target{}}
	for _, g := range all {
		if err := c.startGrown(ctx, g, first || g.bytes < copyAgain); err != nil {
			return err
		}
		g.start = append(g.start, millis(time.Since(g.server.Began)))
		memory, err := process.Resident(g.server.PID)
		if err != nil {
			return err
		}
		g.rest = append(g.rest, float64(memory))
		s.targets[g.String()] = g.target
	}
	m := &measurement{site: s, time: cmd.Time, warmUp: min(cmd.Time, 250*time.Millisecond), note: c.note}
	for k := range cmd.Workload {
		for _, g := range all {
			if err := ctx.Err(); err != nil {
				return err
			}
			r := g.rows[k]
			if r.err != nil {
				continue
			}
			m.organizations, _ = g.world.SpreadOver(r.Workload)
			if err := m.again(r); err != nil {
				r.err, r.samples = err, nil
				c.note.say("%s: %v", r.cell, err)
			}
		}
	}
	for _, g := range all {
		memory, err := process.Resident(g.server.PID)
		if err != nil {
			return err
		}
		g.loaded = append(g.loaded, float64(memory))
		g.stop()
	}
	return nil
}

// again warms a server up that was started for this round, and measures.
func (m *measurement) again(r *row) error {
	known := r.perSecond
	if err := m.warm(r); err != nil {
		return err
	}
	r.perSecond = max(r.perSecond, known)
	return m.round(r)
}

// startGrown starts Latchkey on a copy, and returns when it is ready.
func (c *cellar) startGrown(ctx context.Context, g *grown, anew bool) (err error) {
	if g.server, err = c.open(ctx, g.grownSize, anew); err != nil {
		return err
	}
	if err := awaitReady(g.server.Ready.Address); err != nil {
		return err
	}
	pid := g.server.PID
	g.target = &target{
		address: strings.TrimPrefix(g.server.Ready.Address, "http://"), source: g.world,
		pids: func() []int { return []int{pid} }, debug: g.server.Ready.Debug,
	}
	if c.postgres != nil && c.postgres.local() {
		g.target.store = c.postgres.processes
	}
	return g.world.MoveTo(g.server.Ready.Address)
}

// awaitReady returns when the server says that it is ready.
func awaitReady(address string) error {
	client := http.Client{Timeout: time.Minute}
	deadline := time.Now().Add(2 * time.Minute)
	for {
		reply, err := client.Get(address + "/readyz")
		if err == nil {
			_ = reply.Body.Close()
			if reply.StatusCode == http.StatusOK {
				return nil
			}
			err = fmt.Errorf("HTTP %d", reply.StatusCode)
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s/readyz: %w", address, err)
		}
		time.Sleep(time.Millisecond)
	}
}

// coldStart starts a server whose database the kernel does not have in memory.
// The files of PostgreSQL are not ours to drop.
func (c *cellar) coldStart(ctx context.Context, g *grown) error {
	if c.postgres != nil {
		return nil
	}
	if err := evict(filepath.Join(c.work, g.String())); err != nil {
		return err
	}
	if err := c.startGrown(ctx, g, false); err != nil {
		return err
	}
	g.cold = millis(time.Since(g.server.Began))
	g.stop()
	return nil
}

func (g *grown) stop() {
	if g.server != nil {
		g.server.Stop()
		g.server = nil
	}
}

// profileAll loads every size once more, and leaves profiles.
func (cmd *growthCommand) profileAll(ctx context.Context, c *cellar, all []*grown) error {
	if cmd.Profile == "" {
		return nil
	}
	if err := os.MkdirAll(cmd.Profile, 0o755); err != nil {
		return err
	}
	for _, g := range all {
		if err := c.startGrown(ctx, g, false); err != nil {
			return err
		}
		m := &measurement{site: &site{targets: map[string]*target{g.String(): g.target}}, time: time.Second, note: c.note}
		for _, r := range g.rows {
			if r.err != nil {
				continue
			}
			file := filepath.Join(cmd.Profile, fmt.Sprintf("%s-%s.pprof", g, r.Workload))
			s, err := m.profileRow(ctx, r, g.target.debug, file)
			if err != nil {
				return fmt.Errorf("profile of %s: %w", r.cell, err)
			}
			c.note.say("%s: %d requests of %.0f µs", file, s.Requests, s.cpu())
		}
		file := filepath.Join(cmd.Profile, fmt.Sprintf("%s.heap.pprof", g))
		if err := fetchHeap(ctx, g.target.debug, file); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		c.note.say("%s", file)
		g.stop()
	}
	return nil
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

package main

import (
	"context"
	"log"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"latchkey/bench/load"
	"latchkey/bench/process"
)

// meter measures series, a round at a time.
type meter struct {
	time   time.Duration // of one measurement
	warmUp time.Duration // of one warm-up
	settle func() error  // waits until the servers have nothing left to do; nil: they never have
	awake  map[waking]bool
}

// waking is a workload in many organizations on one server, whose first
// requests are over.
type waking struct {
	target   *target
	workload string
}

// series is a row and what the rounds measured.
type series struct {
	row
	target  *target
	err     error // there are no figures, and why
	samples []sample
	// Of the warm-up, by which the rounds are planned.
	perSecond float64       // replies
	signing   time.Duration // per request
}

const (
	coldStart = 5 * time.Minute
	minTime   = 150 * time.Millisecond
	// reserve is how many more requests are signed than were answered in the
	// warm-up. A round that runs out of them ends early, which its figures
	// know.
	reserve = 1.25
	// One reply in so many is checked more closely.
	sampleEvery = 97
	// wakings is how often each of many organizations is asked before a round.
	wakings = 4
)

// measure warms every series up, and then measures them all in each round.
func (m *meter) measure(ctx context.Context, all []*series, rounds int, began time.Time, budget time.Duration) error {
	log.Printf("warming up for %d rows", len(all))
	if err := each(ctx, all, m.warm); err != nil {
		return err
	}
	if budget > 0 {
		m.fit(all, rounds, budget-time.Since(began))
	}
	for round := range rounds {
		log.Printf("round %d of %d, %v each", round+1, rounds, m.time.Round(time.Millisecond))
		if err := each(ctx, all, m.round); err != nil {
			return err
		}
		slices.Reverse(all) // so that none always comes after the same
	}
	if rounds%2 == 1 {
		slices.Reverse(all)
	}
	return nil
}

// each takes every series that has not failed through steps.
func each(ctx context.Context, all []*series, steps ...func(*series) error) error {
	for _, s := range all {
		for _, step := range steps {
			if err := ctx.Err(); err != nil {
				return err
			}
			if s.err != nil {
				continue
			}
			if s.err = step(s); s.err != nil {
				s.samples = nil
				log.Printf("%s: %v", s.row, s.err)
			}
		}
	}
	return nil
}

// warm lets the server get used to a row, and finds out how many requests a
// round will need.
func (m *meter) warm(s *series) error {
	if w := (waking{s.target, s.Workload}); s.Many && !m.awake[w] {
		// Each organization a few times, however long it takes: the rounds are
		// about organizations at work, not about the first requests after a
		// start, at which servers learn which ones they will see again.
		for range wakings {
			if _, err := m.take(s, len(s.target.data.Many), coldStart, nil); err != nil {
				return err
			}
		}
		if m.awake == nil {
			m.awake = map[waking]bool{}
		}
		m.awake[w] = true
	}
	const most = 20_000 // a second; a lone connection manages a few thousand
	n := int(m.warmUp.Seconds()*min(most, 3000*float64(s.Connections))) + 2*s.Connections
	sample, err := m.take(s, n, m.warmUp, nil)
	if err == nil {
		s.perSecond = max(s.perSecond, sample.Rate)
	}
	return err
}

// fit shortens the measurements so that all end in the time that is left.
// Signing the requests takes time too, the more the longer a measurement is.
func (m *meter) fit(all []*series, rounds int, left time.Duration) {
	const overhead = 20 * time.Millisecond // connecting, collecting garbage, checking
	var perTime float64
	for _, s := range all {
		if s.err == nil {
			perTime += float64(rounds) * (1 + reserve*s.perSecond*s.signing.Seconds())
			left -= time.Duration(rounds) * overhead
		}
	}
	if perTime > 0 {
		m.time = max(minTime, min(m.time, time.Duration(float64(left)/perTime)))
	}
}

// round takes one sample.
func (m *meter) round(s *series) error {
	n := int(reserve*s.perSecond*m.time.Seconds()) + 2*s.Connections
	sample, err := m.take(s, n, m.time, nil)
	if err != nil {
		return err
	}
	s.samples = append(s.samples, *sample)
	s.perSecond = max(s.perSecond, sample.Rate) // the warm-up may have been slower
	return nil
}

// take signs n requests and sends them for a time. begin, if any, is called
// when the clock starts.
func (m *meter) take(s *series, n int, during time.Duration, begin func()) (*sample, error) {
	begun := time.Now()
	requests, err := s.target.source.Prepare(s.Workload, s.Many, n)
	if err != nil {
		return nil, err
	}
	s.signing = time.Since(begun) / time.Duration(n)
	if m.settle != nil {
		if err := m.settle(); err != nil {
			return nil, err
		}
	}
	// The generator allocates next to nothing while the clock runs; a
	// collection that started by chance would take the server's processor. It
	// comes first: servers do not wait for long on a connection that is silent.
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	clients, err := load.Dial(s.target.source.Host, s.Connections)
	if err != nil {
		return nil, err
	}
	defer clients.Close()
	if begin != nil {
		begin()
	}
	before := s.target.used()
	result, err := clients.Run(requests, during, sampleEvery)
	after := s.target.used()
	if err != nil {
		return nil, err
	}
	taken := newSample(result, after.server.Since(before.server), after.store.Since(before.store), after.generator.Since(before.generator))
	taken.ResidentMB = s.target.residentMB()
	taken.Verified, err = result.Verify()
	return taken, err
}

// used is the processor time of all processes that take part.
type used struct{ server, store, generator process.CPU }

func (t *target) used() used {
	u := used{server: process.ReadCPU(t.pids...), generator: process.ReadCPU(os.Getpid())}
	if t.store != nil {
		u.store = process.ReadCPU(t.store()...)
	}
	return u
}

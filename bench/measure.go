package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"latchkey/bench/load"
	"latchkey/bench/process"
)

// measurement goes through the cells in rounds.
type measurement struct {
	site          *site
	rounds        int
	time          time.Duration // of one measurement
	deadline      time.Time     // of all of them; zero: none
	warmUp        time.Duration // of one warm-up
	organizations int           // how many there are where there are many
	note          io.Writer     // what happens, for people who wait

	awake map[cell]bool // which of many organizations were asked already
}

// row is a cell and what was measured.
type row struct {
	cell
	err     error // there are no figures, and why
	samples []sample
	// Of the warm-up, by which the rounds are planned.
	perSecond float64       // replies
	signing   time.Duration // per request
}

// sample is what one round measured.
type sample struct {
	Requests     int
	Elapsed      time.Duration
	P50          time.Duration
	P99          time.Duration
	P999         time.Duration
	CPU          time.Duration // of the server
	StoreCPU     time.Duration // of its database
	GeneratorCPU time.Duration
	Verified     int   // replies of which the signature or result was checked
	Resident     int64 // bytes of the server in memory at the end
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
)

// measure warms every cell up, and then measures them all in each round.
func (m *measurement) measure(ctx context.Context, cells []cell) ([]*row, error) {
	fmt.Fprintf(m.note, "warming up for %d rows\n", len(cells))
	rows := make([]*row, len(cells))
	for i, c := range cells {
		rows[i] = &row{cell: c}
		if err := m.warm(rows[i]); err != nil {
			rows[i].err = err
			fmt.Fprintf(m.note, "%s: %v\n", c, err)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	m.fit(rows, time.Now())
	for round := range m.rounds {
		fmt.Fprintf(m.note, "round %d of %d, %v each\n", round+1, m.rounds, m.time.Round(time.Millisecond))
		order := slices.Clone(rows)
		if round%2 == 1 { // so that none always comes after the same
			slices.Reverse(order)
		}
		for _, r := range order {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if r.err != nil {
				continue
			}
			if err := m.round(r); err != nil {
				r.err, r.samples = err, nil
				fmt.Fprintf(m.note, "%s: %v\n", r.cell, err)
			}
		}
	}
	return rows, nil
}

// wakings is how often each organization is asked before the rounds.
const wakings = 4

// warm lets the server get used to a cell, and finds out how many requests a
// round will need.
func (m *measurement) warm(r *row) error {
	asked := r.cell
	asked.Connections = 0 // whatever their number
	if r.Many && m.organizations > 0 && !m.awake[asked] {
		// Each organization a few times, however long it takes: the rounds are
		// about organizations at work, not about the first requests after a
		// start, at which servers learn whom they will see again.
		for range wakings {
			if _, _, err := m.take(r.cell, m.organizations, coldStart); err != nil {
				return err
			}
		}
		if m.awake == nil {
			m.awake = map[cell]bool{}
		}
		m.awake[asked] = true
	}
	const most = 20_000 // a second; a lone connection manages a few thousand
	n := int(m.warmUp.Seconds()*min(most, 3000*float64(r.Connections))) + 2*r.Connections
	signing, s, err := m.take(r.cell, n, m.warmUp)
	if err != nil {
		return err
	}
	r.signing = signing / time.Duration(n)
	r.perSecond = float64(s.Requests) / s.Elapsed.Seconds()
	return nil
}

// fit shortens the measurements so that all end before the deadline. Signing
// the requests takes time too, the more the longer a measurement is.
func (m *measurement) fit(rows []*row, now time.Time) {
	if m.deadline.IsZero() {
		return
	}
	const overhead = 20 * time.Millisecond // connecting, collecting garbage, checking
	var perTime float64
	left := m.deadline.Sub(now)
	for _, r := range rows {
		if r.err == nil {
			perTime += float64(m.rounds) * (1 + reserve*r.perSecond*r.signing.Seconds())
			left -= time.Duration(m.rounds) * overhead
		}
	}
	if perTime > 0 {
		m.time = max(minTime, min(m.time, time.Duration(float64(left)/perTime)))
	}
}

func (m *measurement) round(r *row) error {
	n := int(reserve*r.perSecond*m.time.Seconds()) + 2*r.Connections
	_, s, err := m.take(r.cell, n, m.time)
	if err != nil {
		return err
	}
	r.samples = append(r.samples, *s)
	r.perSecond = max(r.perSecond, s.rate()) // the warm-up may have been slower
	return nil
}

// take signs n requests and sends them for a time.
func (m *measurement) take(c cell, n int, during time.Duration) (signing time.Duration, _ *sample, err error) {
	return m.takeWith(c, n, during, func() {})
}

// takeWith is take that says when the clock starts.
func (m *measurement) takeWith(c cell, n int, during time.Duration, begin func()) (signing time.Duration, _ *sample, err error) {
	t := m.site.targets[c.Target]
	begun := time.Now()
	requests, err := t.source.Prepare(c.Workload, c.Many, n)
	if err != nil {
		return 0, nil, err
	}
	signing = time.Since(begun)
	// The generator allocates next to nothing while the clock runs; a
	// collection that started by chance would take the server's processor. It
	// comes first: servers do not wait for long on a connection that is silent.
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	clients, err := load.Dial(t.address, c.Connections)
	if err != nil {
		return 0, nil, err
	}
	defer clients.Close()

	begin()
	before := t.used()
	result, err := clients.Run(requests, during, sampleEvery)
	after := t.used()
	if err != nil {
		return 0, nil, err
	}
	s := &sample{
		Requests: result.Requests(), Elapsed: result.Elapsed,
		P50: result.Quantile(0.5), P99: result.Quantile(0.99), P999: result.Quantile(0.999),
		CPU: after.server.Since(before.server), StoreCPU: after.store.Since(before.store), GeneratorCPU: after.generator.Since(before.generator),
	}
	for _, pid := range t.pids() {
		if bytes, err := process.Resident(pid); err == nil { // one that has ended holds nothing
			s.Resident += bytes
		}
	}
	s.Verified, err = result.Verify()
	return signing, s, err
}

// used is the processor time of everybody who takes part.
type used struct{ server, store, generator process.Reading }

func (t *target) used() used {
	u := used{server: process.Read(t.pids()), generator: process.Read([]int{os.Getpid()})}
	if t.store != nil {
		u.store = process.Read(t.store())
	}
	return u
}

func (c cell) String() string {
	where := "one organization"
	if c.Many {
		where = "many organizations"
	}
	return fmt.Sprintf("%s on %s, %d connections, %s", c.Workload, c.Target, c.Connections, where)
}

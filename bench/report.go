package main

import (
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/sys/unix"
)

// report is everything that a run found out; README.md describes its JSON.
type report struct {
	Started       time.Time `json:"started"`
	Command       []string  `json:"command"`
	Processors    int       `json:"processors"`
	Go            string    `json:"go"`
	FileSystem    string    `json:"fileSystem"`
	LoadAverage   string    `json:"loadAverage"` // when it started: what else ran
	Rounds        int       `json:"rounds"`
	Seconds       float64   `json:"seconds"` // of one measurement
	Organizations int       `json:"organizations"`
	Profiled      bool      `json:"profiled,omitzero"` // by a build that can be profiled: no figures to keep
	// Absent are the servers that are not there, and why.
	Absent map[string]string `json:"absent,omitzero"`
	Rows   []*figure         `json:"rows"`
}

// figure is one row.
type figure struct {
	Workload      string `json:"workload"`
	Connections   int    `json:"connections"`
	Organizations int    `json:"organizations"`
	Target        string `json:"target"`
	// Why there are no figures.
	Unavailable string `json:"unavailable,omitzero"`

	Rate           spread `json:"requestsPerSecond,omitzero"`
	P50            spread `json:"p50Us,omitzero"`
	P99            spread `json:"p99Us,omitzero"`
	P999           spread `json:"p999Us,omitzero"`
	CPU            spread `json:"serverCpuUs,omitzero"`
	StoreCPU       spread `json:"storeCpuUs,omitzero"`
	GeneratorCPU   spread `json:"generatorCpuUs,omitzero"`
	GeneratorShare spread `json:"generatorShare,omitzero"`
	ResidentMB     spread `json:"residentMB,omitzero"`

	Requests int      `json:"requests,omitzero"`
	Verified int      `json:"verified,omitzero"`
	OfFloor  *ofFloor `json:"ofFloor,omitzero"`
	// OfOne compares many organizations with one, on the same server.
	OfOne *spread `json:"ofOneOrganization,omitzero"`

	row *row
}

// spread is a figure over all rounds.
type spread struct {
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	Max    float64 `json:"max"`
}

// ofFloor is a row compared with the floor's: within each round, and then over
// the rounds.
type ofFloor struct {
	Rate spread `json:"requestsPerSecond"`
	CPU  spread `json:"serverCpu"`
	P50  spread `json:"p50"`
}

func (f *ofFloor) rate() float64 { return f.Rate.Median }
func (f *ofFloor) cpu() float64  { return f.CPU.Median }
func (f *ofFloor) p50() float64  { return f.P50.Median }

func newReport(cmd *runCommand, s *site, dir string) *report {
	r := &report{
		Started: time.Now().UTC().Truncate(time.Second), Command: command(), Processors: runtime.NumCPU(), Go: runtime.Version(),
		FileSystem: fileSystem(dir),
		Rounds:     cmd.Rounds, Organizations: cmd.Organizations, Profiled: cmd.Profile != "", Absent: map[string]string{},
	}
	for name, err := range s.absent {
		r.Absent[name] = err.Error()
	}
	return r
}

// loadAverage is how many processes wanted a processor in the last minute, five
// and fifteen minutes.
func loadAverage() string {
	text, _ := os.ReadFile("/proc/loadavg")
	fields := strings.Fields(string(text))
	return strings.Join(fields[:min(3, len(fields))], " ")
}

// command is how the run was started, without what may hold a password.
func command() []string {
	args := []string{"bench"}
	for i, a := range os.Args[1:] {
		switch before := os.Args[i]; {
		case strings.HasPrefix(a, "--postgres="), strings.HasPrefix(a, "--peer-header="):
			a, _, _ = strings.Cut(a, "=")
		case before == "--postgres", before == "--peer-header":
			a = "…"
		}
		args = append(args, a)
	}
	return args
}

// fileSystem names the kind that a folder is on. On one in memory a flush costs
// nothing.
func fileSystem(dir string) string {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return "unknown"
	}
	switch int64(s.Type) {
	case unix.EXT4_SUPER_MAGIC:
		return "ext4"
	case unix.XFS_SUPER_MAGIC:
		return "xfs"
	case unix.BTRFS_SUPER_MAGIC:
		return "btrfs"
	case unix.OVERLAYFS_SUPER_MAGIC:
		return "overlay"
	case unix.TMPFS_MAGIC:
		return "tmpfs"
	}
	return "other"
}

// finish computes the figures.
func (r *report) finish(rows []*row, each time.Duration) {
	r.Seconds = round(each.Seconds())
	for _, m := range rows {
		r.Rows = append(r.Rows, r.figures(m))
	}
	for _, f := range r.Rows {
		if f.Unavailable != "" {
			continue
		}
		if floor := r.find(f.row.on(onFloor)); floor != nil && f.Target != onFloor {
			f.OfFloor = &ofFloor{
				Rate: compare(f.row, floor.row, sample.rate), CPU: compare(f.row, floor.row, sample.cpu),
				P50: compare(f.row, floor.row, sample.p50),
			}
		}
		one := f.row.cell
		if one.Many = false; f.row.Many {
			if same := r.find(one); same != nil {
				s := compare(f.row, same.row, sample.rate)
				f.OfOne = &s
			}
		}
	}
}

func (r *report) figures(m *row) *figure {
	f := &figure{Workload: m.Workload, Connections: m.Connections, Organizations: 1, Target: m.Target, row: m}
	if m.Many {
		f.Organizations = r.Organizations
	}
	if m.err != nil {
		f.Unavailable = m.err.Error()
		return f
	}
	f.Rate, f.P50 = over(m, sample.rate), over(m, sample.p50)
	f.P99 = over(m, func(s sample) float64 { return micros(s.P99) })
	f.P999 = over(m, func(s sample) float64 { return micros(s.P999) })
	f.CPU = over(m, sample.cpu)
	f.StoreCPU = over(m, func(s sample) float64 { return micros(s.StoreCPU) / float64(s.Requests) })
	f.GeneratorCPU = over(m, func(s sample) float64 { return micros(s.GeneratorCPU) / float64(s.Requests) })
	f.GeneratorShare = over(m, func(s sample) float64 {
		return float64(s.GeneratorCPU) / float64(max(1, s.GeneratorCPU+s.CPU+s.StoreCPU))
	})
	f.ResidentMB = over(m, func(s sample) float64 { return float64(s.Resident) / 1e6 })
	for _, s := range m.samples {
		f.Requests += s.Requests
		f.Verified += s.Verified
	}
	return f
}

// find returns the row of a cell, nil if there is none with figures.
func (r *report) find(c cell) *figure {
	for _, f := range r.Rows {
		if f.row.cell == c && f.Unavailable == "" {
			return f
		}
	}
	return nil
}

func (s sample) rate() float64 { return float64(s.Requests) / s.Elapsed.Seconds() }
func (s sample) cpu() float64  { return micros(s.CPU) / float64(s.Requests) }
func (s sample) p50() float64  { return micros(s.P50) }

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func over(m *row, figure func(sample) float64) spread {
	values := make([]float64, len(m.samples))
	for i, s := range m.samples {
		values[i] = figure(s)
	}
	return spreadOf(values)
}

// compare divides round by round. What cannot be divided is left out.
func compare(m, by *row, figure func(sample) float64) spread {
	var values []float64
	for i := range min(len(m.samples), len(by.samples)) {
		if divisor := figure(by.samples[i]); divisor > 0 {
			values = append(values, figure(m.samples[i])/divisor)
		}
	}
	return spreadOf(values)
}

func spreadOf(values []float64) spread {
	if len(values) == 0 {
		return spread{}
	}
	slices.Sort(values)
	n := len(values)
	return spread{round(values[0]), round((values[(n-1)/2] + values[n/2]) / 2), round(values[n-1])}
}

// round keeps what means something: three digits after the point.
func round(v float64) float64 { return math.Round(v*1000) / 1000 }

func (r *report) json() ([]byte, error) {
	text, err := json.Marshal(r, jsontext.WithIndent("  "))
	return append(text, '\n'), err
}

// summary is one object with the ratios; null where there is no figure.
func (r *report) summary() ([]byte, error) {
	var b []byte
	b = append(b, '{')
	for i, ratio := range ratios {
		if i > 0 {
			b = append(b, ',')
		}
		var value *float64
		if f := r.find(ratio.of); f != nil && f.OfFloor != nil {
			v := ratio.figure(f.OfFloor)
			value = &v
		}
		member, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		b = append(b, `"`+ratio.name+`":`...)
		b = append(b, member...)
	}
	return append(b, '}'), nil
}

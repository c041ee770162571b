package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/sys/unix"

	"latchkey/bench/workload"
)

// report is everything that a run found out; README.md describes its JSON.
type report struct {
	environment
	Organizations int               `json:"organizations"`
	Absent        map[string]string `json:"absent,omitzero"` // servers that are not there, and why
	Rows          []*figure         `json:"rows"`
	Grown         map[string]spread `json:"grown,omitzero"` // by member of the summary
}

// environment is when, how and on what was measured.
type environment struct {
	Started     time.Time `json:"started"`
	Command     []string  `json:"command"`
	Processors  int       `json:"processors"`
	Go          string    `json:"go"`
	FileSystem  string    `json:"fileSystem"`
	LoadAverage string    `json:"loadAverage"` // before the run: what else ran
	Rounds      int       `json:"rounds"`
	Seconds     float64   `json:"seconds"` // of one measurement
	Profiled    bool      `json:"profiled,omitzero"`
}

func newEnvironment(dir string, rounds int, profiled bool) environment {
	return environment{
		Started: time.Now().UTC().Truncate(time.Second), Command: command(os.Args[1:]), Processors: runtime.NumCPU(), Go: runtime.Version(),
		FileSystem: fileSystem(dir), LoadAverage: loadAverage(), Rounds: rounds, Profiled: profiled,
	}
}

// loadAverage is how many processes wanted a processor in the last minute, five
// and fifteen minutes.
func loadAverage() string {
	text, _ := os.ReadFile("/proc/loadavg")
	fields := strings.Fields(string(text))
	return strings.Join(fields[:min(3, len(fields))], " ")
}

// command is how the run was started, without what may hold a password.
func command(args []string) []string {
	shown := []string{"bench"}
	secret := false // the one before was an option with a secret
	for _, a := range args {
		name, _, value := strings.Cut(a, "=")
		switch {
		case secret:
			a, secret = "…", false
		case name == "--postgres" || name == "--peer-header":
			a, secret = name, !value
		}
		shown = append(shown, a)
	}
	return shown
}

// fileSystem names the kind that a folder is on. On one in memory a flush costs
// nothing.
func fileSystem(dir string) string {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return "unknown"
	}
	names := map[int64]string{
		unix.EXT4_SUPER_MAGIC: "ext4", unix.XFS_SUPER_MAGIC: "xfs", unix.BTRFS_SUPER_MAGIC: "btrfs",
		unix.OVERLAYFS_SUPER_MAGIC: "overlay", unix.TMPFS_MAGIC: "tmpfs",
	}
	if name := names[int64(s.Type)]; name != "" {
		return name
	}
	return "other"
}

// figure is one row of a run or of a size of a growth run.
type figure struct {
	Workload      string `json:"workload"`
	Connections   int    `json:"connections"`
	Organizations int    `json:"organizations"`
	Target        string `json:"target"`
	Unavailable   string `json:"unavailable,omitzero"` // why there are no figures

	Rate           spread `json:"requestsPerSecond,omitzero"`
	P50            spread `json:"p50Us,omitzero"`
	P99            spread `json:"p99Us,omitzero"`
	P999           spread `json:"p999Us,omitzero"`
	CPU            spread `json:"serverCpuUs,omitzero"`
	StoreCPU       spread `json:"storeCpuUs,omitzero"`
	GeneratorCPU   spread `json:"generatorCpuUs,omitzero"`
	GeneratorShare spread `json:"generatorShare,omitzero"`
	ResidentMB     spread `json:"residentMB,omitzero"`
	Requests       int    `json:"requests,omitzero"`
	Verified       int    `json:"verified,omitzero"`

	OfBaseline *ratio  `json:"ofBaseline,omitzero"`
	OfOld      *ratio  `json:"ofOld,omitzero"`             // the program of --against
	OfPeer     *ratio  `json:"ofPeer,omitzero"`            // the server of --peer
	OfPlain    *ratio  `json:"ofPlain,omitzero"`           // the workload that it is measured against
	OfSmallest *ratio  `json:"ofSmallest,omitzero"`        // growth: nil in the smallest
	OfOne      *spread `json:"ofOneOrganization,omitzero"` // requests per second

	size int // growth
}

func (f *figure) ofBaseline() *ratio { return f.OfBaseline }
func (f *figure) ofOld() *ratio      { return f.OfOld }

func newFigure(s *series) *figure {
	f := &figure{Workload: s.Workload, Connections: s.Connections, Organizations: 1, Target: s.Target}
	if s.Many {
		f.Organizations = len(s.target.data.Many)
	}
	if s.err != nil {
		f.Unavailable = s.err.Error()
		return f
	}
	f.Rate = s.over(func(s sample) float64 { return s.Rate })
	f.P50 = s.over(func(s sample) float64 { return s.P50 })
	f.P99 = s.over(func(s sample) float64 { return s.P99 })
	f.P999 = s.over(func(s sample) float64 { return s.P999 })
	f.CPU = s.over(func(s sample) float64 { return s.CPU })
	f.StoreCPU = s.over(func(s sample) float64 { return s.StoreCPU })
	f.GeneratorCPU = s.over(func(s sample) float64 { return s.GeneratorCPU })
	f.GeneratorShare = s.over(func(s sample) float64 { return s.GeneratorShare })
	f.ResidentMB = s.over(func(s sample) float64 { return s.ResidentMB })
	for _, s := range s.samples {
		f.Requests += s.Requests
		f.Verified += s.Verified
	}
	return f
}

// finish computes the figures.
func (r *report) finish(all []*series, each time.Duration) {
	r.Seconds = round(each.Seconds())
	byRow := map[row]*series{}
	for _, s := range all {
		byRow[s.row] = s
	}
	for _, s := range all {
		f := newFigure(s)
		f.OfBaseline = s.to(byRow[s.on(onBaseline)])
		f.OfOld = s.to(byRow[s.on(s.Target+old)])
		f.OfPeer = s.to(byRow[s.on(onPeer)])
		plain := s.row
		plain.Workload = workload.Plain(s.Workload)
		f.OfPlain = s.to(byRow[plain])
		one := s.row
		one.Many = false
		if ratio := s.to(byRow[one]); ratio != nil {
			f.OfOne = &ratio.Rate
		}
		r.Rows = append(r.Rows, f)
	}
}

// summary is one object with medians of a ratio, and of what was measured on
// databases that hold much; null where there is none.
func (r *report) summary(ratio func(*figure) *ratio, ofGrown map[string]spread) []byte {
	b := []byte{'{'}
	for i, s := range summaries {
		if i > 0 {
			b = append(b, ',')
		}
		value := "null"
		for _, f := range r.Rows {
			if s.of == (row{f.Workload, f.Connections, false, f.Target}) && f.Organizations == 1 && ratio(f) != nil {
				value = fmt.Sprint(s.ratio(ratio(f)).Median)
			}
		}
		b = fmt.Appendf(b, "%q:%s", s.name, value)
	}
	for _, g := range grown {
		value := "null"
		if found, ok := ofGrown[g.name]; ok {
			value = fmt.Sprint(found.Median)
		}
		b = fmt.Appendf(b, ",%q:%s", g.name, value)
	}
	return append(b, '}')
}

// writeJSON writes a report to a file, if one is named.
func writeJSON(file string, report any) error {
	if file == "" {
		return nil
	}
	text, err := json.Marshal(report, jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"text/tabwriter"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// growthReport is what a growth run found out; README.md describes its JSON.
type growthReport struct {
	Kind        string             `json:"kind"` // growth
	Started     time.Time          `json:"started"`
	Command     []string           `json:"command"`
	Store       string             `json:"store"`
	Processors  int                `json:"processors"`
	Go          string             `json:"go"`
	FileSystem  string             `json:"fileSystem"`
	LoadAverage string             `json:"loadAverage"`
	Rounds      int                `json:"rounds"`
	Seconds     float64            `json:"seconds"`
	Connections int                `json:"connections"`
	Profiled    bool               `json:"profiled,omitzero"`
	Dimensions  []*growthDimension `json:"dimensions"`
}

// kindGrowth tells the JSON of a growth run from that of another.
const kindGrowth = "growth"

type growthDimension struct {
	Name  string        `json:"name"`
	Sizes []*growthSize `json:"sizes"` // from small to large
}

type growthSize struct {
	Size   int   `json:"size"`
	Stored int   `json:"stored"` // as the database counts
	Bytes  int64 `json:"bytes"`
	AtWork int   `json:"atWork,omitzero"`

	StartMs     spread       `json:"startMs"`
	ColdStartMs float64      `json:"coldStartMs,omitzero"`
	RestMB      spread       `json:"restMB"`   // resident when it has started
	LoadedMB    spread       `json:"loadedMB"` // and after all workloads
	Rows        []*growthRow `json:"rows"`
}

type growthRow struct {
	Workload    string `json:"workload"`
	Unavailable string `json:"unavailable,omitzero"`

	Rate       spread   `json:"requestsPerSecond,omitzero"`
	P50        spread   `json:"p50Us,omitzero"`
	P99        spread   `json:"p99Us,omitzero"`
	CPU        spread   `json:"serverCpuUs,omitzero"`
	StoreCPU   spread   `json:"storeCpuUs,omitzero"`
	Requests   int      `json:"requests,omitzero"`
	Verified   int      `json:"verified,omitzero"`
	OfSmallest *ofFloor `json:"ofSmallest,omitzero"` // nil in the smallest
}

func (cmd *growthCommand) newReport(dir, busy string) *growthReport {
	return &growthReport{
		Kind: kindGrowth, Started: time.Now().UTC().Truncate(time.Second), Command: command(), Store: cmd.Store,
		Processors: runtime.NumCPU(), Go: runtime.Version(), FileSystem: fileSystem(dir), LoadAverage: busy,
		Rounds: cmd.Rounds, Seconds: cmd.Time.Seconds(), Connections: cmd.Connections, Profiled: cmd.Profile != "",
	}
}

func newGrowthDimension(all []*grown) *growthDimension {
	d := &growthDimension{Name: string(all[0].dimension)}
	for _, g := range all {
		s := &growthSize{
			Size: g.size, Stored: g.stored, Bytes: g.bytes, AtWork: g.atWork,
			StartMs: spreadOf(g.start), ColdStartMs: round(g.cold), RestMB: megabytes(g.rest), LoadedMB: megabytes(g.loaded),
		}
		for k, r := range g.rows {
			s.Rows = append(s.Rows, newGrowthRow(r, all[0].rows[k]))
		}
		d.Sizes = append(d.Sizes, s)
	}
	return d
}

func newGrowthRow(r, smallest *row) *growthRow {
	f := &growthRow{Workload: r.Workload}
	if r.err != nil {
		f.Unavailable = r.err.Error()
		return f
	}
	f.Rate, f.P50, f.CPU = over(r, sample.rate), over(r, sample.p50), over(r, sample.cpu)
	f.P99 = over(r, func(s sample) float64 { return micros(s.P99) })
	f.StoreCPU = over(r, func(s sample) float64 { return micros(s.StoreCPU) / float64(s.Requests) })
	for _, s := range r.samples {
		f.Requests += s.Requests
		f.Verified += s.Verified
	}
	if r != smallest && smallest.err == nil {
		f.OfSmallest = &ofFloor{
			Rate: compare(r, smallest, sample.rate), CPU: compare(r, smallest, sample.cpu), P50: compare(r, smallest, sample.p50),
		}
	}
	return f
}

func megabytes(bytes []float64) spread {
	values := make([]float64, len(bytes))
	for i, b := range bytes {
		values[i] = b / 1e6
	}
	return spreadOf(values)
}

// publish prints a dimension that was measured, and writes all so far.
func (r *growthReport) publish(w io.Writer, d *growthDimension, file string) error {
	if err := r.table(w, d); err != nil || file == "" {
		return err
	}
	text, err := json.Marshal(r, jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

// table prints a dimension for people.
func (r *growthReport) table(w io.Writer, d *growthDimension) error {
	fmt.Fprintf(w, "%s on %s: %d rounds of %.2f s, %d connections, %d processors, %s, %s, load average before %s\n",
		d.Name, r.Store, r.Rounds, r.Seconds, r.Connections, r.Processors, r.Go, r.FileSystem, r.LoadAverage)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "stored\tworkload\treq/s\tp50 ms\tp99 ms\tcpu µs\t+ store\t× smallest req/s\t× cpu\t× p50\t")
	for _, s := range d.Sizes {
		for _, f := range s.Rows {
			if f.Unavailable != "" {
				fmt.Fprintf(t, "%d\t%s\t–\t–\t–\t–\t–\t–\t–\t–\t\n", s.Size, f.Workload)
				continue
			}
			fmt.Fprintf(t, "%d\t%s\t%.0f\t%.2f\t%.2f\t%.0f\t", s.Size, f.Workload, f.Rate.Median, f.P50.Median/1000, f.P99.Median/1000, f.CPU.Median)
			if f.StoreCPU.Median > 0 {
				fmt.Fprintf(t, "%.0f", f.StoreCPU.Median)
			}
			if o := f.OfSmallest; o != nil {
				fmt.Fprintf(t, "\t%.2f (%.2f–%.2f)\t%.2f\t%.2f\t\n", o.Rate.Median, o.Rate.Min, o.Rate.Max, o.CPU.Median, o.P50.Median)
			} else {
				fmt.Fprint(t, "\t\t\t\t\n")
			}
		}
		fmt.Fprintln(t, "\t\t\t\t\t\t\t\t\t\t")
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, s := range d.Sizes {
		var cold string
		if s.ColdStartMs > 0 {
			cold = fmt.Sprintf(", from the disk %.0f ms", s.ColdStartMs)
		}
		fmt.Fprintf(w, "%d (%d by the database, %.0f MB): start %.0f ms (%.0f–%.0f)%s; resident %.0f MB, after load %.0f MB (%.0f–%.0f)\n",
			s.Size, s.Stored, float64(s.Bytes)/1e6, s.StartMs.Median, s.StartMs.Min, s.StartMs.Max, cold,
			s.RestMB.Median, s.LoadedMB.Median, s.LoadedMB.Min, s.LoadedMB.Max)
		for _, f := range s.Rows {
			if f.Unavailable != "" {
				fmt.Fprintf(w, "not available: %s at %d: %s\n", f.Workload, s.Size, f.Unavailable)
			}
		}
	}
	return nil
}

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
)

type plotCommand struct {
	JSON string `required:"" placeholder:"FILE" help:"What bench growth --json wrote."`
	Out  string `required:"" placeholder:"DIR" help:"Folder for the SVG files; files of the same names are replaced."`
}

// Run draws every chart of a growth run.
func (cmd *plotCommand) Run() error {
	text, err := os.ReadFile(cmd.JSON)
	if err != nil {
		return err
	}
	r, err := readGrowth(text)
	if err != nil {
		return fmt.Errorf("%s: %w", cmd.JSON, err)
	}
	if err := os.MkdirAll(cmd.Out, 0o755); err != nil {
		return err
	}
	for _, c := range r.charts() {
		file := filepath.Join(cmd.Out, c.file+".svg")
		if err := os.WriteFile(file, []byte(c.svg()), 0o644); err != nil {
			return err
		}
		fmt.Println(file)
	}
	return nil
}

// readGrowth reads the JSON of a growth run.
func readGrowth(text []byte) (*growthReport, error) {
	r := new(growthReport)
	if err := json.Unmarshal(text, r); err != nil {
		return nil, err
	}
	if r.Kind != kindGrowth || len(r.Dimensions) == 0 {
		return nil, fmt.Errorf("it is not the JSON of bench growth")
	}
	return r, nil
}

// named is a chart and the name of its file.
type named struct {
	file string
	chart
}

// things says what is counted in a dimension.
var things = map[string]string{
	"activities":       "activities of one organization",
	"accounts":         "accounts of one wallet",
	"suborganizations": "sub-organizations of one parent",
}

// Bounds that the service is meant to keep.
const (
	leastRate   = 0.8  // with a million activities, of the rate with a thousand
	mostStartMs = 1000 // until it is ready
	mostMB      = 300  // resident
)

// charts are one for each dimension, one of starting and one of memory.
func (r *growthReport) charts() []named {
	var all []named
	where := fmt.Sprintf("%s, %d connections, median of %d rounds, least and most as bars", storeName(r.Store), r.Connections, r.Rounds)
	start := chart{
		title: "Start-up", subtitle: storeName(r.Store) + ": from the start of the process until /readyz answers 200",
		xLabel: "stored", yLabel: "milliseconds", limit: &limit{mostStartMs, "at most 1 s"},
	}
	memory := chart{
		title: "Memory", subtitle: storeName(r.Store) + ": resident memory of the server",
		xLabel: "stored", yLabel: "MB", limit: &limit{mostMB, "at most 300 MB"},
	}
	for _, d := range r.Dimensions {
		all = append(all, named{"growth-" + r.Store + "-" + d.Name, d.chart(where)})
		started, rest, loaded := line{name: d.Name}, line{name: d.Name + ", at rest"}, line{name: d.Name + ", after load"}
		for _, s := range d.Sizes {
			started.points = append(started.points, s.StartMs.point(s.Size))
			rest.points = append(rest.points, s.RestMB.point(s.Size))
			loaded.points = append(loaded.points, s.LoadedMB.point(s.Size))
		}
		start.lines = append(start.lines, started)
		memory.lines = append(memory.lines, rest, loaded)
	}
	return append(all, named{"growth-" + r.Store + "-start", start}, named{"growth-" + r.Store + "-memory", memory})
}

// chart compares the rates of every workload with those of the smallest size.
func (d *growthDimension) chart(where string) chart {
	smallest := d.Sizes[0]
	c := chart{
		title:    "Requests per second, with ever more " + things[d.Name],
		subtitle: where,
		xLabel:   things[d.Name],
		yLabel:   fmt.Sprintf("times the rate with %s", count(float64(smallest.Size))),
	}
	if d.Name == "activities" {
		c.limit = &limit{leastRate, "at most 20 % slower"}
	}
	for k, f := range smallest.Rows {
		if f.Unavailable != "" {
			continue
		}
		l := line{name: f.Workload, points: []point{{x: float64(smallest.Size), y: 1, low: 1, high: 1}}}
		for _, s := range d.Sizes[1:] {
			if o := s.Rows[k].OfSmallest; o != nil {
				l.points = append(l.points, o.Rate.point(s.Size))
			}
		}
		c.lines = append(c.lines, l)
	}
	return c
}

func (s spread) point(x int) point { return point{float64(x), s.Median, s.Min, s.Max} }

func storeName(store string) string {
	return strings.NewReplacer(onSQLite, "SQLite", onPostgres, "PostgreSQL", onFloor, "floor", onPeer, "peer").Replace(store)
}

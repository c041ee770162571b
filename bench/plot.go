package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"latchkey/bench/workload"
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
	charts := r.charts()
	for _, name := range slices.Sorted(maps.Keys(charts)) {
		file := filepath.Join(cmd.Out, "growth-"+r.Store+"-"+name+".svg")
		if err := os.WriteFile(file, []byte(charts[name].svg()), 0o644); err != nil {
			return err
		}
		fmt.Println(file)
	}
	return nil
}

// things says what is counted in a dimension.
var things = map[string]string{
	workload.Activities:       "activities of one organization",
	workload.Accounts:         "accounts of one wallet",
	workload.SubOrganizations: "sub-organizations of one parent",
}

// charts are one for each dimension, one of starting and one of memory. The
// limits are those that the service is meant to keep.
func (r *growthReport) charts() map[string]*chart {
	store := map[string]string{onSQLite: "SQLite", onPostgres: "PostgreSQL"}[r.Store]
	start := &chart{
		title: "Start-up", subtitle: store + ": from the start of the process until /readyz answers 200",
		xLabel: "stored", yLabel: "milliseconds", limit: &limit{1000, "at most 1 s"},
	}
	memory := &chart{
		title: "Memory", subtitle: store + ": resident memory of the server",
		xLabel: "stored", yLabel: "MB", limit: &limit{300, "at most 300 MB"},
	}
	all := map[string]*chart{"start": start, "memory": memory}
	for _, d := range r.Dimensions {
		all[d.Name] = d.chart(fmt.Sprintf("%s, %d connections, median of %d rounds, least and most as bars", store, r.Connections, r.Rounds))
		start.lines = append(start.lines, d.line(d.Name, func(s *size) spread { return s.StartMs }))
		memory.lines = append(memory.lines,
			d.line(d.Name+", at rest", func(s *size) spread { return s.RestMB }),
			d.line(d.Name+", after load", func(s *size) spread { return s.LoadedMB }))
	}
	return all
}

// line is one figure of all sizes; those without it are left out.
func (d *dimension) line(name string, figure func(*size) spread) line {
	l := line{name: name}
	for _, s := range d.Sizes {
		if f := figure(s); f != (spread{}) {
			l.points = append(l.points, point{float64(s.Size), f})
		}
	}
	return l
}

// chart compares the rates of every workload with those of the smallest size.
func (d *dimension) chart(subtitle string) *chart {
	smallest := d.Sizes[0]
	c := &chart{
		title: "Requests per second, with ever more " + things[d.Name], subtitle: subtitle,
		xLabel: things[d.Name], yLabel: "times the rate with " + count(float64(smallest.Size)),
	}
	if d.Name == workload.Activities {
		c.limit = &limit{0.8, "at most 20 % slower"}
	}
	for k, f := range smallest.Rows {
		c.lines = append(c.lines, d.line(f.Workload, func(s *size) spread {
			switch r := s.Rows[k]; {
			case s == smallest && r.Unavailable == "":
				return spread{1, 1, 1}
			case r.OfSmallest != nil:
				return r.OfSmallest.Rate
			}
			return spread{}
		}))
	}
	return c
}

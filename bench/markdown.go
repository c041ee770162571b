package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

type tableCommand struct {
	JSON string `required:"" placeholder:"FILE" help:"What bench run --json or bench growth --json wrote."`
}

// Run prints the tables of a run in Markdown.
func (cmd *tableCommand) Run() error {
	text, err := os.ReadFile(cmd.JSON)
	if err != nil {
		return err
	}
	if err := markdown(os.Stdout, text); err != nil {
		return fmt.Errorf("%s: %w", cmd.JSON, err)
	}
	return nil
}

// markdown prints the tables of either kind of run.
func markdown(w io.Writer, text []byte) error {
	if r, err := readGrowth(text); err == nil {
		r.markdown(w)
		return nil
	}
	r := new(report)
	if err := json.Unmarshal(text, r); err != nil {
		return err
	}
	if len(r.Rows) == 0 {
		return fmt.Errorf("it has no rows: it is not the JSON of a run")
	}
	r.markdown(w)
	return nil
}

// grid is a table of Markdown: the first row is the header, and columns but
// the first ones hold figures.
func grid(w io.Writer, words int, rows [][]string) {
	if len(rows) < 2 {
		return
	}
	rule := make([]string, len(rows[0]))
	for i := range rule {
		if rule[i] = "---"; i >= words {
			rule[i] = "---:"
		}
	}
	for _, row := range slices.Insert(rows, 1, rule) {
		fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | "))
	}
	fmt.Fprintln(w)
}

func (r *report) markdown(w io.Writer) {
	fmt.Fprintf(w, "%s: `%s`, %d rounds of %.2f s, %d processors, %s, %s, load average before %s.\n\n", r.Started.Format("2006-01-02 15:04"),
		strings.Join(r.Command, " "), r.Rounds, r.Seconds, r.Processors, r.Go, r.FileSystem, r.LoadAverage)
	if r.Profiled {
		fmt.Fprint(w, "With `--profile`: these are no figures to keep.\n\n")
	}
	var servers []string // without the floor, in the order of the rows
	for _, f := range r.Rows {
		if f.Target != onFloor && !slices.Contains(servers, f.Target) {
			servers = append(servers, f.Target)
		}
	}
	ratios := [][]string{{"workload", "connections", "organizations", "floor req/s"}}
	latencies := [][]string{{"workload", "connections", "organizations", "floor p50 / p99 / p99.9 ms"}}
	spread := [][]string{{"workload", "connections"}}
	for _, s := range servers {
		ratios[0] = append(ratios[0], storeName(s)+" × floor", "CPU ×", "p50 ×")
		latencies[0] = append(latencies[0], storeName(s)+" p50 / p99 / p99.9 ms")
		spread[0] = append(spread[0], storeName(s))
	}
	for _, key := range r.keys() {
		floor := r.figure(key, onFloor)
		words := []string{key.workload, fmt.Sprint(key.connections), fmt.Sprint(key.organizations)}
		ratio, latency := append(slices.Clone(words), floor.perSecond()), append(words, floor.latency())
		compared := []string{key.workload, fmt.Sprint(key.connections)}
		for _, s := range servers {
			f := r.figure(key, s)
			ratio = append(ratio, f.ratios()...)
			latency = append(latency, f.latency())
			compared = append(compared, f.ofOne())
		}
		ratios, latencies = append(ratios, ratio), append(latencies, latency)
		if key.organizations > 1 {
			spread = append(spread, compared)
		}
	}
	grid(w, 1, ratios)
	grid(w, 1, latencies)
	if len(spread) > 1 {
		fmt.Fprintf(w, "Requests per second with %d organizations, times those with one:\n\n", r.Organizations)
		grid(w, 1, spread)
	}
}

// rowKey is what rows of different servers have in common.
type rowKey struct {
	workload                   string
	connections, organizations int
}

func (r *report) keys() (keys []rowKey) {
	for _, f := range r.Rows {
		if key := (rowKey{f.Workload, f.Connections, f.Organizations}); !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// figure returns the row of a server, nil if it has no figures.
func (r *report) figure(key rowKey, target string) *figure {
	for _, f := range r.Rows {
		if key == (rowKey{f.Workload, f.Connections, f.Organizations}) && f.Target == target && f.Unavailable == "" {
			return f
		}
	}
	return nil
}

const noFigure = "–"

func (f *figure) perSecond() string {
	if f == nil {
		return noFigure
	}
	return fmt.Sprintf("%.0f", f.Rate.Median)
}

func (f *figure) latency() string {
	if f == nil {
		return noFigure
	}
	return fmt.Sprintf("%.2f / %.2f / %.2f", f.P50.Median/1000, f.P99.Median/1000, f.P999.Median/1000)
}

func (f *figure) ratios() []string {
	if f == nil || f.OfFloor == nil {
		return []string{noFigure, noFigure, noFigure}
	}
	return []string{f.OfFloor.Rate.times(), fmt.Sprintf("%.2f", f.OfFloor.CPU.Median), fmt.Sprintf("%.2f", f.OfFloor.P50.Median)}
}

func (f *figure) ofOne() string {
	if f == nil || f.OfOne == nil {
		return noFigure
	}
	return f.OfOne.times()
}

// times is a ratio, with the least and the most of the rounds.
func (s spread) times() string { return fmt.Sprintf("%.2f (%.2f–%.2f)", s.Median, s.Min, s.Max) }

func (r *growthReport) markdown(w io.Writer) {
	fmt.Fprintf(w, "%s: `%s`, %s, %d connections, %d rounds of %.2f s, %d processors, %s, %s, load average before %s.\n\n", r.Started.Format("2006-01-02 15:04"),
		strings.Join(r.Command, " "), storeName(r.Store), r.Connections, r.Rounds, r.Seconds, r.Processors, r.Go, r.FileSystem, r.LoadAverage)
	for _, d := range r.Dimensions {
		smallest := d.Sizes[0]
		rates := [][]string{{things[d.Name], "req/s with " + count(float64(smallest.Size))}}
		for _, s := range d.Sizes[1:] {
			rates[0] = append(rates[0], "× with "+count(float64(s.Size)), "CPU ×", "p50 ×")
		}
		for k, f := range smallest.Rows {
			row := []string{"`" + f.Workload + "`", noFigure}
			if f.Unavailable == "" {
				row[1] = fmt.Sprintf("%.0f", f.Rate.Median)
			}
			for _, s := range d.Sizes[1:] {
				o := s.Rows[k].OfSmallest
				if o == nil {
					row = append(row, noFigure, noFigure, noFigure)
					continue
				}
				row = append(row, o.Rate.times(), fmt.Sprintf("%.2f", o.CPU.Median), fmt.Sprintf("%.2f", o.P50.Median))
			}
			rates = append(rates, row)
		}
		grid(w, 1, rates)
	}
	held := [][]string{{"stored", "by the database's count", "on disk", "start-up", "from the disk", "resident at rest", "after load"}}
	for _, d := range r.Dimensions {
		for _, s := range d.Sizes {
			cold := noFigure
			if s.ColdStartMs > 0 {
				cold = fmt.Sprintf("%.0f ms", s.ColdStartMs)
			}
			held = append(held, []string{
				count(float64(s.Size)) + " " + d.Name, fmt.Sprint(s.Stored), fmt.Sprintf("%.0f MB", float64(s.Bytes)/1e6),
				fmt.Sprintf("%.0f (%.0f–%.0f) ms", s.StartMs.Median, s.StartMs.Min, s.StartMs.Max), cold,
				fmt.Sprintf("%.0f MB", s.RestMB.Median), fmt.Sprintf("%.0f (%.0f–%.0f) MB", s.LoadedMB.Median, s.LoadedMB.Min, s.LoadedMB.Max),
			})
		}
	}
	grid(w, 1, held)
}

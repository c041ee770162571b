package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

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
	r, g := new(report), new(growthReport)
	if err := errors.Join(json.Unmarshal(text, r), json.Unmarshal(text, g)); err != nil {
		return fmt.Errorf("%s: %w", cmd.JSON, err)
	}
	if len(r.Rows)+len(g.Dimensions) == 0 {
		return fmt.Errorf("%s has no rows: it is not the JSON of a run", cmd.JSON)
	}
	r.environment.print(os.Stdout)
	fmt.Println()
	figureTable(r.Rows).markdown(os.Stdout)
	for _, d := range g.Dimensions {
		d.table().markdown(os.Stdout)
	}
	sizeTable(g.Dimensions...).markdown(os.Stdout)
	return nil
}

// table is a header and rows; the first column has words, the others figures.
type table [][]string

const noFigure = "–"

// figureTable shows the median of the rounds, with the least and the most where
// they matter.
func figureTable(rows []*figure) table {
	t := table{{
		"workload", "stored", "conn", "orgs", "server", "req/s", "min–max", "p50 ms", "p99 ms", "p99.9 ms", "cpu µs", "+ store", "generator",
		"× baseline", "cpu ×", "p50 ×", "× old", "cpu ×", "p50 ×", "× peer", "cpu ×", "p50 ×", "× smallest", "cpu ×", "p50 ×", "× plain", "cpu ×", "p50 ×", "× one org",
	}}
	for _, f := range rows {
		cells := []string{f.Workload, unlessZero(f.size), fmt.Sprint(f.Connections), fmt.Sprint(f.Organizations), f.Target}
		if f.Unavailable != "" {
			t = append(t, append(cells, noFigure))
			continue
		}
		cells = append(cells, fmt.Sprintf("%.0f", f.Rate.Median), fmt.Sprintf("%.0f–%.0f", f.Rate.Min, f.Rate.Max),
			millis(f.P50), millis(f.P99), millis(f.P999), fmt.Sprintf("%.0f", f.CPU.Median), unlessZero(int(f.StoreCPU.Median)),
			fmt.Sprintf("%.0f %%", 100*f.GeneratorShare.Median))
		for _, r := range []*ratio{f.OfBaseline, f.OfOld, f.OfPeer, f.OfSmallest, f.OfPlain} {
			cells = append(cells, r.cells()...)
		}
		if f.OfOne != nil {
			cells = append(cells, f.OfOne.times())
		}
		t = append(t, cells)
	}
	return t.withoutEmpty()
}

func millis(s spread) string { return fmt.Sprintf("%.2f", s.Median/1000) }

func unlessZero(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func (r *ratio) cells() []string {
	if r == nil {
		return make([]string, 3)
	}
	return []string{r.Rate.times(), fmt.Sprintf("%.2f", r.CPU.Median), fmt.Sprintf("%.2f", r.P50.Median)}
}

// times is a ratio, with the least and the most of the rounds.
func (s spread) times() string { return fmt.Sprintf("%.2f (%.2f–%.2f)", s.Median, s.Min, s.Max) }

// withoutEmpty makes all rows as long as the header, and leaves columns out
// that no row has.
func (t table) withoutEmpty() table {
	kept := make(table, len(t))
	for column := range t[0] {
		at := func(row []string) string {
			if column < len(row) {
				return row[column]
			}
			return ""
		}
		if !slices.ContainsFunc(t[1:], func(row []string) bool { return at(row) != "" }) {
			continue
		}
		for i, row := range t {
			kept[i] = append(kept[i], at(row))
		}
	}
	return kept
}

// print aligns the columns for a terminal.
func (t table) print(w io.Writer) {
	aligned := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range t {
		fmt.Fprintln(aligned, strings.Join(row, "\t")+"\t")
	}
	_ = aligned.Flush() // what cannot be written to a terminal is lost
}

// markdown prints nothing if there are no rows.
func (t table) markdown(w io.Writer) {
	if len(t) < 2 {
		return
	}
	rule := slices.Repeat([]string{"---:"}, len(t[0]))
	rule[0] = "---"
	for _, row := range slices.Insert(slices.Clone(t), 1, rule) {
		fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | "))
	}
	fmt.Fprintln(w)
}

func (e *environment) print(w io.Writer) {
	fmt.Fprintf(w, "%s: `%s`: %d rounds of %.2f s, %d processors, %s, %s, load average before %s.\n", e.Started.Format("2006-01-02 15:04"),
		strings.Join(e.Command, " "), e.Rounds, e.Seconds, e.Processors, e.Go, e.FileSystem, e.LoadAverage)
	if e.FileSystem == "tmpfs" {
		fmt.Fprintln(w, "The data is in memory: a flush costs nothing, and no durable figure means anything. Set --dir.")
	}
	if e.Profiled {
		fmt.Fprintln(w, "With --profile Latchkey runs in a build of its own: the figures are not to be kept.")
	}
}

// print writes a run for a terminal.
func (r *report) print(w io.Writer) {
	r.environment.print(w)
	figureTable(r.Rows).print(w)
	for _, name := range slices.Sorted(maps.Keys(r.Absent)) {
		fmt.Fprintf(w, "not available: %s: %s\n", name, r.Absent[name])
	}
	printUnavailable(w, r.Rows)
}

func printUnavailable(w io.Writer, rows []*figure) {
	for _, f := range rows {
		if f.Unavailable != "" {
			fmt.Fprintf(w, "not available: %s on %s, %d connections, %d organizations: %s\n", f.Workload, f.Target, f.Connections, f.Organizations, f.Unavailable)
		}
	}
}

package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
)

// table prints the rows for people: the median of the rounds, with the least
// and the most where they matter.
func (r *report) table(w io.Writer) error {
	fmt.Fprintf(w, "%d rounds of %.2f s, %d processors, %s, %s, load average before %s\n",
		r.Rounds, r.Seconds, r.Processors, r.Go, r.FileSystem, r.LoadAverage)
	if r.FileSystem == "tmpfs" {
		fmt.Fprintln(w, "The data is in memory: a flush costs nothing, and no durable figure means anything. Set --dir.")
	}
	if r.Profiled {
		fmt.Fprintln(w, "With --profile Latchkey runs in a build of its own: the figures are not to be kept.")
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "workload\tconn\torgs\tserver\treq/s\tmin–max\tp50 ms\tp99 ms\tp99.9 ms\tcpu µs\t+ store\tgenerator\t× floor req/s\t× floor cpu\t× floor p50\t")
	var last string
	for _, f := range r.Rows {
		if last != "" && last != f.Workload {
			fmt.Fprintln(t, "\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t")
		}
		last = f.Workload
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\t", f.Workload, f.Connections, f.Organizations, f.Target)
		if f.Unavailable != "" {
			fmt.Fprint(t, "–\t–\t–\t–\t–\t–\t–\t–\t–\t–\t–\t\n")
			continue
		}
		fmt.Fprintf(t, "%.0f\t%.0f–%.0f\t%.2f\t%.2f\t%.2f\t%.0f\t", f.Rate.Median, f.Rate.Min, f.Rate.Max,
			f.P50.Median/1000, f.P99.Median/1000, f.P999.Median/1000, f.CPU.Median)
		if f.StoreCPU.Median > 0 {
			fmt.Fprintf(t, "%.0f\t", f.StoreCPU.Median)
		} else {
			fmt.Fprint(t, "\t")
		}
		fmt.Fprintf(t, "%.0f %%\t", 100*f.GeneratorShare.Median)
		if f.OfFloor != nil {
			fmt.Fprintf(t, "%.2f (%.2f–%.2f)\t%.2f\t%.2f\t", f.OfFloor.Rate.Median, f.OfFloor.Rate.Min, f.OfFloor.Rate.Max,
				f.OfFloor.CPU.Median, f.OfFloor.P50.Median)
		} else {
			fmt.Fprint(t, "\t\t\t")
		}
		fmt.Fprintln(t)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(r.Absent)) {
		fmt.Fprintf(w, "not available: %s: %s\n", name, r.Absent[name])
	}
	for _, f := range r.Rows {
		if f.Unavailable != "" {
			fmt.Fprintf(w, "not available: %s: %s\n", f.row.cell, f.Unavailable)
		}
		if f.OfOne != nil {
			fmt.Fprintf(w, "%s: %.2f times the rate in one organization (%.2f–%.2f)\n", f.row.cell, f.OfOne.Median, f.OfOne.Min, f.OfOne.Max)
		}
	}
	return nil
}

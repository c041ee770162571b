package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
)

// growthReport is what a growth run found out; README.md describes its JSON.
type growthReport struct {
	Kind string `json:"kind"`
	environment
	Store       string       `json:"store"`
	Connections int          `json:"connections"`
	Dimensions  []*dimension `json:"dimensions"`
}

// kindGrowth tells the JSON of a growth run from that of another.
const kindGrowth = "growth"

type dimension struct {
	Name  string  `json:"name"`
	Sizes []*size `json:"sizes"` // from small to large
}

// size is one database: so much of one dimension.
type size struct {
	Size        int       `json:"size"`
	Stored      int       `json:"stored"` // as the database counts
	Bytes       int64     `json:"bytes"`
	AtWork      int       `json:"atWork,omitzero"`
	StartMs     spread    `json:"startMs"`
	ColdStartMs float64   `json:"coldStartMs,omitzero"`
	RestMB      spread    `json:"restMB"`   // resident when it has started
	LoadedMB    spread    `json:"loadedMB"` // and after all workloads
	Rows        []*figure `json:"rows"`

	dimension                 string
	kept                      kept
	target                    *target   // while it is served
	series                    []*series // by workload
	startMs, restMB, loadedMB []float64 // by round
}

func (s *size) String() string { return fmt.Sprintf("%s-%d", s.dimension, s.Size) }

// readGrowth reads the JSON of a growth run.
func readGrowth(text []byte) (*growthReport, error) {
	r := new(growthReport)
	if err := json.Unmarshal(text, r); err != nil {
		return nil, err
	}
	if r.Kind != kindGrowth || len(r.Dimensions) == 0 {
		return nil, errors.New("it is not the JSON of bench growth")
	}
	return r, nil
}

// finish computes the figures of a dimension that was measured.
func (d *dimension) finish() {
	for _, s := range d.Sizes {
		s.ColdStartMs = round(s.ColdStartMs)
		s.StartMs, s.RestMB, s.LoadedMB = spreadOf(s.startMs), spreadOf(s.restMB), spreadOf(s.loadedMB)
		for k, series := range s.series {
			f := newFigure(series)
			f.OfSmallest = series.to(d.Sizes[0].series[k])
			s.Rows = append(s.Rows, f)
		}
	}
}

// table has the rows of all sizes, by workload.
func (d *dimension) table() table {
	var rows []*figure
	for k := range d.Sizes[0].Rows {
		for _, s := range d.Sizes {
			s.Rows[k].size = s.Size
			rows = append(rows, s.Rows[k])
		}
	}
	return figureTable(rows)
}

// sizeTable shows what does not depend on the workload.
func sizeTable(dimensions ...*dimension) table {
	t := table{{"stored", "by the database's count", "on disk", "start-up ms", "from the disk ms", "resident at rest MB", "after load MB"}}
	for _, d := range dimensions {
		for _, s := range d.Sizes {
			t = append(t, []string{
				count(float64(s.Size)) + " " + d.Name, fmt.Sprint(s.Stored), fmt.Sprintf("%.0f MB", float64(s.Bytes)/1e6),
				s.StartMs.whole(), fmt.Sprintf("%.0f", s.ColdStartMs), s.RestMB.whole(), s.LoadedMB.whole(),
			})
		}
	}
	return t
}

func (s spread) whole() string { return fmt.Sprintf("%.0f (%.0f–%.0f)", s.Median, s.Min, s.Max) }

// print writes one dimension for a terminal.
func (r *growthReport) print(w io.Writer, d *dimension) {
	r.environment.print(w)
	d.table().print(w)
	sizeTable(d).print(w)
	for _, s := range d.Sizes {
		printUnavailable(w, s.Rows)
	}
}

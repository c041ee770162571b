package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// drawing is what a test reads of an SVG file.
type drawing struct {
	marks  [][2]float64 // places, in the order of drawing
	ranges int
	limits int
	texts  []string
	titles []string
}

// parse reads the whole file: it must be well-formed.
func parse(t *testing.T, svg string) drawing {
	t.Helper()
	var d drawing
	in := []string{""} // the elements that are open
	decoder := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
		switch token := token.(type) {
		case xml.StartElement:
			in = append(in, token.Name.Local)
			attributes := map[string]string{}
			for _, a := range token.Attr {
				attributes[a.Name.Local] = a.Value
			}
			switch class, _, _ := strings.Cut(attributes["class"], " "); class {
			case "mark":
				var place [2]float64
				if _, err := fmt.Sscanf(attributes["transform"], "translate(%f %f)", &place[0], &place[1]); err != nil {
					t.Fatalf("%v in %v", err, attributes)
				}
				d.marks = append(d.marks, place)
			case "range":
				d.ranges++
			case "limit":
				d.limits++
			}
		case xml.EndElement:
			in = in[:len(in)-1]
		case xml.CharData:
			switch in[len(in)-1] {
			case "text":
				d.texts = append(d.texts, string(token))
			case "title":
				d.titles = append(d.titles, string(token))
			}
		}
	}
	return d
}

func TestChart(t *testing.T) {
	c := chart{
		title: "Rates <of> & \"more\"", xLabel: "stored", yLabel: "times",
		lines: []line{
			{"one", []point{{1000, 1, 1, 1}, {100_000, 0.5, 0.25, 0.75}, {1_000_000, 2, 2, 2}}},
			{"two", []point{{1000, 1, 1, 1}}},
		},
		limit: &limit{0.8, "at most 20 % slower"},
	}
	svg := c.svg()
	d := parse(t, svg)

	// Where the points must be, by hand: the axis is logarithmic from 1000/1.6
	// to 1.6 million, and goes to the next half above 2.
	x := func(v float64) float64 {
		return plotLeft + (plotRight-plotLeft)*math.Log10(v/625)/math.Log10(1_600_000/625.0)
	}
	y := func(v float64) float64 { return plotBottom - (plotBottom-plotTop)*v/2.5 }
	const left, right = -beside / 2.0, beside / 2.0
	want := [][2]float64{
		{x(1000) + left, y(1)},
		{x(100_000) + left, y(0.5)},
		{x(1_000_000) + left, y(2)},
		{x(1000) + right, y(1)},
	}
	if diff := cmp.Diff(want, d.marks, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 0.051 })); diff != "" {
		t.Error(diff)
	}
	for i, m := range d.marks {
		if m[0] < plotLeft || m[0] > plotRight || m[1] < plotTop || m[1] > plotBottom {
			t.Errorf("point %d is outside: %v", i, m)
		}
	}
	if d.ranges != 1 || d.limits != 2 { // in the plot and in the legend
		t.Errorf("%d ranges and %d limits, want 1 and 2", d.ranges, d.limits)
	}
	for _, want := range []string{c.title, "stored", "times", "one", "two", "at most 20 % slower", "1 thousand", "10 thousand", "100 thousand", "1 million", "0", "0.5", "2.5"} {
		if !strings.Contains("\n"+strings.Join(d.texts, "\n")+"\n", "\n"+want+"\n") {
			t.Errorf("no text %q in %q", want, d.texts)
		}
	}
	if want := "one at 100 thousand: 0.5 (0.25 to 0.75)"; d.titles[1] != want {
		t.Errorf("got %q, want %q", d.titles[1], want)
	}
	if svg != c.svg() {
		t.Error("the same chart is drawn differently")
	}
}

// TestChartOfLittle draws what there may be after a run that did not get far.
func TestChartOfLittle(t *testing.T) {
	tests := []struct {
		name  string
		chart chart
		marks int
	}{
		{"no lines", chart{}, 0},
		{"no points", chart{lines: []line{{name: "one"}}}, 0},
		{"one point", chart{lines: []line{{"one", []point{{100, 5, 4, 6}}}}}, 1},
		{"zero", chart{lines: []line{{"one", []point{{100, 0, 0, 0}}}}}, 1},
		{"more lines than colours", chart{lines: make([]line, 2*len(colours))}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			svg := tt.chart.svg()
			if d := parse(t, svg); len(d.marks) != tt.marks || strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
				t.Errorf("%d marks, want %d, in\n%s", len(d.marks), tt.marks, svg)
			}
		})
	}
}

func TestStepFor(t *testing.T) {
	for top, want := range map[float64]float64{0: 1, 0.9: 0.2, 1: 0.2, 1.3: 0.5, 2: 0.5, 3: 0.5, 5: 1, 6: 1, 7: 2, 300: 50, 301: 100, 1000: 200} {
		if got := stepFor(top); math.Abs(got-want) > 1e-9 {
			t.Errorf("stepFor(%v) = %v, want %v", top, got, want)
		}
	}
}

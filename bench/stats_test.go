package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"latchkey/bench/workload"
)

// TestSummary: a machine that is half as fast in one round does not change the
// ratios, and a row without figures has none.
func TestSummary(t *testing.T) {
	of := summaries[1].of
	measured := func(r row, err error, samples ...sample) *series { return &series{row: r, err: err, samples: samples} }
	r := &report{}
	r.finish([]*series{
		measured(of.on(onBaseline), nil, sample{Rate: 1000, CPU: 100}, sample{Rate: 500, CPU: 200}, sample{Rate: 1000, CPU: 100}),
		measured(of, nil, sample{Rate: 800, CPU: 150}, sample{Rate: 400, CPU: 300}, sample{Rate: 700, CPU: 140}),
		measured(of.on(onSQLite+old), nil, sample{Rate: 400, CPU: 75}, sample{Rate: 200, CPU: 150}, sample{Rate: 350, CPU: 70}),
		measured(row{workload.Whoami, 64, false, onSQLite}, io.ErrUnexpectedEOF),
	}, time.Second)
	for name, tt := range map[string]struct{ got, want string }{
		"baseline": {string(r.summary((*figure).ofBaseline, map[string]spread{"sign_many_accounts": {0.7, 0.8, 0.9}})), `{"whoami":null,"sign_sqlite":0.8,"sign_sqlite_cpu":1.5,"sign_policy":null,"sign_postgres":null,"sign_latency":null,"get_wallet_account":null,"create_wallet_accounts_hot":null,"list_activities_grown":null,"sign_many_accounts":0.8}`},
		"old":      {string(r.summary((*figure).ofOld, nil)), `{"whoami":null,"sign_sqlite":2,"sign_sqlite_cpu":2,"sign_policy":null,"sign_postgres":null,"sign_latency":null,"get_wallet_account":null,"create_wallet_accounts_hot":null,"list_activities_grown":null,"sign_many_accounts":null}`},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: got %s, want %s", name, tt.got, tt.want)
		}
	}
	if got, want := r.Rows[1].OfBaseline.Rate, (spread{0.7, 0.8, 0.8}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if f := r.Rows[3]; f.Unavailable == "" || f.Rate != (spread{}) {
		t.Errorf("got %+v", f)
	}
}

func TestFit(t *testing.T) {
	all := []*series{{perSecond: 10_000, signing: 20 * time.Microsecond}, {perSecond: 1000, signing: 20 * time.Microsecond}, {err: io.EOF}}
	for left, want := range map[time.Duration]time.Duration{
		time.Hour:       time.Second,
		5 * time.Second: 422 * time.Millisecond, // (5 - 0.2) / (5 · (1.25 + 1.025))
		-time.Second:    minTime,
	} {
		m := &meter{time: time.Second}
		m.fit(all, 5, left)
		if got := m.time.Round(time.Millisecond); got != want {
			t.Errorf("%v left: got %v, want %v", left, got, want)
		}
	}
}

// TestChart checks where the points are: the axis is logarithmic from 1000/1.6
// to 1.6 million, and goes to the next half above 2.
func TestChart(t *testing.T) {
	c := chart{
		title:  "Rates <of> & \"more\"",
		lines:  []line{{"one", []point{{1000, spread{1, 1, 1}}, {100_000, spread{0.25, 0.5, 0.75}}, {1_000_000, spread{2, 2, 2}}}}},
		limit:  &limit{0.8, "at most"},
		xLabel: "stored",
	}
	svg := c.svg()
	for x, y := range map[float64]float64{1000: 1, 100_000: 0.5, 1_000_000: 2} {
		px := plotLeft + (plotRight-plotLeft)*math.Log10(x/625)/math.Log10(1_600_000/625.0)
		if mark := fmt.Sprintf(`translate(%.1f %.1f)`, px, plotEnd-(plotEnd-plotTop)*y/2.5); !strings.Contains(svg, mark) {
			t.Errorf("no mark at %s for %v", mark, x)
		}
	}
	if want := "<title>one at 100 thousand: 0.5 (0.25 to 0.75)</title>"; !strings.Contains(svg, want) {
		t.Errorf("no %s", want)
	}
	for _, c := range []*chart{&c, {}, {lines: make([]line, 2*len(kinds))}, {lines: []line{{"zero", []point{{100, spread{}}}}}}} {
		svg := c.svg()
		if svg != c.svg() || strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
			t.Errorf("not the same, or not a number:\n%s", svg)
		}
		for decoder := xml.NewDecoder(strings.NewReader(svg)); ; {
			if _, err := decoder.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%v in\n%s", err, svg)
			}
		}
	}
}

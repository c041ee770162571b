package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"latchkey/bench/floor"
	"latchkey/bench/process"
	"latchkey/bench/workload"
	"latchkey/internal/server/config"
	"latchkey/internal/test/servertest"
)

// newSite runs the floor and Latchkey inside the test, set up for every
// workload.
func newSite(t *testing.T) *site {
	t.Helper()
	s := servertest.Start(t, servertest.SQLite(t), patient())
	founder := func(c *servertest.Caller) workload.Founder {
		return workload.Founder{OrganizationID: c.OrganizationID, Key: c.Key}
	}
	world, err := workload.Setup(s.URL, workload.Founders{
		Hot: founder(s.Root), Growing: founder(s.Found(t, "Growing")), Parent: founder(s.Found(t, "Parent")),
	}, 3)
	if err != nil {
		t.Fatal(err)
	}
	sizes, err := world.ReplySizes()
	if err != nil {
		t.Fatal(err)
	}
	bare, err := floor.Start(floor.Config{File: filepath.Join(t.TempDir(), "records"), ReplySizes: sizes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := bare.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	source, err := workload.NewFloor(world, bare.URL, bare.Address)
	if err != nil {
		t.Fatal(err)
	}
	here := func() []int { return []int{os.Getpid()} }
	return &site{
		targets: map[string]*target{
			onSQLite: {address: strings.TrimPrefix(s.URL, "http://"), source: world, pids: here, world: world},
			onFloor:  {address: strings.TrimPrefix(bare.URL, "http://"), source: source, pids: here},
		},
		absent: map[string]error{onPostgres: io.ErrUnexpectedEOF},
	}
}

// patient is a config under which no request is too slow.
func patient() config.Config {
	c := config.Default()
	const patience = 5 * time.Minute
	c.Timeouts = config.Timeouts{Header: patience, Body: patience, Request: patience, Idle: patience, Drain: patience}
	return c
}

// TestRounds runs every workload on real servers, in the smallest of rounds.
func TestRounds(t *testing.T) {
	site := newSite(t)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"signature":"`+r.Header.Get("X-Token")+`"}`)
	}))
	defer other.Close()
	cmd := &runCommand{Connections: []int{4}, Organizations: 3, Rounds: 2, Peer: other.URL + "/sign", PeerHeader: []string{"X-Token: abc"}, PeerWant: `"abc"`}
	if err := cmd.addPeer(site); err != nil {
		t.Fatal(err)
	}
	m := &measurement{site: site, rounds: 2, time: 10 * time.Millisecond, warmUp: 10 * time.Millisecond, note: t.Output()}
	plan := cmd.plan(site)
	if want := 2*(7+6) + 1; len(plan) != want {
		t.Errorf("%d rows, want %d", len(plan), want)
	}
	rows, err := m.measure(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	r := newReport(cmd, site, t.TempDir())
	r.finish(rows, m.time)
	measured := 0 // a clock that is read coarsely may stand still in a row, not in all
	for _, f := range r.Rows {
		if f.CPU.Max > 0 {
			measured++
		}
		if f.Unavailable != "" {
			t.Errorf("%s: %s", f.row.cell, f.Unavailable)
			continue
		}
		if (f.ResidentMB.Min <= 0) != (f.Target == onPeer) {
			t.Errorf("%s: it takes %v MB", f.row.cell, f.ResidentMB)
		}
		if f.Rate.Min <= 0 || f.P50.Min <= 0 || f.P50.Max > f.P999.Max || f.CPU.Min < 0 || f.CPU.Max > 0 && f.Target == onPeer || f.Requests == 0 {
			t.Errorf("%s: implausible: %+v", f.row.cell, f)
		}
		if (f.OfFloor == nil) != (f.Target == onFloor) || (f.OfOne == nil) == f.row.Many {
			t.Errorf("%s: not compared as it should be: %+v", f.row.cell, f)
		}
		if signs := f.Workload == workload.SignRawPayload || f.Workload == workload.SignTransaction; signs && (f.Verified == 0) != (f.Target == onPeer) {
			t.Errorf("%s: no signature was verified", f.row.cell)
		}
	}
	if measured == 0 {
		t.Error("no processor time was measured")
	}
	var printed bytes.Buffer
	if err := r.table(&printed); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"create_sub_organization", "not available: postgres: unexpected EOF", "times the rate in one organization"} {
		if !strings.Contains(printed.String(), want) {
			t.Errorf("no %q in the table:\n%s", want, &printed)
		}
	}
	text, err := r.json()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, new(report), json.RejectUnknownMembers(true)); err != nil {
		t.Error(err)
	}
}

// TestRefusedRequestsHaveNoFigures: a server that answers fast because it
// refuses must not look fast.
func TestRefusedRequestsHaveNoFigures(t *testing.T) {
	site := newSite(t)
	// The world of one server is unknown to the other.
	other := servertest.Start(t, servertest.SQLite(t), patient())
	site.targets[onSQLite].address = strings.TrimPrefix(other.URL, "http://")
	m := &measurement{site: site, rounds: 1, time: time.Millisecond, warmUp: time.Millisecond, note: io.Discard}
	rows, err := m.measure(t.Context(), []cell{{workload.Whoami, 1, false, onFloor}, {workload.Whoami, 1, false, onSQLite}})
	if err != nil {
		t.Fatal(err)
	}
	r := newReport(&runCommand{}, site, t.TempDir())
	r.finish(rows, m.time)
	if f := r.Rows[1]; !strings.Contains(f.Unavailable, "HTTP 401") || f.Rate != (spread{}) || f.OfFloor != nil {
		t.Errorf("got %+v", f)
	}
	summary, err := r.summary()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"whoami":null,"sign_sqlite":null,"sign_sqlite_cpu":null,"sign_policy":null,"sign_postgres":null,"sign_latency":null}`
	if string(summary) != want {
		t.Errorf("got %s", summary)
	}
}

func TestFloorCommand(t *testing.T) {
	if os.Getenv("BENCH_FLOOR") != "" {
		err := (&floorCommand{File: os.Getenv("BENCH_FLOOR"), Reply: map[string]int{"query/whoami": 100}}).Run(t.Context())
		t.Error(err) // only a signal ends it
		return
	}
	dir := t.TempDir()
	t.Setenv("BENCH_FLOOR", filepath.Join(dir, "records"))
	child, err := process.Start(filepath.Join(dir, "log"), os.Args[0], "-test.run", "^TestFloorCommand$")
	if err != nil {
		t.Fatal(err)
	}
	defer child.Stop()
	response, err := http.Post(child.Ready.Address+"/public/v1/query/whoami", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusUnauthorized || child.Ready.Signer == "" {
		t.Errorf("HTTP %d, %+v", response.StatusCode, child.Ready)
	}
}

func TestSummary(t *testing.T) {
	r := &report{}
	second := func(requests int, cpu, p50 time.Duration) sample {
		return sample{Requests: requests, Elapsed: time.Second, CPU: cpu * time.Duration(requests), P50: p50}
	}
	add := func(c cell, samples ...sample) *row { return &row{cell: c, samples: samples} }
	sign, alone := ratios[1].of, ratios[5].of
	r.finish([]*row{
		// The machine was half as fast in the second round: the ratio holds.
		add(sign.on(onFloor), second(1000, 100, 5), second(500, 200, 10), second(1000, 100, 5)),
		add(sign, second(800, 150, 6), second(400, 300, 12), second(700, 140, 6)),
		add(alone.on(onFloor), second(10, 1, 100)),
		add(alone, second(10, 1, 150)),
	}, time.Second)
	got, err := r.summary()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"whoami":null,"sign_sqlite":0.8,"sign_sqlite_cpu":1.5,"sign_policy":null,"sign_postgres":null,"sign_latency":1.5}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if diff := cmp.Diff(spread{0.7, 0.8, 0.8}, r.Rows[1].OfFloor.Rate); diff != "" {
		t.Error(diff)
	}
}

// TestMarkdown makes tables of a report as it is read from a file.
func TestMarkdown(t *testing.T) {
	r := &report{Command: []string{"bench"}, Organizations: 10_000}
	second := func(requests int) sample {
		return sample{Requests: requests, Elapsed: time.Second, CPU: time.Second, P50: time.Millisecond, P99: 2 * time.Millisecond, P999: 3 * time.Millisecond}
	}
	one := cell{workload.Whoami, 64, false, onFloor}
	many := one
	many.Many = true
	r.finish([]*row{
		{cell: one, samples: []sample{second(1000)}},
		{cell: one.on(onSQLite), samples: []sample{second(800)}},
		{cell: one.on(onPostgres), err: io.ErrUnexpectedEOF},
		{cell: many, samples: []sample{second(1000)}},
		{cell: many.on(onSQLite), samples: []sample{second(720)}},
	}, time.Second)
	text, err := r.json()
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	if err := markdown(&got, text); err != nil {
		t.Fatal(err)
	}
	_, tables, _ := strings.Cut(got.String(), "\n\n")
	want := `| workload | connections | organizations | floor req/s | SQLite × floor | CPU × | p50 × | PostgreSQL × floor | CPU × | p50 × |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| whoami | 64 | 1 | 1000 | 0.80 (0.80–0.80) | 1.25 | 1.00 | – | – | – |
| whoami | 64 | 10000 | 1000 | 0.72 (0.72–0.72) | 1.39 | 1.00 | – | – | – |

| workload | connections | organizations | floor p50 / p99 / p99.9 ms | SQLite p50 / p99 / p99.9 ms | PostgreSQL p50 / p99 / p99.9 ms |
| --- | ---: | ---: | ---: | ---: | ---: |
| whoami | 64 | 1 | 1.00 / 2.00 / 3.00 | 1.00 / 2.00 / 3.00 | – |
| whoami | 64 | 10000 | 1.00 / 2.00 / 3.00 | 1.00 / 2.00 / 3.00 | – |

Requests per second with 10000 organizations, times those with one:

| workload | connections | SQLite | PostgreSQL |
| --- | ---: | ---: | ---: |
| whoami | 64 | 0.90 (0.90–0.90) | – |

`
	if diff := cmp.Diff(want, tables); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"x", "{}", `{"kind":"growth"}`} {
		if err := markdown(io.Discard, []byte(bad)); err == nil {
			t.Errorf("%s passed", bad)
		}
	}
}

func TestQuickPlan(t *testing.T) {
	cells := quick()
	for _, r := range ratios {
		var own, floor bool
		for _, c := range cells {
			own, floor = own || c == r.of, floor || c == r.of.on(onFloor)
		}
		if !own || !floor {
			t.Errorf("%s: its row or the floor's is missing", r.name)
		}
	}
	if len(cells) != 9 {
		t.Errorf("%d rows, want 9: %v", len(cells), cells)
	}
}

func TestFit(t *testing.T) {
	rows := []*row{{perSecond: 10_000, signing: 20 * time.Microsecond}, {perSecond: 1000, signing: 20 * time.Microsecond}, {err: io.EOF}}
	tests := []struct {
		name       string
		left, want time.Duration
	}{
		{"no deadline", 0, time.Second},
		{"plenty", time.Hour, time.Second},
		{"tight", 5 * time.Second, 422 * time.Millisecond}, // (5 - 0.2) / (5 · (1.25 + 1.025))
		{"late", -time.Second, minTime},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := &measurement{rounds: 5, time: time.Second}
			now := time.Now()
			if tt.left != 0 {
				m.deadline = now.Add(tt.left)
			}
			m.fit(rows, now)
			if got := m.time.Round(time.Millisecond); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	tests := []struct {
		name string
		cmd  runCommand
		want string
	}{
		{"good", runCommand{Rounds: 5, Time: time.Second, Workload: []string{"mix"}, Connections: []int{1, 64}}, ""},
		{"no rounds", runCommand{Time: time.Second}, "--rounds"},
		{"no time", runCommand{Rounds: 1}, "--time"},
		{"workload", runCommand{Rounds: 1, Time: 1, Workload: []string{"sign"}}, "sign_raw_payload"},
		{"connections", runCommand{Rounds: 1, Time: 1, Connections: []int{0}}, "--connections"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.cmd.check()
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

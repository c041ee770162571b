package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"latchkey/bench/workload"
	"latchkey/internal/test/pgtest"
)

// TestMain lets the program of the tests be the benchmark itself, which starts
// itself again for some of its servers.
func TestMain(m *testing.M) {
	if os.Getenv("BENCH_TEST_COMMAND") != "" {
		main()
		return
	}
	os.Exit(pgtest.Main(m))
}

// bench runs a command of the benchmark and returns what it prints.
func bench(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "BENCH_TEST_COMMAND=1")
	var failure bytes.Buffer
	cmd.Stderr = &failure
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("bench %s: %v\n%s", strings.Join(args, " "), err, &failure)
	}
	return string(out)
}

// program builds Latchkey with the flags of make build, which may have compiled
// all of it already.
func program(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "latchkey")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", file, "./cmd/latchkey")
	build.Dir, build.Env = "..", append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building Latchkey: %v: %s", err, out)
	}
	return file
}

func read(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into, json.RejectUnknownMembers(true)); err != nil {
		t.Fatal(err)
	}
}

// TestCommands runs every command on real servers, in the smallest of rounds.
func TestCommands(t *testing.T) {
	latchkey := program(t)
	postgres := pgtest.Start(t).URL(t) // one that flushes to the disk
	t.Run("run", func(t *testing.T) { testRun(t, latchkey, postgres) })
	t.Run("quick", func(t *testing.T) { testQuick(t, latchkey) })
	t.Run("growth", func(t *testing.T) { testGrowth(t, latchkey) })
}

func testRun(t *testing.T, latchkey, postgres string) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"signature":"`+r.Header.Get("X-Token")+`"}`)
	}))
	defer other.Close()
	dir := t.TempDir()
	file := filepath.Join(dir, "run.json")
	bench(t, "run", "--latchkey", latchkey, "--against", latchkey, "--postgres", postgres, "--connections", "4", "--organizations", "3",
		"--rounds", "2", "--time", "20ms", "--dir", dir, "--json", file,
		"--peer", other.URL+"/sign", "--peer-header", "X-Token: abc", "--peer-want", `"abc"`)
	var r report
	read(t, file, &r)
	if want := 5*(7+6) + 1; len(r.Rows) != want { // five servers; all workloads in one organization, all but one in many; the peer
		t.Errorf("%d rows, want %d", len(r.Rows), want)
	}
	for _, f := range r.Rows {
		isOld, peer := strings.HasSuffix(f.Target, old), f.Target == onPeer
		if f.Unavailable != "" || f.Requests == 0 || f.Rate.Min <= 0 || f.P50.Min <= 0 || strings.HasPrefix(f.Workload, "sign") && (f.Verified == 0) != peer {
			t.Errorf("implausible: %+v", f)
		}
		if (f.OfBaseline == nil) != (f.Target == onBaseline) || (f.OfOne == nil) != (f.Organizations == 1) ||
			(f.OfOld == nil) != (isOld || peer || f.Target == onBaseline) ||
			(f.OfPeer == nil) != (peer || f.Workload != workload.SignRawPayload || f.Organizations > 1) {
			t.Errorf("not compared as it should be: %+v", f)
		}
	}
	if strings.Contains(strings.Join(r.Command, " "), postgres) {
		t.Error("the report has the address of the database, which may hold a password")
	}
	if tables := bench(t, "table", "--json", file); strings.Count(tables, "\n| mix | ") != 10 {
		t.Errorf("the table lacks rows:\n%s", tables)
	}
	bench(t, "run", "--latchkey", latchkey, "--workload", "whoami", "--connections", "1", "--organizations", "0",
		"--rounds", "1", "--time", "20ms", "--dir", dir, "--profile", dir)
	leftBehind(t, dir, "run.json", "whoami-sqlite-1.pprof")
}

// testQuick has no PostgreSQL: its members are null.
func testQuick(t *testing.T, latchkey string) {
	lines := strings.Split(strings.TrimSpace(bench(t, "run", "--quick", "--latchkey", latchkey, "--against", latchkey,
		"--rounds", "1", "--time", "20ms", "--dir", t.TempDir())), "\n")
	for _, line := range lines[len(lines)-2:] {
		var summary map[string]*float64
		if err := json.Unmarshal([]byte(line), &summary); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		for _, s := range summaries {
			value, ok := summary[s.name]
			if missing := s.of.Target == onPostgres; !ok || (value == nil) != missing || !missing && *value <= 0 {
				t.Errorf("%s: %s", s.name, line)
			}
		}
		for _, g := range grown {
			if value, ok := summary[g.name]; !ok || value != nil { // no --grown was given
				t.Errorf("%s: %s", g.name, line)
			}
		}
	}
}

func testGrowth(t *testing.T, latchkey string) {
	dir := t.TempDir()
	filled, file := filepath.Join(dir, "filled"), filepath.Join(dir, "growth.json")
	args := []string{
		"growth", "--latchkey", latchkey, "--activities", "40,20", "--accounts", "2,120", "--suborganizations", "3,12",
		"--organizations-at-work", "3", "--connections", "2", "--time", "20ms", "--dir", dir,
	}
	bench(t, append(args, "--keep", filled, "--rounds", "0")...) // only fills
	bench(t, append(args, "--reuse", filled, "--rounds", "2", "--json", file)...)
	var r growthReport
	read(t, file, &r)
	for _, d := range r.Dimensions {
		for i, s := range d.Sizes {
			if s.Stored < s.Size || s.Stored > s.Size+30 || s.Bytes == 0 || i > 0 && s.Size < d.Sizes[i-1].Size || s.StartMs.Min <= 0 || s.ColdStartMs <= 0 {
				t.Errorf("%s: implausible: %+v", d.Name, s)
			}
			for _, f := range s.Rows {
				if f.Unavailable != "" || f.Rate.Min <= 0 || (f.OfSmallest == nil) != (i == 0) {
					t.Errorf("%s at %d: implausible: %+v", d.Name, s.Size, f)
				}
			}
		}
	}
	if tables := bench(t, "table", "--json", file); len(r.Dimensions) != 3 || strings.Count(tables, "\n| whoami | ") != 6 {
		t.Errorf("%d dimensions in\n%s", len(r.Dimensions), tables)
	}
	first, second := bench(t, "plot", "--json", file, "--out", filepath.Join(dir, "a")), bench(t, "plot", "--json", file, "--out", filepath.Join(dir, "b"))
	if strings.Count(first, ".svg\n") != 5 || strings.Count(second, ".svg\n") != 5 {
		t.Errorf("charts: %s", first)
	}
	if out, err := exec.Command("diff", "-r", filepath.Join(dir, "a"), filepath.Join(dir, "b")).CombinedOutput(); err != nil {
		t.Errorf("the same input gives other charts: %v: %s", err, out)
	}
	leftBehind(t, dir, "a", "b", "filled", "growth.json")
}

func leftBehind(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(want) {
		t.Errorf("%v is there, want %v; %v", entries, want, err)
	}
}

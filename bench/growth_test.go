package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"latchkey/bench/workload"
	"latchkey/internal/test/pgtest"
)

// program builds the server: growth starts it anew again and again. The flags
// are those of make build, which may have compiled all of it already.
func program(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "latchkey")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", file, "latchkey/cmd/latchkey")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the server: %v: %s", err, out)
	}
	return file
}

// TestGrowth fills, keeps, takes again and measures the smallest of databases,
// on both stores.
func TestGrowth(t *testing.T) {
	latchkey := program(t)
	t.Run("interrupted", func(t *testing.T) { testGrowthInterrupted(t, latchkey) })
	for _, store := range []string{onSQLite, onPostgres} {
		t.Run(store, func(t *testing.T) {
			dir := t.TempDir()
			cmd := &growthCommand{
				Latchkey: latchkey, Store: store, Activities: []int{40, 20}, Accounts: []int{0}, Suborganizations: []int{3, 12},
				AccountsAtWork: 1, OrganizationsAtWork: 3, Workload: workload.Names(), Connections: 2, Time: 10 * time.Millisecond,
				Keep: filepath.Join(dir, "kept"), Dir: dir, JSON: filepath.Join(dir, "growth.json"),
			}
			if store == onPostgres {
				cmd.Postgres = pgtest.Start(t).URL(t)
				cmd.Activities = []int{0} // copies of databases take their time there
				cmd.Workload = []string{workload.Whoami, workload.SignRawPayload, workload.CreateSubOrganization}
			} else {
				cmd.Accounts = []int{2, 120}
			}
			if err := cmd.Run(t.Context()); err != nil { // without rounds it only fills
				t.Fatal(err)
			}
			cmd.Keep, cmd.Reuse, cmd.Rounds = "", cmd.Keep, 2
			if err := cmd.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(cmd.JSON)
			if err != nil {
				t.Fatal(err)
			}
			r := new(growthReport)
			if err := json.Unmarshal(text, r, json.RejectUnknownMembers(true)); err != nil {
				t.Fatal(err)
			}
			if want := len(cmd.sizes()); len(r.Dimensions) != want {
				t.Fatalf("%d dimensions, want %d", len(r.Dimensions), want)
			}
			for _, d := range r.Dimensions {
				checkDimension(t, d, store)
			}
			checkDrawn(t, text, r, len(cmd.Workload))
			left, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			if len(left) != 2 { // kept and growth.json
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func checkDimension(t *testing.T, d *growthDimension, store string) {
	t.Helper()
	measured := 0 // a clock that is read coarsely may stand still in a row, not in all
	for i, s := range d.Sizes {
		if s.Stored < s.Size || s.Stored > s.Size+30 || s.Bytes == 0 || i > 0 && s.Size < d.Sizes[i-1].Size {
			t.Errorf("%s: %d are stored for %d, in %d bytes", d.Name, s.Stored, s.Size, s.Bytes)
		}
		if s.StartMs.Min <= 0 || s.RestMB.Min <= 0 || s.LoadedMB.Min <= 0 || (s.ColdStartMs > 0) != (store == onSQLite) {
			t.Errorf("%s: implausible: %+v", d.Name, s)
		}
		for _, f := range s.Rows {
			if f.Unavailable != "" || f.Rate.Min <= 0 || f.CPU.Min < 0 || f.StoreCPU.Min < 0 || (f.OfSmallest == nil) != (i == 0) {
				t.Errorf("%s at %d: implausible: %+v", d.Name, s.Size, f)
			}
			if f.CPU.Max > 0 {
				measured++
			}
		}
	}
	if measured == 0 {
		t.Errorf("%s: no processor time was measured", d.Name)
	}
}

// checkDrawn turns the JSON into charts and tables.
func checkDrawn(t *testing.T, text []byte, r *growthReport, workloads int) {
	t.Helper()
	charts := r.charts()
	if want := len(r.Dimensions) + 2; len(charts) != want {
		t.Errorf("%d charts, want %d", len(charts), want)
	}
	for i, c := range charts {
		marks := len(parse(t, c.svg()).marks)
		want := 2 * workloads // two sizes
		if i >= len(r.Dimensions) {
			want = 2 * len(c.lines)
		}
		if marks != want {
			t.Errorf("%s: %d marks, want %d", c.file, marks, want)
		}
	}
	var tables bytes.Buffer
	if err := markdown(&tables, text); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Count(tables.String(), "\n| `whoami` |"), len(r.Dimensions); got != want {
		t.Errorf("%d tables, want %d:\n%s", got, want, &tables)
	}
}

// testGrowthInterrupted: a signal while a database is filled leaves what the
// same command goes on from.
func testGrowthInterrupted(t *testing.T, latchkey string) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	c := &cellar{latchkey: latchkey, dir: dir, work: t.TempDir(), keep: true, mayFill: true, note: &notes{w: &after{"500 of", cancel}}}
	size := grownSize{workload.SubOrganizations, 1200, 2}
	if err := c.fillAll(ctx, [][]grownSize{{size}}); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	begun, err := c.world(filepath.Join(dir, size.String()), size)
	if err != nil || begun == nil || begun.Finished || begun.Filled == 0 {
		t.Fatalf("got %+v, %v", begun, err)
	}
	c.mayFill = false
	if err := c.fillAll(t.Context(), [][]grownSize{{size}}); err == nil || !strings.Contains(err.Error(), "--keep") {
		t.Fatalf("got %v", err)
	}
	c.mayFill = true
	if err := c.fillAll(t.Context(), [][]grownSize{{size}}); err != nil {
		t.Fatal(err)
	}
	if n, _, err := c.stored(t.Context(), size); err != nil || n < 1200 || n > 1210 {
		t.Errorf("%d are stored, %v", n, err)
	}
	other := size
	other.atWork++
	if err := c.fill(t.Context(), other); err == nil || !strings.Contains(err.Error(), "at work") {
		t.Errorf("got %v", err)
	}
}

// after calls do when a text is written.
type after struct {
	text string
	do   func()
}

func (a *after) Write(text []byte) (int, error) {
	if strings.Contains(string(text), a.text) {
		a.do()
	}
	return len(text), nil
}

func TestGrowthSizes(t *testing.T) {
	cmd := &growthCommand{Activities: []int{1000, 10, 1000}, Accounts: []int{0}, Suborganizations: []int{5, 50}, OrganizationsAtWork: 20}
	want := [][]grownSize{
		{{workload.Activities, 10, 0}, {workload.Activities, 1000, 0}},
		{{workload.SubOrganizations, 5, 5}, {workload.SubOrganizations, 50, 20}},
	}
	if diff := cmp.Diff(want, cmd.sizes(), cmp.AllowUnexported(grownSize{})); diff != "" {
		t.Error(diff)
	}
}

func TestGrowthCheck(t *testing.T) {
	tests := []struct {
		name   string
		change func(*growthCommand)
		want   string
	}{
		{"good", func(*growthCommand) {}, ""},
		{"workload", func(c *growthCommand) { c.Workload = []string{"sign"} }, "sign_raw_payload"},
		{"negative size", func(c *growthCommand) { c.Accounts = []int{-1} }, "negative"},
		{"no sizes", func(c *growthCommand) { c.Activities = []int{0} }, "no sizes"},
		{"no time", func(c *growthCommand) { c.Time = 0 }, "--time"},
		{"nobody at work", func(c *growthCommand) { c.AccountsAtWork = 0 }, "--accounts-at-work"},
		{"both folders", func(c *growthCommand) { c.Keep, c.Reuse = "a", "b" }, "one of them"},
		{"no server", func(c *growthCommand) { c.Store = onPostgres }, "--postgres"},
		{"fill for nothing", func(c *growthCommand) { c.Rounds = 0 }, "--keep"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cmd := &growthCommand{
				Store: onSQLite, Activities: []int{10}, AccountsAtWork: 1, OrganizationsAtWork: 1,
				Workload: []string{"whoami"}, Connections: 1, Rounds: 1, Time: time.Second,
			}
			tt.change(cmd)
			err := cmd.check()
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

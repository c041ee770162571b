package workload_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"latchkey/bench/load"
	"latchkey/bench/workload"
	"latchkey/internal/server/config"
	"latchkey/internal/test/servertest"
)

// found makes an empty world on a server of its own.
func found(t *testing.T, d workload.Dimension, size, atWork int) (*servertest.Server, *workload.Grown) {
	t.Helper()
	s := servertest.Start(t, servertest.SQLite(t), config.Default())
	g, err := workload.Found(s.URL, workload.Founder{OrganizationID: s.Root.OrganizationID, Key: s.Root.Key}, d, size, atWork)
	if err != nil {
		t.Fatal(err)
	}
	return s, g
}

// works sends some requests of every workload, and looks at each reply.
func works(t *testing.T, s *servertest.Server, g *workload.Grown) {
	t.Helper()
	for _, name := range workload.Names() {
		_, many := g.SpreadOver(name)
		requests, err := g.Prepare(name, many, 5)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		clients, err := load.Dial(strings.TrimPrefix(s.URL, "http://"), 1)
		if err != nil {
			t.Fatal(err)
		}
		result, err := clients.Run(requests, time.Minute, 1)
		clients.Close()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := result.Verify(); err != nil || result.Requests() != 5 {
			t.Errorf("%s: %d replies, %v", name, result.Requests(), err)
		}
	}
}

// TestFill interrupts filling, keeps what is known, and goes on from there.
func TestFill(t *testing.T) {
	tests := []struct {
		dimension    workload.Dimension
		size, atWork int
	}{
		{workload.Activities, 50, 0},
		{workload.Accounts, 250, 10},
		{workload.Accounts, 1, 1},
	}
	for _, tt := range tests {
		t.Run(string(tt.dimension), func(t *testing.T) {
			s, g := found(t, tt.dimension, tt.size, tt.atWork)
			stop := errors.New("interrupted")
			err := g.Fill(t.Context(), func() error { return stop })
			if !errors.Is(err, stop) || g.Finished {
				t.Fatalf("got %v, finished: %v", err, g.Finished)
			}
			g = reload(t, s, g)
			var last []byte
			if err := g.Fill(t.Context(), func() (err error) { last, err = g.Keep(); return err }); err != nil {
				t.Fatal(err)
			}
			if g, err = workload.Load(last); err != nil {
				t.Fatal(err)
			}
			if !g.Finished || g.Filled != tt.size || g.Reserved < tt.size {
				t.Errorf("got %+v", g)
			}
			if err := g.MoveTo(s.URL); err != nil {
				t.Fatal(err)
			}
			works(t, s, g)
		})
	}
}

func reload(t *testing.T, s *servertest.Server, g *workload.Grown) *workload.Grown {
	t.Helper()
	text, err := g.Keep()
	if err != nil {
		t.Fatal(err)
	}
	if g, err = workload.Load(text); err != nil {
		t.Fatal(err)
	}
	if err := g.MoveTo(s.URL); err != nil {
		t.Fatal(err)
	}
	return g
}

// TestFillWithoutChildren: what FillChildren did not make is not made up.
func TestFillWithoutChildren(t *testing.T) {
	_, g := found(t, workload.SubOrganizations, 5, 5)
	if err := g.Fill(t.Context(), func() error { return nil }); err == nil || !strings.Contains(err.Error(), "5 of 5") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.FillChildren(ctx, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestLoadFails(t *testing.T) {
	tests := []struct{ name, text string }{
		{"no JSON", "x"},
		{"nothing", "{}"},
		{"no dimension", `{"state":{"dimension":"users","size":3}}`},
		{"no key", `{"state":{"dimension":"accounts","size":3},"one":{"root":"abc"}}`},
		{"unknown member", `{"state":{"dimension":"accounts","size":3,"sizes":3}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := workload.Load([]byte(tt.text)); err == nil {
				t.Error("no error")
			}
		})
	}
}

package tracing_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"go.uber.org/goleak"

	"latchkey/internal/tracing"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type counted struct{ sent, lost atomic.Int64 }

func (c *counted) SpansSent(n int) { c.sent.Add(int64(n)) }
func (c *counted) SpansLost(n int) { c.lost.Add(int64(n)) }

func start(t *testing.T, endpoint string, share float64) *tracing.Tracer {
	t.Helper()
	c := tracing.NewCollector(tracing.CollectorConfig{Endpoint: endpoint, Log: slog.New(slog.DiscardHandler), Metrics: new(counted)})
	tracer, err := tracing.New(t.Context(), c, share, tracing.Server{})
	if err != nil {
		t.Fatal(err)
	}
	return tracer
}

// TestNothingWhenOff: without a tracer nothing is allocated.
func TestNothingWhenOff(t *testing.T) {
	header, reply, start := http.Header{"Traceparent": {parent + "01"}}, http.Header{}, time.Now()
	allocated := testing.AllocsPerRun(100, func() {
		var off *tracing.Tracer
		r := off.Begin(header, true, "sign_raw_payload", start)
		r.Header(reply)
		r.Enter("authenticate")
		r.Enter("commit")
		r.Leave()
		r.End(tracing.Outcome{Organization: "o", Outcome: "OK", Status: 200})
		if r.TraceID() != "" {
			t.Error("there is a trace")
		}
	})
	if allocated != 0 || len(reply) != 0 {
		t.Errorf("%v allocations, and the reply has %v", allocated, reply)
	}
}

const (
	traceID = "0af7651916cd43dd8448eb211c80319c"
	parent  = "00-" + traceID + "-b7ad6b7169203331-"
)

// TestWhoDecides: a trusted peer says whether a request has a span; others only choose
// its trace.
func TestWhoDecides(t *testing.T) {
	collector := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer collector.Close()
	for share, cases := range map[float64]map[string][2]bool{ // by a trusted peer, and by another
		0: {"": {false, false}, "01": {true, false}, "00": {false, false}},
		1: {"": {true, true}, "01": {true, true}, "00": {false, true}},
	} {
		tracer := start(t, collector.URL, share)
		for flags, want := range cases {
			for i, trusted := range []bool{true, false} {
				header := http.Header{"Tracestate": {"secret=canary"}}
				if flags != "" {
					header.Set("Traceparent", parent+flags)
				}
				r := tracer.Begin(header, trusted, "whoami", time.Now())
				if (r != nil) != want[i] {
					t.Errorf("share %v, flags %q, trusted %v: a span is there: %v", share, flags, trusted, r != nil)
				}
				if r != nil && flags != "" && r.TraceID() != traceID {
					t.Errorf("the trace is %s", r.TraceID())
				}
				r.End(tracing.Outcome{Status: 200})
			}
		}
		if err := tracer.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// TestCollectorAway: it is told once that a collector takes nothing, and once that it
// does again.
func TestCollectorAway(t *testing.T) {
	var up atomic.Bool
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !up.Load() {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect) // which is not followed
		}
	}))
	defer collector.Close()
	var log bytes.Buffer
	var n counted
	c := tracing.NewCollector(tracing.CollectorConfig{Endpoint: collector.URL, Log: slog.New(slog.NewTextHandler(&log, nil)), Metrics: &n})
	spans := []*tracepb.ResourceSpans{{ScopeSpans: []*tracepb.ScopeSpans{{Spans: []*tracepb.Span{{}, {}}}}}}
	for _, is := range []bool{false, false, true, true, false} {
		up.Store(is)
		if err := c.UploadTraces(t.Context(), spans); err != nil {
			t.Error(err)
		}
	}
	if n.sent.Load() != 4 || n.lost.Load() != 6 {
		t.Errorf("%d were sent and %d lost", n.sent.Load(), n.lost.Load())
	}
	if said := log.String(); strings.Count(said, "level=WARN") != 2 || strings.Count(said, "takes traces again") != 1 || !strings.Contains(said, "it answered 307") {
		t.Errorf("the log has %s", said)
	}
	if err := c.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestCollectorHangs: requests do not wait for a collector that does not answer, and what
// waits for it is bounded.
func TestCollectorHangs(t *testing.T) {
	release := make(chan struct{})
	var came atomic.Int64
	collector := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		came.Add(1)
		<-release
	}))
	defer collector.Close()
	answer := sync.OnceFunc(func() { close(release) })
	defer answer()
	tracer := start(t, collector.URL, 1)
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	request := func() {
		r := tracer.Begin(nil, false, "whoami", time.Now())
		r.Enter("authenticate")
		r.End(tracing.Outcome{Outcome: "OK", Status: 200})
	}
	for range 5_000 {
		request()
	}
	before := heap()
	for range 100_000 {
		request()
	}
	// Each time it is asked, the collector is given up after ten seconds. Had requests
	// waited, it would have been asked for all of them, some 500 at a time.
	if n := came.Load(); n > 100 {
		t.Errorf("the collector was asked %d times", n)
	}
	if after := heap(); after > before+(4<<20) {
		t.Errorf("memory grew from %d to %d bytes", before, after)
	}
	answer()
	if err := tracer.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

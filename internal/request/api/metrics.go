package api

import (
	"net/http"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"latchkey/internal/domain"
	"latchkey/internal/store"
	"latchkey/internal/webhook"
)

// Metrics counts requests and messages. Its labels are closed sets: operations
// of the catalog, HTTP statuses, and what became of a message.
type Metrics struct {
	registry   *prometheus.Registry
	requests   *prometheus.CounterVec
	duration   *prometheus.HistogramVec
	inFlight   prometheus.Gauge
	underWay   atomic.Int64 // the same number
	messages   *prometheus.CounterVec
	waiting    prometheus.Gauge
	damaged    prometheus.Counter
	locked     prometheus.Gauge
	refused    prometheus.Gauge
	witness    *prometheus.CounterVec
	spans      *prometheus.CounterVec
	activities map[domain.ActivityStatus]prometheus.Counter
	webhooks   struct {
		deliveries *prometheus.CounterVec
		endpoints  *prometheus.GaugeVec
	}
}

// What became of an attempt to send something.
const (
	sent    = "sent"
	retried = "retried"
	failed  = "failed"

	lost = "lost" // of a span

	delivered = "delivered" // of an event to a webhook endpoint
)

// Sources are asked when the metrics are: what has a number already is not counted a
// second time.
type Sources struct {
	Version string
	Pool    func() store.Pool
	// Log is how many entries the log has, and when it was seen to grow last.
	Log func() (entries int64, grown time.Time)
	// DataKeys is how many data keys the vault has open, VaultMemory the bytes of
	// memory that its secrets have.
	DataKeys, VaultMemory func() int
}

// NewMetrics makes the counters.
func NewMetrics(s Sources) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "latchkey_requests_total", Help: "Requests by operation and HTTP status.",
		}, []string{"operation", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "latchkey_request_duration_seconds", Help: "Time from the header to the reply.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"operation"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "latchkey_requests_in_flight", Help: "Requests being worked on.",
		}),
		messages: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "latchkey_messages_total", Help: "Mail and SMS that this server sent, will try again, or gave up.",
		}, []string{"outcome"}),
		damaged: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "latchkey_integrity_failures_total", Help: "Reads that found a stored record that this server did not write, or did not find one.",
		}),
		waiting: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "latchkey_messages_waiting", Help: "Mail and SMS of all servers that wait to be sent, counted every few seconds.",
		}),
		locked: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "latchkey_memory_locked", Help: "1 while all memory with keys is locked, 0 once some could be written to swap space.",
		}),
	}
	m.refused = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "latchkey_log_refused", Help: "1 when the log in the database contradicts what was signed before, so that nothing is carried out.",
	})
	m.witness = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "latchkey_witness_failures_total", Help: "Checkpoints that a witness did not cosign: it was unavailable, its signature was wrong, or it saw a fork.",
	}, []string{"witness", "reason"})
	m.spans = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "latchkey_trace_spans_total", Help: "Spans of traces that the collector took, or did not take and were lost.",
	}, []string{"outcome"})
	for _, outcome := range []string{sent, lost} {
		m.spans.WithLabelValues(outcome)
	}
	m.locked.Set(1)
	activities := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "latchkey_activities_total", Help: "Answers to submitted activities, by what has become of the activity.",
	}, []string{"outcome"})
	m.activities = map[domain.ActivityStatus]prometheus.Counter{}
	for _, name := range domain.ActivityStatus("").Enum() {
		status := domain.ActivityStatus(name)
		m.activities[status] = activities.WithLabelValues(status.Word())
	}
	// So that both are there before the first request.
	m.requests.WithLabelValues("unknown", "404")
	m.duration.WithLabelValues("unknown")
	m.registry.MustRegister(activities)
	m.registry.MustRegister(s.collectors()...)
	m.webhooks.deliveries = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "latchkey_webhook_deliveries_total", Help: "Attempts of this server to deliver an event to a webhook endpoint: delivered, or failed.",
	}, []string{"outcome"})
	m.webhooks.endpoints = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "latchkey_webhook_endpoints", Help: "Webhook endpoints that this server delivers to, by state; none on a server that does not deliver.",
	}, []string{"state"})
	m.WebhookEndpoints(nil)
	m.webhooks.deliveries.WithLabelValues(delivered)
	m.webhooks.deliveries.WithLabelValues(failed)
	for _, outcome := range []string{sent, retried, failed} {
		m.messages.WithLabelValues(outcome) // so that it is shown before it happens
	}
	m.registry.MustRegister(m.requests, m.duration, m.inFlight, m.messages, m.waiting, m.damaged, m.locked, m.refused, m.witness, m.spans,
		m.webhooks.deliveries, m.webhooks.endpoints,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Handler serves the metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// begin counts a request that starts; what it returns ends it.
func (m *Metrics) begin() (end func()) {
	m.inFlight.Inc()
	m.underWay.Add(1)
	return func() {
		m.inFlight.Dec()
		m.underWay.Add(-1)
	}
}

// Busy reports whether there is a request for every processor.
func (m *Metrics) Busy() bool { return m.underWay.Load() >= int64(runtime.GOMAXPROCS(0)) }

func (m *Metrics) observe(operation string, status int, took time.Duration) {
	m.requests.WithLabelValues(operation, strconv.Itoa(status)).Inc()
	m.duration.WithLabelValues(operation).Observe(took.Seconds())
}

// answered counts an answer to a submitted activity.
func (m *Metrics) answered(status domain.ActivityStatus) {
	m.activities[status].Inc()
}

// IntegrityFailure counts a record that was not used.
func (m *Metrics) IntegrityFailure() { m.damaged.Inc() }

// LogRefused says that the log contradicts what was signed before.
func (m *Metrics) LogRefused() { m.refused.Set(1) }

// WitnessFailed counts a checkpoint that a witness did not cosign.
func (m *Metrics) WitnessFailed(witness, reason string) {
	m.witness.WithLabelValues(witness, reason).Inc()
}

// MessageSent counts a message that was sent.
func (m *Metrics) MessageSent() { m.messages.WithLabelValues(sent).Inc() }

// MessageRetried counts a message that could not be sent yet.
func (m *Metrics) MessageRetried() { m.messages.WithLabelValues(retried).Inc() }

// MessageFailed counts a message that was given up.
func (m *Metrics) MessageFailed() { m.messages.WithLabelValues(failed).Inc() }

// SpansSent counts spans that the collector took.
func (m *Metrics) SpansSent(n int) { m.spans.WithLabelValues(sent).Add(float64(n)) }

// SpansLost counts spans that the collector did not take.
func (m *Metrics) SpansLost(n int) { m.spans.WithLabelValues(lost).Add(float64(n)) }

// MessagesWaiting says how many messages wait to be sent.
func (m *Metrics) MessagesWaiting(n int) { m.waiting.Set(float64(n)) }

// WebhookDelivered counts an event that a webhook endpoint took.
func (m *Metrics) WebhookDelivered() { m.webhooks.deliveries.WithLabelValues(delivered).Inc() }

// WebhookFailed counts an attempt that failed.
func (m *Metrics) WebhookFailed() { m.webhooks.deliveries.WithLabelValues(failed).Inc() }

// WebhookEndpoints says how many webhook endpoints there are, by state.
func (m *Metrics) WebhookEndpoints(byState map[string]int) {
	for _, state := range webhook.States() {
		m.webhooks.endpoints.WithLabelValues(state).Set(float64(byState[state]))
	}
}

// MemoryNotLocked says that memory with keys could be written to swap space.
func (m *Metrics) MemoryNotLocked() { m.locked.Set(0) }

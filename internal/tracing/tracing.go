// Package tracing tells an OpenTelemetry collector how requests went: a span for each
// request, with one below it for each step. What a span says is listed in [Outcome];
// there is no way to put anything else into one, so that no body, stamp or secret gets
// there.
//
// A nil [Tracer] makes nil [Request]s, and on those every method does nothing: a server
// without traces has no cost but a comparison.
package tracing

import (
	"context"
	"math/rand/v2"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// The bounds of what waits for a collector. What does not fit is lost.
const (
	maxQueue   = 2048
	maxBatch   = 512
	batchDelay = 5 * time.Second
	sendWithin = 10 * time.Second
)

// Tracer makes the spans of requests, and sends them. Make it with New.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
}

// Server is what spans say about the server that they come from.
type Server struct {
	Version, Node string
}

// New makes a tracer that sends by way of c, of a share of the requests. The caller
// closes it.
func New(ctx context.Context, c *Collector, share float64, s Server) (*Tracer, error) {
	exporter, err := otlptrace.New(ctx, c)
	if err != nil {
		return nil, err
	}
	provider := sdk.NewTracerProvider(
		sdk.WithBatcher(exporter, sdk.WithMaxQueueSize(maxQueue), sdk.WithMaxExportBatchSize(maxBatch),
			sdk.WithBatchTimeout(batchDelay), sdk.WithExportTimeout(sendWithin)),
		sdk.WithSampler(sampler{share}),
		// Only what is said here: nothing of the environment, which the default takes.
		sdk.WithResource(resource.NewSchemaless(
			attribute.String("service.name", "latchkey"), attribute.String("service.version", s.Version),
			attribute.String("service.instance.id", s.Node),
		)),
		sdk.WithRawSpanLimits(sdk.SpanLimits{AttributeCountLimit: 16, AttributeValueLengthLimit: 256}), // and no events, no links
	)
	return &Tracer{provider: provider, tracer: provider.Tracer("latchkey")}, nil
}

// Close sends what waits, as long as ctx lasts.
func (t *Tracer) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

// sampler follows the span above; for the first one of a request it draws lots. The id of
// the trace does not decide, since a client may choose it.
type sampler struct{ share float64 }

// ShouldSample implements [sdk.Sampler].
func (s sampler) ShouldSample(p sdk.SamplingParameters) sdk.SamplingResult {
	above := trace.SpanContextFromContext(p.ParentContext)
	draws := !above.IsValid() || above.IsRemote()
	if above.IsSampled() || draws && rand.Float64() < s.share {
		return sdk.SamplingResult{Decision: sdk.RecordAndSample}
	}
	return sdk.SamplingResult{Decision: sdk.Drop}
}

// Description implements [sdk.Sampler].
func (s sampler) Description() string { return "latchkey" }

// Request is the span of a request that is being answered; nil: it has none.
type Request struct {
	tracer trace.Tracer
	ctx    context.Context // with the span
	span   trace.Span
	step   trace.Span // nil: it is in none
}

// Begin makes the span of a request that began at start, below the one that its header
// names as W3C Trace Context has it. Whether a request has one is for trusted peers to
// say; others only choose the trace.
func (t *Tracer) Begin(h http.Header, trusted bool, operation string, start time.Time) *Request {
	if t == nil {
		return nil
	}
	ctx := context.Background()
	if above := trace.SpanContextFromContext(propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(h))); above.IsValid() {
		if trusted && !above.IsSampled() {
			return nil
		}
		known := trace.SpanContextConfig{TraceID: above.TraceID(), SpanID: above.SpanID(), Remote: true} // and not its tracestate, which can hold anything
		if trusted {
			known.TraceFlags = trace.FlagsSampled
		}
		ctx = trace.ContextWithRemoteSpanContext(ctx, trace.NewSpanContext(known))
	}
	ctx, span := t.tracer.Start(ctx, operation, trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(start))
	if !span.IsRecording() {
		return nil
	}
	return &Request{tracer: t.tracer, ctx: ctx, span: span}
}

// TraceID is by what the trace is found; empty: the request has none.
func (r *Request) TraceID() string {
	if r == nil {
		return ""
	}
	return r.span.SpanContext().TraceID().String()
}

// Header tells the client, as traceresponse of W3C Trace Context, which span is its
// request's.
func (r *Request) Header(to http.Header) {
	if r == nil {
		return
	}
	is := r.span.SpanContext()
	to.Set("Traceresponse", "00-"+is.TraceID().String()+"-"+is.SpanID().String()+"-"+is.TraceFlags().String())
}

// Enter begins a step. The one before has ended.
func (r *Request) Enter(step string) {
	if r == nil {
		return
	}
	r.Leave()
	_, r.step = r.tracer.Start(r.ctx, step)
}

// Leave ends the step that the request is in, if it is in one.
func (r *Request) Leave() {
	if r == nil || r.step == nil {
		return
	}
	r.step.End()
	r.step = nil
}

// Outcome is all that a span says about its request.
type Outcome struct {
	Organization, Activity string // ids; empty: there is none
	RequestID              string // empty: there are none
	Outcome                string // as in the log
	Status                 int
}

// End ends the span.
func (r *Request) End(o Outcome) {
	if r == nil {
		return
	}
	r.Leave()
	r.span.SetAttributes(attribute.String("latchkey.outcome", o.Outcome), attribute.Int("http.response.status_code", o.Status))
	for name, value := range map[string]string{
		"latchkey.organization": o.Organization, "latchkey.activity": o.Activity, "latchkey.request": o.RequestID,
	} {
		if value != "" {
			r.span.SetAttributes(attribute.String(name, value))
		}
	}
	if o.Status >= http.StatusInternalServerError {
		r.span.SetStatus(codes.Error, "")
	}
	r.span.End()
}

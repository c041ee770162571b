package tracing

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"sync/atomic"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Collector is where spans are sent: OTLP over HTTP, as Protobuf. What it does not take is
// lost, and is not tried again: a trace is no record, and requests must not wait for one.
//
// OpenTelemetry's own client of that protocol brings gRPC with it, which is why this is
// not it (docs/decisions/0046).
type Collector struct {
	CollectorConfig
	http *http.Client
	away atomic.Bool // it did not take the last spans
}

// CollectorConfig says how a collector is reached.
type CollectorConfig struct {
	Endpoint string
	Headers  map[string]string // secrets
	Roots    *x509.CertPool    // nil: the system's
	Log      *slog.Logger
	Metrics  Metrics
}

// Metrics counts spans.
type Metrics interface {
	SpansSent(n int)
	SpansLost(n int)
}

// NewCollector opens no connection.
func NewCollector(c CollectorConfig) *Collector {
	transport := &http.Transport{MaxIdleConns: 1, TLSClientConfig: &tls.Config{RootCAs: c.Roots, MinVersion: tls.VersionTLS12}}
	return &Collector{CollectorConfig: c, http: &http.Client{
		Transport: transport, Timeout: sendWithin,
		// Headers are for the collector that is named, and for no other.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Start implements the client of OpenTelemetry's exporter.
func (c *Collector) Start(context.Context) error { return nil }

// Stop implements the client of OpenTelemetry's exporter.
func (c *Collector) Stop(context.Context) error {
	c.http.CloseIdleConnections()
	return nil
}

// UploadTraces implements the client of OpenTelemetry's exporter. A failure is told
// here, once until the collector takes spans again, and not to OpenTelemetry, which
// would write each to standard error.
func (c *Collector) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	n := 0
	for _, r := range spans {
		for _, s := range r.GetScopeSpans() {
			n += len(s.GetSpans())
		}
	}
	if err := c.send(ctx, spans); err != nil {
		c.Metrics.SpansLost(n)
		if !c.away.Swap(true) {
			c.Log.Warn("the collector does not take traces; they are lost until it does", "error", err)
		}
		return nil
	}
	c.Metrics.SpansSent(n)
	if c.away.Swap(false) {
		c.Log.Info("the collector takes traces again")
	}
	return nil
}

func (c *Collector) send(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	// The same bytes as an ExportTraceServiceRequest, whose package needs gRPC.
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Endpoint, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for name, value := range c.Headers {
		request.Header.Set(name, value)
	}
	request.Header.Set("Content-Type", "application/x-protobuf")
	reply, err := c.http.Do(request)
	if err != nil {
		if failed := new(url.Error); errors.As(err, &failed) {
			err = failed.Err // the address is in the config
		}
		return err
	}
	defer reply.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(reply.Body, 64<<10)) // so that the connection is used again
	if reply.StatusCode/100 != 2 {
		return fmt.Errorf("it answered %d", reply.StatusCode)
	}
	return nil
}

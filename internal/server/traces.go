package server

import (
	"context"
	"fmt"
	"time"

	"latchkey/internal/outbox/notify"
	"latchkey/internal/server/config"
	"latchkey/internal/tracing"
)

// newCollector says how the collector of traces is reached; nil: there is none. It opens
// no connection.
func newCollector(c *config.Traces) (*tracing.CollectorConfig, error) {
	if c.Endpoint == "" {
		return nil, nil
	}
	made := &tracing.CollectorConfig{Endpoint: c.Endpoint, Headers: map[string]string{}}
	var err error
	if made.Roots, err = notify.LoadRoots(c.CA); err != nil {
		return nil, fmt.Errorf("traces.ca: %w", err)
	}
	for name, source := range c.Headers {
		if made.Headers[name], err = source.Reveal(); err != nil {
			return nil, fmt.Errorf("traces.headers.%s: %w", name, err)
		}
	}
	return made, nil
}

// finishTraces sends the spans that wait. They are not worth waiting for long.
func (s *Server) finishTraces(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if err := s.traces.Close(ctx); err != nil {
		s.log.Info("the newest traces were not sent", "error", err)
	}
}

package server

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"latchkey/internal/fault"
)

// held is what callers are told when the log in the database is not a continuation
// of what was signed before.
func held() *fault.Error {
	return fault.New(fault.Unavailable, fault.ReasonIntegrity,
		"this server carries out nothing: its log contradicts what it signed before, so its database is perhaps an older one; queries are answered. "+
			"Ask its operator, whose /readyz says why, and send the same request again when it is ready")
}

// checkLog compares the log with what is remembered of it before the first request is
// answered, and records the start of the server if they agree.
func (s *Server) checkLog(keys KeyServices, version string) error {
	ctx := context.Background()
	for _, w := range s.ledger.Witnesses {
		if slices.Contains(keys.LogKeys.VerifierKeys().Names(), w.Name()) {
			return fmt.Errorf("log.witnesses: %s is the name of this server's own log; a witness has another one", w.Name())
		}
	}
	if err := s.ledger.Check(ctx); err != nil || s.ledger.Refusal() != "" {
		return err
	}
	if err := noteRestored(ctx, s.store, s.config, keys.Installation); err != nil {
		return err
	}
	if err := noteStart(ctx, s.store, s.config, keys.Installation, version); err != nil {
		return err
	}
	// What a server that was killed has left: until it is in the tree, an older state
	// of an organization would not be known as such.
	return s.ledger.Advance(ctx)
}

// work is what a server does beside answering, until ctx ends or nothing may be
// carried out any more.
func (s *Server) work(ctx context.Context) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var all sync.WaitGroup
	all.Go(func() { s.sweep(ctx) })
	all.Go(func() { s.rewrap(ctx) })
	all.Go(func() { s.ledger.Run(ctx) })
	all.Go(func() { s.webhooks.Run(ctx) })
	all.Go(func() { s.outbox.Run(ctx, s.config.Timeouts.Drain) })
	select {
	case <-ctx.Done():
	case <-s.refused:
		stop()
	}
	all.Wait()
}

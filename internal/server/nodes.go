package server

import (
	"context"
	"os"
	"time"

	"latchkey/internal/domain"
)

const (
	// announceEvery is how often a server tells that it is there.
	announceEvery = 10 * time.Second
	// goneAfter is how long one that was killed is remembered.
	goneAfter = time.Hour
)

// NodeAlive is for how long a server that was seen is taken for one that runs.
const NodeAlive = 3 * announceEvery

// announce tells the other servers of this one, until ctx ends.
func (s *Server) announce(ctx context.Context) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	node := domain.Node{
		ID: s.node, Version: s.version, Host: host, Address: s.BaseURL(),
		Process: os.Getpid(), StartedAt: time.Now().UTC(),
	}
	if err := s.store.ForgetNodes(ctx, time.Now().Add(-goneAfter)); err != nil && ctx.Err() == nil {
		s.log.Warn("forgetting servers that are gone", "error", err)
	}
	tick := time.NewTicker(announceEvery)
	defer tick.Stop()
	failing, following := false, ""
	for {
		if err := s.lookForSeal(ctx, s.keys); err != nil && ctx.Err() == nil && err.Error() != following {
			following = err.Error()
			s.log.Error("another server has changed the seal, and this one cannot follow", "error", err)
		}
		node.SeenAt, node.Refusal, node.Generation = time.Now().UTC(), s.ledger.Refusal(), int(s.generation.Load())
		err := s.store.Announce(ctx, &node)
		if err != nil && ctx.Err() == nil && !failing {
			s.log.Warn("telling other servers of this one", "error", err)
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			leave, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
			defer cancel()
			if err := s.store.Leave(leave, s.node); err != nil {
				s.log.Info("the others will notice that this server is gone", "error", err)
			}
			return
		case <-tick.C:
		}
	}
}

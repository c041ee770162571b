package engine

import (
	"context"
	"net/http"
	"net/netip"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/feed"
	"latchkey/internal/store"
)

// heartbeat is after how much silence a stream says that it is still there.
const heartbeat = 15 * time.Second

// streamAhead is how many events a stream reads together.
const streamAhead = 32

// Stream is events on their way to one client, until its credential no longer
// stands. It is for one goroutine.
type Stream struct {
	engine  *Engine
	caller  *caller
	address netip.Addr
	query   feed.Query
	at      domain.LogPlace // up to where events were read
	ahead   []feed.Event    // that were read, and not sent

	grown   chan struct{} // there may be further events
	recheck chan struct{} // the credential may be gone
	key     *domain.APIKey
	cancel  func()
}

// StreamEvents opens a stream of events from a place on. It takes a stamp, and no
// session: who streams shows the credential that the stream ends with.
func (e *Engine) StreamEvents(ctx context.Context, r Request) (*Reply, error) {
	begun, err := e.beginEvents(ctx, r, e.readStamp)
	if err != nil {
		return nil, err
	}
	s := &Stream{
		engine: e, caller: begun.caller, address: r.Address, query: begun.query, at: begun.from,
		grown: make(chan struct{}, 1), recheck: make(chan struct{}, 1), key: begun.caller.found.key,
	}
	if err := e.streams.enter(s); err != nil {
		return nil, err
	}
	unsubscribe := e.Feed.Subscribe(s.query, func() { signal(s.grown) })
	s.cancel = func() {
		unsubscribe()
		e.streams.leave(s)
	}
	return &Reply{Status: http.StatusOK, Stream: s}, nil
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // it was told already
	}
}

// Close ends the stream.
func (s *Stream) Close() { s.cancel() }

// Next waits for the next event. It is nil when there was none for a while. After
// an error the stream has ended: a fault says why to the client.
func (s *Stream) Next(ctx context.Context) (*EventView, error) {
	silence := s.engine.After(heartbeat)
	for len(s.ahead) == 0 {
		page, err := s.engine.Feed.Next(ctx, s.query, s.at, streamAhead)
		if err != nil {
			return nil, err
		}
		s.at, s.ahead = page.Next, page.Events
		if page.More || len(page.Events) > 0 {
			continue
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-silence:
			return nil, nil
		case <-s.grown:
		case <-s.recheck:
			if err := s.check(ctx); err != nil {
				return nil, err
			}
		}
	}
	if err := s.check(ctx); err != nil {
		return nil, err
	}
	next := &s.ahead[0]
	s.ahead = s.ahead[1:]
	view, err := s.engine.eventView(next)
	return &view, err
}

// check looks whether the credential, its user and the address still stand, in the
// newest state that any server has acknowledged.
func (s *Stream) check(ctx context.Context) error {
	c := s.caller
	return s.engine.Store.View(ctx, c.home, func(home *store.Tx) error {
		org, err := home.Organization()
		if err != nil {
			return err
		}
		who, err := c.identify(home)
		if err != nil {
			return err
		}
		if who.user.ID != c.found.user.ID {
			return c.unknown()
		}
		if !org.Admits(who.ipAllowlist, s.address) {
			return notAdmitted(s.address)
		}
		return nil
	})
}

package engine

import (
	"context"
	"sync"
	"time"

	"latchkey/internal/fault"
)

// maxStreams is how many streams an organization has at a server.
const maxStreams = 100

// checkStreams is how often it is looked whether credentials still stand.
const checkStreams = 500 * time.Millisecond

// streams are those that are open. One look at the versions of their organizations
// serves all of them: a credential that was taken away has raised a version.
type streams struct {
	mu       sync.Mutex
	open     map[*Stream]struct{}
	of       map[string]int   // how many an organization has
	versions map[string]int64 // of the organizations of callers, when they were last looked at
}

func (all *streams) enter(s *Stream) error {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.open == nil {
		all.open, all.of = map[*Stream]struct{}{}, map[string]int{}
	}
	org := s.caller.target
	if all.of[org] >= maxStreams {
		return fault.Exhausted("the organization has %d streams of events at this server, the most that there can be; "+
			"close one, or ask /latchkey/v1/events", maxStreams)
	}
	all.of[org]++
	all.open[s] = struct{}{}
	return nil
}

func (all *streams) leave(s *Stream) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if _, in := all.open[s]; !in {
		return
	}
	delete(all.open, s)
	if org := s.caller.target; all.of[org] > 1 {
		all.of[org]--
	} else {
		delete(all.of, org)
	}
}

// homes are the organizations whose users have streams.
func (all *streams) homes() (orgs []string) {
	all.mu.Lock()
	defer all.mu.Unlock()
	known := map[string]bool{}
	for s := range all.open {
		if !known[s.caller.home] {
			known[s.caller.home] = true
			orgs = append(orgs, s.caller.home)
		}
	}
	return orgs
}

// changed has streams look again whose caller's organization has another version
// than before, or whose key has ended; if versions is nil, all of them.
func (all *streams) changed(versions map[string]int64, now time.Time) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for s := range all.open {
		before, seen := all.versions[s.caller.home]
		same := versions != nil && seen && versions[s.caller.home] == before
		if !same || s.key != nil && s.key.Expired(now) {
			signal(s.recheck)
		}
	}
	all.versions = versions
}

// WatchStreams has streams end whose credential no longer stands, until ctx ends.
func (e *Engine) WatchStreams(ctx context.Context) {
	tick := time.NewTicker(checkStreams)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if homes := e.streams.homes(); len(homes) > 0 {
			versions, err := e.Store.Versions(ctx, homes)
			if err != nil {
				versions = nil // what cannot be checked ends
			}
			e.streams.changed(versions, e.Now())
		}
	}
}

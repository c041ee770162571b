package feed

import (
	"context"
	"sync"

	"latchkey/internal/domain"
	"latchkey/internal/ledger"
)

// subscriptions are who wants to know that lists have grown.
type subscriptions struct {
	mu sync.Mutex
	of map[ledger.List]map[*subscription]struct{}
}

type subscription struct{ wake func() }

// Subscribe has wake called whenever there may be events that a query wants, until
// cancel is called. It is called from the goroutine of [Feed.Run] and must return
// at once. Subscribe first and read then, so that nothing is missed.
func (f *Feed) Subscribe(q Query, wake func()) (cancel func()) {
	s := &subscription{wake}
	f.subscriptions.mu.Lock()
	defer f.subscriptions.mu.Unlock()
	if f.subscriptions.of == nil {
		f.subscriptions.of = map[ledger.List]map[*subscription]struct{}{}
	}
	for _, list := range q.lists() {
		if f.subscriptions.of[list] == nil {
			f.subscriptions.of[list] = map[*subscription]struct{}{}
		}
		f.subscriptions.of[list][s] = struct{}{}
	}
	return func() {
		f.subscriptions.mu.Lock()
		defer f.subscriptions.mu.Unlock()
		for _, list := range q.lists() {
			delete(f.subscriptions.of[list], s)
			if len(f.subscriptions.of[list]) == 0 {
				delete(f.subscriptions.of, list)
			}
		}
	}
}

// none reports whether no one has subscribed.
func (s *subscriptions) none() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.of) == 0
}

// wake wakes the subscribers of some lists; nil: all.
func (s *subscriptions) wake(lists map[ledger.List]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for list, subscribers := range s.of {
		if lists != nil && !lists[list] {
			continue
		}
		for one := range subscribers {
			one.wake()
		}
	}
}

// maxRead bounds how many new entries are looked at to find out who is to be woken;
// if there are more, all are.
const maxRead = 4096

// Run wakes subscribers until ctx ends. It reads each new entry once, however many
// have subscribed, and none while no one has.
func (f *Feed) Run(ctx context.Context) {
	seen, grown := f.ledger.Grown()
	for {
		select {
		case <-ctx.Done():
			return
		case <-grown:
		}
		var end domain.LogPlace
		end, grown = f.ledger.Grown()
		if !f.subscriptions.none() {
			f.subscriptions.wake(f.touched(ctx, seen, end))
		}
		seen = end
	}
}

// touched are the lists that have grown; nil: perhaps all.
func (f *Feed) touched(ctx context.Context, from, to domain.LogPlace) map[ledger.List]bool {
	if from.Epoch != to.Epoch || to.Index-from.Index > maxRead || to.Before(from) {
		return nil
	}
	lists, err := f.ledger.Between(ctx, from, to)
	if err != nil {
		return nil // who reads will see what is wrong
	}
	return lists
}

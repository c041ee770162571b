package outbox

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/outbox/notify"
	"latchkey/internal/test/pgtest"
	"latchkey/internal/test/testkit"
)

// Several servers compete for many messages: each is sent once. No lease runs
// out during the test, so nothing excuses a second time.
func TestEachMessageIsLeasedOnce(t *testing.T) {
	for _, tt := range []struct {
		name  string
		url   string
		apart bool // each server has a store of its own
	}{{"sqlite", "sqlite:" + filepath.Join(t.TempDir(), "db"), false}, {"postgres", pgtest.URL(t), true}} {
		t.Run(tt.name, func(t *testing.T) {
			const messages, servers = 50, 3
			q := newQueueAt(t, tt.url)
			var all []*domain.Message
			for range messages {
				all = append(all, q.message(nil))
			}
			q.insert(all...)
			sent := make(chan struct{})
			for n := range servers {
				o := q.outbox(func(context.Context) error { <-sent; return nil })
				if tt.apart && n > 0 {
					o.Store = open(t, tt.url)
				}
				q.start(o, testkit.Patience)
			}
			count := func() int {
				q.mu.Lock()
				defer q.mu.Unlock()
				return len(q.sent)
			}
			testkit.Until(q.t, "every server sends as much as it can", func() bool { return count() >= servers*maxInFlight })
			close(sent)
			testkit.Until(q.t, "all are sent", func() bool {
				for _, m := range all {
					if q.lookup(m.ID) != nil {
						return false
					}
				}
				return true
			})
			for _, m := range all {
				if n := q.timesSent(m.ID); n != 1 {
					t.Errorf("message %s was sent %d times", m.ID, n)
				}
			}
		})
	}
}

// A lease that is shorter than the sending is renewed: the other servers leave
// the message alone.
func TestLeaseIsRenewed(t *testing.T) {
	q := newQueue(t)
	sent := make(chan struct{})
	id := q.put(nil)
	for range 3 {
		q.start(q.outbox(func(context.Context) error { <-sent; return nil }), testkit.Patience)
	}
	testkit.Until(q.t, "the message is being sent", func() bool { return q.timesSent(id) == 1 })
	q.expectRenewals(id)
	close(sent)
	testkit.Until(q.t, "the message is sent", func() bool { return q.lookup(id) == nil })
	if n := q.timesSent(id); n != 1 {
		t.Errorf("the message was sent %d times", n)
	}
}

// The lease of a server that died holds the message until it ends, not longer.
func TestLeaseEnds(t *testing.T) {
	q := newQueue(t)
	id := q.put(func(m *domain.Message) { m.Attempts, m.LeasedUntil = 1, q.now().Add(testLease) })
	o := q.outbox(succeed)
	q.advance(testLease - 1)
	o.sync(t.Context(), maxInFlight)
	if len(o.inFlight) != 0 || q.lookup(id).Attempts != 1 {
		t.Error("the message was taken before the lease ended")
	}
	q.advance(1)
	o.sync(t.Context(), maxInFlight)
	o.finish(<-o.results)
	o.sync(t.Context(), maxInFlight)
	if n := q.timesSent(id); n != 1 || q.lookup(id) != nil {
		t.Errorf("the message was sent %d times, and is now %+v", n, q.lookup(id))
	}
}

// A server whose lease was taken over does not undo what the other one does,
// but what it sent is sent.
func TestLeaseIsLost(t *testing.T) {
	q := newQueue(t)
	temporary := errors.New("later")
	for _, tt := range []struct {
		name string
		err  error
		gone bool
	}{
		{"sent", nil, true},
		{"failed for now", temporary, false},
		{"failed for good", &notify.Permanent{Err: temporary}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			id := q.put(func(m *domain.Message) { m.Attempts, m.LeasedUntil = 2, q.now().Add(time.Minute) })
			mine := q.lookup(id)
			before := *mine
			mine.Attempts = 1
			o := q.outbox(succeed)
			o.finish(result{Message: mine, err: tt.err})
			o.sync(t.Context(), 0)
			switch after := q.lookup(id); {
			case tt.gone != (after == nil):
				t.Errorf("the message is now %v", after)
			case after != nil && (after.Attempts != 2 || !after.LeasedUntil.Equal(before.LeasedUntil) || !after.NextAttempt.IsZero()):
				t.Errorf("the other server's lease was changed: %+v", after)
			}
			if len(o.unrecorded) != 0 {
				t.Error("the result is recorded again")
			}
		})
	}
}

package outbox

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/outbox/notify"
	"latchkey/internal/request/api"
	"latchkey/internal/test/testkit"
)

// Messages that cannot be sent now do not delay one that can, and
// all of them are counted.
func TestLongQueue(t *testing.T) {
	q := newQueue(t)
	var others []*domain.Message
	for i := range 250 {
		others = append(others, q.message(func(m *domain.Message) {
			if i%2 == 0 {
				m.Attempts, m.NextAttempt = 3, q.now().Add(time.Hour)
			} else {
				m.Attempts, m.LeasedUntil = 1, q.now().Add(time.Hour)
			}
		}))
	}
	q.insert(others...)
	id, o := q.put(nil), q.outbox(succeed)
	q.start(o, testkit.Patience)
	testkit.Until(q.t, "the last message is sent", func() bool { return q.lookup(id) == nil })
	testkit.Until(q.t, "all are counted", func() bool {
		got := metrics(t, o)
		return strings.Contains(got, `latchkey_messages_total{outcome="sent"} 1`) && strings.Contains(got, "latchkey_messages_waiting 250")
	})
}

func metrics(t *testing.T, o *Outbox) string {
	t.Helper()
	reply := httptest.NewRecorder()
	o.Metrics.(*api.Metrics).Handler().ServeHTTP(reply, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return reply.Body.String()
}

// An outbox that cannot be read is reported once, not every second.
func TestStoreFails(t *testing.T) {
	q := newQueue(t)
	o := q.outbox(succeed)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 3 {
		o.sync(gone, maxInFlight)
	}
	o.sync(t.Context(), maxInFlight)
	o.sync(t.Context(), maxInFlight)
	if log := q.logged(); strings.Count(log, "messages wait") != 1 || strings.Count(log, "changed again") != 1 {
		t.Errorf("the log says %s", log)
	}
}

// A server that stops finishes what it sends; when that takes too long, it
// gives the message back at once.
func TestStop(t *testing.T) {
	for _, tt := range []struct {
		name  string
		drain time.Duration
		sent  bool
	}{{"in time", testkit.Patience, true}, {"too late", 50 * time.Millisecond, false}} {
		t.Run(tt.name, func(t *testing.T) {
			q := newQueue(t)
			sent := make(chan struct{})
			stop := q.start(q.outbox(func(ctx context.Context) error {
				select {
				case <-ctx.Done():
					return fmt.Errorf("interrupted: %w", ctx.Err())
				case <-sent:
					return nil
				}
			}), tt.drain)
			id := q.put(nil)
			testkit.Until(q.t, "the message is being sent", func() bool { return q.timesSent(id) == 1 })
			stopped := make(chan struct{})
			go func() {
				defer close(stopped)
				stop()
			}()
			if tt.sent {
				q.expectRenewals(id) // also by a server that stops
				close(sent)
			}
			<-stopped
			m := q.lookup(id)
			switch {
			case tt.sent != (m == nil):
				t.Fatalf("the message is now %+v", m)
			case m != nil && (m.LeasedUntil.After(q.now()) || m.NextAttempt.After(q.now())):
				t.Errorf("the message is not free: %+v", m)
			}
		})
	}
}

// A server that can send nothing leaves messages to others.
func TestNoSender(t *testing.T) {
	q := newQueue(t)
	id, o := q.put(nil), q.outbox(succeed)
	o.Router = new(notify.Router)
	o.Run(t.Context(), testkit.Patience) // returns at once
	if m := q.lookup(id); m == nil || m.Attempts != 0 {
		t.Errorf("the message is now %+v", m)
	}
}

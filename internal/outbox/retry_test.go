package outbox

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/outbox/notify"
	"latchkey/internal/test/testkit"
)

func TestDropped(t *testing.T) {
	q := newQueue(t)
	for _, tt := range []struct {
		name string
		edit func(*domain.Message)
		log  string
	}{
		{"expired", func(m *domain.Message) { m.ExpiresAt = q.now() }, notify.ErrExpired.Error()},
		{"expired while it waited", func(m *domain.Message) {
			m.Attempts, m.ExpiresAt, m.NextAttempt = 5, q.now(), q.now().Add(time.Hour)
		}, notify.ErrExpired.Error()},
		{"tried too often", func(m *domain.Message) { m.Attempts, m.ExpiresAt = maxAttempts, time.Time{} }, errTooOften.Error()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			id := q.put(tt.edit)
			o := q.outbox(succeed)
			o.sync(t.Context(), maxInFlight)
			if q.lookup(id) != nil || q.timesSent(id) != 0 || len(o.inFlight) != 0 {
				t.Error("the message was kept or sent")
			}
			var line string
			for l := range strings.Lines(q.logged()) {
				if strings.Contains(l, id) {
					line += l
				}
			}
			if !strings.Contains(line, `"level":"ERROR"`) || !strings.Contains(line, tt.log) || strings.Count(line, "\n") != 1 {
				t.Errorf("the log says %q", line)
			}
		})
	}
}

// Whatever goes wrong with one message, the server keeps running, tries again later,
// and does not log the secret.
func TestTemporaryFailures(t *testing.T) {
	for _, tt := range []struct {
		name string
		edit func(*domain.Message)
		how  func(context.Context) error
	}{
		{"refused", nil, func(context.Context) error { return errors.New("later") }},
		{"panic", nil, func(context.Context) error { panic("the code is " + secretCode) }},
		{"damaged", func(m *domain.Message) { m.Sealed = m.Sealed[1:] }, succeed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := newQueue(t)
			id, o := q.put(tt.edit), q.outbox(tt.how)
			q.start(o, testkit.Patience)
			var m *domain.Message
			testkit.Until(q.t, "an attempt has failed", func() bool { m = q.lookup(id); return m == nil || !m.NextAttempt.IsZero() })
			if m == nil || m.Attempts != 1 || !m.LeasedUntil.IsZero() || !m.NextAttempt.After(q.now()) {
				t.Fatalf("the message is now %+v", m)
			}
			q.advance(m.NextAttempt.Sub(q.now()))
			testkit.Until(q.t, "a second attempt", func() bool { m = q.lookup(id); return m == nil || m.Attempts == 2 })
			if m == nil {
				t.Fatal("the message was dropped")
			}
			if log := q.logged(); !strings.Contains(log, `"level":"WARN"`) || strings.Contains(log, secretCode) || strings.Contains(log, "ada@") {
				t.Errorf("the log says %s", log)
			}
		})
	}
}

// A message that cannot be read as one is no reason to print it.
func TestUnreadableMessage(t *testing.T) {
	q := newQueue(t)
	id := q.put(func(m *domain.Message) {
		var err error
		if m.Sealed, err = q.keys.SealMessage(domain.OutboxPurpose, []byte(`{"code":"`+secretCode+`","id":5}`)); err != nil {
			t.Fatal(err)
		}
	})
	q.start(q.outbox(succeed), testkit.Patience)
	testkit.Until(q.t, "an attempt", func() bool { return strings.Contains(q.logged(), "not one that this server can read") })
	if q.lookup(id) == nil || q.timesSent(id) != 0 || strings.Contains(q.logged(), secretCode) {
		t.Errorf("it was dropped, sent or printed: %s", q.logged())
	}
}

func TestRetryAfter(t *testing.T) {
	for attempts, longest := range map[int]time.Duration{
		1: time.Second, 2: 2 * time.Second, 3: 4 * time.Second, 6: 32 * time.Second, 7: time.Minute, 8: time.Minute,
		11: time.Minute, 64: time.Minute, maxAttempts: time.Minute,
	} {
		seen := map[time.Duration]bool{}
		for range 100 {
			got := retryAfter(attempts)
			if got < longest/2 || got >= longest {
				t.Fatalf("after %d attempts: %v, want from %v to %v", attempts, got, longest/2, longest)
			}
			seen[got] = true
		}
		if len(seen) < 50 {
			t.Errorf("after %d attempts there is no randomness in it", attempts)
		}
	}
}

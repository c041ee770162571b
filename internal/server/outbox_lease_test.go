package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
	"latchkey/internal/ids"
	"latchkey/internal/outbox/notify"
	"latchkey/internal/request/api"
	"latchkey/internal/store"
	"latchkey/internal/test/pgtest"
)

// These tests look at the outbox from the inside, with a clock of their own.
// What mail servers do is in outbox_test.go.

const secretCode = "SECRET77"

// post is a store with an outbox of its own, and what is sent from it.
type post struct {
	t     *testing.T
	store *store.Store
	keys  KeyServices

	mu   sync.Mutex
	sent []string // ids of messages, each time that one was sent
	log  bytes.Buffer
	time time.Time // stands still unless it is moved
}

func newPost(t *testing.T) *post {
	t.Helper()
	return newPostAt(t, "sqlite:"+filepath.Join(t.TempDir(), "db"))
}

func open(t *testing.T, url string) *store.Store {
	t.Helper()
	s, err := OpenStore(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func newPostAt(t *testing.T, url string) *post {
	t.Helper()
	s := open(t, url)
	keys, err := OpenKeys(t.Context(), s, "file:"+filepath.Join(t.TempDir(), "master.key"), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(keys.Vault.Close)
	return &post{t: t, store: s, keys: keys, time: time.Now()}
}

func (p *post) now() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.time
}

func (p *post) advance(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.time = p.time.Add(d)
}

// Write collects the log.
func (p *post) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.Write(text)
}

func (p *post) logged() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

func (p *post) times(id string) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.sent {
		if s == id {
			n++
		}
	}
	return n
}

// put stores a message, as changed by edit, and returns its id.
func (p *post) put(edit func(*domain.Message)) string {
	p.t.Helper()
	m := p.message(edit)
	p.insert(m)
	return m.ID
}

// message makes one that is not stored yet.
func (p *post) message(edit func(*domain.Message)) *domain.Message {
	p.t.Helper()
	now := p.now()
	m := &domain.Message{ID: ids.New(), OrganizationID: ids.New(), CreatedAt: now, ExpiresAt: now.Add(time.Hour)}
	text, err := json.Marshal(notify.Message{
		ID: m.ID, Kind: notify.OTPEmail, To: "ada@example.com", Code: secretCode, CreatedAt: now, ExpiresAt: m.ExpiresAt,
	})
	if err == nil {
		m.Sealed, err = p.keys.ServerKeys.SealMessage(domain.OutboxPurpose, text)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	if edit != nil {
		edit(m)
	}
	return m
}

// insert stores messages, all at once.
func (p *post) insert(all ...*domain.Message) {
	p.t.Helper()
	err := p.store.Outbox(p.t.Context(), func(messages store.Table[domain.Message]) error {
		for _, m := range all {
			if err := messages.Insert(m); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *post) lookup(id string) (m *domain.Message) {
	p.t.Helper()
	err := p.store.Outbox(p.t.Context(), func(messages store.Table[domain.Message]) (err error) {
		m, err = messages.Lookup(id)
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return m
}

// sender is a way for messages that does what a test says.
type sender func(ctx context.Context, m *notify.Message) error

func (s sender) Send(ctx context.Context, m *notify.Message) error { return s(ctx, m) }

const (
	testLease = time.Minute
	// patience is what a busy machine may need for anything.
	patience = 2 * time.Minute
)

// outbox makes the outbox of one server; how says what becomes of a message.
func (p *post) outbox(how func(ctx context.Context) error) *outbox {
	return newOutbox(outbox{
		store: p.store, identity: p.keys.ServerKeys, log: slog.New(slog.NewJSONHandler(p, nil)), metrics: api.NewMetrics(),
		now: p.now, poll: 10 * time.Millisecond, lease: testLease, timeout: patience,
		router: &notify.Router{Now: p.now, Mail: sender(func(ctx context.Context, m *notify.Message) error {
			p.mu.Lock()
			p.sent = append(p.sent, m.ID)
			p.mu.Unlock()
			return how(ctx)
		})},
	})
}

// start runs an outbox until the test, or the returned function, stops it.
func (p *post) start(o *outbox, drain time.Duration) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		o.run(ctx, drain)
	}()
	stop = func() {
		cancel()
		<-done
	}
	p.t.Cleanup(stop)
	return stop
}

func (p *post) until(what string, holds func() bool) {
	p.t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			p.t.Fatalf("not within %v: %s\n%s", patience, what, p.logged())
		}
	}
}

func succeed(context.Context) error { return nil }

// Several servers fall upon many messages: each is sent once. No lease ends
// meanwhile, so nothing excuses a second time.
func TestEachMessageIsLeasedOnce(t *testing.T) {
	for _, tt := range []struct {
		name  string
		url   string
		apart bool // each server has a store of its own
	}{{"sqlite", "sqlite:" + filepath.Join(t.TempDir(), "db"), false}, {"postgres", pgtest.URL(t), true}} {
		t.Run(tt.name, func(t *testing.T) {
			const messages, servers = 50, 3
			p := newPostAt(t, tt.url)
			var all []*domain.Message
			for range messages {
				all = append(all, p.message(nil))
			}
			p.insert(all...)
			sent := make(chan struct{})
			for n := range servers {
				o := p.outbox(func(context.Context) error { <-sent; return nil })
				if tt.apart && n > 0 {
					o.store = open(t, tt.url)
				}
				p.start(o, patience)
			}
			count := func() int {
				p.mu.Lock()
				defer p.mu.Unlock()
				return len(p.sent)
			}
			p.until("every server sends as much as it can", func() bool { return count() >= servers*atOnce })
			close(sent)
			p.until("all are sent", func() bool {
				for _, m := range all {
					if p.lookup(m.ID) != nil {
						return false
					}
				}
				return true
			})
			for _, m := range all {
				if n := p.times(m.ID); n != 1 {
					t.Errorf("message %s was sent %d times", m.ID, n)
				}
			}
		})
	}
}

// A lease that is shorter than the sending is renewed: the other servers leave
// the message alone.
func TestLeaseIsRenewed(t *testing.T) {
	p := newPost(t)
	sent := make(chan struct{})
	id := p.put(nil)
	for range 3 {
		p.start(p.outbox(func(context.Context) error { <-sent; return nil }), patience)
	}
	p.until("the message is being sent", func() bool { return p.times(id) == 1 })
	p.renewed(id)
	close(sent)
	p.until("the message is sent", func() bool { return p.lookup(id) == nil })
	if n := p.times(id); n != 1 {
		t.Errorf("the message was sent %d times", n)
	}
}

// renewed lets twice the time of a lease pass. It is renewed each time that half
// of it is over.
func (p *post) renewed(id string) {
	p.t.Helper()
	for range 4 {
		p.advance(testLease / 2)
		p.until("the lease is renewed", func() bool {
			m := p.lookup(id)
			return m == nil || m.LeasedUntil.Equal(p.now().Add(testLease))
		})
	}
	if m := p.lookup(id); m == nil || m.Attempts != 1 {
		p.t.Errorf("the message is now %+v", m)
	}
}

// The lease of a server that died holds the message until it ends, not longer.
func TestLeaseEnds(t *testing.T) {
	p := newPost(t)
	id := p.put(func(m *domain.Message) { m.Attempts, m.LeasedUntil = 1, p.now().Add(testLease) })
	o := p.outbox(succeed)
	p.advance(testLease - 1)
	o.turn(t.Context(), atOnce)
	if len(o.underWay) != 0 || p.lookup(id).Attempts != 1 {
		t.Error("the message was taken before the lease ended")
	}
	p.advance(1)
	o.turn(t.Context(), atOnce)
	o.finish(<-o.ended)
	o.turn(t.Context(), atOnce)
	if n := p.times(id); n != 1 || p.lookup(id) != nil {
		t.Errorf("the message was sent %d times, and is now %+v", n, p.lookup(id))
	}
}

// A server whose lease was taken over does not spoil what the other one does,
// but what it sent is sent.
func TestLeaseIsLost(t *testing.T) {
	p := newPost(t)
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
			id := p.put(func(m *domain.Message) { m.Attempts, m.LeasedUntil = 2, p.now().Add(time.Minute) })
			mine := p.lookup(id)
			before := *mine
			mine.Attempts = 1
			o := p.outbox(succeed)
			o.finish(ending{Message: mine, err: tt.err})
			o.turn(t.Context(), 0)
			switch after := p.lookup(id); {
			case tt.gone != (after == nil):
				t.Errorf("the message is now %v", after)
			case after != nil && (after.Attempts != 2 || !after.LeasedUntil.Equal(before.LeasedUntil) || !after.NextAttempt.IsZero()):
				t.Errorf("the other server's lease was changed: %+v", after)
			}
			if len(o.endings) != 0 {
				t.Error("the ending is told again")
			}
		})
	}
}

func TestHopelessMessagesAreDropped(t *testing.T) {
	p := newPost(t)
	for _, tt := range []struct {
		name string
		edit func(*domain.Message)
		log  string
	}{
		{"expired", func(m *domain.Message) { m.ExpiresAt = p.now() }, notify.ErrExpired.Error()},
		{"expired while it waited", func(m *domain.Message) {
			m.Attempts, m.ExpiresAt, m.NextAttempt = 5, p.now(), p.now().Add(time.Hour)
		}, notify.ErrExpired.Error()},
		{"tried too often", func(m *domain.Message) { m.Attempts, m.ExpiresAt = maxAttempts, time.Time{} }, errTooOften.Error()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			id := p.put(tt.edit)
			o := p.outbox(succeed)
			o.turn(t.Context(), atOnce)
			if p.lookup(id) != nil || p.times(id) != 0 || len(o.underWay) != 0 {
				t.Error("the message was kept or sent")
			}
			var line string
			for l := range strings.Lines(p.logged()) {
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

// Whatever goes wrong with one message, the server lives on, tries again later,
// and says nothing of the secret.
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
			p := newPost(t)
			id, o := p.put(tt.edit), p.outbox(tt.how)
			p.start(o, patience)
			var m *domain.Message
			p.until("an attempt has failed", func() bool { m = p.lookup(id); return m == nil || !m.NextAttempt.IsZero() })
			if m == nil || m.Attempts != 1 || !m.LeasedUntil.IsZero() || !m.NextAttempt.After(p.now()) {
				t.Fatalf("the message is now %+v", m)
			}
			p.advance(m.NextAttempt.Sub(p.now()))
			p.until("a second attempt", func() bool { m = p.lookup(id); return m == nil || m.Attempts == 2 })
			if m == nil {
				t.Fatal("the message was dropped")
			}
			if log := p.logged(); !strings.Contains(log, `"level":"WARN"`) || strings.Contains(log, secretCode) || strings.Contains(log, "ada@") {
				t.Errorf("the log says %s", log)
			}
		})
	}
}

// A message that cannot be read as one is no reason to print it.
func TestUnreadableMessage(t *testing.T) {
	p := newPost(t)
	id := p.put(func(m *domain.Message) {
		var err error
		if m.Sealed, err = p.keys.ServerKeys.SealMessage(domain.OutboxPurpose, []byte(`{"code":"`+secretCode+`","id":5}`)); err != nil {
			t.Fatal(err)
		}
	})
	p.start(p.outbox(succeed), patience)
	p.until("an attempt", func() bool { return strings.Contains(p.logged(), "not one that this server can read") })
	if p.lookup(id) == nil || p.times(id) != 0 || strings.Contains(p.logged(), secretCode) {
		t.Errorf("it was dropped, sent or printed: %s", p.logged())
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
			t.Errorf("after %d attempts there is no chance in it", attempts)
		}
	}
}

// Messages that cannot be sent now do not stand in the way of one that can, and
// all of them are counted.
func TestLongQueue(t *testing.T) {
	p := newPost(t)
	var others []*domain.Message
	for i := range 250 {
		others = append(others, p.message(func(m *domain.Message) {
			if i%2 == 0 {
				m.Attempts, m.NextAttempt = 3, p.now().Add(time.Hour)
			} else {
				m.Attempts, m.LeasedUntil = 1, p.now().Add(time.Hour)
			}
		}))
	}
	p.insert(others...)
	id, o := p.put(nil), p.outbox(succeed)
	p.start(o, patience)
	p.until("the last message is sent", func() bool { return p.lookup(id) == nil })
	p.until("all are counted", func() bool {
		got := metrics(t, o)
		return strings.Contains(got, `latchkey_messages_total{outcome="sent"} 1`) && strings.Contains(got, "latchkey_messages_waiting 250")
	})
}

func metrics(t *testing.T, o *outbox) string {
	t.Helper()
	reply := httptest.NewRecorder()
	o.metrics.Handler().ServeHTTP(reply, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return reply.Body.String()
}

// An outbox that cannot be read is reported once, not every second.
func TestStoreFails(t *testing.T) {
	p := newPost(t)
	o := p.outbox(succeed)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 3 {
		o.turn(gone, atOnce)
	}
	o.turn(t.Context(), atOnce)
	o.turn(t.Context(), atOnce)
	if log := p.logged(); strings.Count(log, "messages wait") != 1 || strings.Count(log, "changed again") != 1 {
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
	}{{"in time", patience, true}, {"too late", 50 * time.Millisecond, false}} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPost(t)
			sent := make(chan struct{})
			stop := p.start(p.outbox(func(ctx context.Context) error {
				select {
				case <-ctx.Done():
					return fmt.Errorf("interrupted: %w", ctx.Err())
				case <-sent:
					return nil
				}
			}), tt.drain)
			id := p.put(nil)
			p.until("the message is being sent", func() bool { return p.times(id) == 1 })
			stopped := make(chan struct{})
			go func() {
				defer close(stopped)
				stop()
			}()
			if tt.sent {
				p.renewed(id) // also by a server that stops
				close(sent)
			}
			<-stopped
			m := p.lookup(id)
			switch {
			case tt.sent != (m == nil):
				t.Fatalf("the message is now %+v", m)
			case m != nil && (m.LeasedUntil.After(p.now()) || m.NextAttempt.After(p.now())):
				t.Errorf("the message is not free: %+v", m)
			}
		})
	}
}

// Messages that no server could send do not stay for ever.
func TestSweepMessages(t *testing.T) {
	p := newPost(t)
	now := p.now()
	old := now.Add(-2 * time.Hour)
	for _, tt := range []struct {
		name string
		edit func(*domain.Message)
		gone bool
	}{
		{"valid", nil, false},
		{"without an end", func(m *domain.Message) { m.CreatedAt, m.ExpiresAt = old, time.Time{} }, false},
		{"expired", func(m *domain.Message) { m.ExpiresAt = now.Add(-time.Minute) }, false},
		{"expired long ago", func(m *domain.Message) { m.ExpiresAt = old }, true},
		{"in somebody's hands", func(m *domain.Message) { m.ExpiresAt, m.LeasedUntil = old, now.Add(time.Minute) }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			id := p.put(tt.edit)
			dropped, err := Sweep(t.Context(), p.store, now)
			if err != nil || (dropped == 1) != tt.gone || (p.lookup(id) == nil) != tt.gone {
				t.Errorf("%d were dropped, %v; the message is %v", dropped, err, p.lookup(id))
			}
		})
	}
}

// A server that can send nothing leaves messages to others.
func TestNoWay(t *testing.T) {
	p := newPost(t)
	id, o := p.put(nil), p.outbox(succeed)
	o.router = new(notify.Router)
	o.run(t.Context(), patience) // returns at once
	if m := p.lookup(id); m == nil || m.Attempts != 0 {
		t.Errorf("the message is now %+v", m)
	}
}

package outbox

import (
	"bytes"
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
	"latchkey/internal/ids"
	"latchkey/internal/keys/vault"
	"latchkey/internal/outbox/notify"
	"latchkey/internal/request/api"
	"latchkey/internal/store"
	"latchkey/internal/store/postgres"
	"latchkey/internal/store/sqlite"
	"latchkey/internal/store/storetest"
	"latchkey/internal/test/testkit"
)

// The tests of this package look at the outbox from the inside, with a clock of
// their own. What mail servers do is in delivery_test.go.

const secretCode = "SECRET77"

// queue is a store with messages, and what is sent from it.
type queue struct {
	t     *testing.T
	store *store.Store
	keys  *vault.ServerKeys

	mu   sync.Mutex
	sent []string // ids of messages, each time that one was sent
	log  bytes.Buffer
	time time.Time // stands still unless it is moved
}

func newQueue(t *testing.T) *queue {
	t.Helper()
	return newQueueAt(t, "sqlite:"+filepath.Join(t.TempDir(), "db"))
}

func open(t *testing.T, url string) *store.Store {
	t.Helper()
	var driver store.Driver
	var err error
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		driver, err = sqlite.Open(t.Context(), path, sqlite.Config{})
	} else {
		driver, err = postgres.Open(t.Context(), url, postgres.Config{})
	}
	if err != nil {
		t.Fatal(err)
	}
	s := storetest.Store(t, driver)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func newQueueAt(t *testing.T, url string) *queue {
	t.Helper()
	s := open(t, url)
	q := &queue{t: t, store: s, keys: serverKeys(t, s), time: time.Now()}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(q.logged())
		}
	})
	return q
}

func serverKeys(t *testing.T, s *store.Store) (keys *vault.ServerKeys) {
	t.Helper()
	v := storetest.Vault(t)
	err := s.Instance(t.Context(), func(tx *store.Tx) (err error) {
		keys, err = v.LoadOrCreateServerKeys(tx.Ciphertexts())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func (q *queue) now() time.Time {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.time
}

func (q *queue) advance(d time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.time = q.time.Add(d)
}

// Write collects the log.
func (q *queue) Write(text []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.log.Write(text)
}

func (q *queue) logged() string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.log.String()
}

func (q *queue) timesSent(id string) (n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, s := range q.sent {
		if s == id {
			n++
		}
	}
	return n
}

// put stores a message, as changed by edit, and returns its id.
func (q *queue) put(edit func(*domain.Message)) string {
	q.t.Helper()
	m := q.message(edit)
	q.insert(m)
	return m.ID
}

// message makes one that is not stored yet.
func (q *queue) message(edit func(*domain.Message)) *domain.Message {
	q.t.Helper()
	now := q.now()
	m := &domain.Message{ID: ids.New(), OrganizationID: ids.New(), CreatedAt: now, ExpiresAt: now.Add(time.Hour)}
	text, err := json.Marshal(notify.Message{
		ID: m.ID, Kind: notify.OTPEmail, To: "ada@example.com", Code: secretCode, CreatedAt: now, ExpiresAt: m.ExpiresAt,
	})
	if err == nil {
		m.Sealed, err = q.keys.SealMessage(domain.OutboxPurpose, text)
	}
	if err != nil {
		q.t.Fatal(err)
	}
	if edit != nil {
		edit(m)
	}
	return m
}

// insert stores messages, all at once.
func (q *queue) insert(all ...*domain.Message) {
	q.t.Helper()
	err := q.store.Outbox(q.t.Context(), func(tx *store.Tx) error {
		messages := tx.Messages()
		for _, m := range all {
			if err := messages.Insert(m); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		q.t.Fatal(err)
	}
}

func (q *queue) lookup(id string) (m *domain.Message) {
	q.t.Helper()
	err := q.store.Outbox(q.t.Context(), func(tx *store.Tx) (err error) {
		messages := tx.Messages()
		m, err = messages.Lookup(id)
		return err
	})
	if err != nil {
		q.t.Fatal(err)
	}
	return m
}

// sender sends messages as a test says.
type sender func(ctx context.Context, m *notify.Message) error

func (s sender) Send(ctx context.Context, m *notify.Message) error { return s(ctx, m) }

const testLease = time.Minute

// outbox makes the outbox of one server; how sends a message.
func (q *queue) outbox(how func(ctx context.Context) error) *Outbox {
	return New(Config{
		Store: q.store, Keys: q.keys, Log: slog.New(slog.NewJSONHandler(q, nil)), Metrics: api.NewMetrics(api.Sources{
			Pool: q.store.Pool, Log: func() (int64, time.Time) { return 0, time.Time{} },
			DataKeys: func() int { return 0 }, VaultMemory: func() int { return 0 },
		}),
		Now: q.now, Poll: 10 * time.Millisecond, Lease: testLease, StoreTimeout: testkit.Patience,
		Router: &notify.Router{Now: q.now, Mail: sender(func(ctx context.Context, m *notify.Message) error {
			q.mu.Lock()
			q.sent = append(q.sent, m.ID)
			q.mu.Unlock()
			return how(ctx)
		})},
	})
}

// start runs an outbox until the test, or the returned function, stops it.
func (q *queue) start(o *Outbox, drain time.Duration) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		o.Run(ctx, drain)
	}()
	stop = func() {
		cancel()
		<-done
	}
	q.t.Cleanup(stop)
	return stop
}

func succeed(context.Context) error { return nil }

// expectRenewals lets twice the time of a lease pass. It is renewed each time
// that half of it is over.
func (q *queue) expectRenewals(id string) {
	q.t.Helper()
	for range 4 {
		q.advance(testLease / 2)
		testkit.Until(q.t, "the lease is renewed", func() bool {
			m := q.lookup(id)
			return m == nil || m.LeasedUntil.Equal(q.now().Add(testLease))
		})
	}
	if m := q.lookup(id); m == nil || m.Attempts != 1 {
		q.t.Errorf("the message is now %+v", m)
	}
}

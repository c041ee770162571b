package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"latchkey/internal/store"
	"latchkey/internal/store/postgres"
	"latchkey/internal/test/pgtest"
	"latchkey/internal/test/testkit"
)

// askers is how many ask at once. Four of them ask alone, the others together.
const askers = 64

// raise makes the next version of an organization.
func raise(t *testing.T, db store.Driver, org string, version int64) {
	t.Helper()
	err := db.Commit(t.Context(), &store.Commit{Org: org, Version: version, Changes: []store.Change{{Kind: "k", ID: "i", Body: []byte("x")}}})
	if err != nil {
		t.Fatal(err)
	}
}

// behindProxy opens a database through a proxy, with some connections that read.
func behindProxy(t *testing.T, url string) (*postgres.DB, *pgtest.Proxy) {
	t.Helper()
	proxy := pgtest.NewProxy(t, url)
	db, err := postgres.Open(t.Context(), proxy.URL, postgres.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	testkit.Until(t, "there are connections", func() bool {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() { _, _ = db.Get(t.Context(), "org", "k", "i") })
		}
		wg.Wait()
		return db.Pool().Idle >= 8
	})
	return db, proxy
}

type answer struct {
	version int64
	err     error
}

// askTogether asks for the version of an organization many times at once, and
// returns when all that can be sent is on its way.
func askTogether(ctx context.Context, t *testing.T, db *postgres.DB, proxy *pgtest.Proxy) <-chan answer {
	t.Helper()
	before := proxy.Trips.Load()
	answers := make(chan answer, askers)
	for range askers {
		go func() {
			version, err := db.Version(ctx, "org")
			answers <- answer{version, err}
		}()
	}
	testkit.Until(t, "the questions are sent", func() bool { return proxy.Trips.Load()-before >= 5 })
	return answers
}

// TestQuestionsTogether: questions asked at once share a statement, and none is
// answered by a statement that was sent before it was asked.
func TestQuestionsTogether(t *testing.T) {
	url := pgtest.URL(t)
	direct := openAt(t, url)
	t.Cleanup(func() { _ = direct.Close() })
	raise(t, direct, "org", 0)
	db, proxy := behindProxy(t, url)
	for version := int64(1); version < 4; version++ {
		proxy.Withhold()
		before := proxy.Trips.Load()
		early := askTogether(t.Context(), t, db, proxy)
		// By then the server has answered them, and the proxy has the answers.
		time.Sleep(100 * time.Millisecond)
		// Five, and some more on a machine so slow that a statement was sent again.
		if sent := proxy.Trips.Load() - before; sent > askers/4 {
			t.Errorf("%d questions were %d statements", askers, sent)
		}
		raise(t, direct, "org", version)
		late := make(chan answer, askers)
		for range askers {
			go func() {
				version, err := db.Version(t.Context(), "org")
				late <- answer{version, err}
			}()
		}
		time.Sleep(50 * time.Millisecond)
		proxy.Release()
		for range askers {
			if got := <-late; got.err != nil || got.version != version+1 {
				t.Fatalf("asked after the commit: version %d, %v; want %d", got.version, got.err, version+1)
			}
			if got := <-early; got.err != nil || got.version < version {
				t.Fatalf("asked before the commit: version %d, %v", got.version, got.err)
			}
		}
	}
}

// TestQuestionsLeft: a caller who goes away returns at once, also when nothing is
// answered, and takes nothing from the others.
func TestQuestionsLeft(t *testing.T) {
	db, proxy := behindProxy(t, pgtest.URL(t))
	raise(t, db, "org", 0)
	proxy.Withhold()
	ctx, cancel := context.WithCancel(t.Context())
	leaving := askTogether(ctx, t, db, proxy)
	staying := make(chan answer, askers)
	for range askers {
		go func() {
			version, err := db.Version(t.Context(), "org")
			staying <- answer{version, err}
		}()
	}
	cancel()
	for range askers {
		if got := <-leaving; !errors.Is(got.err, context.Canceled) {
			t.Fatalf("a caller who has left: %d, %v", got.version, got.err)
		}
	}
	proxy.Release()
	for range askers {
		if got := <-staying; got.err != nil || got.version != 1 {
			t.Fatalf("a caller who waits: %d, %v", got.version, got.err)
		}
	}
}

// TestLostConnections: the server ends connections all the time, and no one who
// reads notices.
func TestLostConnections(t *testing.T) {
	url := pgtest.URL(t)
	db := openAt(t, url)
	t.Cleanup(func() { _ = db.Close() })
	for i := range 8 {
		raise(t, db, fmt.Sprint("org ", i), 0)
	}
	admin, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = admin.Close(context.Background()) }()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			org := fmt.Sprint("org ", i%8)
			for ctx.Err() == nil {
				if version, err := db.Version(t.Context(), org); err != nil || version != 1 {
					t.Errorf("version %d, %v", version, err)
					return
				}
				if body, err := db.Get(t.Context(), org, "k", "i"); err != nil || string(body) != "x" {
					t.Errorf("item %s, %v", body, err)
					return
				}
			}
		})
	}
	for killed := int64(0); killed < 40 && !t.Failed(); time.Sleep(5 * time.Millisecond) {
		// Those that read: one that is being made is refused to its caller, as ever.
		tag, err := admin.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE datname = current_database() AND application_name = 'latchkey'
			AND (query LIKE '%FROM organizations WHERE org = %' OR query LIKE 'SELECT body FROM items%') LIMIT 1`)
		if err != nil {
			t.Fatal(err)
		}
		killed += tag.RowsAffected()
	}
	stop()
	wg.Wait()
}

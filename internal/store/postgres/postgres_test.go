package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"latchkey/internal/store"
	"latchkey/internal/store/postgres"
	"latchkey/internal/store/storetest"
	"latchkey/internal/test/pgtest"
)

func TestMain(m *testing.M) {
	storetest.KillChild(func(ctx context.Context, target string) (store.Driver, error) {
		return postgres.Open(ctx, target, postgres.Config{})
	})
	os.Exit(pgtest.Main(m))
}

func openAt(t testing.TB, url string) store.Driver {
	t.Helper()
	db, err := postgres.Open(t.Context(), url, postgres.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Driver { return openAt(t, pgtest.URL(t)) })
}

// TestTwoNodes: a caller cannot tell that every call goes to another node.
func TestTwoNodes(t *testing.T) {
	storetest.RunContention(t, func(t *testing.T) store.Driver {
		url := pgtest.URL(t)
		return storetest.NewNodes(openAt(t, url), openAt(t, url))
	})
}

// TestSerializable: the statements hold at the strictest level too, where the
// database answers a conflict with an error.
func TestSerializable(t *testing.T) {
	storetest.RunContention(t, func(t *testing.T) store.Driver {
		url := pgtest.URL(t)
		execute(t, url, `DO $$ BEGIN EXECUTE format(
			'ALTER DATABASE %I SET default_transaction_isolation = serializable', current_database()); END $$`)
		return storetest.NewNodes(openAt(t, url), openAt(t, url))
	})
}

func TestReopen(t *testing.T) {
	url := pgtest.URL(t)
	storetest.RunReopen(t, func(t *testing.T) store.Driver { return openAt(t, url) })
}

func TestKill(t *testing.T) {
	url := pgtest.URL(t)
	storetest.RunKill(t, 50, url, func(t *testing.T) store.Driver { return openAt(t, url) })
}

func TestServerKill(t *testing.T) {
	s := pgtest.Start(t)
	url := s.URL(t)
	storetest.RunCrash(t, 5,
		func(t *testing.T) store.Driver { return openAt(t, url) },
		func(t *testing.T) { s.Kill(t); s.Restart(t) })
}

func TestOpenTogether(t *testing.T) {
	for range 3 {
		url := pgtest.URL(t)
		var wg sync.WaitGroup
		for range 6 {
			wg.Go(func() {
				db, err := postgres.Open(t.Context(), url, postgres.Config{})
				if err != nil {
					t.Error(err)
					return
				}
				if err := errors.Join(db.Ready(t.Context()), db.Close()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
}

func TestNewerDatabase(t *testing.T) {
	url := pgtest.URL(t)
	if err := openAt(t, url).Close(); err != nil {
		t.Fatal(err)
	}
	execute(t, url, `INSERT INTO migrations VALUES (999, now())`)
	_, err := postgres.Open(t.Context(), url, postgres.Config{})
	if err == nil || !strings.Contains(err.Error(), "schema 999") {
		t.Fatalf("Open of a newer database: %v", err)
	}
}

func TestUnreachable(t *testing.T) {
	_, err := postgres.Open(t.Context(), "postgres://user:hunter2@127.0.0.1:1/db", postgres.Config{})
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Fatalf("Open of no server: %v", err)
	}
}

func TestSession(t *testing.T) {
	url := pgtest.URL(t)
	db := openAt(t, url)
	defer func() { _ = db.Close() }()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	var n int
	err = conn.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity
		WHERE application_name = 'latchkey' AND datname = current_database()`).Scan(&n)
	if err != nil || n == 0 {
		t.Fatalf("%d sessions are named latchkey, %v", n, err)
	}
	if _, err := postgres.Open(t.Context(), url+"&default_transaction_read_only=on", postgres.Config{}); err == nil {
		t.Error("a read-only server was opened")
	}
}

// TestPoison makes the database fail on one commit of each group: only that
// one may fail.
func TestPoison(t *testing.T) {
	db := openAt(t, pgtest.URL(t))
	defer func() { _ = db.Close() }()
	const n = 64
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			kind := "k"
			if i%8 == 0 {
				kind = "\xff" // not UTF-8
			}
			errs[i] = db.Commit(t.Context(), &store.Commit{
				Org: fmt.Sprint(i), Activity: &store.ActivityRow{ID: "a"},
				Changes: []store.Change{{Kind: "k", ID: "x", Body: []byte("x")}, {Kind: kind, ID: "y", Body: []byte("x")}},
			})
		})
	}
	wg.Wait()
	for i, err := range errs {
		v, verr := db.Version(t.Context(), fmt.Sprint(i))
		x, xerr := db.Get(t.Context(), fmt.Sprint(i), "k", "x")
		a, aerr := db.Activity(t.Context(), fmt.Sprint(i), "a")
		if e := errors.Join(verr, xerr, aerr); e != nil {
			t.Fatal(e)
		}
		if poisoned := i%8 == 0; (err != nil) != poisoned || (v == 0) != poisoned || (x == nil) != poisoned || (a == nil) != poisoned {
			t.Errorf("commit %d ended with %v, version %d, item %s, activity %v", i, err, v, x, a)
		}
	}
}

// TestGuard: an activity that is there before its organization, which cannot
// be, makes the creation fail instead of being applied by half.
func TestGuard(t *testing.T) {
	url := pgtest.URL(t)
	db := openAt(t, url)
	defer func() { _ = db.Close() }()
	execute(t, url, `INSERT INTO activities VALUES ('org', 'a', 1, '\x00', 't', 's', '')`)
	err := db.Commit(t.Context(), &store.Commit{
		Org: "org", Activity: &store.ActivityRow{ID: "a"}, Changes: []store.Change{{Kind: "k", ID: "i", Body: []byte("x")}},
	})
	if err == nil {
		t.Fatal("created over an activity")
	}
	if v, err := db.Version(t.Context(), "org"); v != 0 || err != nil {
		t.Fatalf("version %d, %v", v, err)
	}
}

func execute(t *testing.T, url, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkCommitAppend(b *testing.B)      { benchmark(b, storetest.BenchmarkAppend) }
func BenchmarkCommitAppendAlone(b *testing.B) { benchmark(b, storetest.BenchmarkAppendAlone) }
func BenchmarkGet(b *testing.B)               { benchmark(b, storetest.BenchmarkGet) }
func BenchmarkScanIndex(b *testing.B)         { benchmark(b, storetest.BenchmarkScanIndex) }
func BenchmarkList(b *testing.B)              { benchmark(b, storetest.BenchmarkList) }

func benchmark(b *testing.B, fn func(*testing.B, store.Driver)) {
	db := openAt(b, pgtest.URL(b))
	defer func() { _ = db.Close() }()
	fn(b, db)
}

// TestOpenSaysWhy: what the server refused comes first, and what to do.
func TestOpenSaysWhy(t *testing.T) {
	url := pgtest.URL(t)
	c, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	_, err = postgres.Open(t.Context(), strings.Replace(url, c.Database, "no_such_database", 1), postgres.Config{})
	if err == nil || !strings.HasPrefix(err.Error(), `opening the PostgreSQL database: database "no_such_database" does not exist; create it first`) {
		t.Errorf("no such database: %v", err)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), `CREATE TABLE migrations (name text NOT NULL)`); err != nil {
		t.Fatal(err)
	}
	_, err = postgres.Open(t.Context(), url, postgres.Config{})
	if err == nil || !strings.Contains(err.Error(), "this database is not Latchkey's") {
		t.Errorf("a database of another application: %v", err)
	}
}

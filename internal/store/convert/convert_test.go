package convert_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"latchkey/internal/server"
	"latchkey/internal/server/config"
	"latchkey/internal/store"
	"latchkey/internal/store/convert"
	"latchkey/internal/store/postgres"
	"latchkey/internal/store/sqlite"
	"latchkey/internal/test/pgtest"
	"latchkey/internal/test/servertest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// each runs a test in both directions, on an installation with a few thousand rows.
func each(t *testing.T, test func(t *testing.T, from, to string)) {
	embedded := func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "latchkey.db") }
	clustered := func(t *testing.T) string { return pgtest.URL(t) }
	for name, stores := range map[string][2]func(*testing.T) string{
		"sqlite to postgres": {embedded, clustered},
		"postgres to sqlite": {clustered, embedded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from := stores[0](t)
			master := "file:" + filepath.Join(t.TempDir(), "master.key")
			s := servertest.StartWith(t, from, config.Default(), master, "")
			s.CreateOrganization(t, "Acme").Submit(t, "create_user_tag", map[string]any{"userTagName": "tag", "userIds": []any{}})
			s.Stop(t)
			fill(t, from)
			test(t, from, stores[1](t))
		})
	}
}

// fill adds rows of all tables, with ids and bodies that a careless copy would change.
func fill(t *testing.T, url string) {
	t.Helper()
	withDriver(t, url, func(db store.Driver) {
		all := &store.Commit{Org: "filled"}
		for i := range 2200 {
			id := fmt.Sprintf("%d Ünïcode\x7f %s", i, strings.Repeat("x", i%300))
			all.Changes = append(all.Changes, store.Change{Kind: "Kind", ID: id, Body: []byte{0, byte(i), 0xff}})
		}
		for _, id := range []string{"a", "B", "ä", "Z", "aa", "a b"} {
			all.Changes = append(all.Changes, store.Change{Kind: "kind", ID: id, Body: []byte(id)})
		}
		commit(t, db, all)
		for i := range 700 {
			commit(t, db, &store.Commit{
				Org: "filled", Version: 1,
				Activity: &store.ActivityRow{
					ID: fmt.Sprintf("%03d", 999-i), TimestampMs: int64(i % 7), Fingerprint: store.Fingerprint{byte(i), byte(i >> 8)},
					Type: "T", Status: "S", Body: []byte{byte(i), 1},
				},
				Entries: []store.Entry{{Org: "filled", Activity: fmt.Sprintf("%03d", 999-i), Body: []byte{1, byte(i)}}},
			})
		}
	})
}

func commit(t *testing.T, db store.Driver, c *store.Commit) {
	t.Helper()
	if err := db.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

func withDriver(t *testing.T, url string, fn func(store.Driver)) {
	t.Helper()
	db, err := openDriver(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	fn(db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func openDriver(ctx context.Context, url string) (store.Driver, error) {
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		db, err := sqlite.Open(ctx, path, sqlite.Config{})
		if err != nil {
			return nil, err
		}
		return db, nil
	}
	db, err := postgres.Open(ctx, url, postgres.Config{})
	if err != nil {
		return nil, err
	}
	return db, nil
}

// contents is what a finished database holds.
func contents(t *testing.T, url string) convert.Contents {
	t.Helper()
	image, err := server.OpenImage(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer image.Close()
	c, err := convert.Read(t.Context(), image, func() {})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// run converts; loads, if not negative, is after how many transactions the connection is
// lost.
func run(t *testing.T, from, to string, restart bool, loads int) (convert.Result, error) {
	t.Helper()
	if loads < 0 {
		return server.Convert(t.Context(), from, to, restart, nil)
	}
	image, err := server.OpenImage(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	defer image.Close()
	var loader store.Loader
	if path, ok := strings.CutPrefix(to, "sqlite:"); ok {
		loader, err = sqlite.OpenLoader(t.Context(), path)
	} else {
		loader, err = postgres.OpenLoader(t.Context(), to)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer loader.Close()
	c := &convert.Conversion{From: image, To: &losing{loader, loads}, Restart: restart}
	return c.Run(t.Context())
}

var errLost = errors.New("the connection is lost")

// losing is a loader that is lost after some transactions, at the latest before the end.
type losing struct {
	store.Loader
	loads int
}

func (l *losing) Load(ctx context.Context, rows *store.LoadRows) error {
	if l.loads--; l.loads < 0 {
		return errLost
	}
	return l.Loader.Load(ctx, rows)
}

func (l *losing) End(context.Context) error { return errLost }

// TestResume loses the connection after each transaction, and goes on. No server opens
// what is not finished; what is finished holds the same, and goes on where the source
// ended.
func TestResume(t *testing.T) {
	each(t, func(t *testing.T, from, to string) {
		want := contents(t, from)
		for lost := 0; lost < 3; lost++ {
			for range 3 {
				if _, err := run(t, from, to, false, lost); !errors.Is(err, errLost) {
					t.Fatal(err)
				}
				if db, err := openDriver(t.Context(), to); !errors.Is(err, store.ErrUnfinished) {
					t.Fatalf("a server could start on it: %v, %v", db, err)
				}
				if image, err := server.OpenImage(t.Context(), to); !errors.Is(err, store.ErrUnfinished) {
					t.Fatalf("an audit could begin: %v, %v", image, err)
				}
			}
		}
		result, err := run(t, from, to, false, -1)
		if err != nil || !result.Resumed || result.Before || result.Contents != want {
			t.Fatalf("%+v, %v", result, err)
		}
		if there := contents(t, to); there != want || want.Activities.Rows < 700 || want.Entries.Rows < 700 || want.Items.Rows < 2206 {
			t.Errorf("the copy holds %+v, the source %+v", there, want)
		}
		if again, err := run(t, from, to, false, -1); err != nil || !again.Before || again.Contents != want {
			t.Errorf("a second time: %+v, %v", again, err)
		}
		withDriver(t, to, func(db store.Driver) {
			newest, err := db.Entries(t.Context(), store.EntryQuery{})
			if err != nil {
				t.Fatal(err)
			}
			commit(t, db, &store.Commit{Org: "filled", Version: 1, Activity: &store.ActivityRow{ID: "after", TimestampMs: 99, Body: []byte{1}}, Entries: []store.Entry{{Org: "filled", Activity: "after", Body: []byte{1}}}})
			after, err := db.Entries(t.Context(), store.EntryQuery{Org: "filled", Activity: "after"})
			if err != nil || len(after) != 1 || after[0].Position != newest[len(newest)-1].Position+1 {
				t.Errorf("the next entry of the log is %+v, %v, after %d", after, err, newest[len(newest)-1].Position)
			}
		})
		if _, err := run(t, from, to, true, -1); !errors.Is(err, store.ErrNotEmpty) {
			t.Errorf("into a database that is used: %v", err)
		}
	})
}

// TestChangedSource: what was begun goes on only with the same source, and begins again
// only when it is told so.
func TestChangedSource(t *testing.T) {
	each(t, func(t *testing.T, from, to string) {
		if _, err := run(t, from, to, false, 2); !errors.Is(err, errLost) {
			t.Fatal(err)
		}
		withDriver(t, from, func(db store.Driver) {
			commit(t, db, &store.Commit{Org: "filled", Version: 1, Changes: []store.Change{{Kind: "kind", ID: "a", Body: []byte("b")}}})
		})
		if _, err := run(t, from, to, false, -1); !errors.Is(err, convert.ErrOther) {
			t.Errorf("with a changed source: %v", err)
		}
		result, err := run(t, from, to, true, -1)
		if err != nil || result.Resumed || contents(t, to) != contents(t, from) {
			t.Errorf("begun again: %+v, %v", result, err)
		}
	})
}

// TestRefusals: an empty source, a source in use, a source that is none.
func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "empty.db")
	db, err := sqlite.Open(t.Context(), path, sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	to := "sqlite:" + filepath.Join(dir, "to.db")
	if _, err := server.Convert(t.Context(), "sqlite:"+path, to, false, nil); !errors.Is(err, sqlite.ErrInUse) {
		t.Errorf("a source in use: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Convert(t.Context(), "sqlite:"+path, to, false, nil); !errors.Is(err, convert.ErrNothing) {
		t.Errorf("an empty source: %v", err)
	}
	if _, err := server.Convert(t.Context(), "sqlite:"+path, "sqlite:"+path, false, nil); err == nil {
		t.Error("a source that is the target")
	}
	if _, err := server.Convert(t.Context(), "sqlite:"+filepath.Join(dir, "none.db"), to, false, nil); err == nil || !strings.Contains(err.Error(), "there is no file") {
		t.Errorf("no source: %v", err)
	}
}

package postgres_test

import (
	"strings"
	"testing"
	"time"

	"latchkey/internal/store"
	"latchkey/internal/store/postgres"
	"latchkey/internal/test/pgtest"
	"latchkey/internal/test/testkit"
)

// TestDurability: what is asked for, or was found once, is held to.
func TestDurability(t *testing.T) {
	open := func(url, durability string) (*postgres.DB, error) {
		return postgres.Open(t.Context(), url, postgres.Config{Timeout: testkit.Patience, Durability: durability})
	}
	wantOpen := func(url, durability, want string) *postgres.DB {
		t.Helper()
		db, err := open(url, durability)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		if got := db.Durability(); got != want {
			t.Errorf("durability %q is %s, want %s", durability, got, want)
		}
		return db
	}
	wantRefused := func(what string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "no synchronous standby") {
			t.Errorf("%s without a standby: %v", what, err)
		}
	}

	alone := pgtest.URL(t)
	wantOpen(alone, "", postgres.Local)
	wantOpen(alone, postgres.Local, postgres.Local)
	_, err := open(alone, postgres.Replica)
	wantRefused("Open", err)

	primary, _ := pgtest.StartPair(t)
	url := primary.URL(t)
	db := wantOpen(url, "", postgres.Replica)
	wantOpen(url, postgres.Replica, postgres.Replica)
	commit := func(id string) error {
		return db.Commit(t.Context(), &store.Commit{Org: id, Activity: &store.ActivityRow{ID: id}})
	}
	if err := commit("with"); err != nil {
		t.Fatal(err)
	}
	primary.WaitForNone(t)
	// Connections that are open now learn of it too, each in its turn.
	testkit.Until(t, "commits are refused", func() bool { return commit("without "+time.Now().String()) != nil })
	wantRefused("Commit", commit("after"))
	wantRefused("Ready", db.Ready(t.Context()))
	_, err = open(url, "")
	wantRefused("Open", err)

	wantOpen(url, postgres.Local, postgres.Local)
	wantOpen(url, "", postgres.Local)
}

// TestSettings: sessions that could lose a commit are refused, each of them, and
// a setting that is lost on the way is set again in each transaction.
func TestSettings(t *testing.T) {
	careless := pgtest.Start(t, "fsync=off")
	if _, err := postgres.Open(t.Context(), careless.URL(t), postgres.Config{}); err == nil || !strings.Contains(err.Error(), "fsync=off") {
		t.Errorf("a server with fsync=off was opened: %v", err)
	}

	url := pgtest.URL(t)
	db := openAt(t, url)
	defer func() { _ = db.Close() }()
	// What a pooler does that hands a session of another program to this one.
	execute(t, url, `CREATE TABLE seen (flush text)`)
	execute(t, url, `CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		INSERT INTO seen VALUES (current_setting('synchronous_commit'));
		PERFORM set_config('synchronous_commit', 'off', false); RETURN NULL; END $$`)
	execute(t, url, `CREATE TRIGGER see AFTER INSERT ON activities FOR EACH ROW EXECUTE FUNCTION see()`)
	for _, id := range []string{"a", "b", "c", "d", "e", "f"} {
		if err := db.Commit(t.Context(), &store.Commit{Org: id, Activity: &store.ActivityRow{ID: id}}); err != nil {
			t.Fatal(err)
		}
	}
	execute(t, url, `DO $$ BEGIN IF EXISTS (SELECT 1 FROM seen WHERE flush <> 'on') THEN
		RAISE EXCEPTION 'a commit ran with synchronous_commit off'; END IF; END $$`)
}

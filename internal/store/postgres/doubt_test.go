package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"latchkey/internal/store"
	"latchkey/internal/store/postgres"
	"latchkey/internal/test/pgtest"
	"latchkey/internal/test/testkit"
)

// TestCancelledWait: an administrator cancels the wait for a synchronous standby.
// The commit is not acknowledged; the node that made it does not show it, and
// another one does not find it recorded, before the standby has it.
func TestCancelledWait(t *testing.T) {
	t.Parallel() // most of it is waiting
	primary, standby := pgtest.StartPair(t)
	open := func() *postgres.DB {
		// Two statements below last until this is over; all others must be done by then.
		db, err := postgres.Open(t.Context(), primary.Admin(), postgres.Config{Timeout: 15 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	db, other := open(), open()
	if err := db.Commit(t.Context(), &store.Commit{Org: "org", Activity: &store.ActivityRow{ID: "a"}}); err != nil {
		t.Fatal(err)
	}
	standby.Freeze(t)

	admin, err := pgx.Connect(t.Context(), primary.Admin())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = admin.Close(context.Background()) }()
	ended := make(chan error, 1)
	row := &store.ActivityRow{ID: "b", TimestampMs: 2}
	go func() {
		ended <- db.Commit(context.Background(), &store.Commit{Org: "org", Version: 1, Activity: row})
	}()
	testkit.Until(t, "the wait is cancelled", func() bool {
		tag, err := admin.Exec(t.Context(), `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)
		return err == nil && tag.RowsAffected() > 0
	})
	if err := <-ended; err == nil {
		t.Error("a commit was acknowledged that the standby does not have")
	}
	if a, err := db.Activity(t.Context(), "org", "b"); err == nil {
		t.Errorf("what the standby does not have was shown: %v", a)
	}
	if a, err := other.Recorded(t.Context(), "org", 2, row.Fingerprint); err == nil {
		t.Errorf("another node found recorded what the standby does not have: %v", a)
	}

	standby.Thaw()
	testkit.Until(t, "the commit is shown", func() bool {
		a, err := db.Activity(t.Context(), "org", "b")
		return err == nil && a != nil
	})
	testkit.Until(t, "the commit is found recorded", func() bool {
		a, err := other.Recorded(t.Context(), "org", 2, row.Fingerprint)
		return err == nil && a != nil
	})
}

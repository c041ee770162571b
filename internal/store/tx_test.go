package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/ids"
	"latchkey/internal/store"
	"latchkey/internal/store/storetest"
)

// TestConflict lets many add one to the same record: none is lost.
func TestConflict(t *testing.T) {
	eachKind(t, func(t *testing.T, s *store.Store, org string, notes func(*store.Tx) store.Table[note]) {
		must(t, s.Update(t.Context(), org, func(tx *store.Tx) error { return notes(tx).Insert(&note{ID: "n", Name: "n"}) }))
		const writers, rounds = 8, 10
		var wait sync.WaitGroup
		for range writers {
			wait.Go(func() {
				for range rounds {
					if err := s.Update(t.Context(), org, func(tx *store.Tx) error {
						return notes(tx).Edit("n", func(n *note) error { n.Text += "x"; return nil })
					}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wait.Wait()
		must(t, s.View(t.Context(), org, func(tx *store.Tx) error {
			if n, err := notes(tx).Get("n"); err != nil || len(n.Text) != writers*rounds {
				t.Errorf("%d of %d changes, %v", len(n.Text), writers*rounds, err)
			}
			return nil
		}))
	})
}

// TestConsistentView reads two records that are always changed together: no
// view sees one without the other.
func TestConsistentView(t *testing.T) {
	eachKind(t, func(t *testing.T, s *store.Store, org string, notes func(*store.Tx) store.Table[note]) {
		ctx, stop := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer stop()
		must(t, s.Update(t.Context(), org, func(tx *store.Tx) error {
			return errors.Join(notes(tx).Insert(&note{ID: "a", Name: "a"}), notes(tx).Insert(&note{ID: "b", Name: "b"}))
		}))
		var wait sync.WaitGroup
		wait.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				text := fmt.Sprint(i)
				set := func(n *note) error { n.Text = text; return nil }
				if err := s.Update(ctx, org, func(tx *store.Tx) error {
					return errors.Join(notes(tx).Edit("a", set), notes(tx).Edit("b", set))
				}); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
		})
		for ctx.Err() == nil {
			var a, b string
			err := s.View(ctx, org, func(tx *store.Tx) error {
				first, err := notes(tx).Get("a")
				if err != nil {
					return err
				}
				second, err := notes(tx).Get("b")
				if err != nil {
					return err
				}
				a, b = first.Text, second.Text
				return nil
			})
			if err != nil && ctx.Err() == nil && !isUnavailable(err) {
				t.Fatal(err)
			}
			if err == nil && a != b {
				t.Fatalf("a view saw %q together with %q", a, b)
			}
		}
		wait.Wait()
	})
}

// TestRecord records activities and reads them back whole.
func TestRecord(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store, org string) {
		a := &domain.Activity{
			ID: ids.New(), OrganizationID: org, Type: "T", Status: domain.StatusCompleted, TimestampMs: 5,
			Fingerprint: [32]byte{1}, Body: `{"a":"ü"}`, Intent: []byte(`{}`), Result: []byte(`{"r":1}`),
			Votes:     []domain.Vote{{ID: ids.New(), UserID: ids.New(), UserName: "Ada", Selection: domain.VoteApproved}},
			CreatedAt: time.Now().UTC(), UpdatedAt: time.Now().UTC(),
		}
		record := func() error {
			return s.Update(t.Context(), org, func(tx *store.Tx) error {
				known, err := tx.Recorded(a.TimestampMs, a.Fingerprint)
				if err != nil || known != nil {
					return errors.Join(err, errKnown)
				}
				return tx.Record(a, store.LogDigests{})
			})
		}
		must(t, record())
		if err := record(); !errors.Is(err, errKnown) {
			t.Errorf("recorded twice: %v", err)
		}
		must(t, s.View(t.Context(), org, func(tx *store.Tx) error {
			for name, read := range map[string]func() (*domain.Activity, error){
				"by id":          func() (*domain.Activity, error) { return tx.Activity(a.ID) },
				"by fingerprint": func() (*domain.Activity, error) { return tx.Recorded(5, a.Fingerprint) },
			} {
				got, err := read()
				must(t, err)
				if diff := cmp.Diff(a, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
			if none, err := tx.Activity(ids.New()); none != nil || err != nil {
				t.Errorf("an unknown activity: %v %v", none, err)
			}
			return nil
		}))
	})
}

var errKnown = errors.New("known")

// TestOrganizations checks that the ways to begin a transaction tell
// organizations that exist from others.
func TestOrganizations(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store, org string) {
		nothing := func(*store.Tx) error { return nil }
		for name, run := range map[string]func(context.Context, string, func(*store.Tx) error) error{"View": s.View, "Update": s.Update} {
			if err := run(t.Context(), ids.New(), nothing); !errors.Is(err, store.ErrNoOrganization) {
				t.Errorf("%s of an unknown organization: %v", name, err)
			}
		}
		wantCode(t, s.CreateOrganization(t.Context(), org, nothing), fault.AlreadyExists)
		for range 2 {
			must(t, s.Instance(t.Context(), func(tx *store.Tx) error {
				id := ids.New()
				return tx.KnownOrganizations().Insert(&domain.KnownOrganization{ID: id, Name: id})
			}))
		}
		must(t, s.Instance(t.Context(), func(tx *store.Tx) error {
			known, err := tx.KnownOrganizations().List("", 0)
			if err != nil || len(known) != 2 {
				t.Errorf("%d known organizations, %v", len(known), err)
			}
			return nil
		}))
	})
}

// TestViewEndsUnchecked: a view whose caller is gone when it should be checked
// may have read a mixture, and must not be taken for one that was.
func TestViewEndsUnchecked(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store, org string) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		err := s.View(ctx, org, func(tx *store.Tx) error {
			_, err := store.In(tx, kinds()["stored"]).Lookup("a")
			stop()
			return err
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

// TestDuringCommit: what a transaction leaves for the time of its commit is done
// once, also when there is nothing to commit, and its error counts.
func TestDuringCommit(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store, org string) {
		failure := errors.New("failed during the commit")
		for _, tt := range []struct {
			name   string
			writes bool
			err    error
		}{
			{"nothing to commit", false, nil},
			{"a record", true, nil},
			{"failing", true, failure},
		} {
			done := 0
			err := s.Update(t.Context(), org, func(tx *store.Tx) error {
				tx.DuringCommit(func() error { done++; return tt.err })
				if !tt.writes {
					return nil
				}
				return tx.Tags().Insert(&domain.Tag{ID: ids.New(), Name: tt.name, Type: domain.TagUser})
			})
			if done != 1 || !errors.Is(err, tt.err) {
				t.Errorf("%s: done %d times, %v", tt.name, done, err)
			}
		}
		// A transaction that fails does not get that far.
		must(t, s.View(t.Context(), org, func(tx *store.Tx) error {
			tags, err := tx.Tags().List("", 0)
			if len(tags) != 2 {
				t.Errorf("%d tags", len(tags))
			}
			return err
		}))
		if err := s.Update(t.Context(), org, func(tx *store.Tx) error {
			tx.DuringCommit(func() error { t.Error("done for a transaction that failed"); return nil })
			return failure
		}); !errors.Is(err, failure) {
			t.Error(err)
		}
	})
}

// TestNewID: what a transaction creates under an id that it made is not looked for in
// the database, and is there for the transactions after it.
func TestNewID(t *testing.T) {
	eachDriver(t, func(t *testing.T, _ *store.Store, driver store.Driver, org string) {
		asked := &gets{Driver: driver}
		s := storetest.Store(t, asked)
		create := func(tx *store.Tx, id string) error {
			if there, err := tx.Ciphertexts().Sealed("key/" + id); err != nil || there != nil {
				t.Errorf("before: %q, %v", there, err)
			}
			if err := tx.Ciphertexts().Seal("key/"+id, []byte("text")); err != nil {
				return err
			}
			return tx.WalletAccounts().Insert(&domain.WalletAccount{ID: id, WalletID: "w", Name: id, Derived: id, Address: id})
		}
		var made, given string
		must(t, s.Update(t.Context(), org, func(tx *store.Tx) error {
			made, given = tx.NewID(), ids.New()
			return errors.Join(create(tx, made), create(tx, given))
		}))
		if n, m := asked.of(made), asked.of(given); n != 0 || m != 2 {
			t.Errorf("asked %d times for what it made, %d times for what it was given", n, m)
		}
		must(t, s.Update(t.Context(), org, func(tx *store.Tx) error {
			if got, err := tx.Ciphertexts().Sealed("key/" + made); err != nil || string(got) != "text" {
				t.Errorf("after: %q, %v", got, err)
			}
			wantCode(t, tx.WalletAccounts().Insert(&domain.WalletAccount{ID: made, WalletID: "w", Name: "again"}), fault.AlreadyExists)
			return tx.WalletAccounts().Delete(made)
		}))
	})
}

// gets is a driver that counts what single items it is asked for.
type gets struct {
	store.Driver
	mu    sync.Mutex
	items []string
}

func (g *gets) Get(ctx context.Context, org, kind, id string) ([]byte, error) {
	g.mu.Lock()
	g.items = append(g.items, id)
	g.mu.Unlock()
	return g.Driver.Get(ctx, org, kind, id)
}

// of is how often it was asked for items that are named after an id.
func (g *gets) of(id string) (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, item := range g.items {
		if item == id || item == "key/"+id {
			n++
		}
	}
	return n
}

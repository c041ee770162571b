package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/ids"
	"latchkey/internal/store"
	"latchkey/internal/store/postgres"
	"latchkey/internal/store/sqlite"
	"latchkey/internal/test/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// each runs a test on every driver, with a fresh organization.
func each(t *testing.T, test func(t *testing.T, s *store.Store, org string)) {
	eachDriver(t, func(t *testing.T, s *store.Store, _ store.Driver, org string) { test(t, s, org) })
}

// eachDriver is each for a test that looks behind the store.
func eachDriver(t *testing.T, test func(t *testing.T, s *store.Store, driver store.Driver, org string)) {
	for name, open := range map[string]func(*testing.T) (store.Driver, error){
		"sqlite": func(t *testing.T) (store.Driver, error) {
			return sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "db"), sqlite.Config{})
		},
		"postgres": func(t *testing.T) (store.Driver, error) {
			return postgres.Open(t.Context(), pgtest.URL(t), postgres.Config{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			driver, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			s := store.New(driver)
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
			org := ids.New()
			if err := s.CreateOrganization(t.Context(), org, func(tx *store.Tx) error {
				return tx.Organizations().Insert(&domain.Organization{ID: org, Name: "Test"})
			}); err != nil {
				t.Fatal(err)
			}
			test(t, s, driver, org)
		})
	}
}

// note is a record that is too numerous to be held in memory.
type note struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Text string `json:"text"`
}

// kinds are the same record kept both ways: every test of tables runs on both.
func kinds() map[string]*store.Kind[note] {
	all := map[string]*store.Kind[note]{}
	for _, resident := range []bool{true, false} {
		name := map[bool]string{true: "resident", false: "stored"}[resident]
		all[name] = &store.Kind[note]{
			Name: "note-" + name, Label: "note", Resident: resident,
			ID: func(n *note) string { return n.ID },
			Unique: []store.Index[note]{{
				Name: "name", Keys: func(n *note) []string { return strings.Split(n.Name, "|") },
				Taken: func(name string) error { return fault.Taken("name %q is taken", name) },
			}},
			Lists: []store.Index[note]{{Name: "text", Keys: func(n *note) []string { return strings.Fields(n.Text) }}},
		}
	}
	return all
}

func eachKind(t *testing.T, test func(t *testing.T, s *store.Store, org string, notes func(*store.Tx) store.Table[note])) {
	each(t, func(t *testing.T, s *store.Store, org string) {
		for name, kind := range kinds() {
			t.Run(name, func(t *testing.T) {
				test(t, s, org, func(tx *store.Tx) store.Table[note] { return store.In(tx, kind) })
			})
		}
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantCode(t *testing.T, err error, code fault.Code) {
	t.Helper()
	if refusal, ok := fault.As(err); !ok || refusal.Code != code {
		t.Errorf("got %v, want a fault with code %d", err, code)
	}
}

func list(t *testing.T, table store.Table[note], after string, limit int) string {
	t.Helper()
	found, err := table.List(after, limit)
	must(t, err)
	var names []string
	for _, n := range found {
		names = append(names, n.ID+"="+n.Name)
	}
	return strings.Join(names, " ")
}

// TestAll lists all records, whether they are in memory or not, and what was just
// written among them.
func TestAll(t *testing.T) {
	eachKind(t, func(t *testing.T, s *store.Store, org string, notes func(*store.Tx) store.Table[note]) {
		must(t, s.Update(t.Context(), org, func(tx *store.Tx) error {
			return errors.Join(notes(tx).Insert(&note{ID: "b", Name: "b"}), notes(tx).Insert(&note{ID: "a", Name: "a"}))
		}))
		want := func(tx *store.Tx, want string) {
			t.Helper()
			all, err := notes(tx).All()
			var names []string
			for _, n := range all {
				names = append(names, n.ID)
			}
			if got := strings.Join(names, " "); err != nil || got != want {
				t.Errorf("got %s, %v, want %s", got, err, want)
			}
		}
		must(t, s.Update(t.Context(), org, func(tx *store.Tx) error {
			want(tx, "a b")
			list(t, notes(tx), "", 0) // now they are in memory, if ever
			want(tx, "a b")
			must(t, notes(tx).Delete("a"))
			must(t, notes(tx).Insert(&note{ID: "c", Name: "c"}))
			want(tx, "b c")
			return nil
		}))
	})
}

func TestTable(t *testing.T) {
	eachKind(t, func(t *testing.T, s *store.Store, org string, notes func(*store.Tx) store.Table[note]) {
		ctx := t.Context()
		update := func(fn func(store.Table[note]) error) error {
			return s.Update(ctx, org, func(tx *store.Tx) error { return fn(notes(tx)) })
		}
		view := func(fn func(store.Table[note])) {
			t.Helper()
			must(t, s.View(ctx, org, func(tx *store.Tx) error { fn(notes(tx)); return nil }))
		}
		must(t, update(func(n store.Table[note]) error {
			for _, id := range []string{"b", "a", "d", "c"} {
				if err := n.Insert(&note{ID: id, Name: "name " + id}); err != nil {
					return err
				}
			}
			// What was written is seen at once, in order.
			if got := list(t, n, "", 0); got != "a=name a b=name b c=name c d=name d" {
				t.Errorf("in the transaction: %s", got)
			}
			return nil
		}))
		view(func(n store.Table[note]) {
			if got := list(t, n, "", 0); got != "a=name a b=name b c=name c d=name d" {
				t.Errorf("all: %s", got)
			}
			if got := list(t, n, "a", 2); got != "b=name b c=name c" {
				t.Errorf("page: %s", got)
			}
			found, err := n.Find("name", "name c")
			if err != nil || found == nil || found.ID != "c" {
				t.Errorf("Find: %v %v", found, err)
			}
			if none, err := n.Find("name", "Name c"); none != nil || err != nil {
				t.Errorf("names are not folded: %v %v", none, err)
			}
			_, err = n.Get("nobody")
			wantCode(t, err, fault.NotFound)
		})

		// Refusals leave nothing.
		wantCode(t, update(func(n store.Table[note]) error { return n.Insert(&note{ID: "a", Name: "new"}) }), fault.AlreadyExists)
		wantCode(t, update(func(n store.Table[note]) error { return n.Insert(&note{ID: "e", Name: "name a"}) }), fault.AlreadyExists)
		wantCode(t, update(func(n store.Table[note]) error { return n.Insert(&note{ID: "e", Name: "twice|twice"}) }), fault.AlreadyExists)
		wantCode(t, update(func(n store.Table[note]) error { return n.Insert(&note{ID: "e", Name: "nul\x00"}) }), fault.InvalidArgument)
		wantCode(t, update(func(n store.Table[note]) error { return n.Delete("nobody") }), fault.NotFound)
		wantCode(t, update(func(n store.Table[note]) error { return n.Edit("nobody", func(*note) error { return nil }) }), fault.NotFound)
		wantCode(t, update(func(n store.Table[note]) error {
			return n.Edit("a", func(a *note) error { a.Name = "name b"; return nil })
		}), fault.AlreadyExists)

		// Two records swap their names, one goes, one comes with its name.
		must(t, update(func(n store.Table[note]) error {
			return errors.Join(
				n.Edit("a", func(x *note) error { x.Name = "temporary"; return nil }),
				n.Edit("b", func(x *note) error { x.Name = "name a"; return nil }),
				n.Edit("a", func(x *note) error { x.Name = "name b"; return nil }),
				n.Delete("d"),
				n.Insert(&note{ID: "f", Name: "name d"}),
				n.Insert(&note{ID: "g", Name: "short-lived"}),
				n.Delete("g"),
			)
		}))
		view(func(n store.Table[note]) {
			if got := list(t, n, "", 0); got != "a=name b b=name a c=name c f=name d" {
				t.Errorf("after the exchange: %s", got)
			}
			for name, id := range map[string]string{"name a": "b", "name b": "a", "name d": "f"} {
				if found, err := n.Find("name", name); err != nil || found == nil || found.ID != id {
					t.Errorf("Find(%q): %v %v", name, found, err)
				}
			}
			for _, gone := range []string{"temporary", "short-lived"} {
				if found, err := n.Find("name", gone); found != nil || err != nil {
					t.Errorf("Find(%q): %v %v", gone, found, err)
				}
			}
		})
		// Pages stay full when the transaction deleted some of what is stored.
		must(t, s.Update(ctx, org, func(tx *store.Tx) error {
			n := notes(tx)
			must(t, n.Delete("a"))
			must(t, n.Insert(&note{ID: "bb", Name: "between"}))
			if got := list(t, n, "", 3); got != "b=name a bb=between c=name c" {
				t.Errorf("page in the transaction: %s", got)
			}
			tx.Discard()
			if got := list(t, notes(tx), "", 1); got != "a=name b" {
				t.Errorf("after Discard: %s", got)
			}
			return nil
		}))
	})
}

// TestListBy finds records by something that many of them share.
func TestListBy(t *testing.T) {
	eachKind(t, func(t *testing.T, s *store.Store, org string, notes func(*store.Tx) store.Table[note]) {
		by := func(n store.Table[note], key, after string, limit int) string {
			t.Helper()
			found, err := n.ListBy("text", key, after, limit)
			must(t, err)
			var ids []string
			for _, x := range found {
				ids = append(ids, x.ID)
			}
			return strings.Join(ids, " ")
		}
		must(t, s.Update(t.Context(), org, func(tx *store.Tx) error {
			for i, text := range []string{"red red", "red blue", "blue", "red\x1fder", "redder", "red"} {
				must(t, notes(tx).Insert(&note{ID: fmt.Sprint("n", i), Name: fmt.Sprint(i), Text: text}))
			}
			return nil
		}))
		must(t, s.Update(t.Context(), org, func(tx *store.Tx) error {
			n := notes(tx)
			for _, c := range []struct {
				key, after string
				limit      int
				want       string
			}{
				{"red", "", 0, "n0 n1 n5"},
				{"red", "n0", 0, "n1 n5"},
				{"red", "", 2, "n0 n1"},
				{"red", "n1", 1, "n5"},
				{"blue", "", 0, "n1 n2"},
				{"red\x1fder", "", 0, "n3"},
				{"green", "", 0, ""},
			} {
				if got := by(n, c.key, c.after, c.limit); got != c.want {
					t.Errorf("%q after %q, %d: %s, want %s", c.key, c.after, c.limit, got, c.want)
				}
			}
			must(t, n.Edit("n0", func(x *note) error { x.Text = "blue"; return nil }))
			must(t, n.Delete("n5"))
			must(t, n.Insert(&note{ID: "n9", Name: "9", Text: "red"}))
			if got := by(n, "red", "", 2); got != "n1 n9" {
				t.Errorf("in the transaction: %s", got)
			}
			return nil
		}))
		must(t, s.View(t.Context(), org, func(tx *store.Tx) error {
			if got := by(notes(tx), "red", "", 0) + "; " + by(notes(tx), "blue", "", 0); got != "n1 n9; n0 n1 n2" {
				t.Errorf("after the commit: %s", got)
			}
			return nil
		}))
	})
}

// TestShelf keeps ciphertext with the transaction that it belongs to.
func TestShelf(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store, org string) {
		want := func(name, text string) {
			t.Helper()
			must(t, s.View(t.Context(), org, func(tx *store.Tx) error {
				if got, err := tx.Ciphertexts().Sealed(name); err != nil || string(got) != text || (got == nil) != (text == "") {
					t.Errorf("%s is %q, %v", name, got, err)
				}
				return nil
			}))
		}
		must(t, s.Update(t.Context(), org, func(tx *store.Tx) error {
			must(t, tx.Ciphertexts().Seal("kept", []byte("text")))
			must(t, tx.Ciphertexts().Seal("dropped", []byte("text")))
			if got, err := tx.Ciphertexts().Sealed("kept"); string(got) != "text" || err != nil {
				t.Errorf("in the transaction: %q, %v", got, err)
			}
			return tx.Ciphertexts().Delete("dropped")
		}))
		want("kept", "text")
		want("dropped", "")
		must(t, s.Update(t.Context(), org, func(tx *store.Tx) error {
			must(t, tx.Ciphertexts().Delete("kept"))
			tx.Discard()
			return nil
		}))
		want("kept", "text")
		must(t, s.Update(t.Context(), org, func(tx *store.Tx) error { return tx.Ciphertexts().Delete("kept") }))
		want("kept", "")
	})
}

// TestEditIsACopy makes sure that nobody can change what others read.
func TestEditIsACopy(t *testing.T) {
	eachKind(t, func(t *testing.T, s *store.Store, org string, notes func(*store.Tx) store.Table[note]) {
		must(t, s.Update(t.Context(), org, func(tx *store.Tx) error { return notes(tx).Insert(&note{ID: "a", Name: "a", Text: "old"}) }))
		refused := errors.New("refused")
		err := s.Update(t.Context(), org, func(tx *store.Tx) error {
			must(t, notes(tx).Edit("a", func(n *note) error { n.Text = "new"; return nil }))
			return refused
		})
		if !errors.Is(err, refused) {
			t.Errorf("error: %v", err)
		}
		must(t, s.View(t.Context(), org, func(tx *store.Tx) error {
			if n, err := notes(tx).Get("a"); err != nil || n.Text != "old" {
				t.Errorf("%v %v", n, err)
			}
			return nil
		}))
	})
}

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
				t.Fatalf("a view saw %q beside %q", a, b)
			}
		}
		wait.Wait()
	})
}

func isUnavailable(err error) bool {
	refusal, ok := fault.As(err)
	return ok && refusal.Code == fault.Unavailable
}

// TestJournal records activities and reads them back whole.
func TestJournal(t *testing.T) {
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
				return tx.Record(a)
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

// TestOrganizations checks the ways in.
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

// TestFamily founds children in a transaction of their parent, and finds them
// by what is in them.
func TestFamily(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store, parent string) {
		children := make([]string, 5)
		for i := range children {
			children[i] = ids.New()
		}
		insert := func(tx *store.Tx, org, email string) error {
			err := tx.Organizations().Insert(&domain.Organization{ID: org, Name: "Child", ParentID: parent})
			if err != nil {
				return err
			}
			for _, name := range []string{"Ada", "Bob"} { // two entries of one child
				user := &domain.User{ID: ids.New(), Name: name, Email: email}
				if err := tx.Users().Insert(user); err != nil {
					return err
				}
			}
			return nil
		}
		err := s.Update(t.Context(), parent, func(tx *store.Tx) error {
			if err := insert(tx.CreateOrganization(ids.New()), ids.New(), "lost@example.com"); err != nil {
				return err
			}
			tx.Discard() // as after a refusal
			for i, child := range children {
				if err := insert(tx.CreateOrganization(child), child, []string{"even@example.com", "Odd@example.com"}[i%2]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		want := func(key, after string, limit int, want ...string) {
			t.Helper()
			got, err := s.Children(t.Context(), parent, key, after, limit)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("children by %q after %q: %s", key, after, diff)
			}
		}
		want(domain.AllChildren, "", 0, children...)
		want(domain.AllChildren, "", 2, children[:2]...)
		want(domain.AllChildren, children[1], 2, children[2:4]...)
		want(domain.AllChildren, children[4], 2)
		want(domain.ChildByEmail("odd@EXAMPLE.com"), "", 0, children[1], children[3])
		want(domain.ChildByEmail("even@example.com"), children[0], 1, children[2])
		want(domain.ChildByEmail("lost@example.com"), "", 0)
		want(domain.ChildByEmail("even@example.co"), "", 0)
		want(domain.ChildByUserName("Ada"), "", 0, children...)

		// The entries follow the records, in the child's own transactions.
		err = s.Update(t.Context(), children[0], func(tx *store.Tx) error {
			users, err := tx.Users().List("", 0)
			if err != nil {
				return err
			}
			if err := tx.Users().Delete(users[0].ID); err != nil {
				return err
			}
			return tx.Users().Edit(users[1].ID, func(u *domain.User) error { u.Email = "new@example.com"; return nil })
		})
		if err != nil {
			t.Fatal(err)
		}
		want(domain.ChildByEmail("even@example.com"), "", 0, children[2], children[4])
		want(domain.ChildByEmail("new@example.com"), "", 0, children[0])
		want(domain.ChildByUserName("Ada"), "", 0, children[1:]...)
		// Another parent's directory is another one.
		got, err := s.Children(t.Context(), children[0], domain.AllChildren, "", 0)
		if err != nil || len(got) != 0 {
			t.Errorf("%v %v", got, err)
		}
	})
}

// TestOutbox posts messages with a change, or not at all, and lets many
// senders take them.
func TestOutbox(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store, org string) {
		refusal := errors.New("refused")
		post := func(id string, result error) {
			err := s.Update(t.Context(), org, func(tx *store.Tx) error {
				if err := tx.Post(&domain.Message{ID: id, OrganizationID: org, Sealed: []byte("sealed")}); err != nil {
					return err
				}
				return result
			})
			if !errors.Is(err, result) {
				t.Fatal(err)
			}
		}
		post("lost", refusal)
		for i := range 20 {
			post(fmt.Sprintf("m%02d", i), nil)
		}
		var mu sync.Mutex
		taken := map[string]int{}
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() {
				for {
					var id string
					err := s.Outbox(t.Context(), func(messages store.Table[domain.Message]) error {
						id = ""
						waiting, err := messages.List("", 1)
						if err != nil || len(waiting) == 0 {
							return err
						}
						id = waiting[0].ID
						return messages.Delete(id)
					})
					if err != nil {
						t.Error(err)
						return
					}
					if id == "" {
						return
					}
					mu.Lock()
					taken[id]++
					mu.Unlock()
				}
			})
		}
		wait.Wait()
		if len(taken) != 20 || taken["lost"] != 0 {
			t.Errorf("taken: %v", taken)
		}
		for id, n := range taken {
			if n != 1 {
				t.Errorf("%s was taken %d times", id, n)
			}
		}
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

// TestMeanwhile: what a transaction leaves for the time of its commit is done
// once it was tried, also when there is nothing to commit, and its error counts.
func TestMeanwhile(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store, org string) {
		failure := errors.New("failed meanwhile")
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

package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"latchkey/internal/fault"
	"latchkey/internal/store"
)

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

// notesTest is a table of the notes a, b, c and d in a store.
type notesTest struct {
	*testing.T
	store *store.Store
	org   string
	notes func(*store.Tx) store.Table[note]
}

// eachTable runs a test of tables on both kinds in every driver.
func eachTable(t *testing.T, test func(t notesTest)) {
	eachKind(t, func(t *testing.T, s *store.Store, org string, notes func(*store.Tx) store.Table[note]) {
		nt := notesTest{t, s, org, notes}
		must(t, nt.update(func(n store.Table[note]) error {
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
		test(nt)
	})
}

func (t notesTest) update(fn func(store.Table[note]) error) error {
	return t.store.Update(t.Context(), t.org, func(tx *store.Tx) error { return fn(t.notes(tx)) })
}

func (t notesTest) view(fn func(store.Table[note])) {
	t.Helper()
	must(t.T, t.store.View(t.Context(), t.org, func(tx *store.Tx) error { fn(t.notes(tx)); return nil }))
}

// wantFound expects the ids of the notes with these names, "" for none.
func wantFound(t *testing.T, n store.Table[note], idOf map[string]string) {
	t.Helper()
	for name, id := range idOf {
		found, err := n.Find("name", name)
		if err != nil || (found == nil) != (id == "") || found != nil && found.ID != id {
			t.Errorf("Find(%q): %v %v", name, found, err)
		}
	}
}

func TestTable(t *testing.T) {
	eachTable(t, func(t notesTest) {
		t.view(func(n store.Table[note]) {
			if got := list(t.T, n, "", 0); got != "a=name a b=name b c=name c d=name d" {
				t.Errorf("all: %s", got)
			}
			if got := list(t.T, n, "a", 2); got != "b=name b c=name c" {
				t.Errorf("page: %s", got)
			}
			wantFound(t.T, n, map[string]string{"name c": "c", "Name c": ""}) // names are not folded
			_, err := n.Get("missing")
			wantCode(t.T, err, fault.NotFound)
		})
	})
}

// TestTableRefusals: a refused change leaves nothing.
func TestTableRefusals(t *testing.T) {
	rename := func(to string) func(*note) error {
		return func(n *note) error { n.Name = to; return nil }
	}
	eachTable(t, func(t notesTest) {
		for _, tc := range []struct {
			name   string
			change func(store.Table[note]) error
			want   fault.Code
		}{
			{"taken id", func(n store.Table[note]) error { return n.Insert(&note{ID: "a", Name: "new"}) }, fault.AlreadyExists},
			{"taken name", func(n store.Table[note]) error { return n.Insert(&note{ID: "e", Name: "name a"}) }, fault.AlreadyExists},
			{"name twice", func(n store.Table[note]) error { return n.Insert(&note{ID: "e", Name: "twice|twice"}) }, fault.AlreadyExists},
			{"NUL", func(n store.Table[note]) error { return n.Insert(&note{ID: "e", Name: "nul\x00"}) }, fault.InvalidArgument},
			{"delete a missing one", func(n store.Table[note]) error { return n.Delete("missing") }, fault.NotFound},
			{"edit a missing one", func(n store.Table[note]) error { return n.Edit("missing", rename("new")) }, fault.NotFound},
			{"edit to a taken name", func(n store.Table[note]) error { return n.Edit("a", rename("name b")) }, fault.AlreadyExists},
		} {
			t.Run(tc.name, func(tt *testing.T) { wantCode(tt, t.update(tc.change), tc.want) })
		}
		t.view(func(n store.Table[note]) {
			if got := list(t.T, n, "", 0); got != "a=name a b=name b c=name c d=name d" {
				t.Errorf("after the refusals: %s", got)
			}
		})
	})
}

// TestTableExchange: two records swap their names, one is deleted, and one is
// inserted with its name.
func TestTableExchange(t *testing.T) {
	eachTable(t, func(t notesTest) {
		must(t.T, t.update(func(n store.Table[note]) error {
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
		t.view(func(n store.Table[note]) {
			if got := list(t.T, n, "", 0); got != "a=name b b=name a c=name c f=name d" {
				t.Errorf("after the exchange: %s", got)
			}
			wantFound(t.T, n, map[string]string{"name a": "b", "name b": "a", "name d": "f", "temporary": "", "short-lived": ""})
		})
	})
}

// TestTablePages: pages stay full when the transaction deleted some of what is
// stored.
func TestTablePages(t *testing.T) {
	eachTable(t, func(t notesTest) {
		must(t.T, t.store.Update(t.Context(), t.org, func(tx *store.Tx) error {
			n := t.notes(tx)
			must(t.T, n.Delete("a"))
			must(t.T, n.Insert(&note{ID: "bb", Name: "between"}))
			if got := list(t.T, n, "", 3); got != "b=name b bb=between c=name c" {
				t.Errorf("page in the transaction: %s", got)
			}
			tx.Discard()
			if got := list(t.T, t.notes(tx), "", 1); got != "a=name a" {
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

// TestEditIsACopy: an edit that is not committed is not seen by other readers.
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

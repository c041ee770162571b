package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"latchkey/internal/domain"
	"latchkey/internal/ids"
	"latchkey/internal/store"
)

// TestChildren creates children in a transaction of their parent, and finds them
// by what is in them.
func TestChildren(t *testing.T) {
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

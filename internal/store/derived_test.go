package store_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"latchkey/internal/domain"
	"latchkey/internal/ids"
	"latchkey/internal/store"
	"latchkey/internal/store/storetest"
)

// TestDerived makes what follows from records once for each version.
func TestDerived(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store, org string) {
		made := 0
		names := func(tx *store.Tx) (string, error) {
			return store.Derived(tx, "names", func() (string, error) {
				made++
				tags, err := tx.Tags().List("", 0)
				var all []string
				for _, tag := range tags {
					all = append(all, tag.Name)
				}
				return strings.Join(all, " "), err
			})
		}
		want := func(text string, times int) {
			t.Helper()
			made = 0
			for range 3 {
				err := s.View(t.Context(), org, func(tx *store.Tx) error {
					got, err := names(tx)
					if got != text {
						t.Errorf("derived %q, want %q", got, text)
					}
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			if made != times {
				t.Errorf("made %d times", made)
			}
		}
		want("", 1)
		err := s.Update(t.Context(), org, func(tx *store.Tx) error {
			if err := tx.Tags().Insert(&domain.Tag{ID: ids.New(), Name: "one", Type: domain.TagUser}); err != nil {
				return err
			}
			// What the transaction wrote itself counts, and is not kept.
			if got, err := names(tx); err != nil || got != "one" {
				t.Errorf("in its own transaction: %q %v", got, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		want("one", 1)
	})
}

// veryMuch fills a generation of the changes that are remembered.
func veryMuch(tx *store.Tx) error {
	for i := range store.MaxChanged {
		if err := tx.Ciphertexts().Seal(fmt.Sprint(i), []byte("x")); err != nil {
			return err
		}
	}
	return nil
}

// TestDerivedStays: what a change did not touch is not made again, and what it
// touched is: a record, the records of a key, or a kind.
func TestDerivedStays(t *testing.T) {
	eachDriver(t, func(t *testing.T, s *store.Store, driver store.Driver, org string) {
		stored := kinds()["stored"]
		var made []string
		build := func(tx *store.Tx, name string, reads func() error) (string, error) {
			return store.Derived(tx, name, func() (string, error) {
				made = append(made, name)
				return name, reads()
			})
		}
		derive := func(tx *store.Tx) error {
			inner := func() error {
				_, err := build(tx, "stored", func() error { _, err := store.In(tx, stored).Lookup("a"); return err })
				return err
			}
			for _, d := range []struct {
				name  string
				reads func() error
			}{
				{"tags", func() error { _, err := tx.Tags().Lookup("a"); return err }},
				{"sealed", func() error { _, err := tx.Ciphertexts().Sealed("a"); return err }},
				{"nested", inner},
				{"stored", inner},
				{"found", func() error { _, err := store.In(tx, stored).Find("name", "b"); return err }},
				{"listed", func() error { _, err := store.In(tx, stored).ListBy("text", "x", "", 0); return err }},
				{"all", func() error { _, err := store.In(tx, stored).List("", 0); return err }},
				{"nothing", func() error { return nil }},
			} {
				if _, err := build(tx, d.name, d.reads); err != nil {
					return err
				}
			}
			return nil
		}
		id := 0
		for _, step := range []struct {
			name, want string
			change     func(*store.Tx) error
		}{
			{"first", "tags sealed nested stored found listed all nothing", func(*store.Tx) error { return nil }},
			{"no change", "", func(*store.Tx) error { return nil }},
			{"user", "", func(tx *store.Tx) error { return tx.Users().Insert(&domain.User{ID: "u", Name: "u"}) }},
			{"tag", "tags", func(tx *store.Tx) error {
				return tx.Tags().Insert(&domain.Tag{ID: "b", Name: "b", Type: domain.TagUser})
			}},
			{"another ciphertext", "", func(tx *store.Tx) error { return tx.Ciphertexts().Seal("b", []byte("x")) }},
			{"sealed", "sealed", func(tx *store.Tx) error { return tx.Ciphertexts().Seal("a", []byte("x")) }},
			{"another record", "found all", func(tx *store.Tx) error {
				return store.In(tx, stored).Insert(&note{ID: "b", Name: "b", Text: "y"})
			}},
			{"of another key", "found all", func(tx *store.Tx) error {
				return store.In(tx, stored).Edit("b", func(n *note) error { n.Text = "y z"; return nil })
			}},
			{"of the key", "found listed all", func(tx *store.Tx) error {
				return store.In(tx, stored).Edit("b", func(n *note) error { n.Text = "x"; return nil })
			}},
			{"stored, under nested too", "nested stored all", func(tx *store.Tx) error {
				return store.In(tx, stored).Insert(&note{ID: "a", Name: "a"})
			}},
			{"deleted", "found listed all", func(tx *store.Tx) error { return store.In(tx, stored).Delete("b") }},
			{"very much", "", veryMuch},
			{"very much again", "", veryMuch},
			{"user after very much", "tags sealed nested stored found listed all nothing", func(tx *store.Tx) error {
				return tx.Users().Insert(&domain.User{ID: "v", Name: "v"})
			}},
			{"activity", "", func(tx *store.Tx) error {
				return tx.Record(&domain.Activity{ID: ids.New(), Type: "t", Status: domain.StatusCompleted, Fingerprint: [32]byte{1}}, store.LogDigests{})
			}},
			{"child", "", func(tx *store.Tx) error {
				child := ids.New()
				return tx.CreateOrganization(child).Tags().Insert(&domain.Tag{ID: "b", Name: "b", Type: domain.TagUser})
			}},
		} {
			must(t, s.Update(t.Context(), org, step.change))
			made = nil
			must(t, s.View(t.Context(), org, derive))
			if got := strings.Join(made, " "); got != step.want {
				t.Errorf("%s: made %q, want %q", step.name, got, step.want)
			}
		}
		// Much is changed after something that is asked for only then.
		for _, change := range []func(*store.Tx) error{
			func(tx *store.Tx) error { return tx.Ciphertexts().Seal("a", []byte("y")) },
			veryMuch,
			func(tx *store.Tx) error { return tx.Users().Insert(&domain.User{ID: "w", Name: "w"}) },
		} {
			must(t, s.Update(t.Context(), org, change))
		}
		made = nil
		must(t, s.View(t.Context(), org, derive))
		if got := strings.Join(made, " "); got != "sealed" {
			t.Errorf("after a change, and very much after it: made %q, want only what was changed", got)
		}
		// What another server changed is not known here.
		must(t, storetest.Store(t, driver).Update(t.Context(), org, func(tx *store.Tx) error {
			id++
			return tx.Users().Insert(&domain.User{ID: fmt.Sprint(id), Name: fmt.Sprint(id)})
		}))
		made = nil
		must(t, s.View(t.Context(), org, derive))
		if len(made) != 8 {
			t.Errorf("after a change by another server only %v were made again", made)
		}
	})
}

// TestDerivedFollows lets two servers change records of three kinds together,
// and others in between: no view sees what was derived of one kind together with
// an older state of another, or anything older than what was acknowledged before.
func TestDerivedFollows(t *testing.T) {
	eachDriver(t, func(t *testing.T, s *store.Store, driver store.Driver, org string) {
		c := &counter{servers: []*store.Store{s, storetest.Store(t, driver)}, org: org, stored: kinds()["stored"]}
		must(t, s.Update(t.Context(), org, c.insert))
		const rounds = 60
		var wait sync.WaitGroup
		for i := range 4 {
			change := c.changeUser
			if i == 0 {
				change = c.changeNumber
			}
			wait.Go(func() {
				for round := range rounds {
					if err := change(t, c.servers[(i+round)%2]); err != nil && !isUnavailable(err) {
						t.Error(err)
						return
					}
				}
			})
			wait.Go(func() {
				for round := range rounds {
					if err := c.check(t, c.servers[(i+round)%2]); err != nil && !isUnavailable(err) {
						t.Error(err)
						return
					}
				}
			})
		}
		wait.Wait()
		if c.acknowledged.Load() == 0 {
			t.Error("nothing was changed")
		}
	})
}

// TestDerivedOfNewerVersion: what was made of a newer state is not seen by a view that
// began before.
func TestDerivedOfNewerVersion(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store, org string) {
		c := &counter{org: org, stored: kinds()["stored"]}
		must(t, s.Update(t.Context(), org, c.insert))
		text := func(tx *store.Tx, name string) (string, error) {
			return derivedText(tx, name, store.In(tx, c.stored), "n")
		}
		change := sync.OnceFunc(func() {
			must(t, c.changeNumber(t, s))
			must(t, s.View(t.Context(), org, func(tx *store.Tx) error { _, err := text(tx, "second"); return err }))
		})
		must(t, s.View(t.Context(), org, func(tx *store.Tx) error { _, err := text(tx, "first"); return err }))
		var first, second string
		must(t, s.View(t.Context(), org, func(tx *store.Tx) (err error) {
			if first, err = text(tx, "first"); err != nil {
				return err
			}
			change()
			second, err = text(tx, "second")
			return err
		}))
		if first != second {
			t.Errorf("one view saw %q and %q", first, second)
		}
	})
}

// counter is a number that an organization holds in a ciphertext, a note and a
// tag, which are always changed together, and a user that is changed apart.
type counter struct {
	servers      []*store.Store
	org          string
	stored       *store.Kind[note]
	number       int64 // of the one goroutine that changes it
	acknowledged atomic.Int64
}

func (c *counter) insert(tx *store.Tx) error {
	return errors.Join(
		tx.Ciphertexts().Seal("n", []byte("0")),
		store.In(tx, c.stored).Insert(&note{ID: "n", Name: "n", Text: "0"}),
		tx.Users().Insert(&domain.User{ID: "n", Name: "n", Email: "0"}),
		tx.Tags().Insert(&domain.Tag{ID: "n", Name: "0", Type: domain.TagUser}),
	)
}

func (c *counter) changeNumber(t *testing.T, server *store.Store) error {
	err := server.Update(t.Context(), c.org, func(tx *store.Tx) error {
		c.number++
		text := strconv.FormatInt(c.number, 10)
		return errors.Join(
			tx.Ciphertexts().Seal("n", []byte(text)),
			store.In(tx, c.stored).Edit("n", func(n *note) error { n.Text = text; return nil }),
			tx.Tags().Edit("n", func(t *domain.Tag) error { t.Name = text; return nil }),
		)
	})
	if err == nil {
		c.acknowledged.Store(c.number)
	}
	return err
}

func (c *counter) changeUser(t *testing.T, server *store.Store) error {
	return server.Update(t.Context(), c.org, func(tx *store.Tx) error {
		return tx.Users().Edit("n", func(u *domain.User) error { u.Email += "x"; return nil })
	})
}

// check expects that a view sees one number, at least the acknowledged one.
func (c *counter) check(t *testing.T, server *store.Store) error {
	var all [4]string
	least := c.acknowledged.Load()
	err := server.View(t.Context(), c.org, func(tx *store.Tx) (err error) { all, err = c.derive(tx); return err })
	if err != nil {
		return err
	}
	number, err := strconv.ParseInt(all[0], 10, 64)
	if err != nil || number < least || all[1] != all[0] || all[2] != all[0] || all[3] != all[0]+" "+all[0]+" "+all[0] {
		return fmt.Errorf("a view saw %q when %d was acknowledged", all, least)
	}
	return nil
}

// derive returns what is derived of each kind, and of all of them.
func (c *counter) derive(tx *store.Tx) (all [4]string, err error) {
	kinds := []func() (string, error){
		func() (string, error) {
			return store.Derived(tx, "ciphertext", func() (string, error) {
				text, err := tx.Ciphertexts().Sealed("n")
				return string(text), err
			})
		},
		func() (string, error) {
			return store.Derived(tx, "text", func() (string, error) {
				n, err := store.In(tx, c.stored).Get("n")
				if err != nil {
					return "", err
				}
				return n.Text, nil
			})
		},
		func() (string, error) {
			return store.Derived(tx, "tag", func() (string, error) {
				tag, err := tx.Tags().Get("n")
				if err != nil {
					return "", err
				}
				return tag.Name, nil
			})
		},
	}
	for i, kind := range kinds {
		if all[i], err = kind(); err != nil {
			return all, err
		}
	}
	all[3], err = store.Derived(tx, "all", func() (string, error) {
		var parts []string
		for _, kind := range kinds {
			part, err := kind()
			if err != nil {
				return "", err
			}
			parts = append(parts, part)
		}
		return strings.Join(parts, " "), nil
	})
	return all, err
}

// TestDerivedForgets: what is asked for again and again stays, however much is
// asked for once.
func TestDerivedForgets(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store, org string) {
		made := 0
		must(t, s.View(t.Context(), org, func(tx *store.Tx) error {
			for i := range 100_000 {
				if _, err := store.Derived(tx, fmt.Sprint("once ", i), func() (int, error) { return i, nil }); err != nil {
					return err
				}
				got, err := store.Derived(tx, "often", func() (string, error) { made++; return "often", nil })
				if err != nil || got != "often" {
					return fmt.Errorf("%q %w", got, err)
				}
			}
			return nil
		}))
		if made != 1 {
			t.Errorf("made %d times", made)
		}
	})
}

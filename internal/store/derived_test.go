package store_test

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"latchkey/internal/domain"
	"latchkey/internal/ids"
	"latchkey/internal/store"
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

// TestDerivedStays: what a change did not touch is not made again, and what it
// touched is.
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
			{"first", "tags sealed nested stored nothing", func(*store.Tx) error { return nil }},
			{"no change", "", func(*store.Tx) error { return nil }},
			{"user", "", func(tx *store.Tx) error { return tx.Users().Insert(&domain.User{ID: "u", Name: "u"}) }},
			{"tag", "tags", func(tx *store.Tx) error {
				return tx.Tags().Insert(&domain.Tag{ID: "b", Name: "b", Type: domain.TagUser})
			}},
			{"sealed", "sealed", func(tx *store.Tx) error { return tx.Ciphertexts().Seal("b", []byte("x")) }},
			{"stored, under nested too", "nested stored", func(tx *store.Tx) error {
				return store.In(tx, stored).Insert(&note{ID: "b", Name: "b"})
			}},
			{"deleted", "nested stored", func(tx *store.Tx) error { return store.In(tx, stored).Delete("b") }},
			{"activity", "", func(tx *store.Tx) error {
				return tx.Record(&domain.Activity{ID: ids.New(), Type: "t", Status: domain.StatusCompleted, Fingerprint: [32]byte{1}})
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
		// What another server changed is not known here.
		must(t, store.New(driver).Update(t.Context(), org, func(tx *store.Tx) error {
			id++
			return tx.Users().Insert(&domain.User{ID: fmt.Sprint(id), Name: fmt.Sprint(id)})
		}))
		made = nil
		must(t, s.View(t.Context(), org, derive))
		if len(made) != 5 {
			t.Errorf("after a change by another server only %v were made again", made)
		}
	})
}

// TestDerivedFollows lets two servers change records of three kinds together,
// and others in between: no view sees what was derived of one kind beside an
// older state of another, or anything older than what was acknowledged before.
func TestDerivedFollows(t *testing.T) {
	eachDriver(t, func(t *testing.T, s *store.Store, driver store.Driver, org string) {
		servers := []*store.Store{s, store.New(driver)}
		stored := kinds()["stored"]
		must(t, s.Update(t.Context(), org, func(tx *store.Tx) error {
			if err := tx.Ciphertexts().Seal("n", []byte("0")); err != nil {
				return err
			}
			if err := store.In(tx, stored).Insert(&note{ID: "n", Name: "n", Text: "0"}); err != nil {
				return err
			}
			if err := tx.Users().Insert(&domain.User{ID: "n", Name: "n", Email: "0"}); err != nil {
				return err
			}
			return tx.Tags().Insert(&domain.Tag{ID: "n", Name: "0", Type: domain.TagUser})
		}))
		var next, acknowledged atomic.Int64
		together := func(tx *store.Tx) (number int64, err error) {
			number = next.Add(1)
			text := strconv.FormatInt(number, 10)
			if err := tx.Ciphertexts().Seal("n", []byte(text)); err != nil {
				return 0, err
			}
			if err := store.In(tx, stored).Edit("n", func(n *note) error { n.Text = text; return nil }); err != nil {
				return 0, err
			}
			return number, tx.Tags().Edit("n", func(t *domain.Tag) error { t.Name = text; return nil })
		}
		// see returns what is derived of each kind, and of all of them.
		see := func(tx *store.Tx) (all [4]string, err error) {
			kinds := []func() (string, error){
				func() (string, error) {
					return store.Derived(tx, "ciphertext", func() (string, error) {
						text, err := tx.Ciphertexts().Sealed("n")
						return string(text), err
					})
				},
				func() (string, error) {
					return store.Derived(tx, "text", func() (string, error) {
						n, err := store.In(tx, stored).Get("n")
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
		const rounds = 60
		var wait sync.WaitGroup
		for i := range 4 {
			wait.Go(func() {
				for round := range rounds {
					server := servers[(i+round)%2]
					var number int64
					err := server.Update(t.Context(), org, func(tx *store.Tx) (err error) {
						if number = 0; i == 0 {
							number, err = together(tx)
							return err
						}
						return tx.Users().Edit("n", func(u *domain.User) error { u.Email += "x"; return nil })
					})
					if err != nil && !isUnavailable(err) {
						t.Error(err)
						return
					}
					if err == nil && number > 0 {
						acknowledged.Store(number) // of one writer alone
					}
				}
			})
			wait.Go(func() {
				for round := range rounds {
					var all [4]string
					least := acknowledged.Load()
					err := servers[(i+round)%2].View(t.Context(), org, func(tx *store.Tx) (err error) { all, err = see(tx); return err })
					if err != nil {
						if !isUnavailable(err) {
							t.Error(err)
						}
						continue
					}
					number, err := strconv.ParseInt(all[0], 10, 64)
					if err != nil || number < least || all[1] != all[0] || all[2] != all[0] || all[3] != all[0]+" "+all[0]+" "+all[0] {
						t.Errorf("a view saw %q when %d was acknowledged", all, least)
						return
					}
				}
			})
		}
		wait.Wait()
		if acknowledged.Load() == 0 {
			t.Error("nothing was changed")
		}
	})
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

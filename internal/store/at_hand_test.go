package store_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/ids"
	"latchkey/internal/store"
	"latchkey/internal/store/postgres"
	"latchkey/internal/store/storetest"
	"latchkey/internal/test/pgtest"
)

// observed is a driver that counts what it is asked, and may fail.
type observed struct {
	store.Driver
	asked atomic.Int32 // for versions
	lower int64        // by how much versions are lower than they are
	fail  error
}

func (o *observed) Version(ctx context.Context, org string) (int64, error) {
	o.asked.Add(1)
	if o.fail != nil {
		return 0, o.fail
	}
	version, err := o.Driver.Version(ctx, org)
	return max(0, version-o.lower), err
}

// Commit refuses versions that are lost.
func (o *observed) Commit(ctx context.Context, c *store.Commit) error {
	if o.lower > 0 {
		if version, err := o.Version(ctx, c.Org); err != nil || c.Version > version {
			return cmp.Or(err, store.ErrConflict)
		}
	}
	return o.Driver.Commit(ctx, c)
}

func (o *observed) Versions(ctx context.Context, orgs []string) (map[string]int64, error) {
	o.asked.Add(1)
	return o.Driver.Versions(ctx, orgs)
}

// twoNodes are two stores over one PostgreSQL, of which the first is observed, and
// an organization that both know.
func twoNodes(t *testing.T) (here *store.Store, driver *observed, there *store.Store, org string) {
	t.Helper()
	url := pgtest.URL(t)
	open := func(wrap func(store.Driver) store.Driver) *store.Store {
		db, err := postgres.Open(t.Context(), url, postgres.Config{})
		if err != nil {
			t.Fatal(err)
		}
		s := storetest.Store(t, wrap(db))
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	here = open(func(db store.Driver) store.Driver {
		driver = &observed{Driver: db}
		return driver
	})
	there = open(func(db store.Driver) store.Driver { return db })
	org = newOrganization(t, here)
	if name, _, err := nameAtHand(t, here, org); err != nil || name != "Test" {
		t.Fatalf("the name is %q, %v", name, err)
	}
	return here, driver, there, org
}

func newOrganization(t *testing.T, s *store.Store) string {
	t.Helper()
	org := ids.New()
	err := s.CreateOrganization(t.Context(), org, func(tx *store.Tx) error {
		return tx.Organizations().Insert(&domain.Organization{ID: org, Name: "Test"})
	})
	if err != nil {
		t.Fatal(err)
	}
	return org
}

// nameAtHand reads the names of organizations, one after the other.
func nameAtHand(t *testing.T, s *store.Store, orgs ...string) (names string, certain bool, err error) {
	t.Helper()
	certain, err = s.Read(t.Context(), func(from store.Views) error {
		names = ""
		for _, org := range orgs {
			err := from.View(t.Context(), org, func(tx *store.Tx) error {
				found, err := tx.Organization()
				if err == nil {
					names += found.Name
				}
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return names, certain, err
}

func rename(t *testing.T, s *store.Store, org, name string) {
	t.Helper()
	err := s.Update(t.Context(), org, func(tx *store.Tx) error {
		return tx.Organizations().Edit(org, func(o *domain.Organization) error {
			o.Name = name
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestReadAsksOnce: what is known is confirmed by one question, whatever was read;
// what another node acknowledged is seen at once.
func TestReadAsksOnce(t *testing.T) {
	here, driver, there, org := twoNodes(t)
	other := newOrganization(t, here)
	if _, _, err := nameAtHand(t, here, other); err != nil {
		t.Fatal(err)
	}
	for _, orgs := range [][]string{{org}, {org, org}, {org, other, org}} {
		driver.asked.Store(0)
		if _, certain, err := nameAtHand(t, here, orgs...); err != nil || !certain {
			t.Fatalf("certain: %t, %v", certain, err)
		}
		if n := driver.asked.Load(); n != 1 {
			t.Errorf("%d views asked %d times for versions", len(orgs), n)
		}
	}
	for _, name := range []string{"One", "Two", "Three"} {
		rename(t, there, org, name)
		if got, certain, err := nameAtHand(t, here, org); got != name || !certain || err != nil {
			t.Fatalf("after %q was acknowledged it is %q, %t, %v", name, got, certain, err)
		}
		rename(t, here, org, name+"!")
		if got, _, err := nameAtHand(t, here, other, org); got != "Test"+name+"!" || err != nil {
			t.Fatalf("after its own commit it is %q, %v", got, err)
		}
	}
}

// TestRefusalsAreConfirmed: a refusal that rests on an old version is no answer.
func TestRefusalsAreConfirmed(t *testing.T) {
	here, _, there, org := twoNodes(t)
	rename(t, there, org, "Renamed")
	certain, err := here.Read(t.Context(), func(from store.Views) error {
		return from.View(t.Context(), org, func(tx *store.Tx) error {
			found, err := tx.Organization()
			if err == nil && found.Name != "Renamed" {
				err = fault.Missing("it is not renamed")
			}
			return err
		})
	})
	if !certain || err != nil {
		t.Errorf("%t, %v", certain, err)
	}
}

// TestReadInOutage: a database that does not answer is asked once, and nothing
// counts that rests on what was known.
func TestReadInOutage(t *testing.T) {
	here, driver, _, org := twoNodes(t)
	driver.asked.Store(0)
	driver.fail = errors.New("away")
	ran := 0
	for _, refusal := range []error{nil, fault.Missing("not found")} {
		certain, err := here.Read(t.Context(), func(from store.Views) error {
			ran++
			return from.View(t.Context(), org, func(*store.Tx) error { return refusal })
		})
		if failed, ok := fault.As(err); certain || !ok || failed.Code != fault.Unavailable {
			t.Errorf("certain: %t, %v", certain, err)
		}
	}
	// What failed while it was read is not asked about.
	_, err := here.Read(t.Context(), func(from store.Views) error {
		ran++
		return from.View(t.Context(), org, func(*store.Tx) error {
			_, _, err := here.Parent(t.Context(), org)
			return err
		})
	})
	if _, ok := fault.As(err); !ok {
		t.Error(err)
	}
	if n := driver.asked.Load(); n != 3 || ran != 3 {
		t.Errorf("3 reads ran %d times and asked %d times", ran, n)
	}
	driver.fail = nil
	ctx, cancel := context.WithCancel(t.Context())
	certain, err := here.Read(ctx, func(from store.Views) error {
		return from.View(ctx, org, func(*store.Tx) error { cancel(); return fault.Missing("not found") })
	})
	if certain || !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who has left: %t, %v", certain, err)
	}
}

// TestVersionThatNeverWas: a version that is lost with a server that failed is
// forgotten as soon as the database names an older one.
func TestVersionThatNeverWas(t *testing.T) {
	here, driver, _, org := twoNodes(t)
	rename(t, here, org, "Lost")
	driver.lower = 1
	var versions []string
	read := func() {
		_, _ = here.Read(t.Context(), func(from store.Views) error {
			return from.View(t.Context(), org, func(tx *store.Tx) error {
				versions = append(versions, tx.VersionForTest())
				return nil
			})
		})
	}
	read()
	if len(versions) != 2 || versions[0] == versions[1] {
		t.Fatalf("at first it ran on versions %v", versions)
	}
	lost := versions[0]
	versions = nil
	read()
	if len(versions) != 1 || versions[0] == lost {
		t.Errorf("then it ran on versions %v, of which %s never was", versions, lost)
	}
}

// TestWriteOnVersionThatNeverWas: a commit that is refused finds that out too.
func TestWriteOnVersionThatNeverWas(t *testing.T) {
	here, driver, _, org := twoNodes(t)
	rename(t, here, org, "Lost")
	driver.lower = 1
	var versions []string
	write := func() {
		_, _ = here.Write(t.Context(), org, func(to store.Changes) error {
			return to.Update(t.Context(), org, func(tx *store.Tx) error {
				versions = append(versions, tx.VersionForTest())
				if len(versions) > 3 {
					return errors.New("enough") // here everything is refused
				}
				return renameIn(tx, "!")
			})
		})
	}
	write()
	lost := versions[0]
	versions = nil
	write()
	if slices.Contains(versions, lost) {
		t.Errorf("then it ran on versions %v, of which %s never was", versions, lost)
	}
}

// TestReadOfUnknown: of what this process knows nothing, it asks as ever.
func TestReadOfUnknown(t *testing.T) {
	here, _, there, _ := twoNodes(t)
	if _, certain, err := nameAtHand(t, here, ids.New()); !certain || !errors.Is(err, store.ErrNoOrganization) {
		t.Errorf("no organization: %t, %v", certain, err)
	}
	org := newOrganization(t, there)
	if name, certain, err := nameAtHand(t, here, org); name != "Test" || !certain || err != nil {
		t.Errorf("an organization of another node: %q, %t, %v", name, certain, err)
	}
}

// renameIn renames the organization to what it is called and more.
func renameIn(tx *store.Tx, more string) error {
	return tx.Organizations().Edit(tx.Org(), func(o *domain.Organization) error {
		o.Name += more
		return nil
	})
}

// TestWriteAsksNothing: the commit itself confirms what was read before it; what
// commits nothing is confirmed by one question.
func TestWriteAsksNothing(t *testing.T) {
	here, driver, there, org := twoNodes(t)
	write := func(refusal error) (name string, certain bool, err error) {
		driver.asked.Store(0)
		certain, err = here.Write(t.Context(), org, func(to store.Changes) error {
			err := to.View(t.Context(), org, func(tx *store.Tx) error {
				found, err := tx.Organization()
				if err == nil {
					name = found.Name
				}
				return err
			})
			if err != nil {
				return err
			}
			return to.Update(t.Context(), org, func(tx *store.Tx) error {
				if refusal != nil {
					return refusal
				}
				return renameIn(tx, "!")
			})
		})
		return name, certain, err
	}
	if name, certain, err := write(nil); name != "Test" || !certain || err != nil || driver.asked.Load() != 0 {
		t.Fatalf("%q, certain: %t, %v, asked %d times", name, certain, err, driver.asked.Load())
	}
	if name, _, err := nameAtHand(t, there, org); name != "Test!" || err != nil {
		t.Fatalf("elsewhere it is %q, %v", name, err)
	}
	missing := fault.Missing("not found")
	if _, certain, err := write(missing); !certain || !errors.Is(err, missing) || driver.asked.Load() != 1 {
		t.Errorf("a refusal: certain: %t, %v, asked %d times", certain, err, driver.asked.Load())
	}
	driver.fail = errors.New("away")
	if _, certain, err := write(missing); certain || errors.Is(err, missing) {
		t.Errorf("a refusal that is not confirmed: certain: %t, %v", certain, err)
	}
}

// TestWriteOnOldVersion: what was read of a version that is not the present one is
// neither committed nor an answer.
func TestWriteOnOldVersion(t *testing.T) {
	here, _, there, org := twoNodes(t)
	for _, refuse := range []bool{false, true} {
		rename(t, there, org, "Renamed")
		var seen []string
		certain, err := here.Write(t.Context(), org, func(to store.Changes) error {
			return to.Update(t.Context(), org, func(tx *store.Tx) error {
				found, err := tx.Organization()
				if err != nil {
					return err
				}
				seen = append(seen, found.Name)
				if refuse && found.Name != "Renamed" {
					return fault.Missing("it is not renamed")
				}
				return renameIn(tx, "!")
			})
		})
		if !certain || err != nil {
			t.Fatalf("refuse: %t; certain: %t, %v", refuse, certain, err)
		}
		if len(seen) < 2 || seen[0] == "Renamed" || seen[len(seen)-1] != "Renamed" {
			t.Errorf("refuse: %t; it ran on %q", refuse, seen)
		}
		if name, _, err := nameAtHand(t, there, org); name != "Renamed!" || err != nil {
			t.Errorf("refuse: %t; elsewhere it is %q, %v", refuse, name, err)
		}
	}
}

// TestWriteOfTwo: a commit confirms the version of its own organization only, so
// that what rests on another one too runs as ever.
func TestWriteOfTwo(t *testing.T) {
	here, _, there, org := twoNodes(t)
	parent := newOrganization(t, here)
	if _, _, err := nameAtHand(t, here, parent); err != nil {
		t.Fatal(err)
	}
	rename(t, there, parent, "Renamed")
	var seen string
	certain, err := here.Write(t.Context(), org, func(to store.Changes) error {
		return to.View(t.Context(), parent, func(home *store.Tx) error {
			return to.Update(t.Context(), org, func(tx *store.Tx) error {
				found, err := home.Organization()
				if err != nil {
					return err
				}
				seen = found.Name
				return renameIn(tx, "!")
			})
		})
	})
	if !certain || err != nil || seen != "Renamed" {
		t.Errorf("certain: %t, %v; the parent was %q", certain, err, seen)
	}
}

// TestWriteNotAtHand: who finds that it must not run on what is only assumed runs on
// what is certain.
func TestWriteNotAtHand(t *testing.T) {
	here, driver, _, org := twoNodes(t)
	driver.asked.Store(0)
	runs := 0
	certain, err := here.Write(t.Context(), org, func(to store.Changes) error {
		runs++
		if to != store.Changes(here) {
			return store.ErrNotAtHand
		}
		return nil
	})
	if !certain || err != nil || runs != 2 || driver.asked.Load() != 0 {
		t.Errorf("certain: %t, %v; %d runs, asked %d times", certain, err, runs, driver.asked.Load())
	}
}

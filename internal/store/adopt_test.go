package store_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/store"
	"latchkey/internal/store/storetest"
)

// adopted are the organizations of [TestAdopt]: each is a child of the first.
const adopted = 3

func adoptedOrg(i int) string { return fmt.Sprint("organization-", i) }

// TestAdopt takes marks and heads away and adopts the database, ended at each of
// the writes in turn. Then everything can be read, and when all of it is deleted
// again every sum is 0: they were those that commits would have kept.
func TestAdopt(t *testing.T) {
	eachDriver(t, func(t *testing.T, s *store.Store, driver store.Driver, org string) {
		for i := range adopted {
			fill(t, s, adoptedOrg(i), i)
		}
		storetest.Unmark(t, driver)
		ended := 0
		for n := 0; ; n++ {
			half := &ending{Driver: driver, after: n}
			done, err := store.New(half).Adopt(t.Context(), storetest.Vault(t), func(store.Adoption) {})
			if err == nil {
				if done.Organizations != adopted+1 || done.Activities != adopted*3 || done.Rows < adopted*10 {
					t.Errorf("it says %+v", done)
				}
				break
			}
			if errors.Is(err, store.ErrAdopted) {
				break // it ended right after the last write
			}
			if !errors.Is(err, errEnded) {
				t.Fatal(err)
			}
			ended++
		}
		if ended < 10 {
			t.Errorf("it was ended only %d times", ended)
		}
		if _, err := store.New(driver).Adopt(t.Context(), storetest.Vault(t), nil); !errors.Is(err, store.ErrAdopted) {
			t.Errorf("once more: %v", err)
		}
		again := storetest.Store(t, driver)
		again.OnFinding(func(f store.Finding) { t.Errorf("%+v", f) })
		// What other organizations hold for them, and no head has.
		must(t, again.Outbox(t.Context(), func(tx *store.Tx) error {
			waiting, err := tx.Messages().List("", 0)
			if len(waiting) != adopted {
				t.Errorf("%d messages", len(waiting))
			}
			return err
		}))
		children, err := again.Children(t.Context(), adoptedOrg(0), domain.ChildByName(adoptedOrg(1)), "", 0)
		if err != nil || len(children) != 1 {
			t.Errorf("children: %v, %v", children, err)
		}
		expiring, err := again.Expiring(t.Context(), "", 10)
		if err != nil || len(expiring) != adopted {
			t.Errorf("expiring: %v, %v", expiring, err)
		}
		for i := range adopted {
			empty(t, again, adoptedOrg(i))
			sums, err := again.Sums(t.Context(), adoptedOrg(i))
			if err != nil || len(sums) != 0 {
				t.Errorf("%s: %v, %v", adoptedOrg(i), sums, err)
			}
		}
	})
}

// TestAdoptRefuses: a row that has a mark of another installation stops it.
func TestAdoptRefuses(t *testing.T) {
	eachDriver(t, func(t *testing.T, s *store.Store, driver store.Driver, org string) {
		fill(t, s, adoptedOrg(0), 0)
		body, err := driver.Get(t.Context(), adoptedOrg(0), "wallet", "w")
		must(t, err)
		storetest.Unmark(t, driver)
		must(t, driver.ReplaceBodies(t.Context(), adoptedOrg(0), []store.StoredBody{{Kind: "wallet", ID: "w", Body: body}}))
		_, err = store.New(driver).Adopt(t.Context(), storetest.Vault(t), func(store.Adoption) {})
		wantCode(t, err, fault.DataLoss)
	})
}

// TestUnmarkedRow: after the adoption a row without a mark is not used.
func TestUnmarkedRow(t *testing.T) {
	eachDriver(t, func(t *testing.T, s *store.Store, driver store.Driver, org string) {
		fill(t, s, adoptedOrg(0), 0)
		storetest.Unmark(t, driver)
		_, err := store.New(driver).Adopt(t.Context(), storetest.Vault(t), func(store.Adoption) {})
		must(t, err)
		again := storetest.Store(t, driver)
		read := func(tx *store.Tx) error {
			_, err := tx.Wallets().Get("w")
			return err
		}
		must(t, again.View(t.Context(), adoptedOrg(0), read))
		must(t, driver.ReplaceBodies(t.Context(), adoptedOrg(0), []store.StoredBody{{Kind: "wallet", ID: "w", Body: []byte(`{"id":"w"}`)}}))
		wantCode(t, again.View(t.Context(), adoptedOrg(0), read), fault.DataLoss)
	})
}

// fill creates an organization with records of most kinds.
func fill(t *testing.T, s *store.Store, org string, n int) {
	t.Helper()
	parent := ""
	if n > 0 {
		parent = adoptedOrg(0)
	}
	must(t, s.CreateOrganization(t.Context(), org, func(tx *store.Tx) error {
		return tx.Organizations().Insert(&domain.Organization{ID: org, Name: org, ParentID: parent})
	}))
	for i := range 3 {
		must(t, s.Update(t.Context(), org, func(tx *store.Tx) error {
			return tx.Record(&domain.Activity{
				ID: fmt.Sprint("activity-", i), Type: "ACTIVITY_TYPE_X", Status: domain.StatusCompleted,
				TimestampMs: int64(i), Fingerprint: sha256.Sum256(fmt.Append(nil, org, i)),
			}, store.LogDigests{})
		}))
	}
	must(t, s.Update(t.Context(), org, func(tx *store.Tx) error {
		return errors.Join(
			tx.Users().Insert(&domain.User{ID: "u", Name: "Ada", Email: "ada@example.com"}),
			tx.Tags().Insert(&domain.Tag{ID: "t", Name: "tag"}),
			tx.Policies().Insert(&domain.Policy{ID: "p", Name: "policy"}),
			tx.Wallets().Insert(&domain.Wallet{ID: "w", Name: "wallet"}),
			tx.WalletAccounts().Insert(&domain.WalletAccount{ID: "a", WalletID: "w", Name: "account", Address: "0x1"}),
			tx.PrivateKeys().Insert(&domain.PrivateKey{ID: "k", Name: "key", TagIDs: []string{"t", "t2"}}),
			tx.ImportTargets().Insert(&domain.ImportTarget{ID: "i"}),
			tx.Ciphertexts().Seal("seed/w", []byte("a ciphertext")),
			tx.Post(&domain.Message{ID: org}),
		)
	}))
}

// empty deletes everything that [fill] made.
func empty(t *testing.T, s *store.Store, org string) {
	t.Helper()
	must(t, s.Update(t.Context(), org, func(tx *store.Tx) error {
		activities, err := tx.Activities(store.ActivityQuery{})
		if len(activities) != 3 {
			t.Errorf("%s has %d activities", org, len(activities))
		}
		return errors.Join(err,
			tx.Users().Delete("u"), tx.Tags().Delete("t"), tx.Policies().Delete("p"),
			tx.WalletAccounts().Delete("a"), tx.Wallets().Delete("w"), tx.PrivateKeys().Delete("k"), tx.ImportTargets().Delete("i"),
			tx.Ciphertexts().Delete("seed/w"), tx.Organizations().Delete(org),
		)
	}))
}

var errEnded = errors.New("the process ended")

// ending is a driver that takes some writes; the one after them happens, or does
// not, and then there is no more.
type ending struct {
	store.Driver
	after, writes int
}

func (e *ending) write(fn func() error) error {
	e.writes++
	switch {
	case e.writes <= e.after:
		return fn()
	case e.writes == e.after+1 && e.after%2 == 1:
		return errors.Join(fn(), errEnded)
	}
	return errEnded
}

func (e *ending) Commit(ctx context.Context, c *store.Commit) error {
	return e.write(func() error { return e.Driver.Commit(ctx, c) })
}

func (e *ending) ReplaceBodies(ctx context.Context, org string, bodies []store.StoredBody) error {
	return e.write(func() error { return e.Driver.ReplaceBodies(ctx, org, bodies) })
}

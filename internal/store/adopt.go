package store

import (
	"context"
	"errors"
	"fmt"

	"latchkey/internal/fault"
	"latchkey/internal/keys/vault"
)

// A database of an earlier version has rows without marks, and no heads. It is
// adopted once: everything in it is taken for ours and marked, so from then on
// nothing else is. No server may use it meanwhile. What is done stays done: it
// can be stopped at any moment, and goes on when it is started again. The root of
// the keys has another name until the last step; a database without a root of the
// right name is not used.

// Adoption is how far it is.
type Adoption struct {
	Organizations int // without the installation's own
	Rows          int // items of all kinds
	Activities    int
}

var (
	// ErrAdopted says that there is nothing to adopt: the rows are marked.
	ErrAdopted = errors.New("the rows of this database are marked already: there is nothing to adopt")
	// ErrNothingToAdopt says that the database holds nothing.
	ErrNothingToAdopt = errors.New("the database is new and holds nothing: there is nothing to adopt")
)

// A page is what is read, and written, at once.
const (
	adoptedItems      = 256
	adoptedActivities = 1024
	adoptedBytes      = 4 << 20
)

// Adopt marks all rows of a database of an earlier version. Progress is called
// after each page. Afterwards the store is to be opened with [Store.Bootstrap].
func (s *Store) Adopt(ctx context.Context, v *vault.Vault, progress func(Adoption)) (Adoption, error) {
	a := &adopting{store: s, ctx: ctx, progress: progress}
	if err := a.begin(v); err != nil {
		return a.done, err
	}
	if err := a.everything(); err != nil {
		return a.done, err
	}
	return a.done, s.Bootstrap(ctx, func(c Ciphertexts, _ bool) (*vault.RowKeys, error) {
		keys, err := v.AdoptingRowKeys(c)
		if err != nil {
			return nil, err
		}
		return keys, keys.Adopted(c)
	})
}

type adopting struct {
	store    *Store
	ctx      context.Context
	keys     *vault.RowKeys
	progress func(Adoption)
	done     Adoption
}

// begin reads the root of the keys, or makes it durable before anything is marked
// with it.
func (a *adopting) begin(v *vault.Vault) error {
	return a.store.retry(a.ctx, instanceOrg, func(version int64) error {
		if version == 0 {
			return ErrNothingToAdopt
		}
		tx := a.store.newTx(a.ctx, instanceOrg, version)
		tx.own = &rows{store: a.store, org: instanceOrg}
		known, err := v.LoadRowKeys(tx.Ciphertexts())
		if err != nil {
			return err
		}
		if known != nil {
			return ErrAdopted
		}
		if a.keys, err = v.AdoptingRowKeys(tx.Ciphertexts()); err != nil {
			return err
		}
		changes, err := tx.changes()
		if err != nil || len(changes) == 0 {
			return err
		}
		return a.store.driver.Commit(a.ctx, &Commit{Org: instanceOrg, Version: version, Changes: changes})
	})
}

func (a *adopting) everything() error {
	// Messages may be there before their organization is.
	if err := a.organization(outboxOrg); err != nil {
		return err
	}
	for after := ""; ; {
		orgs, err := a.store.driver.Organizations(a.ctx, after, adoptedItems)
		if err != nil || len(orgs) == 0 {
			return err
		}
		for _, org := range orgs {
			if after = org; org == outboxOrg {
				continue
			}
			if err := a.organization(org); err != nil {
				return fmt.Errorf("organization %s: %w", org, err)
			}
			if org != instanceOrg && org != logOrg {
				a.done.Organizations++
			}
		}
	}
}

// organization marks the rows of an organization, and then writes its head.
func (a *adopting) organization(org string) error {
	version, err := a.store.driver.Version(a.ctx, org)
	if err != nil {
		return err
	}
	key, err := a.keys.Organization(org)
	if err != nil {
		return err
	}
	kinds, err := a.store.driver.Kinds(a.ctx, org)
	if err != nil {
		return err
	}
	h := &head{Version: version, Sums: map[string]sum{}}
	for _, kind := range kinds {
		if kind == headKind {
			continue
		}
		if err := a.items(org, kind, key, h); err != nil {
			return err
		}
	}
	if err := a.activities(org, key); err != nil {
		return err
	}
	if headless(org) {
		return nil
	}
	written, err := h.seal(key)
	if err != nil {
		return err
	}
	// In its own name, lest it raises the version that it holds.
	written.Org, written.Body = org, marked(itemMark(key, written.Kind, written.ID, written.Body), written.Body)
	err = a.store.driver.Commit(a.ctx, &Commit{Org: org, Version: version, Changes: []Change{written}})
	if errors.Is(err, ErrConflict) {
		return errors.New("it was changed meanwhile: a server is running; stop all of them and run this again")
	}
	return err
}

func (a *adopting) items(org, kind string, key *vault.RowKey, h *head) error {
	into := sumOf(kind)
	for in := (Range{Limit: adoptedItems}); ; {
		page, err := a.store.driver.Scan(a.ctx, org, kind, in)
		if err != nil || len(page) == 0 {
			return err
		}
		var bodies []StoredBody
		for _, item := range page {
			tag, body, before := cut(item.Body)
			if !before {
				body = item.Body
			}
			mark := itemMark(key, kind, item.ID, body)
			if before && [tagSize]byte(mark[:tagSize]) != tag {
				return foreignMark(kind, item.ID)
			}
			if !before {
				bodies = append(bodies, StoredBody{kind, item.ID, marked(mark, body)})
			}
			if into != "" {
				h.Sums[into] = h.Sums[into].plus(key.Element(mark))
			}
		}
		if err := a.write(org, bodies); err != nil {
			return err
		}
		a.done.Rows += len(page)
		a.progress(a.done)
		in.From = page[len(page)-1].ID + "\x01" // see listStored
	}
}

func (a *adopting) activities(org string, key *vault.RowKey) error {
	for q := (ActivityQuery{Limit: adoptedActivities, MaxBytes: adoptedBytes}); ; {
		page, err := a.store.driver.Activities(a.ctx, org, q)
		if err != nil || len(page) == 0 {
			return err
		}
		var bodies []StoredBody
		for i := range page {
			row := page[i]
			tag, body, before := cut(row.Body)
			if before {
				row.Body = body
			}
			mark := activityMark(key, &row)
			if before && [tagSize]byte(mark[:tagSize]) != tag {
				return foreignMark("activity", row.ID)
			}
			if !before {
				bodies = append(bodies, StoredBody{ID: row.ID, Body: marked(mark, row.Body)})
			}
		}
		if err := a.write(org, bodies); err != nil {
			return err
		}
		a.done.Activities += len(page)
		a.progress(a.done)
		q.After = page[len(page)-1].ID
	}
}

// foreignMark refuses a row that was marked, and not by this adoption.
func foreignMark(kind, id string) error {
	return fault.New(fault.DataLoss, fault.ReasonIntegrity,
		"%s: %s %q has a mark that this adoption did not make: the row was changed, or files of two databases were mixed; "+
			"restore the backup that was made before and adopt that", fault.ReasonIntegrity, kind, id)
}

func (a *adopting) write(org string, bodies []StoredBody) error {
	if len(bodies) == 0 {
		return nil
	}
	return a.store.driver.ReplaceBodies(a.ctx, org, bodies)
}

// sumOf is the sum to which rows of a kind belong. What only an earlier version
// wrote counts among the rest.
func sumOf(kind string) string {
	if sum, known := kindSums()[kind]; known {
		return sum
	}
	return restSum
}

package store

import (
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
)

// A token that a parent issued may be used in any of its children, and still
// only once. So its uses are kept with what belongs to the whole installation,
// and are written in the commit of the organization in which the token is used.
// No version guards them: of two commits that write the same use the driver
// refuses one, which then runs again and finds it.

var tokenUses = Kind[domain.TokenUse]{
	Name: "token-use", Label: "use of a token", Unguarded: true,
	ID: (*domain.TokenUse).ID,
}

// UseToken records the use of a token when the transaction commits, and reports
// whether it is the first of its kind.
func (tx *Tx) UseToken(u *domain.TokenUse) (first bool, err error) {
	use := Change{Org: instanceOrg, Kind: tokenUses.Name, ID: u.ID(), New: true}
	if slices.ContainsFunc(tx.outside, func(c Change) bool { return c.Kind == use.Kind && c.ID == use.ID }) {
		return false, nil
	}
	rows, err := tx.store.rowsOf(use.Org)
	if err != nil {
		return false, err
	}
	recorded, err := rows.get(tx.ctx, use.Kind, use.ID)
	if err != nil || recorded != nil {
		return false, err
	}
	if use.Body, err = json.Marshal(u); err != nil {
		return false, err
	}
	tx.outside = append(tx.outside, use)
	return true, nil
}

// DropTokenUses deletes, in a transaction of [Store.Instance], the uses of tokens
// that ended before a time: the oldest, and no more than fit into one commit.
// More says that there may be others.
func (tx *Tx) DropTokenUses(before time.Time) (dropped int, more bool, err error) {
	const page = 1000
	uses, err := In(tx, &tokenUses).List("", page)
	if err != nil {
		return 0, false, err
	}
	for _, u := range uses { // those that end first come first
		if !u.ExpiresAt.Before(before) {
			return dropped, false, nil
		}
		if err := In(tx, &tokenUses).Delete(u.ID()); err != nil {
			return 0, false, err
		}
		dropped++
	}
	return dropped, len(uses) == page, nil
}

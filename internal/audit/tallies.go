package audit

import (
	"context"
	"math/big"

	"latchkey/internal/domain"
	"latchkey/internal/store"
)

// tallies checks what velocity controls have counted: that the entries of a group
// have no gap, that their sums are right, and that every activity that was counted
// has its entry.
type tallies struct {
	audit *Audit
	org   string
	above *domain.Tally // the entry that was seen last: the newest come first
}

func newTallies(a *Audit) Check { return &tallies{audit: a} }

// Item implements [Check].
func (c *tallies) Item(_ context.Context, org, kind, id string, body []byte) error {
	if kind != store.TallyKind {
		return c.finish()
	}
	entry, err := store.DecodeTally(id, body)
	if err != nil {
		return c.audit.report(store.Finding{Org: org, Kind: kind, ID: id, What: unreadable})
	}
	if c.above == nil || c.org != org || c.above.ControlID != entry.ControlID || c.above.GroupID != entry.GroupID {
		if err := c.finish(); err != nil {
			return err
		}
		c.org, c.above = org, entry
		return nil
	}
	above := c.above
	c.above = entry
	switch {
	case above.Number != entry.Number+1:
		return c.report(above, "entries before it are missing")
	case above.AtMs < entry.AtMs || !follows(entry.Total, above):
		return c.report(above, "its sum or its time does not follow from the entry before it")
	}
	return nil
}

// finish looks at the oldest entry of a group.
func (c *tallies) finish() error {
	oldest := c.above
	c.above = nil
	switch {
	case oldest == nil:
		return nil
	case oldest.Number != 1:
		return c.report(oldest, "entries before it are missing")
	case !follows("0", oldest):
		return c.report(oldest, "its sum is not its amount, and it is the first")
	}
	return nil
}

func (c *tallies) report(t *domain.Tally, what string) error {
	id := store.TallyID(t.ControlID, t.GroupID, t.Number)
	return c.audit.report(store.Finding{Org: c.org, Kind: store.TallyKind, ID: id, What: what})
}

// follows reports whether the sum of an entry is the one before it and its amount.
func follows(before string, t *domain.Tally) bool {
	sum, ok1 := new(big.Int).SetString(before, 10)
	amount, ok2 := new(big.Int).SetString(t.Amount, 10)
	return ok1 && ok2 && sum.Add(sum, amount).String() == t.Total
}

// Activity implements [Check].
func (c *tallies) Activity(ctx context.Context, a *domain.Activity) error {
	for i := range a.Votes {
		for _, counted := range a.Votes[i].Controls {
			if counted.Entry == 0 {
				continue
			}
			group := counted.GroupID
			if counted.Unreadable != "" {
				group = domain.UnreadableGroup
			}
			id := store.TallyID(counted.ControlID, group, counted.Entry)
			stored, err := c.audit.Image.Get(ctx, a.OrganizationID, store.TallyKind, id)
			if err != nil {
				return err
			}
			if stored == nil {
				finding := store.Finding{Org: a.OrganizationID, Kind: store.TallyKind, ID: id, What: "it is missing, and counts activity " + a.ID}
				if err := c.audit.report(finding); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// End implements [Check].
func (c *tallies) End(context.Context) error { return c.finish() }

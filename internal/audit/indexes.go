package audit

import (
	"context"
	"slices"

	"latchkey/internal/domain"
	"latchkey/internal/store"
)

// indexes checks that each record has its rows in the stored indexes, and that
// each of these belongs to a record.
type indexes struct {
	audit    *Audit
	sets     multisets
	kinds    map[string]store.DeclaredKind // of records, by name
	recordOf map[string]store.DeclaredKind // by kind of an index
	org      string
	pairs    map[string]pair // of that organization, by kind of record
}

func newIndexes(a *Audit) Check {
	c := &indexes{
		audit: a, sets: newMultisets(), pairs: map[string]pair{},
		kinds: map[string]store.DeclaredKind{}, recordOf: map[string]store.DeclaredKind{},
	}
	for _, kind := range store.DeclaredKinds() {
		if len(kind.IndexKinds()) > 0 {
			c.kinds[kind.KindName()] = kind
		}
		for _, index := range kind.IndexKinds() {
			c.recordOf[index] = kind
		}
	}
	return c
}

// Item implements [Check].
func (c *indexes) Item(ctx context.Context, org, kind, id string, body []byte) error {
	if org != c.org {
		if err := c.End(ctx); err != nil {
			return err
		}
		c.org = org
	}
	if of := c.recordOf[kind]; of != nil {
		p := c.pairs[of.KindName()]
		p.found = c.sets.plus(p.found, element{org, kind, id, string(body)})
		c.pairs[of.KindName()] = p
		return nil
	}
	declared := c.kinds[kind]
	if declared == nil {
		return nil
	}
	entries, err := declared.Entries(id, body)
	if err != nil {
		return c.audit.report(store.Finding{Org: org, Kind: kind, ID: id, What: unreadable})
	}
	p := c.pairs[kind]
	for _, e := range entries {
		p.wanted = c.sets.plus(p.wanted, element{org, e.Kind, e.ID, e.Body})
	}
	c.pairs[kind] = p
	return nil
}

const unreadable = "it cannot be read"

// Activity implements [Check].
func (*indexes) Activity(context.Context, *domain.Activity) error { return nil }

// End implements [Check]: it ends an organization.
func (c *indexes) End(ctx context.Context) error {
	for _, declared := range store.DeclaredKinds() {
		if p := c.pairs[declared.KindName()]; p.wanted != p.found {
			if err := c.search(ctx, declared); err != nil {
				return err
			}
		}
	}
	clear(c.pairs)
	return nil
}

// search names the rows by which the two sets differ. What is there and not ours
// was reported already.
func (c *indexes) search(ctx context.Context, declared store.DeclaredKind) error {
	err := c.audit.Image.Items(ctx, c.org, declared.KindName(), func(org, kind string, item store.Item) error {
		entries := c.entries(declared, item)
		for _, e := range entries {
			stored, err := c.audit.Image.Get(ctx, org, e.Kind, e.ID)
			if err != nil {
				return err
			}
			if stored == nil {
				err = c.audit.report(store.Finding{Org: org, Kind: e.Kind, ID: e.ID, What: "the row of the index is missing for " + kind + " " + item.ID})
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	for _, index := range declared.IndexKinds() {
		if err == nil {
			err = c.searchIndex(ctx, declared, index)
		}
	}
	return err
}

func (c *indexes) searchIndex(ctx context.Context, declared store.DeclaredKind, index string) error {
	return c.audit.Image.Items(ctx, c.org, index, func(org, _ string, item store.Item) error {
		body, ok, err := c.audit.inspector.Open(org, index, item)
		if err != nil || !ok {
			return err
		}
		record, err := c.audit.Image.Get(ctx, org, declared.KindName(), string(body))
		if err != nil {
			return err
		}
		of := store.Item{ID: string(body), Body: record}
		what := "it names a " + declared.KindName() + " that is missing: " + of.ID
		if record != nil {
			if _, ok, err := c.audit.inspector.Open(org, declared.KindName(), of); err != nil || !ok {
				return err
			}
			if slices.Contains(c.entries(declared, of), store.DerivedRow{Kind: index, ID: item.ID, Body: of.ID}) {
				return nil
			}
			what = "it names a " + declared.KindName() + " that does not have this key: " + of.ID
		}
		return c.audit.report(store.Finding{Org: org, Kind: index, ID: item.ID, What: what})
	})
}

// entries are those of a stored record, none if it is not ours.
func (c *indexes) entries(declared store.DeclaredKind, item store.Item) []store.DerivedRow {
	body, ok, err := c.audit.inspector.Open(c.org, declared.KindName(), item)
	if err != nil || !ok {
		return nil
	}
	entries, _ := declared.Entries(item.ID, body) // reported already
	return entries
}

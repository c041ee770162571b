package audit

import (
	"context"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
	"latchkey/internal/store"
)

// directory checks that the directory of each parent has a row for everything by
// which its children are found, and no others.
type directory struct {
	audit *Audit
	sets  multisets
	kinds []store.DeclaredKind // of which rows are in directories
	// child and parent are of the organization whose records come.
	child, parent string
	pairs         map[string]pair // by parent
}

func newDirectory(a *Audit) Check {
	return &directory{audit: a, sets: newMultisets(), kinds: store.DeclaredKinds(), pairs: map[string]pair{}}
}

// Item implements [Check].
func (c *directory) Item(ctx context.Context, org, kind, id string, body []byte) error {
	if kind == store.DirectoryKind {
		p := c.pairs[org]
		p.found = c.sets.plus(p.found, element{org, kind, id, ""})
		c.pairs[org] = p
		return nil
	}
	i := slices.IndexFunc(c.kinds, func(k store.DeclaredKind) bool { return k.KindName() == kind })
	if i < 0 {
		return nil
	}
	entries, err := c.kinds[i].DirectoryEntries(org, id, body)
	if err != nil {
		return c.audit.report(store.Finding{Org: org, Kind: kind, ID: id, What: unreadable})
	}
	if len(entries) == 0 {
		return nil
	}
	parent, err := c.parentOf(ctx, org)
	if err != nil || parent == "" {
		return err
	}
	p := c.pairs[parent]
	for _, e := range entries {
		p.wanted = c.sets.plus(p.wanted, element{parent, e.Kind, e.ID, ""})
	}
	c.pairs[parent] = p
	return nil
}

// parentOf is the parent of an organization, empty for none.
func (c *directory) parentOf(ctx context.Context, org string) (string, error) {
	if c.child == org {
		return c.parent, nil
	}
	stored, err := c.audit.Image.Get(ctx, org, "organization", org)
	if err != nil {
		return "", err
	}
	c.child, c.parent = org, ""
	if body, ok, err := c.audit.inspector.Open(org, "organization", store.Item{ID: org, Body: stored}); err != nil || !ok {
		return "", err
	} else if record := new(domain.Organization); json.Unmarshal(body, record) == nil {
		c.parent = record.ParentID
	}
	return c.parent, nil
}

// Activity implements [Check].
func (*directory) Activity(context.Context, *domain.Activity) error { return nil }

// End implements [Check].
func (c *directory) End(ctx context.Context) error {
	wrong := map[string]bool{}
	for parent, p := range c.pairs {
		wrong[parent] = p.wanted != p.found
	}
	maps.DeleteFunc(wrong, func(_ string, isWrong bool) bool { return !isWrong })
	if len(wrong) == 0 {
		return nil
	}
	for parent := range wrong {
		if err := c.searchRows(ctx, parent); err != nil {
			return err
		}
	}
	return c.audit.Image.Versions(ctx, func(org string, _ int64) error {
		parent, err := c.parentOf(ctx, org)
		if err != nil || !wrong[parent] {
			return err
		}
		return c.searchChild(ctx, org, parent)
	})
}

// searchRows names the rows of a directory to which no record of a child belongs.
func (c *directory) searchRows(ctx context.Context, parent string) error {
	return c.audit.Image.Items(ctx, parent, store.DirectoryKind, func(_, kind string, item store.Item) error {
		if _, ok, err := c.audit.inspector.Open(parent, kind, item); err != nil || !ok {
			return err // reported already
		}
		if child, id, ok := store.DirectoryOwner(item.ID); ok {
			if ok, err := c.belongs(ctx, parent, child, id, item.ID); err != nil || ok {
				return err
			}
		}
		return c.audit.report(store.Finding{Org: parent, Kind: kind, ID: item.ID, What: "no record of the sub-organization belongs to this row"})
	})
}

// belongs reports whether a record of the child belongs to a row, or cannot be
// read, which was reported.
func (c *directory) belongs(ctx context.Context, parent, child, id, row string) (bool, error) {
	if known, err := c.parentOf(ctx, child); err != nil || known != "" && known != parent {
		return false, err
	}
	for _, kind := range c.kinds {
		stored, err := c.audit.Image.Get(ctx, child, kind.KindName(), id)
		if err != nil {
			return false, err
		}
		if stored == nil {
			continue
		}
		entries, ours, err := c.entries(kind, child, store.Item{ID: id, Body: stored})
		if err != nil || !ours || slices.ContainsFunc(entries, func(e store.DerivedRow) bool { return e.ID == row }) {
			return true, err
		}
	}
	return false, nil
}

// searchChild names the rows that a child should have in the directory.
func (c *directory) searchChild(ctx context.Context, child, parent string) error {
	for _, kind := range c.kinds {
		err := c.audit.Image.Items(ctx, child, kind.KindName(), func(_, _ string, item store.Item) error {
			entries, _, err := c.entries(kind, child, item)
			for _, e := range entries {
				var stored []byte
				if stored, err = c.audit.Image.Get(ctx, parent, e.Kind, e.ID); err != nil {
					return err
				}
				if stored == nil {
					err = c.audit.report(store.Finding{
						Org: parent, Kind: e.Kind, ID: e.ID,
						What: "the row is missing for " + kind.KindName() + " " + item.ID + " of sub-organization " + child,
					})
				}
				if err != nil {
					return err
				}
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *directory) entries(kind store.DeclaredKind, child string, item store.Item) ([]store.DerivedRow, bool, error) {
	body, ours, err := c.audit.inspector.Open(child, kind.KindName(), item)
	if err != nil || !ours {
		return nil, ours, err
	}
	entries, err := kind.DirectoryEntries(child, item.ID, body)
	return entries, err == nil, nil
}

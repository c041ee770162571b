package engine

import (
	"context"
	"errors"

	"latchkey/internal/fault"
	"latchkey/internal/request/activity"
	"latchkey/internal/store"
)

// findCaller finds out where the caller belongs: to the organization that the
// request names, to its parent, or, if the operation allows that, to one of its
// children. The first in which the credential is known counts.
func (e *Engine) findCaller(ctx context.Context, from store.Views, p proof, org string, access activity.Access) (*caller, error) {
	c := &caller{proof: p, home: org, target: org}
	err := findCallerIn(ctx, from, c)
	if err == nil || !isUnknown(err) {
		return c, err
	}
	// Of a deleted child its parent may read what is left.
	left := access.Deleted && c.organization != nil && c.organization.Deleted
	if errors.Is(err, store.ErrNoOrganization) && !left {
		return nil, p.unknown()
	}
	switch parent := c.organization.ParentID; {
	case parent != "":
		c.home = parent
	case access.FindsChild:
		child, err := e.findChild(ctx, from, org, p)
		if err != nil {
			return nil, err
		}
		c.home, c.target = child, child
	default:
		return nil, p.unknown()
	}
	if err := findCallerIn(ctx, from, c); !isUnknown(err) {
		return c, err
	}
	return nil, p.unknown() // a child that was found may have lost it between the two reads
}

// maxCandidates bounds how many children are asked whether they know the caller.
const maxCandidates = 16

// findChild finds the one child that knows the credential.
func (e *Engine) findChild(ctx context.Context, from store.Views, parent string, p proof) (string, error) {
	for _, key := range p.directoryKeys() {
		children, err := e.Store.Children(ctx, parent, key, "", maxCandidates+1)
		if err != nil {
			return "", err
		}
		if len(children) > 0 {
			return chooseChild(ctx, from, children, p)
		}
	}
	return "", p.unknown()
}

// chooseChild finds the one of several children in which the caller can act: an
// entry of the directory is a hint, and a credential that has expired, does not
// count or fits several users there locks no one out elsewhere.
func chooseChild(ctx context.Context, from store.Views, children []string, p proof) (string, error) {
	if len(children) == 1 {
		return children[0], nil
	}
	ambiguous := fault.New(fault.Unauthenticated, fault.ReasonUnauthenticated,
		"more than one suborg associated with %s; name the sub-organization in organizationId", p.credentialNoun())
	if len(children) > maxCandidates {
		return "", ambiguous
	}
	var chosen string
	for _, child := range children {
		switch err := findCallerIn(ctx, from, &caller{proof: p, home: child, target: child}); {
		case err == nil && chosen != "":
			return "", ambiguous
		case err == nil:
			chosen = child
		case !isUnknown(err) && !isExpired(err) && !isAmbiguous(err):
			return "", err
		}
	}
	if chosen == "" {
		return children[0], nil // and the caller is told why not
	}
	return chosen, nil
}

// findCallerIn looks the caller up in the organization home.
func findCallerIn(ctx context.Context, from store.Views, c *caller) error {
	return from.View(ctx, c.home, func(tx *store.Tx) (err error) {
		if c.organization, err = tx.Organization(); err != nil {
			return err
		}
		if c.organization.Deleted {
			return store.ErrNoOrganization
		}
		c.found, err = c.identify(tx)
		return err
	})
}

package engine

import (
	"context"
	"errors"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/proof/stamp"
	"latchkey/internal/request/activity"
	"latchkey/internal/store"
)

// findCaller finds out where the caller belongs: to the organization that the
// request names, to its parent, or, if the operation allows that, to one of its
// children. The first in which his credential is known counts.
func (e *Engine) findCaller(ctx context.Context, org string, c *caller, access activity.Access) error {
	parent, err := e.findCallerIn(ctx, org, c)
	c.home, c.target = org, org
	if err == nil || !isUnknown(err) {
		return err
	}
	unknown := unknownCredential(c)
	if errors.Is(err, store.ErrNoOrganization) {
		return unknown
	}
	if parent != "" {
		c.home = parent
		if _, err := e.findCallerIn(ctx, parent, c); !isUnknown(err) {
			return err
		}
		return unknown
	}
	if !access.FindsChild {
		return unknown
	}
	children, err := e.Store.Children(ctx, org, c.directoryKey(), "", 2)
	if err != nil {
		return err
	}
	switch len(children) {
	case 0:
		return unknown
	case 1:
		c.home, c.target = children[0], children[0]
		if _, err := e.findCallerIn(ctx, c.home, c); !isUnknown(err) {
			return err
		}
		return unknown // it left between the two reads
	}
	what := "a public key"
	if c.stamp != nil && c.stamp.CredentialID != "" {
		what = "a credential ID"
	}
	return fault.New(fault.Unauthenticated, fault.ReasonUnauthenticated,
		"more than one suborg associated with %s; name the sub-organization in organizationId", what)
}

// findCallerIn looks the caller up in one organization, and learns what verifying his
// stamp needs. It returns the organization's parent.
func (e *Engine) findCallerIn(ctx context.Context, org string, c *caller) (parent string, err error) {
	var origins []string
	err = e.Store.View(ctx, org, func(tx *store.Tx) error {
		o, err := tx.Organization()
		if err != nil {
			return err
		}
		if o.Deleted {
			return store.ErrNoOrganization
		}
		parent = o.ParentID
		who, err := e.identify(tx, c)
		if err != nil {
			return err
		}
		c.credential = who.credentialType
		if who.credentialType == domain.CredentialAuthenticator && c.stamp != nil {
			a, _ := who.user.Authenticator(c.stamp.CredentialID)
			c.passkey = stamp.Passkey{COSEKey: a.COSEKey, RPIDHash: a.RPIDHash}
			c.counter = a.Counter
			origins = originsOf(o)
		}
		return nil
	})
	if err != nil || c.passkey.COSEKey == nil {
		return parent, err
	}
	if parent != "" {
		origins, err = e.parentOrigins(ctx, parent, origins)
	}
	c.passkey.Origins = origins
	return parent, err
}

// parentOrigins are the pages that a parent accepts; its word counts for its
// children too.
func (e *Engine) parentOrigins(ctx context.Context, parent string, own []string) ([]string, error) {
	var theirs []string
	err := e.Store.View(ctx, parent, func(tx *store.Tx) error {
		o, err := tx.Organization()
		if err == nil {
			theirs = originsOf(o)
		}
		return err
	})
	if theirs == nil {
		return own, err
	}
	return theirs, err
}

// origins are the pages whose passkeys may be registered where the request
// acts.
func (s *attempt) origins() ([]string, error) {
	org, err := s.tx.Organization()
	if err != nil {
		return nil, err
	}
	if org.ParentID == "" {
		return originsOf(org), nil
	}
	return s.parentOrigins(s.ctx, org.ParentID, originsOf(org))
}

// directoryKey is what the caller's organization is found by in its parent's
// directory.
func (c *caller) directoryKey() string {
	switch {
	case c.session != nil:
		return domain.ChildByCredential(c.session.Credential)
	case c.attested != nil:
		return c.attested.directoryKey()
	case c.stamp.CredentialID != "":
		return domain.ChildByCredential(domain.PasskeyCredential(c.stamp.CredentialID))
	}
	return domain.ChildByCredential(domain.APIKeyCredential(c.stamp.PublicKey))
}

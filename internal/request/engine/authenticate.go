package engine

import (
	"context"
	"errors"
	"net/netip"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/request/activity"
	"latchkey/internal/store"
)

// caller is the user who sent a request, by a proof that was verified. That the
// credential is still valid is checked again in every transaction.
type caller struct {
	proof
	home   string // organization of the user
	target string // organization that they act in: home, or a child of it

	// The user and the organization home as they were when the user was found.
	found        *principal
	organization *domain.Organization
}

// authenticate finds out whose proof it is, in the organization or in one that
// the operation accepts in its place, and verifies it. A key that no user has
// is refused before it costs a verification.
func (e *Engine) authenticate(ctx context.Context, from store.Views, p proof, org string, r Request, access activity.Access) (*caller, error) {
	r.Trace.Enter("authenticate")
	defer r.Trace.Leave()
	c, err := e.findCaller(ctx, from, p, org, access)
	if err != nil {
		return nil, err
	}
	if err := p.verify(ctx, c, r); err != nil {
		return nil, err
	}
	if c.isAuthProxy() {
		return c, nil // the allowlist and the rate are about users, who have addresses
	}
	if !c.organization.Admits(c.found.ipAllowlist, r.Address) {
		return nil, notAdmitted(r.Address)
	}
	if r.Admit == nil {
		return c, nil
	}
	return c, r.Admit(c.found.user.ID)
}

// notAdmitted refuses a request by where it comes from.
func notAdmitted(from netip.Addr) error {
	if !from.IsValid() {
		return fault.New(fault.PermissionDenied, fault.ReasonForbidden,
			"request not authorized: the IP allowlist of the organization is enabled, and it is not known which address this request is from")
	}
	return fault.New(fault.PermissionDenied, fault.ReasonForbidden,
		"request not authorized: the IP allowlist of the organization does not let in requests of this credential from %s", from)
}

// authorizeSubmit refuses callers whose credential or whose organization is not
// enough for an activity.
func (c *caller) authorizeSubmit(a activity.Access) error {
	if c.isAuthProxy() {
		return c.authorizeAuthProxy(a)
	}
	if c.home != c.target && !a.ByParent {
		return fault.New(fault.InvalidArgument, fault.ReasonMismatch,
			"organization mismatch: request is targeting organization (%q), but voters are in organization (%q); "+
				"a parent organization may read its children and log their users in, and nothing else", c.target, c.home)
	}
	return c.authorizeRead(a)
}

// reader finds who asks to read in an organization, and refuses who may not.
func (e *Engine) reader(ctx context.Context, r Request, org string, access activity.Access) (*caller, error) {
	proof, err := e.readProof(r.Header, access)
	if err != nil {
		return nil, err
	}
	return e.admit(ctx, e.Store, proof, org, r, access)
}

// admit is [Engine.reader] once the proof is read.
func (e *Engine) admit(ctx context.Context, from store.Views, p proof, org string, r Request, access activity.Access) (*caller, error) {
	caller, err := e.authenticate(ctx, from, p, org, r, access)
	if err != nil {
		return nil, err
	}
	return caller, caller.authorizeRead(access)
}

func (c *caller) authorizeRead(a activity.Access) error {
	if c.isAuthProxy() {
		return c.authorizeAuthProxy(a)
	}
	if c.found.credentialType == domain.CredentialRecovery && !a.ByRecovery {
		return fault.New(fault.PermissionDenied, fault.ReasonForbidden,
			"request not authorized: a recovery key can only complete the recovery of its user (recover_user)")
	}
	return nil
}

// isUnknown tells that no user was found from every other refusal.
func isUnknown(err error) bool {
	if errors.Is(err, store.ErrNoOrganization) {
		return true
	}
	if isAmbiguous(err) {
		return false
	}
	refusal, ok := fault.As(err)
	return ok && (refusal.Reason == fault.ReasonCredentialNotFound || refusal.Reason == fault.ReasonPublicKeyNotFound ||
		refusal.Reason == fault.ReasonUnauthenticated)
}

// ambiguousUser is the refusal of a proof that fits several users of one
// organization.
type ambiguousUser struct{ refusal *fault.Error }

func (a *ambiguousUser) Error() string { return a.refusal.Error() }

// Unwrap shows the refusal.
func (a *ambiguousUser) Unwrap() error { return a.refusal }

func isAmbiguous(err error) bool { return errors.As(err, new(*ambiguousUser)) }

// isExpired tells that the credential is known, and past its end.
func isExpired(err error) bool {
	refusal, ok := fault.As(err)
	return ok && refusal.Reason == fault.ReasonAPIKeyExpired
}

// hideOrganization keeps the existence of organizations to those who may read
// them: a missing one looks like one in which the credential is unknown.
func (c *caller) hideOrganization(err error) error {
	if errors.Is(err, store.ErrNoOrganization) {
		return c.unknown()
	}
	return err
}

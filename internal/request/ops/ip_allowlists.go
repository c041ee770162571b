package ops

import (
	"net/netip"
	"strings"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/request/activity"
	"latchkey/internal/store"
)

// This file holds what the operations on IP allowlists have in common.

// OnEvaluationError says what becomes of a request whose address is not known.
type OnEvaluationError string

const (
	onErrorAllow OnEvaluationError = "ALLOW"
	onErrorDeny  OnEvaluationError = "DENY"
)

// Enum lists the values for the schema.
func (OnEvaluationError) Enum() []string { return []string{string(onErrorAllow), string(onErrorDeny)} }

// requireParent refuses a list of a sub-organization.
func requireParent(e activity.Env) error {
	org, err := e.Tx.Organization()
	if err == nil && org.ParentID != "" {
		err = fault.New(fault.InvalidArgument, fault.ReasonInvalidCaller,
			"sub-organizations have no IP allowlist; only a parent organization has one, for requests of its own users")
	}
	return err
}

// editIPAllowlist replaces the list of the organization, or of an API key, with
// nil if there is to be none. It refuses what would lock the request itself out.
func editIPAllowlist(e activity.Env, publicKey string, list *domain.IPAllowlist) error {
	if err := requireParent(e); err != nil {
		return err
	}
	if publicKey == "" {
		if _, err := editOrganization(e, func(o *domain.Organization) { o.IPAllowlist = list }); err != nil {
			return err
		}
	} else if err := editKeyAllowlist(e, publicKey, list); err != nil {
		return err
	}
	return refuseLockout(e)
}

func editKeyAllowlist(e activity.Env, publicKey string, list *domain.IPAllowlist) error {
	user, err := keyOwner(e.Tx, publicKey)
	if err != nil {
		return err
	}
	return e.Tx.Users().Edit(user.ID, func(u *domain.User) error {
		for i := range u.APIKeys {
			if u.APIKeys[i].PublicKey == strings.ToLower(publicKey) {
				u.APIKeys[i].IPAllowlist, u.APIKeys[i].UpdatedAt = list, e.Now
			}
		}
		return nil
	})
}

// keyOwner finds the user who has an API key.
func keyOwner(tx *store.Tx, publicKey string) (*domain.User, error) {
	user, err := tx.Users().Find(store.ByCredential, domain.APIKeyCredential(strings.ToLower(publicKey)))
	if err == nil && user == nil {
		err = fault.Missing("no user of this organization has an API key %s", publicKey)
	}
	return user, err
}

// refuseLockout refuses a change after which the same request would not be
// answered.
func refuseLockout(e activity.Env) error {
	org, err := e.Tx.Organization()
	if err != nil {
		return err
	}
	var own *domain.IPAllowlist
	if user, err := e.Tx.Users().Find(store.ByCredential, e.Credential); err != nil {
		return err
	} else if user != nil {
		own = user.IPAllowlistOf(e.Credential)
	}
	if org.Admits(own, e.Address) {
		return nil
	}
	return fault.Invalid("this would lock out the key that sends the request, from %s; "+
		"let its address in, or leave the allowlist disabled", shownAddress(e.Address))
}

func shownAddress(a netip.Addr) string {
	if !a.IsValid() {
		return "an address that is not known"
	}
	return a.String()
}

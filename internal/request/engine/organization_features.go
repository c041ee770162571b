package engine

import (
	"context"
	"strings"

	"latchkey/internal/domain"
	"latchkey/internal/store"
)

// This file holds the features of which a parent's word counts for its children.

// origins lists the pages whose passkeys an organization accepts; nil is all.
// What its parent says counts more than its own word.
func (e *Engine) origins(ctx context.Context, org *domain.Organization) ([]string, error) {
	parent, err := e.parentOf(ctx, org)
	if err != nil {
		return nil, err
	}
	if parent != nil {
		if accepted := ownOrigins(parent); accepted != nil {
			return e.withConsole(accepted), nil
		}
	}
	return e.withConsole(ownOrigins(org)), nil
}

// withConsole adds the console's own page to a list: who is locked out of it by
// the list could not mend the list there.
func (e *Engine) withConsole(accepted []string) []string {
	if accepted == nil || e.ConsoleOrigin == "" {
		return accepted
	}
	return append(accepted, e.ConsoleOrigin)
}

func ownOrigins(org *domain.Organization) []string {
	for _, f := range org.Features {
		if f.Name == domain.FeatureOrigins {
			return strings.FieldsFunc(f.Value, func(r rune) bool { return r == ',' || r == ' ' })
		}
	}
	return nil
}

// sessionsLocked reports whether sessions may add no credentials that outlive
// them: if the organization that is acted in, or its parent, says so.
func (t *attempt) sessionsLocked() (bool, error) {
	org, err := t.tx.Organization()
	if err != nil || org.HasFeature(domain.FeatureSessionsAddNoCredentials) {
		return err == nil, err
	}
	parent, err := t.parentOf(t.ctx, org)
	return parent != nil && parent.HasFeature(domain.FeatureSessionsAddNoCredentials), err
}

// parentOf reads the parent of an organization; nil: it has none.
func (e *Engine) parentOf(ctx context.Context, org *domain.Organization) (parent *domain.Organization, err error) {
	if org.ParentID == "" {
		return nil, nil
	}
	err = e.Store.View(ctx, org.ParentID, func(tx *store.Tx) (err error) {
		parent, err = tx.Organization()
		return err
	})
	return parent, err
}

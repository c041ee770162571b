package engine

import (
	"context"
	"strings"

	"latchkey/internal/domain"
	"latchkey/internal/store"
)

// origins lists the pages whose passkeys an organization accepts; nil is all.
// What its parent says counts more than its own word.
func (e *Engine) origins(ctx context.Context, org *domain.Organization) ([]string, error) {
	if org.ParentID == "" {
		return ownOrigins(org), nil
	}
	var accepted []string
	err := e.Store.View(ctx, org.ParentID, func(tx *store.Tx) error {
		parent, err := tx.Organization()
		if err == nil {
			accepted = ownOrigins(parent)
		}
		return err
	})
	if accepted == nil {
		accepted = ownOrigins(org)
	}
	return accepted, err
}

func ownOrigins(org *domain.Organization) []string {
	for _, f := range org.Features {
		if f.Name == domain.FeatureOrigins {
			return strings.FieldsFunc(f.Value, func(r rune) bool { return r == ',' || r == ' ' })
		}
	}
	return nil
}

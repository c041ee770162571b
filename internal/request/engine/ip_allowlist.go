package engine

import (
	"context"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/store"
)

// DisableIPAllowlist turns an organization's allowlist off, and with it those of
// its keys; the rules stay. It is for the operator, when users have locked
// themselves out. It reports whether the list was on.
func DisableIPAllowlist(ctx context.Context, s *store.Store, org string, now time.Time) (wasOn bool, err error) {
	err = s.Update(ctx, org, func(tx *store.Tx) error {
		o, err := tx.Organization()
		if err != nil {
			return err
		}
		wasOn = o.IPAllowlist != nil && o.IPAllowlist.Enabled
		if !wasOn {
			return nil
		}
		return tx.Organizations().Edit(org, func(o *domain.Organization) error {
			o.IPAllowlist.Enabled, o.UpdatedAt = false, now
			return nil
		})
	})
	return wasOn, err
}

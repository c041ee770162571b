package server

import (
	"context"
	"time"

	"latchkey/internal/store"
	"latchkey/internal/vault"
)

// sweepEvery is how often expired secrets are looked for. Import targets are
// refused as soon as they expire; this is about how long their private halves
// remain.
const sweepEvery = 15 * time.Minute

// sweep deletes expired import targets until ctx ends.
func (s *Server) sweep(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		switch dropped, err := Sweep(ctx, s.store, time.Now()); {
		case err != nil && ctx.Err() == nil:
			s.log.Error("deleting expired import targets", "error", err)
		case dropped > 0:
			s.log.Info("deleted expired import targets", "targets", dropped)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Sweep deletes the import targets of all organizations that have expired, and
// returns how many there were.
func Sweep(ctx context.Context, s *store.Store, now time.Time) (dropped int, err error) {
	err = eachOrganization(ctx, s, func(org string) error {
		n, err := sweepOrganization(ctx, s, org, now)
		dropped += n
		return err
	})
	return dropped, err
}

func sweepOrganization(ctx context.Context, s *store.Store, org string, now time.Time) (dropped int, err error) {
	err = s.Update(ctx, org, func(tx *store.Tx) error {
		dropped = 0
		targets, err := tx.ImportTargets().List("", 0)
		if err != nil {
			return err
		}
		for _, target := range targets {
			if !target.Expired(now) {
				continue
			}
			if err := vault.DropExpired(tx.Shelf(), target.ID); err != nil {
				return err
			}
			if err := tx.ImportTargets().Delete(target.ID); err != nil {
				return err
			}
			dropped++
		}
		return nil // nothing written, nothing committed
	})
	return dropped, err
}

// eachOrganization visits all organizations, the instance's own among them.
func eachOrganization(ctx context.Context, s *store.Store, visit func(org string) error) error {
	const page = 100
	var after string
	for {
		orgs, err := s.Organizations(ctx, after, page)
		if err != nil {
			return err
		}
		for _, org := range orgs {
			if err := visit(org); err != nil {
				return err
			}
			after = org
		}
		if len(orgs) < page {
			return nil
		}
	}
}

package server

import (
	"context"
	"time"

	"latchkey/internal/keys/vault"
	"latchkey/internal/store"
)

// Rewrap takes every organization one step further in the replacement of the
// master key (see [vault.Vault.Rewrap]): a vault with both keys brings all of them under
// the new one too, a vault with the new key alone takes them from under the old
// one. It may be stopped at any moment and started again, and runs beside servers
// that know the old key, both, or the new one. It returns how many organizations
// it changed.
func Rewrap(ctx context.Context, s *store.Store, v *vault.Vault) (changed int, err error) {
	list := s.Rewrapping
	if v.Replacing() {
		list = s.Organizations
	}
	err = each(ctx, list, func(org string) error {
		var did bool
		err := s.Update(ctx, org, func(tx *store.Tx) (err error) {
			if did, err = v.Rewrap(org, tx.Ciphertexts()); err != nil || !did || !store.IsInstance(org) {
				return err
			}
			return noteSeal(tx, v)
		})
		if err == nil && did {
			changed++
		}
		return err
	})
	return changed, err
}

// noteSeal records, with the change of the installation's own seal, how far the
// replacement of the master key is.
func noteSeal(tx *store.Tx, v *vault.Vault) error {
	known, err := tx.Installation("")
	if err != nil {
		return err
	}
	status := "the previous master key was taken away"
	if v.Replacing() {
		status = "a new master key was added"
	}
	tx.Note(store.Note{Installation: known.ID, Kind: store.LogSealed, Status: status})
	return nil
}

// rewrapEvery is how often a server looks for organizations that others have
// created in the meantime under the master keys that they know.
const rewrapEvery = 15 * time.Minute

// rewrap goes on with the replacement of the master key until ctx ends.
func (s *Server) rewrap(ctx context.Context) {
	tick := time.NewTicker(rewrapEvery)
	defer tick.Stop()
	for first := true; ; first = false {
		var err error
		changed := 0
		if s.generation.Load() > 0 && !s.vault.Replacing() {
			// Who was taken away from the seal may have the master key before.
			_, err = rotateLate(ctx, s.store, s.vault)
		}
		if err == nil {
			changed, err = Rewrap(ctx, s.store, s.vault)
		}
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.log.Error("replacing the master key; it goes on later", "organizations", changed, "error", err)
		case s.vault.Replacing() && (first || changed > 0):
			s.log.Info("all keys are under the new master key; when every server has said so, previousMasterKey is not needed any more", "organizations", changed)
		case changed > 0:
			s.log.Info("the previous master key opens nothing any more", "organizations", changed)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-s.sealChanged:
		}
	}
}

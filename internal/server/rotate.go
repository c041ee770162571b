package server

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/keys/vault"
	"latchkey/internal/keys/vault/sealfile"
	"latchkey/internal/store"
)

// Rotation is how far the replacement of the data keys is.
type Rotation struct {
	// Organizations is how many there are.
	Organizations int `json:"organizations"`
	// Done is for how many it is done.
	Done int `json:"done"`
	// Secrets is how many secrets were sealed anew, with those of the installation.
	Secrets int `json:"secrets"`
}

// Rotate gives every organization a new data key: see [vault.Vault.Rotate]. It may be
// stopped at any moment, and goes on where it was when it is called again, beside
// servers that know the present master key; while one runs on an older seal it is
// refused. node is the server that calls it; empty: none does. When it is done, nothing
// is under the master key before, and a seal forgets that.
func Rotate(ctx context.Context, s *store.Store, keys *KeyServices, node string) (Rotation, error) {
	if keys.Seal != nil {
		if err := checkOthers(ctx, s, node, keys.Seal.Generation()); err != nil {
			return Rotation{}, err
		}
	}
	progress, err := beginRotation(ctx, s, keys)
	if err != nil {
		return Rotation{}, err
	}
	list := func(ctx context.Context, after string, limit int) ([]string, error) {
		return s.Organizations(ctx, max(after, progress.Through), limit)
	}
	failed, seen := false, 0
	err = each(ctx, list, func(org string) error {
		secrets, err := rotateOne(ctx, s, keys.Vault, org)
		if err != nil {
			failed = true // it goes on after those that were done before this one
			return err
		}
		progress.Secrets += secrets
		if store.IsOrganization(org) {
			progress.Done++
		}
		if failed {
			return nil
		}
		progress.Through = org
		// What is done twice after a stop does no harm.
		if seen++; seen%100 == 0 {
			err = keepRotation(ctx, s, keys.Installation, &progress)
		}
		return err
	})
	if err == nil {
		var late int
		late, err = rotateLate(ctx, s, keys.Vault)
		progress.Secrets += late
	}
	done := Rotation{Organizations: progress.Done, Done: progress.Done, Secrets: progress.Secrets}
	if err != nil {
		return done, err
	}
	err = s.Instance(ctx, func(tx *store.Tx) error {
		tx.Note(store.Note{
			Installation: keys.Installation, Kind: store.LogSealed,
			Status: fmt.Sprintf("new data keys: %d organizations, %d secrets", done.Done, done.Secrets),
		})
		return tx.EditInstallation(keys.Installation, func(i *domain.Installation) error {
			i.Rotation = nil
			return nil
		})
	})
	if err == nil && keys.Seal != nil {
		err = keys.Seal.Forget()
	}
	return done, err
}

// rotateLate gives a new data key to each organization that got its first one after a
// rotation had passed it, or before a server knew that the rotation was over: that one is
// under the master key before too, with which servers that did not know the new one yet
// could open it.
func rotateLate(ctx context.Context, s *store.Store, v *vault.Vault) (secrets int, err error) {
	err = each(ctx, s.Rewrapping, func(org string) error {
		n, err := rotateOne(ctx, s, v, org)
		secrets += n
		return err
	})
	return secrets, err
}

// rotateOne tries for longer than a request does: an organization that is changed all
// the time leaves few moments for a large change.
func rotateOne(ctx context.Context, s *store.Store, v *vault.Vault, org string) (secrets int, err error) {
	const tries, pause = 100, 100 * time.Millisecond
	for range tries {
		secrets, err = rotateOnce(ctx, s, v, org)
		if busy, ok := fault.As(err); !ok || busy.Code != fault.Unavailable {
			return secrets, err
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(rand.N(pause)):
		}
	}
	return secrets, err
}

func rotateOnce(ctx context.Context, s *store.Store, v *vault.Vault, org string) (secrets int, err error) {
	err = s.Update(ctx, org, func(tx *store.Tx) error {
		names, err := tx.Ciphertexts().Names()
		if err != nil {
			return err
		}
		secrets, err = v.Rotate(org, tx.Ciphertexts(), names)
		return err
	})
	return secrets, err
}

// beginRotation goes on with a rotation that was stopped, unless the master key was
// replaced since: what was done then is under the key before, which is forgotten at
// the end of this one.
func beginRotation(ctx context.Context, s *store.Store, keys *KeyServices) (progress domain.Rotation, err error) {
	master, err := keys.Vault.MasterID()
	if err != nil {
		return domain.Rotation{}, err
	}
	err = s.Instance(ctx, func(tx *store.Tx) error {
		known, err := tx.Installation("")
		if err != nil {
			return err
		}
		if known.Rotation != nil && known.Rotation.Master == master {
			progress = *known.Rotation
			return nil
		}
		progress = domain.Rotation{Master: master}
		return tx.EditInstallation(keys.Installation, func(i *domain.Installation) error {
			i.Rotation = &domain.Rotation{Master: master}
			return nil
		})
	})
	return progress, err
}

func keepRotation(ctx context.Context, s *store.Store, installation string, progress *domain.Rotation) error {
	return s.Instance(ctx, func(tx *store.Tx) error {
		return tx.EditInstallation(installation, func(i *domain.Installation) error {
			kept := *progress
			i.Rotation = &kept
			return nil
		})
	})
}

// RotationStatus is how far a rotation is; of one that is not under way, all is done.
func RotationStatus(ctx context.Context, s *store.Store) (status Rotation, err error) {
	if err := each(ctx, s.Organizations, func(org string) error {
		if store.IsOrganization(org) {
			status.Organizations++
		}
		return nil
	}); err != nil {
		return Rotation{}, err
	}
	err = s.Instance(ctx, func(tx *store.Tx) error {
		known, err := tx.Installation("")
		if err != nil {
			return err
		}
		status.Done = status.Organizations
		if known.Rotation != nil {
			status.Done, status.Secrets = known.Rotation.Done, known.Rotation.Secrets
		}
		return nil
	})
	return status, err
}

// noteGeneration remembers the seal that the master key came from, and refuses one
// that is older than the newest that was used: it may open for recipients who were
// removed since. row is for the other servers that run; empty: none is told.
func noteGeneration(tx *store.Tx, known *domain.Installation, seal *sealfile.Opened, row string) error {
	if seal == nil {
		return nil
	}
	for _, former := range known.FormerSeals {
		if former == seal.ID() {
			return fmt.Errorf("the seal %s was replaced by another one: put that back", seal.Path())
		}
	}
	same := known.SealID == seal.ID()
	if same && seal.Generation() < known.SealGeneration {
		return fmt.Errorf("the seal %s is of generation %d, and generation %d was used already: an older copy is in its place; put the newest one back",
			seal.Path(), seal.Generation(), known.SealGeneration)
	}
	master, err := seal.MasterID()
	if err != nil {
		return err
	}
	if same && seal.Generation() == known.SealGeneration {
		if known.SealMaster != "" && known.SealMaster != master {
			return fmt.Errorf("the seal %s is of generation %d, and another one of that generation, with another master key, is in use: two commands have changed copies of the seal; "+
				"put the one in its place that the other servers have, and run the command again", seal.Path(), seal.Generation())
		}
		return nil
	}
	var names []string
	for _, r := range seal.Status().Recipients {
		names = append(names, r.Name)
	}
	tx.Note(store.Note{
		Installation: known.ID, Kind: store.LogSealed,
		Status: fmt.Sprintf("generation %d: %s", seal.Generation(), strings.Join(names, ", ")),
	})
	return tx.EditInstallation(known.ID, func(i *domain.Installation) error {
		if !same && i.SealID != "" {
			i.FormerSeals = append(i.FormerSeals, i.SealID)
		}
		i.SealID, i.SealGeneration, i.SealMaster, i.Seal = seal.ID(), seal.Generation(), master, row
		return nil
	})
}

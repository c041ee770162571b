package server

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/keys/vault"
	"latchkey/internal/store"
)

// openLog opens the keys of the present log, and makes those of the first one. It is
// called after the installation unless the config says otherwise, so that its name
// never changes with host or port.
func (keys *KeyServices) openLog(tx *store.Tx, known *domain.Installation, origin string) error {
	if len(known.Epochs) == 0 {
		if origin == "" {
			origin = "latchkey/" + known.ID
		}
		first, opened, err := newEpoch(tx, keys.Vault, 1, origin)
		if err != nil {
			return err
		}
		keys.Epochs, keys.LogKeys = []domain.LogEpoch{first}, opened
		return tx.BeginEpoch(known.ID, first)
	}
	keys.Epochs = slices.Clone(known.Epochs)
	if first := keys.Epochs[0].Origin; origin != "" && origin != first {
		return fmt.Errorf("log.origin is %q, and the log of this installation is called %q: receipts and witnesses know it by that name, which never changes. "+
			"Set log.origin to that, or leave it out", origin, first)
	}
	now := keys.Epochs[len(keys.Epochs)-1]
	opened, err := keys.Vault.LoadOrCreateLogKeys(tx.Ciphertexts(), strconv.FormatInt(now.Number, 10), now.Origin)
	if err != nil {
		return err
	}
	if !slices.Equal(opened.VerifierKeys().Texts(), now.VerifierKeys) {
		return integrity("the keys of the log's epoch %d are not those with which it began. Put the right database in place", now.Number)
	}
	keys.LogKeys = opened
	return nil
}

// newEpoch makes the keys of a log.
func newEpoch(tx *store.Tx, v *vault.Vault, number int64, origin string) (domain.LogEpoch, *vault.LogKeys, error) {
	opened, err := v.LoadOrCreateLogKeys(tx.Ciphertexts(), strconv.FormatInt(number, 10), origin)
	if err != nil {
		return domain.LogEpoch{}, nil, err
	}
	return domain.LogEpoch{
		Number: number, Origin: origin, VerifierKeys: opened.VerifierKeys().Texts(), BeganMs: time.Now().UnixMilli(),
	}, opened, nil
}

package store

import (
	"context"

	"latchkey/internal/keys/vault"
)

// Organizations whose data key is stored under two master keys are listed, as
// those with records that expire are, so that a server that knows only the new
// one finds what is left to do without a visit to all organizations.

// rewrappingKind is the kind of the entries, among what belongs to the whole
// installation.
const rewrappingKind = "rewrapping"

// Rewrapping lists the organizations whose data key is stored under two master
// keys, after an id, ordered by id.
func (s *Store) Rewrapping(ctx context.Context, after string, limit int) ([]string, error) {
	return s.listed(ctx, rewrappingKind, after, limit)
}

// rewraps is the change of the list that goes with the ciphertexts that the
// transaction has written.
func (tx *Tx) rewraps() []Change {
	body, written := tx.sealed[vault.NextDataKey]
	if !written {
		return nil
	}
	if body != nil {
		body = []byte{}
	}
	return []Change{{Org: instanceOrg, Kind: rewrappingKind, ID: tx.org, Body: body}}
}

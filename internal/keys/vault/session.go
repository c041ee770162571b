package vault

import (
	"errors"
	"fmt"
)

// Session does the work of one warrant in one transaction. It takes and
// returns names, public keys, payloads and sealed bundles. It may be used by
// several goroutines, if its shelf may.
//
// Public keys on secp256k1 and P-256 are compressed (33 bytes) unless a method
// says otherwise; on Ed25519 they are the 32 bytes of RFC 8032.
//
// A secret that is not where its caller said is an internal error, not a
// fault: operations look up records before they ask for keys.
type Session struct {
	sealedStore
	warrant *Warrant
	attempt uint64
}

// Begin starts an attempt at the activity that w allows, on the shelf of the
// transaction at hand. It refuses a warrant that is nil, of another vault, or
// spent, and ends the session of an earlier attempt.
func (v *Vault) Begin(w *Warrant, s CiphertextStore) (*Session, error) {
	switch {
	case w == nil:
		return nil, w.refusal("missing")
	case w.vault != v:
		return nil, w.refusal("not of this vault")
	case w.org == "" || w.org == Instance:
		return nil, w.refusal("for no organization")
	case s == nil:
		return nil, errors.New("vault: there is no shelf")
	}
	attempt, ok := w.begin()
	if !ok {
		return nil, w.refusal("spent")
	}
	return &Session{sealedStore: sealedStore{vault: v, org: w.org, ciphertexts: s}, warrant: w, attempt: attempt}, nil
}

// enter begins an operation, if the session may still do any.
func (s *Session) enter() error {
	switch s.warrant.state.Load() {
	case s.attempt:
		return s.vault.enter()
	case spent:
		return s.warrant.refusal("spent")
	}
	return s.warrant.refusal("in use by a newer attempt")
}

func (s *Session) leave() { s.vault.leave() }

// Destroy deletes the seeds, keys and import targets of these ids. It refuses
// an id that has none.
func (s *Session) Destroy(names ...string) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	for _, id := range names {
		found := false
		for _, kind := range []string{kindSeed, kindKey, kindTarget, kindMessageTarget} {
			there, err := s.remove(kind, id)
			if err != nil {
				return err
			}
			found = found || there
		}
		if !found {
			return fmt.Errorf("vault: there is nothing of the id %q to destroy", id)
		}
	}
	return nil
}

// remove deletes an item and reports whether it was there.
func (d *sealedStore) remove(kind, id string) (bool, error) {
	name, err := nameOf(kind, id)
	if err != nil {
		return false, err
	}
	sealed, err := d.ciphertexts.Sealed(name)
	if err != nil || sealed == nil {
		return false, err
	}
	return true, d.ciphertexts.Delete(name)
}

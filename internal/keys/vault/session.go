package vault

import (
	"fmt"
	"sync/atomic"
)

// Session does the work of one [Authorization] in one transaction. It takes and
// returns names, public keys, payloads and sealed bundles. It may be used by
// several goroutines, if its ciphertext store may.
//
// Public keys on secp256k1 and P-256 are compressed (33 bytes) unless a method
// says otherwise; on Ed25519 they are the 32 bytes of RFC 8032.
//
// A secret that is missing is an internal error, not a fault: operations look
// up records before they ask for keys.
type Session struct {
	sealedStore
	scope Scope
	ended *atomic.Bool // shared with the sessions of new organizations
}

// NewOrganization opens a session in an organization that the activity
// creates. It can reach nothing that was sealed before: an organization that
// has keys already is not new. It ends with the session that opened it.
func (s *Session) NewOrganization(org string, c CiphertextStore) (*Session, error) {
	scope := s.scope
	scope.Organization = org
	switch {
	case s.ended.Load():
		return nil, scope.refusal("the session has ended")
	case org == "" || org == Instance || org == s.org:
		return nil, scope.refusal("it must name a new organization")
	case c == nil:
		return nil, scope.refusal("there is no ciphertext store")
	}
	return &Session{
		sealedStore: sealedStore{vault: s.vault, org: org, ciphertexts: c, isNew: true},
		scope:       scope, ended: s.ended,
	}, nil
}

// End ends the session, and those of organizations that it created.
func (s *Session) End() { s.ended.Store(true) }

// enter begins an operation, unless the session has ended.
func (s *Session) enter() error {
	if s.ended.Load() {
		return s.scope.refusal("the session has ended")
	}
	return s.vault.enter()
}

func (s *Session) leave() { s.vault.leave() }

// Destroy deletes the seeds, keys, import targets and secrets, also client secrets, of these ids. It
// refuses an id that has none.
func (s *Session) Destroy(names ...string) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	for _, id := range names {
		found := false
		for _, kind := range []string{kindSeed, kindKey, kindTarget, kindMessageTarget, kindSecret, kindClientSecret} {
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
func (s *sealedStore) remove(kind, id string) (bool, error) {
	name, err := nameOf(kind, id)
	if err != nil {
		return false, err
	}
	sealed, err := s.ciphertexts.Sealed(name)
	if err != nil || sealed == nil {
		return false, err
	}
	return true, s.ciphertexts.Delete(name)
}

package vault

import (
	"errors"

	"latchkey/internal/fault"
	"latchkey/internal/keys/vault/bundle"
	"latchkey/internal/keys/vault/internal/hpkebox"
)

// MaxSecret is how many bytes a stored secret may have.
const MaxSecret = 64 << 10

// ImportSecret takes over bytes that a client sealed to a target, whatever they
// are.
func (s *Session) ImportSecret(id, targetID string, payload []byte) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	sealed, err := bundle.ParsePayload("secretPayload", payload, MaxSecret)
	if err != nil {
		return err
	}
	target, err := s.get(kindTarget, targetID)
	if err != nil {
		return err
	}
	if target == nil {
		return fault.Invalid("targetPublicKey: the key was used or never made; begin with init_import_secrets")
	}
	defer target.Wipe()
	plain, err := hpkebox.Open(s.vault.pool, target, sealed.Enc, sealed.Ciphertext)
	if errors.Is(err, hpkebox.ErrOpen) {
		return fault.Invalid("secretPayload does not open: it was not sealed to targetPublicKey")
	}
	if err != nil {
		return err
	}
	defer plain.Wipe()
	if err := s.put(kindSecret, id, plain); err != nil {
		return err
	}
	_, err = s.remove(kindTarget, targetID)
	return err
}

// ExportSecret seals a stored secret to a P-256 point, compressed or not.
func (s *Session) ExportSecret(id string, recipient []byte) (enc, ciphertext []byte, err error) {
	if err := s.enter(); err != nil {
		return nil, nil, err
	}
	defer s.leave()
	point, err := recipientPoint(recipient)
	if err != nil {
		return nil, nil, err
	}
	plain, err := s.must(kindSecret, id)
	if err != nil {
		return nil, nil, err
	}
	defer plain.Wipe()
	return hpkebox.Seal(point, plain.Raw())
}

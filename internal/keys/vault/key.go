package vault

import (
	"fmt"

	"latchkey/internal/keys/curve"
	"latchkey/internal/keys/vault/internal/hd"
	"latchkey/internal/keys/vault/internal/secret"
	"latchkey/internal/keys/vault/internal/sign"
)

// keyRecord is a private key as it is sealed, with what a signature needs:
//
//	curve (1) | private key (32) | public key (33, on Ed25519 32)
type keyRecord struct {
	whole *secret.Bytes
}

const (
	privateSize = 32
	keyHead     = 1
)

// curveNumbers are stored; a number is never given to another curve.
var curveNumbers = map[curve.KeyCurve]byte{curve.KeySecp256k1: 1, curve.KeyEd25519: 2, curve.KeyP256: 3}

func (r keyRecord) private() []byte { return r.whole.Raw()[keyHead:][:privateSize] }

func (r keyRecord) public() []byte { return r.whole.Raw()[keyHead+privateSize:] }

// keepKey seals a private key.
func (s *sealedStore) keepKey(id string, c curve.KeyCurve, private *secret.Bytes, public []byte) error {
	r := keyRecord{s.vault.pool.New(keyHead + privateSize + len(public))}
	defer r.whole.Wipe()
	r.whole.Raw()[0] = curveNumbers[c]
	copy(r.private(), private.Raw())
	copy(r.public(), public)
	return s.put(kindKey, id, r.whole)
}

// keyRecord opens a private key, which must be on the curve; any will do when
// c is empty.
func (s *sealedStore) keyRecord(id string, c curve.KeyCurve) (keyRecord, error) {
	whole, err := s.must(kindKey, id)
	if err != nil {
		return keyRecord{}, err
	}
	if whole.Len() < keyHead+privateSize || c != "" && whole.Raw()[0] != curveNumbers[c] {
		whole.Wipe()
		return keyRecord{}, fmt.Errorf("vault: key %q is not on the curve %s", id, c)
	}
	return keyRecord{whole}, nil
}

// CreateKey makes a random private key.
func (s *Session) CreateKey(id string, c curve.KeyCurve) (publicKey []byte, err error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.leave()
	if _, ok := curveNumbers[c]; !ok {
		return nil, fmt.Errorf("vault: unknown curve %q", c)
	}
	private, public, err := s.vault.randomKey(c)
	if err != nil {
		return nil, err
	}
	defer private.Wipe()
	return public, s.keepKey(id, c, private, public)
}

// randomKey draws until the bytes are a key: FIPS 186-5 A.2.2, which is free of
// bias. On all three curves the first draw succeeds but for 1 in 2^32.
func (v *Vault) randomKey(c curve.KeyCurve) (private *secret.Bytes, public []byte, err error) {
	private = v.pool.New(privateSize)
	const draws = 64
	for range draws {
		private.Fill()
		if public, err = hd.Public(c, private.Raw()); err == nil {
			return private, public, nil
		}
	}
	private.Wipe()
	return nil, nil, err
}

// Signature is r and s, and v. For ECDSA v is the recovery id; otherwise it is
// zero, and r and s are the halves of the signature.
type Signature struct {
	R, S [32]byte
	V    byte
}

// SignDigest signs by ECDSA on secp256k1 or P-256: nonce of RFC 6979, s in the
// lower half. The signature has been checked.
func (s *Session) SignDigest(keyID string, c curve.KeyCurve, digest [32]byte) (Signature, error) {
	var scheme func([]byte, [32]byte) (sign.Signature, error)
	switch c {
	case curve.KeySecp256k1:
		scheme = sign.Secp256k1
	case curve.KeyP256:
		scheme = sign.P256
	case curve.KeyEd25519:
		return Signature{}, fmt.Errorf("vault: key %q on Ed25519 signs messages, not digests", keyID)
	default:
		return Signature{}, fmt.Errorf("vault: unknown curve %q", c)
	}
	return s.sign(keyID, c, func(r keyRecord) (sign.Signature, error) { return scheme(r.private(), digest) })
}

// SignMessage signs by Ed25519. The signature has been checked.
func (s *Session) SignMessage(keyID string, message []byte) (Signature, error) {
	return s.sign(keyID, curve.KeyEd25519, func(r keyRecord) (sign.Signature, error) {
		return sign.Ed25519(r.private(), r.public(), message)
	})
}

// SignTaproot signs by BIP-340 on secp256k1, with the key of the BIP-341 output
// that has no script tree, and without auxiliary randomness. The signature
// has been checked.
func (s *Session) SignTaproot(keyID string, digest [32]byte) (Signature, error) {
	return s.sign(keyID, curve.KeySecp256k1, func(r keyRecord) (sign.Signature, error) {
		return sign.Taproot(r.private(), r.public(), digest)
	})
}

// SignSchnorr signs by BIP-340 on secp256k1 with the key itself, and without
// auxiliary randomness. The signature has been checked.
func (s *Session) SignSchnorr(keyID string, digest [32]byte) (Signature, error) {
	return s.sign(keyID, curve.KeySecp256k1, func(r keyRecord) (sign.Signature, error) {
		return sign.Schnorr(r.private(), digest)
	})
}

func (s *Session) sign(keyID string, c curve.KeyCurve, scheme func(keyRecord) (sign.Signature, error)) (Signature, error) {
	if err := s.enter(); err != nil {
		return Signature{}, err
	}
	defer s.leave()
	record, err := s.keyRecord(keyID, c)
	if err != nil {
		return Signature{}, err
	}
	defer record.whole.Wipe()
	sig, err := scheme(record)
	if err != nil {
		return Signature{}, fmt.Errorf("vault: key %q: %w", keyID, err)
	}
	return Signature(sig), nil
}

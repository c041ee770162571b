// Package hpkebox seals to a recipient and opens what was sealed to a target:
// the one HPKE profile of the interface (RFC 9180, base mode, a single
// message), DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-256-GCM.
//
// The additional data is the encapsulated key and the receiver's public key,
// both uncompressed whatever form travelled.
package hpkebox

import (
	"crypto/ecdh"
	"crypto/hpke"
	"errors"
	"fmt"
	"slices"

	"latchkey/internal/keys/vault/internal/secret"
)

// PointSize is the size of an uncompressed P-256 point.
const PointSize = 65

// The clients have this text compiled in.
const info = "turnkey_hpke"

// Seal encrypts plain to an uncompressed P-256 point.
func Seal(recipient, plain []byte) (enc, ciphertext []byte, err error) {
	public, err := hpke.DHKEM(ecdh.P256()).NewPublicKey(recipient)
	if err != nil {
		return nil, nil, fmt.Errorf("hpkebox: %w", err)
	}
	enc, sender, err := hpke.NewSender(public, hpke.HKDFSHA256(), hpke.AES256GCM(), []byte(info))
	if err != nil {
		return nil, nil, fmt.Errorf("hpkebox: %w", err)
	}
	ciphertext, err = sender.Seal(slices.Concat(enc, recipient), plain)
	if err != nil {
		return nil, nil, fmt.Errorf("hpkebox: %w", err)
	}
	return enc, ciphertext, nil
}

// ErrOpen says that a ciphertext was not sealed to the key, or was altered.
var ErrOpen = errors.New("hpkebox: the ciphertext does not open")

// Open decrypts what was sealed to the public half of a private key of 32
// bytes.
func Open(pool *secret.Pool, private *secret.Bytes, enc, ciphertext []byte) (*secret.Bytes, error) {
	key, err := hpke.DHKEM(ecdh.P256()).NewPrivateKey(private.Raw())
	if err != nil {
		return nil, errors.New("hpkebox: the target is not a P-256 private key")
	}
	recipient, err := hpke.NewRecipient(enc, key, hpke.HKDFSHA256(), hpke.AES256GCM(), []byte(info))
	if err != nil {
		return nil, ErrOpen
	}
	plain, err := recipient.Open(slices.Concat(enc, key.PublicKey().Bytes()), ciphertext)
	if err != nil {
		return nil, ErrOpen
	}
	return pool.Of(plain), nil
}

package sign

import (
	"crypto/ed25519"
)

// Ed25519 signs a message, RFC 8032 section 5.1.6, with a seed and the public
// key that was computed from it when it was stored. The check verifies with
// that same public key: were it wrong, the signature would give the key away.
func Ed25519(seed, public, message []byte) (Signature, error) {
	if len(seed) != ed25519.SeedSize || len(public) != ed25519.PublicKeySize {
		return Signature{}, errKey
	}
	private := make(ed25519.PrivateKey, 0, ed25519.PrivateKeySize)
	private = append(append(private, seed...), public...)
	defer clear(private)
	signed := ed25519.Sign(private, message)
	if !ed25519.Verify(public, message, signed) {
		return Signature{}, errFault
	}
	var sig Signature
	copy(sig.R[:], signed[:32])
	copy(sig.S[:], signed[32:])
	return sig, nil
}

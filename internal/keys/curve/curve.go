// Package curve reads public keys and checks signatures on the three curves
// that an API key may be on. It is the public side only: no function here takes
// or returns a secret.
//
// It refuses every key that is not a point of its curve in the one encoding
// that the interface uses (compressed SEC1, or the 32 bytes of RFC 8032), so
// that one key has exactly one text and may be looked up by it. Signatures are
// read leniently (see [ParseDER]) because wallets write them so, and are checked
// strictly.
//
// Invariant: a [PublicKey] that [ParsePublicKey] returned is a valid point, and
// parsing its String again yields the same key.
package curve

import (
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	secp "github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
)

// Curve names a curve as the interface does.
type Curve string

// The curves of API keys.
const (
	P256      Curve = "API_KEY_CURVE_P256"
	Secp256k1 Curve = "API_KEY_CURVE_SECP256K1"
	Ed25519   Curve = "API_KEY_CURVE_ED25519"
)

// Curves lists every curve, in the order in which messages name them. It is
// not to be written to.
var Curves = []Curve{P256, Secp256k1, Ed25519}

// Enum lists the curves for the schema.
func (Curve) Enum() []string {
	names := make([]string, len(Curves))
	for i, c := range Curves {
		names[i] = string(c)
	}
	return names
}

// KeySize is the number of bytes of a public key on the curve, or zero when
// the curve is not one of [Curves]. The text of a key has twice as many digits.
func (c Curve) KeySize() int {
	switch c {
	case P256, Secp256k1:
		return compressedSize
	case Ed25519:
		return ed25519.PublicKeySize
	}
	return 0
}

// SEC1 section 2.3.3: a tag, then one coordinate (compressed) or two.
const (
	coordinateSize   = 32
	compressedSize   = 1 + coordinateSize
	uncompressedSize = 1 + 2*coordinateSize
)

// PublicKey is a valid public key on one of the curves. Its zero value is on
// none and verifies nothing.
type PublicKey struct {
	curve Curve
	text  string
	// Exactly one of these is set, by curve.
	p256    *p256Verifier
	k256    *secp256k1.PublicKey
	edwards ed25519.PublicKey
}

// ParsePublicKey reads a public key from its hex text, in any case.
func ParsePublicKey(c Curve, text string) (PublicKey, error) {
	size := c.KeySize()
	if size == 0 {
		return PublicKey{}, fmt.Errorf("curve %.40q is not supported: use one of %s", c, names())
	}
	if len(text) > 2*uncompressedSize { // nothing that long deserves decoding
		return PublicKey{}, sizeError(c, fmt.Sprintf("%d characters", len(text)))
	}
	raw, err := hex.DecodeString(text)
	if err != nil {
		return PublicKey{}, errors.New("public key is not hex: send an even number of the digits 0-9 and a-f, without a prefix")
	}
	if c != Ed25519 && len(raw) == uncompressedSize && raw[0] == 4 {
		return PublicKey{}, errors.New("public key is uncompressed: send the compressed form (66 hex digits that begin with 02 or 03)")
	}
	if len(raw) != size {
		return PublicKey{}, sizeError(c, fmt.Sprintf("%d bytes", len(raw)))
	}
	key := PublicKey{curve: c, text: strings.ToLower(text)}
	switch c {
	case P256:
		key.p256, err = parseP256(raw)
	case Secp256k1:
		key.k256, err = parseSecp256k1(raw)
	case Ed25519:
		key.edwards, err = parseEd25519(raw)
	}
	if err != nil {
		return PublicKey{}, err
	}
	return key, nil
}

func sizeError(c Curve, got string) error {
	if c == Ed25519 {
		return fmt.Errorf("public key is %s long: an Ed25519 key is 32 bytes (64 hex digits)", got)
	}
	return fmt.Errorf("public key is %s long: a compressed key is 33 bytes (66 hex digits that begin with 02 or 03)", got)
}

func names() string {
	all := make([]string, len(Curves))
	for i, c := range Curves {
		all[i] = string(c)
	}
	return strings.Join(all, ", ")
}

func parseSecp256k1(raw []byte) (*secp256k1.PublicKey, error) {
	key, err := secp256k1.ParsePubKey(raw)
	if err != nil {
		return nil, fmt.Errorf("public key is not a compressed point of the curve secp256k1: %w", err)
	}
	return key, nil
}

// Curve is the curve that the key is on.
func (k PublicKey) Curve() Curve { return k.curve }

// String is the key as it is stored and compared: lower-case hex.
func (k PublicKey) String() string { return k.text }

// VerifyDigest reports whether r and s (unsigned, big-endian) are an ECDSA
// signature of digest. Both must lie in [1, n-1]; s may be in the upper half,
// as it is in signatures of clients that do not normalise. It is false for an
// Ed25519 key, which signs messages and not digests.
func (k PublicKey) VerifyDigest(digest [32]byte, r, s []byte) bool {
	r, s = trim(r), trim(s)
	if len(r) > coordinateSize || len(s) > coordinateSize {
		return false
	}
	switch k.curve {
	case P256:
		return k.p256.verify(digest, r, s)
	case Secp256k1:
		return verifySecp256k1(k.k256, digest, r, s)
	case Ed25519: // signs messages
	}
	return false
}

func verifySecp256k1(key *secp256k1.PublicKey, digest [32]byte, r, s []byte) bool {
	var rn, sn secp256k1.ModNScalar
	// SetByteSlice reduces a value that is not below n, and says that it did.
	if rn.SetByteSlice(r) || sn.SetByteSlice(s) || rn.IsZero() || sn.IsZero() {
		return false
	}
	return secp.NewSignature(&rn, &sn).Verify(digest[:], key)
}

// VerifyMessage reports whether signature is the 64-byte Ed25519 signature of
// message. It is false for a key on another curve.
func (k PublicKey) VerifyMessage(message, signature []byte) bool {
	return k.curve == Ed25519 && ed25519.Verify(k.edwards, message, signature)
}

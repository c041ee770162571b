package address

import (
	"crypto/ed25519"
	"encoding/hex"
	"fmt"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"latchkey/internal/keys/curve"
)

// key is a public key that is known to be a point of its curve.
type key struct {
	raw   []byte               // as given: compressed SEC1, or RFC 8032
	point *secp256k1.PublicKey // nil on Ed25519
}

func parse(c curve.KeyCurve, raw []byte) (key, error) {
	switch c {
	case curve.KeySecp256k1:
		point, err := parseSecp256k1(raw)
		return key{raw, point}, err
	case curve.KeyEd25519:
		if err := sized(raw, ed25519.PublicKeySize, "an Ed25519 key"); err != nil {
			return key{}, err
		}
		// Also refuses points of small order: their address belongs to no one.
		_, err := curve.ParsePublicKey(curve.Ed25519, hex.EncodeToString(raw))
		return key{raw: raw}, err
	case curve.KeyP256: // no format allows it
	}
	return key{}, fmt.Errorf("curve %.40q has no addresses", c)
}

// parseSecp256k1 takes the compressed form only. The library would also read
// the two long ones, and the addresses below are hashes of the short one.
func parseSecp256k1(raw []byte) (*secp256k1.PublicKey, error) {
	if err := sized(raw, secp256k1.PubKeyBytesLenCompressed, "a compressed secp256k1 key"); err != nil {
		return nil, err
	}
	point, err := secp256k1.ParsePubKey(raw)
	if err != nil {
		return nil, fmt.Errorf("public key is not a compressed point of the curve secp256k1: %w", err)
	}
	return point, nil
}

func sized(raw []byte, size int, what string) error {
	if len(raw) != size {
		return fmt.Errorf("public key is %d bytes long: %s is %d bytes", len(raw), what, size)
	}
	return nil
}

// full is 04, X and Y (SEC1 section 2.3.3), or the only form that there is.
func (k key) full() []byte {
	if k.point == nil {
		return k.raw
	}
	return k.point.SerializeUncompressed()
}

// uncompressedHex has no prefix.
func uncompressedHex(k key) (string, error) { return hex.EncodeToString(k.full()), nil }

// compressedHex is the key as it is, on either curve. An Ed25519 key gets no
// prefix byte.
func compressedHex(k key) (string, error) {
	return hex.EncodeToString(k.raw), nil
}

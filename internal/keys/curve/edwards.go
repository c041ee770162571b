package curve

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"slices"

	"filippo.io/edwards25519"
)

// parseEd25519 accepts what RFC 8032 section 5.1.3 decodes, less the points of
// small order. The standard library finds out at each verification whether the
// bytes are a point, and lets the small ones pass; with such a key, one
// signature can fit many messages, and it could then be said of any request
// that the key's owner had signed it.
func parseEd25519(raw []byte) (ed25519.PublicKey, error) {
	point, err := new(edwards25519.Point).SetBytes(raw)
	if err != nil {
		return nil, errors.New("public key is not a point of the curve Ed25519")
	}
	// SetBytes reduces a y that exceeds the field. The sign of x in the top bit
	// can only be wrong where x is zero, and those points are of small order.
	if !bytes.Equal(withoutSign(point.Bytes()), withoutSign(raw)) {
		return nil, errors.New("public key is not canonical: its y coordinate exceeds the field of Ed25519")
	}
	// The group has 8·prime elements: a point is of small order exactly when
	// eight times itself is the neutral element.
	if point.MultByCofactor(point).Equal(edwards25519.NewIdentityPoint()) == 1 {
		return nil, errors.New("public key is a point of small order, which belongs to no one: send the key of a real key pair")
	}
	return ed25519.PublicKey(slices.Clone(raw)), nil
}

func withoutSign(encoded []byte) []byte {
	y := slices.Clone(encoded)
	y[len(y)-1] &= 0x7f
	return y
}

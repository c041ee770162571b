package sign

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha512"

	"filippo.io/edwards25519"
	"filippo.io/edwards25519/field"
)

// Ed25519 signs a message, RFC 8032 section 5.1.6, with a seed and the public
// key that was computed from it when it was stored. The standard library signs
// and another one checks: they would have to fail alike.
func Ed25519(seed, public, message []byte) (Signature, error) {
	if len(seed) != ed25519.SeedSize || len(public) != ed25519.PublicKeySize {
		return Signature{}, errKey
	}
	private := make(ed25519.PrivateKey, 0, ed25519.PrivateKeySize)
	private = append(append(private, seed...), public...)
	defer clear(private)
	signed := ed25519.Sign(private, message)
	var sig Signature
	copy(sig.R[:], signed[:32])
	copy(sig.S[:], signed[32:])
	if !checkEd25519(&sig, seed, public, message) {
		return Signature{}, errFault
	}
	return sig, nil
}

// checkEd25519 starts over from the bytes that are about to leave and from the
// seed as it was stored. S = r + h*a with one r and two different h is a pair
// of equations for a, so each thing that goes into h or r is looked at:
//
//   - A = aB: h hashes the public key, and a wrong one that is stored or read
//     would give another h for the same r, in the check as in the signature.
//   - r is the hash of the message: a message that changed after its nonce was
//     made would share that nonce with another.
//   - (S - h*a)B = R: h hashes R, so a wrong R beside an S that fits it gives
//     another h for the same r; and a wrong S, h or a gives another R.
//
// Multiplications and comparisons of secrets take constant time.
func checkEd25519(sig *Signature, seed, public, message []byte) bool {
	expanded := sha512.Sum512(seed)
	defer clear(expanded[:])
	var a, r, nonce edwards25519.Scalar
	defer wipeScalars(&a, &r, &nonce)
	if _, err := a.SetBytesWithClamping(expanded[:32]); err != nil {
		return false
	}
	h, err := hashScalar(new(edwards25519.Scalar), sig.R[:], public, message)
	if err != nil {
		return false
	}
	s, err := new(edwards25519.Scalar).SetCanonicalBytes(sig.S[:])
	if err != nil {
		return false
	}
	if _, err := hashScalar(&nonce, expanded[32:], message); err != nil {
		return false
	}
	r.Subtract(s, r.Multiply(h, &a))
	return r.Equal(&nonce) == 1 && areBase(&a, &r, public, sig.R[:])
}

// areBase reports whether two points are two scalars times the base point. A
// point is encoded by its affine coordinates; the two share one inversion,
// since 1/x = y/(x*y).
func areBase(a, b *edwards25519.Scalar, pointA, pointB []byte) bool {
	xa, ya, za, _ := new(edwards25519.Point).ScalarBaseMult(a).ExtendedCoordinates()
	xb, yb, zb, _ := new(edwards25519.Point).ScalarBaseMult(b).ExtendedCoordinates()
	both := new(field.Element).Multiply(za, zb)
	both.Invert(both)
	return encodes(pointA, xa, ya, zb.Multiply(zb, both)) && encodes(pointB, xb, yb, za.Multiply(za, both))
}

// encodes reports whether a point is x and y times a common factor, RFC 8032
// section 5.1.2.
func encodes(point []byte, x, y, factor *field.Element) bool {
	encoded := y.Multiply(y, factor).Bytes()
	encoded[31] |= byte(x.Multiply(x, factor).IsNegative() << 7)
	return bytes.Equal(encoded, point)
}

// hashScalar is SHA-512 of the parts, as a number modulo the order.
func hashScalar(to *edwards25519.Scalar, parts ...[]byte) (*edwards25519.Scalar, error) {
	h := sha512.New()
	for _, part := range parts {
		h.Write(part)
	}
	var sum [sha512.Size]byte
	defer clear(sum[:])
	return to.SetUniformBytes(h.Sum(sum[:0]))
}

func wipeScalars(scalars ...*edwards25519.Scalar) {
	for _, s := range scalars {
		*s = edwards25519.Scalar{}
	}
}

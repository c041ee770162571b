package sign

import (
	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"latchkey/internal/keys/vault/internal/k256"
)

// Secp256k1 signs a digest by ECDSA, SEC1 section 4.1.3.
func Secp256k1(key []byte, digest [32]byte) (Signature, error) {
	var d, e secp256k1.ModNScalar
	defer d.Zero()
	if overflow := d.SetByteSlice(key); overflow || d.IsZero() {
		return Signature{}, errKey
	}
	e.SetBytes(&digest)  // reduced, as SEC1 has it
	reduced := e.Bytes() // and as RFC 6979 section 2.3.4 has it; the library leaves that to us
	for attempt := uint32(0); ; attempt++ {
		k := secp256k1.NonceRFC6979(key, reduced[:], nil, nil, attempt)
		sig, again, err := ecdsaWith(k, &d, &e, key)
		k.Zero()
		if !again {
			return sig, err
		}
	}
}

// ecdsaWith signs with the nonce k. It asks for another when r or s is zero,
// which has never been observed.
func ecdsaWith(k, d, e *secp256k1.ModNScalar, key []byte) (sig Signature, again bool, err error) {
	var point secp256k1.JacobianPoint
	if !k256.Base(k, &point) {
		return Signature{}, false, errFault
	}
	var r, s secp256k1.ModNScalar
	point.X.PutBytes(&sig.R)
	overflow := r.SetBytes(&sig.R)
	r.PutBytes(&sig.R)
	k256.Inverse(&s, k)
	var product secp256k1.ModNScalar
	defer product.Zero()
	product.Mul2(d, &r).Add(e)
	s.Mul(&product)
	if r.IsZero() || s.IsZero() {
		return Signature{}, true, nil
	}
	sig.V = byte(overflow)<<1 | byte(point.Y.IsOddBit())
	high := s.IsOverHalfOrder()
	if high { // BIP-62 rule 5: -s belongs to -k, whose point has the other y
		s.Negate()
		sig.V ^= 1
	}
	s.PutBytes(&sig.S)
	if !checkECDSA(&sig, k, e, &point, high, key) {
		return Signature{}, false, errFault
	}
	return sig, false, nil
}

// checkECDSA starts over from the bytes that are about to leave and from the
// key as it was stored: s*k = e + r*d says that s is right for r, and kG,
// computed a second time, that r is right for k. A wrong r beside an s that
// fits it is what gives the key away: there are two equations for one k then.
func checkECDSA(sig *Signature, k, e *secp256k1.ModNScalar, point *secp256k1.JacobianPoint, high bool, key []byte) bool {
	var d, r, s, right secp256k1.ModNScalar
	defer d.Zero()
	defer right.Zero()
	d.SetByteSlice(key)
	r.SetBytes(&sig.R)
	s.SetBytes(&sig.S)
	right.Mul2(&d, &r).Add(e)
	if high {
		right.Negate()
	}
	if !s.Mul(k).Equals(&right) {
		return false
	}
	return k256.IsBase(k, point) && xIs(point, &sig.R, sig.V)
}

// xIs reports whether r is the x of the point modulo the order.
func xIs(affine *secp256k1.JacobianPoint, r *[32]byte, v byte) bool {
	var x [32]byte
	affine.X.PutBytes(&x)
	var n secp256k1.ModNScalar
	overflow := n.SetBytes(&x)
	n.PutBytes(&x)
	return x == *r && v>>1 == byte(overflow)
}

package curve

import (
	"crypto/ed25519"
	"errors"
	"math/big"
	"slices"
)

// parseEd25519 accepts what RFC 8032 section 5.1.3 decodes, less the points of
// small order. The standard library finds out at each verification whether the
// bytes are a point, and lets the small ones pass; with such a key, one
// signature can fit many messages, and it could then be said of any request
// that the key's owner had signed it.
//
// It works on big integers in affine coordinates: a key is registered once,
// and clearness is worth more here than the time.
func parseEd25519(raw []byte) (ed25519.PublicKey, error) {
	p := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 255), big.NewInt(19))

	// Little-endian y, with the sign of x in the top bit. Whether a point is on
	// the curve, and its order, do not depend on that sign.
	encoded := slices.Clone(raw)
	slices.Reverse(encoded)
	encoded[0] &= 0x7f
	y := new(big.Int).SetBytes(encoded)
	if y.Cmp(p) >= 0 {
		return nil, errors.New("public key is not canonical: its y coordinate exceeds the field of Ed25519")
	}

	// The curve is -x² + y² = 1 + dx²y² with d = -121665/121666.
	f := field{p}
	d := f.div(f.neg(big.NewInt(121665)), big.NewInt(121666))
	yy := f.mul(y, y)
	xx := f.div(f.sub(yy, big.NewInt(1)), f.add(f.mul(d, yy), big.NewInt(1)))
	x := new(big.Int).ModSqrt(xx, p)
	if x == nil {
		return nil, errors.New("public key is not a point of the curve Ed25519")
	}

	// The group has 8·prime elements: a point is of small order exactly when
	// eight times itself is the neutral element (0, 1).
	for range 3 {
		x, y = f.double(d, x, y)
	}
	if x.Sign() == 0 && y.Cmp(big.NewInt(1)) == 0 {
		return nil, errors.New("public key is a point of small order, which belongs to nobody: send the key of a real key pair")
	}
	return ed25519.PublicKey(slices.Clone(raw)), nil
}

// field is arithmetic modulo a prime; each result is reduced.
type field struct{ p *big.Int }

func (f field) mod(v *big.Int) *big.Int    { return v.Mod(v, f.p) }
func (f field) neg(a *big.Int) *big.Int    { return f.mod(new(big.Int).Neg(a)) }
func (f field) add(a, b *big.Int) *big.Int { return f.mod(new(big.Int).Add(a, b)) }
func (f field) sub(a, b *big.Int) *big.Int { return f.mod(new(big.Int).Sub(a, b)) }
func (f field) mul(a, b *big.Int) *big.Int { return f.mod(new(big.Int).Mul(a, b)) }

// div needs b to be no multiple of p. That holds for every divisor above, as d
// is not a square and -1 is.
func (f field) div(a, b *big.Int) *big.Int {
	return f.mul(a, new(big.Int).ModInverse(b, f.p))
}

// double adds a point to itself (RFC 8032 section 5.1.4, in affine form).
func (f field) double(d, x, y *big.Int) (x2, y2 *big.Int) {
	one := big.NewInt(1)
	xy, xx, yy := f.mul(x, y), f.mul(x, x), f.mul(y, y)
	t := f.mul(d, f.mul(xx, yy))
	return f.div(f.add(xy, xy), f.add(one, t)), f.div(f.add(yy, xx), f.sub(one, t))
}

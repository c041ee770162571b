package k256

import (
	"math/big"
	"math/bits"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// Numbers are inverted by the division steps of Bernstein and Yang, "Fast
// constant-time gcd computation and modular inversion" (2019), in the variant that
// starts at 1/2. One step takes an odd f and any g to
//
//	(g, (g - f)/2)  if delta is positive and g is odd, and delta becomes 1 - delta
//	(f, (g + f)/2)  else if g is odd, and delta becomes 1 + delta
//	(f, g/2)        else, likewise
//
// which keeps their greatest common divisor. From a modulus of 256 bits and a number
// that is below it, 590 steps always end at g = 0, and then f is 1 or -1: that bound
// is proven. Each step looks at the lowest bit of g and at the sign of delta only; so
// 59 of them are worked out on lowest limbs, as a matrix, and the long numbers change
// once for all of these. No branch and no address depends on a value.

const (
	limbBits    = 62
	limbMask    = 1<<limbBits - 1
	stepsAtOnce = 59
	rounds      = 10 // of so many steps
)

// long is a number in limbs of 62 bits, of which the highest has the sign.
type long [5]int64

func longOf(x *[4]uint64) long {
	return long{
		int64(x[0] & limbMask),
		int64((x[0]>>62 | x[1]<<2) & limbMask),
		int64((x[1]>>60 | x[2]<<4) & limbMask),
		int64((x[2]>>58 | x[3]<<6) & limbMask),
		int64(x[3] >> 56),
	}
}

// limbs is the number, which is not negative, in limbs of 64 bits.
func (x *long) limbs() [4]uint64 {
	return [4]uint64{
		uint64(x[0]) | uint64(x[1])<<62,
		uint64(x[1])>>2 | uint64(x[2])<<60,
		uint64(x[2])>>4 | uint64(x[3])<<58,
		uint64(x[3])>>6 | uint64(x[4])<<56,
	}
}

// modulus is an odd number of 256 bits.
type modulus struct {
	number  long
	inverse uint64 // 1/number modulo 2^62
}

var (
	fieldPrime = newModulus(secp256k1.Params().P)
	groupOrder = newModulus(secp256k1.Params().N)
)

func newModulus(n *big.Int) *modulus {
	var text [32]byte
	limbs := limbsOf((*[32]byte)(n.FillBytes(text[:])))
	word := new(big.Int).Lsh(big.NewInt(1), limbBits)
	return &modulus{
		number:  longOf(&limbs),
		inverse: word.ModInverse(n, word).Uint64(),
	}
}

// invert sets x, which is below m, to 1/x modulo m, and leaves zero as it is.
func (m *modulus) invert(x *[4]uint64) {
	i := m.inversion(x)
	for range rounds {
		i.round()
	}
	i.d.normalize(m, i.f[4]) // f is 1 or -1
	*x = i.d.limbs()
	clear(i.d[:])
}

// inversion is one on its way: f is d·x and g is e·x modulo m, with d and e between -2m
// and m. minusDelta is -delta - 1/2, which is negative while delta is positive.
type inversion struct {
	m          *modulus
	f, g, d, e long
	minusDelta int64
}

func (m *modulus) inversion(x *[4]uint64) inversion {
	return inversion{m: m, f: m.number, g: longOf(x), e: long{1}, minusDelta: -1}
}

// round does as many steps as are done at once.
func (i *inversion) round() {
	var t matrix
	i.minusDelta, t = divisionSteps(i.minusDelta, uint64(i.f[0]), uint64(i.g[0]))
	t.apply(&i.f, &i.g, i.m, 0, 0)
	t.applyModulo(&i.d, &i.e, i.m)
}

// matrix takes f and g to (u·f + v·g)/2^62 and (q·f + r·g)/2^62. In a row, both entries
// together are at most 2^62.
type matrix struct{ u, v, q, r int64 }

// divisionSteps works out so many as are done at once, on the lowest limbs of f and g.
func divisionSteps(minusDelta int64, f, g uint64) (int64, matrix) {
	// The row of f is doubled where that of g would be halved.
	const one = 1 << (limbBits - stepsAtOnce)
	var u, v, q, r uint64 = one, 0, 0, one
	for range stepsAtOnce {
		swap := uint64(minusDelta >> 63) // all ones while delta is positive
		odd := -(g & 1)
		g += ((f ^ swap) - swap) & odd // plus f, or minus f
		q += ((u ^ swap) - swap) & odd
		r += ((v ^ swap) - swap) & odd
		swap &= odd
		minusDelta = (minusDelta ^ int64(swap)) - 1
		f += g & swap // what g was before
		u += q & swap
		v += r & swap
		g >>= 1
		u <<= 1
		v <<= 1
	}
	return minusDelta, matrix{int64(u), int64(v), int64(q), int64(r)}
}

// applyModulo applies t to d and e, and subtracts as much of the modulus as makes what
// 2^62 divides.
func (t *matrix) applyModulo(d, e *long, m *modulus) {
	// One modulus more for those that are negative keeps both in their bounds.
	dNegative, eNegative := d[4]>>63, e[4]>>63
	md := t.u&dNegative + t.v&eNegative
	me := t.q&dNegative + t.r&eNegative
	md -= int64((m.inverse*uint64(t.u*d[0]+t.v*e[0]) + uint64(md)) & limbMask)
	me -= int64((m.inverse*uint64(t.q*d[0]+t.r*e[0]) + uint64(me)) & limbMask)
	t.apply(d, e, m, md, me)
}

// apply sets x and y to (u·x + v·y + mx·m)/2^62 and (q·x + r·y + my·m)/2^62, which are
// whole.
func (t *matrix) apply(x, y *long, m *modulus, mx, my int64) {
	var a, b wide
	for i := range x {
		a = a.plus(t.u, x[i]).plus(t.v, y[i]).plus(mx, m.number[i])
		b = b.plus(t.q, x[i]).plus(t.r, y[i]).plus(my, m.number[i])
		if i > 0 {
			x[i-1], y[i-1] = int64(a.low&limbMask), int64(b.low&limbMask)
		}
		a, b = a.shifted(), b.shifted()
	}
	x[4], y[4] = int64(a.low), int64(b.low)
}

// wide is a number of 128 bits with a sign.
type wide struct{ low, high uint64 }

func (w wide) plus(x, y int64) wide {
	high, low := bits.Mul64(uint64(x), uint64(y))
	high -= uint64(x>>63&y) + uint64(y>>63&x) // a negative one was taken for 2^64 more
	low, carry := bits.Add64(w.low, low, 0)
	high, _ = bits.Add64(w.high, high, carry)
	return wide{low, high}
}

// shifted is what is left without the lowest limb.
func (w wide) shifted() wide {
	return wide{w.low>>limbBits | w.high<<(64-limbBits), uint64(int64(w.high) >> limbBits)}
}

// normalize takes x, which is between -2m and m, or -x if sign is negative, to between
// 0 and m.
func (x *long) normalize(m *modulus, sign int64) {
	x.addIfNegative(m)
	minus := sign >> 63
	for i := range x {
		x[i] = (x[i] ^ minus) - minus
	}
	x.carry()
	x.addIfNegative(m)
}

func (x *long) addIfNegative(m *modulus) {
	negative := x[4] >> 63
	for i := range x {
		x[i] += m.number[i] & negative
	}
	x.carry()
}

// carry brings all limbs but the highest between 0 and 2^62.
func (x *long) carry() {
	for i := range 4 {
		x[i+1] += x[i] >> limbBits
		x[i] &= limbMask
	}
}

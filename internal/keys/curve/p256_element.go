package curve

import (
	"math/big"
	"math/bits"
)

// p256Element is a number modulo the prime of P-256, lowest limb first, below the
// prime, times 2^256: the form of Montgomery. It takes time that depends on nothing
// secret only because nothing here is secret. Results may share memory with operands.
type p256Element [4]uint64

// The prime is 2^256 - 2^224 + 2^192 + 2^96 - 1. Its lowest limb is -1, so that the
// multiple of the prime that makes a lowest limb zero is that limb times the prime.
const (
	p256Limb0 = 1<<64 - 1
	p256Limb1 = 1<<32 - 1
	p256Limb3 = 1<<64 - 1<<32 + 1
)

var (
	p256Prime, _ = new(big.Int).SetString("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff", 16)
	p256One      = newP256Element(big.NewInt(1))
)

// newP256Element makes an element of a number, which may be any.
func newP256Element(n *big.Int) (z p256Element) {
	shifted := new(big.Int).Lsh(n, 256)
	var text [coordinateSize]byte
	shifted.Mod(shifted, p256Prime).FillBytes(text[:])
	return limbs(&text)
}

func limbs(text *[coordinateSize]byte) (z p256Element) {
	for i, b := range text {
		z[3-i/8] |= uint64(b) << (56 - i%8*8)
	}
	return z
}

func (z *p256Element) isZero() bool { return z[0]|z[1]|z[2]|z[3] == 0 }

// reduce sets z to the number t, with a fifth limb, or to that less the prime. It
// is below twice the prime.
func (z *p256Element) reduce(t0, t1, t2, t3, t4 uint64) {
	r0, b := bits.Sub64(t0, p256Limb0, 0)
	r1, b := bits.Sub64(t1, p256Limb1, b)
	r2, b := bits.Sub64(t2, 0, b)
	r3, b := bits.Sub64(t3, p256Limb3, b)
	_, b = bits.Sub64(t4, 0, b)
	keep := -b // all ones if t is below the prime
	z[0] = r0 ^ keep&(r0^t0)
	z[1] = r1 ^ keep&(r1^t1)
	z[2] = r2 ^ keep&(r2^t2)
	z[3] = r3 ^ keep&(r3^t3)
}

func (z *p256Element) add(x, y *p256Element) {
	t0, c := bits.Add64(x[0], y[0], 0)
	t1, c := bits.Add64(x[1], y[1], c)
	t2, c := bits.Add64(x[2], y[2], c)
	t3, c := bits.Add64(x[3], y[3], c)
	z.reduce(t0, t1, t2, t3, c)
}

func (z *p256Element) sub(x, y *p256Element) {
	t0, b := bits.Sub64(x[0], y[0], 0)
	t1, b := bits.Sub64(x[1], y[1], b)
	t2, b := bits.Sub64(x[2], y[2], b)
	t3, b := bits.Sub64(x[3], y[3], b)
	again := -b // all ones if the prime is to be added
	var c uint64
	z[0], c = bits.Add64(t0, again, 0)
	z[1], c = bits.Add64(t1, again&p256Limb1, c)
	z[2], c = bits.Add64(t2, 0, c)
	z[3], _ = bits.Add64(t3, again&p256Limb3, c)
}

// step adds the multiple of the prime that makes the lowest limb zero, and leaves
// that limb out.
func step(t0, t1, t2, t3, t4 uint64) (_, _, _, _, _ uint64) {
	high, low := bits.Mul64(t0, p256Limb3)
	t1, c := bits.Add64(t1, t0<<32, 0)
	t2, c = bits.Add64(t2, t0>>32, c)
	t3, c = bits.Add64(t3, low, c)
	t4, c = bits.Add64(t4, high, c)
	return t1, t2, t3, t4, c
}

// mul adds the product with one limb after the other. In between the sum stays below
// twice the prime, so that five limbs hold it with the next product. The rounds are
// written out: in a loop a check takes half as long again.
func (z *p256Element) mul(x, y *p256Element) {
	x0, x1, x2, x3 := x[0], x[1], x[2], x[3]
	limb := y[0]
	h0, t0 := bits.Mul64(x0, limb)
	h1, t1 := bits.Mul64(x1, limb)
	h2, t2 := bits.Mul64(x2, limb)
	h3, t3 := bits.Mul64(x3, limb)
	t1, c := bits.Add64(t1, h0, 0)
	t2, c = bits.Add64(t2, h1, c)
	t3, c = bits.Add64(t3, h2, c)
	t4 := h3 + c
	t0, t1, t2, t3, t4 = step(t0, t1, t2, t3, t4)

	limb = y[1]
	h0, l0 := bits.Mul64(x0, limb)
	h1, l1 := bits.Mul64(x1, limb)
	h2, l2 := bits.Mul64(x2, limb)
	h3, l3 := bits.Mul64(x3, limb)
	t0, c = bits.Add64(t0, l0, 0)
	t1, c = bits.Add64(t1, l1, c)
	t2, c = bits.Add64(t2, l2, c)
	t3, c = bits.Add64(t3, l3, c)
	t4 += c
	t1, c = bits.Add64(t1, h0, 0)
	t2, c = bits.Add64(t2, h1, c)
	t3, c = bits.Add64(t3, h2, c)
	t4 += h3 + c
	t0, t1, t2, t3, t4 = step(t0, t1, t2, t3, t4)

	limb = y[2]
	h0, l0 = bits.Mul64(x0, limb)
	h1, l1 = bits.Mul64(x1, limb)
	h2, l2 = bits.Mul64(x2, limb)
	h3, l3 = bits.Mul64(x3, limb)
	t0, c = bits.Add64(t0, l0, 0)
	t1, c = bits.Add64(t1, l1, c)
	t2, c = bits.Add64(t2, l2, c)
	t3, c = bits.Add64(t3, l3, c)
	t4 += c
	t1, c = bits.Add64(t1, h0, 0)
	t2, c = bits.Add64(t2, h1, c)
	t3, c = bits.Add64(t3, h2, c)
	t4 += h3 + c
	t0, t1, t2, t3, t4 = step(t0, t1, t2, t3, t4)

	limb = y[3]
	h0, l0 = bits.Mul64(x0, limb)
	h1, l1 = bits.Mul64(x1, limb)
	h2, l2 = bits.Mul64(x2, limb)
	h3, l3 = bits.Mul64(x3, limb)
	t0, c = bits.Add64(t0, l0, 0)
	t1, c = bits.Add64(t1, l1, c)
	t2, c = bits.Add64(t2, l2, c)
	t3, c = bits.Add64(t3, l3, c)
	t4 += c
	t1, c = bits.Add64(t1, h0, 0)
	t2, c = bits.Add64(t2, h1, c)
	t3, c = bits.Add64(t3, h2, c)
	t4 += h3 + c
	t0, t1, t2, t3, t4 = step(t0, t1, t2, t3, t4)

	z.reduce(t0, t1, t2, t3, t4)
}

// square is mul with itself, which needs ten products of limbs in place of sixteen.
func (z *p256Element) square(x *p256Element) {
	x0, x1, x2, x3 := x[0], x[1], x[2], x[3]
	// Products of different limbs, each of which counts twice.
	t2, t1 := bits.Mul64(x0, x1)
	h, l := bits.Mul64(x0, x2)
	t2, c := bits.Add64(t2, l, 0)
	t3 := h + c
	h, l = bits.Mul64(x0, x3)
	h2, l2 := bits.Mul64(x1, x2)
	t3, c = bits.Add64(t3, l, 0)
	t4 := h + c
	t3, c = bits.Add64(t3, l2, 0)
	t4, c = bits.Add64(t4, h2, c)
	t5 := c
	h, l = bits.Mul64(x1, x3)
	t4, c = bits.Add64(t4, l, 0)
	t5 += h + c
	h, l = bits.Mul64(x2, x3)
	t5, c = bits.Add64(t5, l, 0)
	t6 := h + c
	t7 := t6 >> 63
	t6 = t6<<1 | t5>>63
	t5 = t5<<1 | t4>>63
	t4 = t4<<1 | t3>>63
	t3 = t3<<1 | t2>>63
	t2 = t2<<1 | t1>>63
	t1 <<= 1
	// Squares of limbs.
	h, t0 := bits.Mul64(x0, x0)
	t1, c = bits.Add64(t1, h, 0)
	h, l = bits.Mul64(x1, x1)
	t2, c = bits.Add64(t2, l, c)
	t3, c = bits.Add64(t3, h, c)
	h, l = bits.Mul64(x2, x2)
	t4, c = bits.Add64(t4, l, c)
	t5, c = bits.Add64(t5, h, c)
	h, l = bits.Mul64(x3, x3)
	t6, c = bits.Add64(t6, l, c)
	t7, _ = bits.Add64(t7, h, c)
	// The lower half is brought down; what overflows counts with the upper half.
	var over uint64
	t0, t1, t2, t3, over = step(t0, t1, t2, t3, 0)
	t0, t1, t2, t3, over = step(t0, t1, t2, t3, over)
	t0, t1, t2, t3, over = step(t0, t1, t2, t3, over)
	t0, t1, t2, t3, over = step(t0, t1, t2, t3, over)
	t0, c = bits.Add64(t0, t4, 0)
	t1, c = bits.Add64(t1, t5, c)
	t2, c = bits.Add64(t2, t6, c)
	t3, c = bits.Add64(t3, t7, c)
	z.reduce(t0, t1, t2, t3, over+c)
}

// invert is x^(p-2), for tables only: it is not fast.
func (z *p256Element) invert(x *p256Element) {
	base, power := *x, p256One
	exponent := new(big.Int).Sub(p256Prime, big.NewInt(2))
	for i := exponent.BitLen() - 1; i >= 0; i-- {
		power.square(&power)
		if exponent.Bit(i) == 1 {
			power.mul(&power, &base)
		}
	}
	*z = power
}

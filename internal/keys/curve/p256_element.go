package curve

import (
	"encoding/binary"
	"math/big"
	"math/bits"
)

// p256Element is a number modulo the prime of P-256, lowest limb first, times 2^256:
// the form of Montgomery. Each residue is stood for by any number whose highest limb
// is not all ones; reduced picks the one below the prime. So most results need not be
// compared with the prime, and mul has room for its carries. Operations take time that
// depends on values, because nothing here is secret. Results may share memory with
// operands.
//
// Where the processor can, mul, square, and adding and doubling points are in assembly
// (assembly_amd64.s), which has the same limbs as the functions here.
type p256Element [4]uint64

// The prime is 2^256 - 2^224 + 2^192 + 2^96 - 1. Its lowest limb is -1, so that the
// multiple of the prime that makes a lowest limb zero is that limb times the prime.
const (
	p256Limb0 = 1<<64 - 1
	p256Limb1 = 1<<32 - 1
	p256Limb3 = 1<<64 - 1<<32 + 1

	allOnes = 1<<64 - 1
)

var (
	p256Prime, _ = new(big.Int).SetString("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff", 16)
	p256One      = newP256Element(big.NewInt(1))

	// p256Folds are multiples of 2^256 less the prime, from zero times on.
	p256Folds = func() (folds [16]p256Element) {
		for i := range folds {
			fold := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), p256Prime)
			var text [coordinateSize]byte
			fold.Mul(fold, big.NewInt(int64(i))).FillBytes(text[:])
			folds[i] = limbs(&text)
		}
		return folds
	}()
)

// newP256Element makes an element of a number, which may be any.
func newP256Element(n *big.Int) (z p256Element) {
	shifted := new(big.Int).Lsh(n, 256)
	var text [coordinateSize]byte
	shifted.Mod(shifted, p256Prime).FillBytes(text[:])
	return limbs(&text)
}

func limbs(text *[coordinateSize]byte) (z p256Element) {
	for i := range z {
		z[i] = binary.BigEndian.Uint64(text[8*(3-i):])
	}
	return z
}

// less is t without the prime if the mask is all ones, and t if it is zero.
func less(t0, t1, t2, t3, mask uint64) (_, _, _, _, borrow uint64) {
	t0, b := bits.Sub64(t0, mask, 0)
	t1, b = bits.Sub64(t1, mask&p256Limb1, b)
	t2, b = bits.Sub64(t2, 0, b)
	t3, b = bits.Sub64(t3, mask&p256Limb3, b)
	return t0, t1, t2, t3, b
}

// more is t and the prime if the mask is all ones, and t if it is zero.
func more(t0, t1, t2, t3, mask uint64) (_, _, _, _, carry uint64) {
	t0, c := bits.Add64(t0, mask, 0)
	t1, c = bits.Add64(t1, mask&p256Limb1, c)
	t2, c = bits.Add64(t2, 0, c)
	t3, c = bits.Add64(t3, mask&p256Limb3, c)
	return t0, t1, t2, t3, c
}

// reduced is the number below the prime that z stands for.
func (z *p256Element) reduced() p256Element {
	t0, t1, t2, t3, b := less(z[0], z[1], z[2], z[3], allOnes)
	if b != 0 {
		return *z
	}
	return p256Element{t0, t1, t2, t3}
}

func (z *p256Element) isZero() bool {
	return z[0]|z[1]|z[2]|z[3] == 0 || *z == p256Element{p256Limb0, p256Limb1, 0, p256Limb3}
}

// add takes the prime away if there is a fifth limb. Rarely there still is one, or the
// highest limb is all ones: then what is left is less than the prime above it.
func (z *p256Element) add(x, y *p256Element) {
	t0, c := bits.Add64(x[0], y[0], 0)
	t1, c := bits.Add64(x[1], y[1], c)
	t2, c := bits.Add64(x[2], y[2], c)
	t3, c := bits.Add64(x[3], y[3], c)
	t0, t1, t2, t3, b := less(t0, t1, t2, t3, -c)
	if b != c || t3 == allOnes {
		t0, t1, t2, t3, _ = less(t0, t1, t2, t3, allOnes)
	}
	z[0], z[1], z[2], z[3] = t0, t1, t2, t3
}

// sub leaves less than x, or less than the prime.
func (z *p256Element) sub(x, y *p256Element) {
	t0, b := bits.Sub64(x[0], y[0], 0)
	t1, b := bits.Sub64(x[1], y[1], b)
	t2, b := bits.Sub64(x[2], y[2], b)
	t3, b := bits.Sub64(x[3], y[3], b)
	t0, t1, t2, t3, c := more(t0, t1, t2, t3, -b)
	if b != c { // x is near zero, and y above the prime
		t0, t1, t2, t3, _ = more(t0, t1, t2, t3, allOnes)
	}
	z[0], z[1], z[2], z[3] = t0, t1, t2, t3
}

// times4 and times16 multiply by shifting.
func (z p256Element) times4() p256Element  { return z.shifted(2) }
func (z p256Element) times16() p256Element { return z.shifted(4) }

// shifted is 2^n times z, for an n of up to 4.
func (z p256Element) shifted(n uint) p256Element {
	over := z[3] >> (64 - n) & 15
	t := p256Element{z[0] << n, z[1]<<n | z[0]>>(64-n), z[2]<<n | z[1]>>(64-n), z[3]<<n | z[2]>>(64-n)}
	t.add(&t, &p256Folds[over])
	return t
}

// subTwice sets z to x - y - 2·w, in half the time of three times sub. It leaves no
// more than x, or less than the prime.
func (z *p256Element) subTwice(x, y, w *p256Element) {
	t0, b := bits.Sub64(x[0], y[0], 0)
	t1, b := bits.Sub64(x[1], y[1], b)
	t2, b := bits.Sub64(x[2], y[2], b)
	t3, b := bits.Sub64(x[3], y[3], b)
	over := b + w[3]>>63
	t0, b = bits.Sub64(t0, w[0]<<1, 0)
	t1, b = bits.Sub64(t1, w[1]<<1|w[0]>>63, b)
	t2, b = bits.Sub64(t2, w[2]<<1|w[1]>>63, b)
	t3, b = bits.Sub64(t3, w[3]<<1|w[2]>>63, b)
	over += b // how often 2^256 was borrowed: at most three times
	fold := &p256Folds[over&3]
	t0, b = bits.Sub64(t0, fold[0], 0)
	t1, b = bits.Sub64(t1, fold[1], b)
	t2, b = bits.Sub64(t2, fold[2], b)
	t3, b = bits.Sub64(t3, fold[3], b)
	if b != 0 { // the difference was near a multiple of 2^256
		t0, t1, t2, t3, _ = more(t0, t1, t2, t3, allOnes)
	}
	z[0], z[1], z[2], z[3] = t0, t1, t2, t3
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

// mulGeneric adds the product with one limb after the other. After each the sum is below
// x + p: below 2^(64·i)·x was added, and below 2^(64·i)·p, and i limbs were left out.
// With the next product it is below 2^64·x + p, which fits in five limbs because x is
// below 2^256 - 2^192. If the last sum has a fifth limb, without the prime it is below
// x·y/2^256, whose highest limb is not all ones either.
//
// The rounds are written out: in a loop a check takes half as long again. A carry that
// is added by Add64 stays in the processor's flag; one that is added by a plus is first
// moved to a register.
func (z *p256Element) mulGeneric(x, y *p256Element) {
	x0, x1, x2, x3 := x[0], x[1], x[2], x[3]
	limb := y[0]
	h0, t0 := bits.Mul64(x0, limb)
	h1, t1 := bits.Mul64(x1, limb)
	h2, t2 := bits.Mul64(x2, limb)
	h3, t3 := bits.Mul64(x3, limb)
	t1, c := bits.Add64(t1, h0, 0)
	t2, c = bits.Add64(t2, h1, c)
	t3, c = bits.Add64(t3, h2, c)
	t4, _ := bits.Add64(h3, 0, c)
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
	t4, _ = bits.Add64(t4, 0, c)
	t1, c = bits.Add64(t1, h0, 0)
	t2, c = bits.Add64(t2, h1, c)
	t3, c = bits.Add64(t3, h2, c)
	t4, _ = bits.Add64(t4, h3, c)
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
	t4, _ = bits.Add64(t4, 0, c)
	t1, c = bits.Add64(t1, h0, 0)
	t2, c = bits.Add64(t2, h1, c)
	t3, c = bits.Add64(t3, h2, c)
	t4, _ = bits.Add64(t4, h3, c)
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
	t4, _ = bits.Add64(t4, 0, c)
	t1, c = bits.Add64(t1, h0, 0)
	t2, c = bits.Add64(t2, h1, c)
	t3, c = bits.Add64(t3, h2, c)
	t4, _ = bits.Add64(t4, h3, c)
	t0, t1, t2, t3, t4 = step(t0, t1, t2, t3, t4)

	t0, t1, t2, t3, _ = less(t0, t1, t2, t3, -t4)
	if t3 == allOnes {
		t0, t1, t2, t3, _ = less(t0, t1, t2, t3, allOnes)
	}
	z[0], z[1], z[2], z[3] = t0, t1, t2, t3
}

// squareGeneric is mul with itself, which needs ten products of limbs in place of sixteen.
func (z *p256Element) squareGeneric(x *p256Element) {
	x0, x1, x2, x3 := x[0], x[1], x[2], x[3]
	// Products of different limbs, each of which counts twice.
	h0, t1 := bits.Mul64(x0, x1)
	h1, l1 := bits.Mul64(x0, x2)
	h2, t3 := bits.Mul64(x0, x3)
	h3, l3 := bits.Mul64(x1, x3)
	t6, t5 := bits.Mul64(x2, x3)
	t2, c := bits.Add64(h0, l1, 0)
	t3, c = bits.Add64(t3, h1, c)
	t4, c := bits.Add64(h2, l3, c)
	t5, c = bits.Add64(t5, h3, c)
	t6, _ = bits.Add64(t6, 0, c)
	h2, l2 := bits.Mul64(x1, x2)
	t3, c = bits.Add64(t3, l2, 0)
	t4, c = bits.Add64(t4, h2, c)
	t5, c = bits.Add64(t5, 0, c)
	t6, _ = bits.Add64(t6, 0, c)

	// Squares of limbs.
	h0, t0 := bits.Mul64(x0, x0)
	h1, l1 = bits.Mul64(x1, x1)
	h2, l2 = bits.Mul64(x2, x2)
	h3, l3 = bits.Mul64(x3, x3)
	t1, c = bits.Add64(t1, t1, 0)
	t2, c = bits.Add64(t2, t2, c)
	t3, c = bits.Add64(t3, t3, c)
	t4, c = bits.Add64(t4, t4, c)
	t5, c = bits.Add64(t5, t5, c)
	t6, c = bits.Add64(t6, t6, c)
	t7, _ := bits.Add64(h3, 0, c)
	t1, c = bits.Add64(t1, h0, 0)
	t2, c = bits.Add64(t2, l1, c)
	t3, c = bits.Add64(t3, h1, c)
	t4, c = bits.Add64(t4, l2, c)
	t5, c = bits.Add64(t5, h2, c)
	t6, c = bits.Add64(t6, l3, c)
	t7, _ = bits.Add64(t7, 0, c)

	// The lower half is brought down; what overflows counts with the upper half.
	t0, t1, t2, t3, over := step(t0, t1, t2, t3, 0)
	t0, t1, t2, t3, over = step(t0, t1, t2, t3, over)
	t0, t1, t2, t3, over = step(t0, t1, t2, t3, over)
	t0, t1, t2, t3, over = step(t0, t1, t2, t3, over)
	t0, c = bits.Add64(t0, t4, 0)
	t1, c = bits.Add64(t1, t5, c)
	t2, c = bits.Add64(t2, t6, c)
	t3, c = bits.Add64(t3, t7, c)
	t4, _ = bits.Add64(over, 0, c)
	t0, t1, t2, t3, _ = less(t0, t1, t2, t3, -t4)
	if t3 == allOnes {
		t0, t1, t2, t3, _ = less(t0, t1, t2, t3, allOnes)
	}
	z[0], z[1], z[2], z[3] = t0, t1, t2, t3
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

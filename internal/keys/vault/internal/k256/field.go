package k256

import (
	"encoding/binary"
	"math/bits"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// element is a number modulo p = 2^256 - fold, lowest limb first. Each residue
// is stood for by any number below 2^256; reduced picks the one below p. No
// operation has a branch or an address that depends on a value. Results may
// share memory with operands.
//
// Where the processor can, mul, square and the addition of sums are in assembly
// (assembly_amd64.s), which has the same limbs as the functions here.
type element [4]uint64

// fold is 2^256 modulo p: what overflows is multiplied by it and added.
const fold = 1<<32 + 977

func (z *element) add(x, y *element) {
	t0, carry := bits.Add64(x[0], y[0], 0)
	t1, carry := bits.Add64(x[1], y[1], carry)
	t2, carry := bits.Add64(x[2], y[2], carry)
	t3, carry := bits.Add64(x[3], y[3], carry)
	t0, carry = bits.Add64(t0, -carry&fold, 0)
	t1, carry = bits.Add64(t1, 0, carry)
	t2, carry = bits.Add64(t2, 0, carry)
	t3, carry = bits.Add64(t3, 0, carry)
	// If that overflowed, less than fold is left.
	z[0], z[1], z[2], z[3] = t0+(-carry&fold), t1, t2, t3
}

func (z *element) sub(x, y *element) {
	t0, borrow := bits.Sub64(x[0], y[0], 0)
	t1, borrow := bits.Sub64(x[1], y[1], borrow)
	t2, borrow := bits.Sub64(x[2], y[2], borrow)
	t3, borrow := bits.Sub64(x[3], y[3], borrow)
	t0, borrow = bits.Sub64(t0, -borrow&fold, 0)
	t1, borrow = bits.Sub64(t1, 0, borrow)
	t2, borrow = bits.Sub64(t2, 0, borrow)
	t3, borrow = bits.Sub64(t3, 0, borrow)
	// If that borrowed, at least 2^256 - fold is left.
	z[0], z[1], z[2], z[3] = t0-(-borrow&fold), t1, t2, t3
}

// subTwice sets z to x - y - 2w, in half the time of three times sub.
func (z *element) subTwice(x, y, w *element) {
	t0, borrow := bits.Sub64(x[0], y[0], 0)
	t1, borrow := bits.Sub64(x[1], y[1], borrow)
	t2, borrow := bits.Sub64(x[2], y[2], borrow)
	t3, borrow := bits.Sub64(x[3], y[3], borrow)
	over := borrow + w[3]>>63
	t0, borrow = bits.Sub64(t0, w[0]<<1, 0)
	t1, borrow = bits.Sub64(t1, w[1]<<1|w[0]>>63, borrow)
	t2, borrow = bits.Sub64(t2, w[2]<<1|w[1]>>63, borrow)
	t3, borrow = bits.Sub64(t3, w[3]<<1|w[2]>>63, borrow)
	over += borrow // how often 2^256 was borrowed: at most three times
	t0, borrow = bits.Sub64(t0, over*fold, 0)
	t1, borrow = bits.Sub64(t1, 0, borrow)
	t2, borrow = bits.Sub64(t2, 0, borrow)
	t3, borrow = bits.Sub64(t3, 0, borrow)
	// If that borrowed, at least 2^256 - 3*fold is left.
	z[0], z[1], z[2], z[3] = t0-(-borrow&fold), t1, t2, t3
}

// mulGeneric multiplies limb by limb, and folds the upper half of the product down.
//
// A carry that is added by Add64 stays in the processor's flag; one that is
// added by a plus is first moved to a register. A mask spares a product where
// the carry decides whether something is added.
func (z *element) mulGeneric(x, y *element) {
	x0, x1, x2, x3 := x[0], x[1], x[2], x[3]
	var t0, t1, t2, t3, t4, t5, t6, t7, c, d uint64

	y0 := y[0]
	h0, l0 := bits.Mul64(x0, y0)
	h1, l1 := bits.Mul64(x1, y0)
	h2, l2 := bits.Mul64(x2, y0)
	h3, l3 := bits.Mul64(x3, y0)
	t0 = l0
	t1, c = bits.Add64(l1, h0, 0)
	t2, c = bits.Add64(l2, h1, c)
	t3, c = bits.Add64(l3, h2, c)
	t4, _ = bits.Add64(h3, 0, c)

	y1 := y[1]
	h0, l0 = bits.Mul64(x0, y1)
	h1, l1 = bits.Mul64(x1, y1)
	h2, l2 = bits.Mul64(x2, y1)
	h3, l3 = bits.Mul64(x3, y1)
	t1, c = bits.Add64(t1, l0, 0)
	t2, c = bits.Add64(t2, l1, c)
	t3, c = bits.Add64(t3, l2, c)
	t4, c = bits.Add64(t4, l3, c)
	h3, _ = bits.Add64(h3, 0, c)
	t2, d = bits.Add64(t2, h0, 0)
	t3, d = bits.Add64(t3, h1, d)
	t4, d = bits.Add64(t4, h2, d)
	t5, _ = bits.Add64(h3, 0, d)

	y2 := y[2]
	h0, l0 = bits.Mul64(x0, y2)
	h1, l1 = bits.Mul64(x1, y2)
	h2, l2 = bits.Mul64(x2, y2)
	h3, l3 = bits.Mul64(x3, y2)
	t2, c = bits.Add64(t2, l0, 0)
	t3, c = bits.Add64(t3, l1, c)
	t4, c = bits.Add64(t4, l2, c)
	t5, c = bits.Add64(t5, l3, c)
	h3, _ = bits.Add64(h3, 0, c)
	t3, d = bits.Add64(t3, h0, 0)
	t4, d = bits.Add64(t4, h1, d)
	t5, d = bits.Add64(t5, h2, d)
	t6, _ = bits.Add64(h3, 0, d)

	y3 := y[3]
	h0, l0 = bits.Mul64(x0, y3)
	h1, l1 = bits.Mul64(x1, y3)
	h2, l2 = bits.Mul64(x2, y3)
	h3, l3 = bits.Mul64(x3, y3)
	t3, c = bits.Add64(t3, l0, 0)
	t4, c = bits.Add64(t4, l1, c)
	t5, c = bits.Add64(t5, l2, c)
	t6, c = bits.Add64(t6, l3, c)
	h3, _ = bits.Add64(h3, 0, c)
	t4, d = bits.Add64(t4, h0, 0)
	t5, d = bits.Add64(t5, h1, d)
	t6, d = bits.Add64(t6, h2, d)
	t7, _ = bits.Add64(h3, 0, d)

	h0, l0 = bits.Mul64(t4, fold)
	h1, l1 = bits.Mul64(t5, fold)
	h2, l2 = bits.Mul64(t6, fold)
	h3, l3 = bits.Mul64(t7, fold)
	t0, c = bits.Add64(t0, l0, 0)
	t1, c = bits.Add64(t1, l1, c)
	t2, c = bits.Add64(t2, l2, c)
	t3, c = bits.Add64(t3, l3, c)
	h3, _ = bits.Add64(h3, 0, c)
	t1, d = bits.Add64(t1, h0, 0)
	t2, d = bits.Add64(t2, h1, d)
	t3, d = bits.Add64(t3, h2, d)
	h3, _ = bits.Add64(h3, 0, d)

	h0, l0 = bits.Mul64(h3, fold) // h3 is below 2^34
	t0, c = bits.Add64(t0, l0, 0)
	t1, c = bits.Add64(t1, h0, c)
	t2, c = bits.Add64(t2, 0, c)
	t3, c = bits.Add64(t3, 0, c)
	t0, c = bits.Add64(t0, -c&fold, 0) // if that overflowed, less than 2^67 is left
	t1, _ = bits.Add64(t1, 0, c)
	z[0], z[1], z[2], z[3] = t0, t1, t2, t3
}

// times21 is 3b of the curve times x.
func (z *element) times21(x *element) {
	h0, r0 := bits.Mul64(x[0], 21)
	h1, r1 := bits.Mul64(x[1], 21)
	h2, r2 := bits.Mul64(x[2], 21)
	h3, r3 := bits.Mul64(x[3], 21)
	r1, carry := bits.Add64(r1, h0, 0)
	r2, carry = bits.Add64(r2, h1, carry)
	r3, carry = bits.Add64(r3, h2, carry)
	r0, carry = bits.Add64(r0, (h3+carry)*fold, 0)
	r1, carry = bits.Add64(r1, 0, carry)
	r2, carry = bits.Add64(r2, 0, carry)
	r3, carry = bits.Add64(r3, 0, carry)
	z[0], z[1], z[2], z[3] = r0+(-carry&fold), r1, r2, r3 // as in add
}

// squareGeneric squares n times: it is mul with itself, which needs ten products of
// limbs in place of sixteen. How it folds is written as often as it is used: as
// a function it would cost a tenth of a square.
func (z *element) squareGeneric(x *element, n int) {
	x0, x1, x2, x3 := x[0], x[1], x[2], x[3]
	for range n {
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

		h0, l0 := bits.Mul64(t4, fold)
		h1, l1 = bits.Mul64(t5, fold)
		h2, l2 = bits.Mul64(t6, fold)
		h3, l3 = bits.Mul64(t7, fold)
		t0, c = bits.Add64(t0, l0, 0)
		t1, c = bits.Add64(t1, l1, c)
		t2, c = bits.Add64(t2, l2, c)
		t3, c = bits.Add64(t3, l3, c)
		h3, _ = bits.Add64(h3, 0, c)
		t1, c = bits.Add64(t1, h0, 0)
		t2, c = bits.Add64(t2, h1, c)
		t3, c = bits.Add64(t3, h2, c)
		h3, _ = bits.Add64(h3, 0, c)

		h0, l0 = bits.Mul64(h3, fold) // as in mul
		t0, c = bits.Add64(t0, l0, 0)
		t1, c = bits.Add64(t1, h0, c)
		x2, c = bits.Add64(t2, 0, c)
		x3, c = bits.Add64(t3, 0, c)
		x0, c = bits.Add64(t0, -c&fold, 0)
		x1, _ = bits.Add64(t1, 0, c)
	}
	z[0], z[1], z[2], z[3] = x0, x1, x2, x3
}

// invert sets z to 1/x, and to zero if x is zero.
func (z *element) invert(x *element) {
	*z = x.reduced()
	fieldPrime.invert((*[4]uint64)(z))
}

// reduced is the number below p that x stands for.
func (x *element) reduced() element {
	var over element
	var carry uint64
	over[0], carry = bits.Add64(x[0], fold, 0)
	over[1], carry = bits.Add64(x[1], 0, carry)
	over[2], carry = bits.Add64(x[2], 0, carry)
	over[3], carry = bits.Add64(x[3], 0, carry)
	over.pick(-carry, x, &over) // x + fold overflows if x is not below p
	return over
}

// pick sets z to b if the mask is all ones, and to a if it is zero.
func (z *element) pick(mask uint64, a, b *element) {
	for i := range z {
		z[i] = a[i] ^ mask&(a[i]^b[i])
	}
}

// equal and isZero compare what the numbers stand for.
func (x *element) equal(y *element) bool { return x.reduced() == y.reduced() }

func (x *element) isZero() bool { return x.reduced() == element{} }

func (z *element) setField(f *secp256k1.FieldVal) {
	var b [32]byte
	f.PutBytes(&b)
	*z = limbsOf(&b)
}

func (x *element) putField(f *secp256k1.FieldVal) {
	b := bytesOf(x.reduced())
	f.SetBytes(&b)
}

// limbsOf is a number that is written from its highest byte.
func limbsOf(b *[32]byte) (limbs [4]uint64) {
	for i := range limbs {
		limbs[i] = binary.BigEndian.Uint64(b[8*(3-i):])
	}
	return limbs
}

func bytesOf(limbs [4]uint64) (b [32]byte) {
	for i, limb := range limbs {
		binary.BigEndian.PutUint64(b[8*(3-i):], limb)
	}
	return b
}

package curve

import (
	"encoding/binary"
	"math/big"
	"math/bits"
)

// p256Scalar is a number modulo the order of P-256, lowest limb first. All of them are
// public: operations take time that depends on values.
type p256Scalar [4]uint64

var (
	p256OrderLimbs = scalarFromBig(orderP256)
	p256PrimeLimbs = p256Scalar{p256Limb0, p256Limb1, 0, p256Limb3}
	// p256OrderSquare is 2^512 modulo the order.
	p256OrderSquare = scalarFromBig(new(big.Int).Mod(new(big.Int).Lsh(big.NewInt(1), 512), orderP256))
	// p256OrderInverse is -1/n modulo 2^64: that times a limb is the multiple of n
	// which makes the limb zero.
	p256OrderInverse = func() uint64 {
		word := new(big.Int).Lsh(big.NewInt(1), 64)
		return new(big.Int).Sub(word, new(big.Int).ModInverse(orderP256, word)).Uint64()
	}()
)

func scalarFromBig(n *big.Int) p256Scalar { return scalarFromBytes(n.Bytes()) }

// scalarFromBytes takes a big-endian number of at most 32 bytes.
func scalarFromBytes(number []byte) p256Scalar {
	var text [coordinateSize]byte
	copy(text[coordinateSize-len(number):], number)
	return p256Scalar(limbs(&text))
}

// bytes writes the number from its highest byte.
func (x *p256Scalar) bytes() (text [coordinateSize]byte) {
	for i, limb := range x {
		binary.BigEndian.PutUint64(text[8*(3-i):], limb)
	}
	return text
}

func (x *p256Scalar) isZero() bool { return x[0]|x[1]|x[2]|x[3] == 0 }

func (x *p256Scalar) below(y *p256Scalar) bool {
	for i := 3; i > 0; i-- {
		if x[i] != y[i] {
			return x[i] < y[i]
		}
	}
	return x[0] < y[0]
}

// add and sub return what does not fit.
func (z *p256Scalar) add(x, y *p256Scalar) (carry uint64) {
	for i := range z {
		z[i], carry = bits.Add64(x[i], y[i], carry)
	}
	return carry
}

func (z *p256Scalar) sub(x, y *p256Scalar) (borrow uint64) {
	for i := range z {
		z[i], borrow = bits.Sub64(x[i], y[i], borrow)
	}
	return borrow
}

// mul sets z to x·y/2^256 modulo the order, as Montgomery does. y is below the order;
// x need not be.
func (z *p256Scalar) mul(x, y *p256Scalar) {
	var t [6]uint64
	for _, limb := range x {
		t[5] = addProduct(&t, y, limb)
		t[5] += addProduct(&t, &p256OrderLimbs, t[0]*p256OrderInverse)
		copy(t[:], t[1:])
	}
	// Below 2^256·n and 2^256·n were added, and 2^256 divided: this is below 2·n.
	*z = p256Scalar(t[:4])
	if t[4] != 0 || !z.below(&p256OrderLimbs) {
		z.sub(z, &p256OrderLimbs)
	}
}

// addProduct adds x·y to the lower five limbs, and returns the carry.
func addProduct(t *[6]uint64, x *p256Scalar, y uint64) (carry uint64) {
	var high uint64
	for i := range x {
		h, l := bits.Mul64(x[i], y)
		l, c := bits.Add64(l, high, 0)
		high = h + c
		t[i], c = bits.Add64(t[i], l, 0)
		high += c // a product and two limbs fit in two limbs
	}
	t[4], carry = bits.Add64(t[4], high, 0)
	return carry
}

// invert sets z to 1/x modulo the order; x is below it and not zero.
//
// It is Euclid's algorithm on n and x, as Lehmer does it: several quotients are found
// from the highest 64 bits, and the long numbers change once for all of them. So does
// math/big, in twice the time.
//
// There is a sign such that a = -sign·u·x and b = sign·v·x modulo n; it changes with
// each quotient, and u and v only grow.
func (z *p256Scalar) invert(x *p256Scalar) {
	a, b, u, v := p256OrderLimbs, *x, p256Scalar{}, p256Scalar{1}
	positive := true
	for a[1]|a[2]|a[3] != 0 {
		m, ok := quotients(&a, &b)
		if !ok {
			divide(&a, &b, &u, &v)
			positive = !positive
			continue
		}
		var p, q p256Scalar
		p.combine(&u, m.u0, &v, m.v0, 0)
		q.combine(&u, m.u1, &v, m.v1, 0)
		u, v = p, q
		if m.even {
			p.combine(&a, m.u0, &b, m.v0, allOnes)
			q.combine(&b, m.v1, &a, m.u1, allOnes)
		} else {
			p.combine(&b, m.v0, &a, m.u0, allOnes)
			q.combine(&a, m.u1, &b, m.v1, allOnes)
			positive = !positive
		}
		a, b = p, q
	}
	// The rest are single limbs, down to 1 and 0.
	var u0, u1, v0, v1 uint64 = 1, 0, 0, 1
	for x, y := a[0], b[0]; y != 0; positive = !positive {
		q, rest := divideWord(x, y)
		x, y = y, rest
		u0, u1 = u1, u0+q*u1
		v0, v1 = v1, v0+q*v1
	}
	if z.combine(&u, u0, &v, v0, 0); positive {
		z.sub(&p256OrderLimbs, z)
	}
}

// divideWord is x/y and the rest. Two quotients of five are 1, and the processor
// divides slowly.
func divideWord(x, y uint64) (q, rest uint64) {
	if rest = x - y; rest < y {
		return 1, rest
	}
	q = x / y
	return q, x - q*y
}

// combine sets z to x·s + y·t, or with a mask of ones to x·s - y·t. Either fits.
func (z *p256Scalar) combine(x *p256Scalar, s uint64, y *p256Scalar, t, minus uint64) {
	l0, l1, l2, l3 := x.times(s)
	k0, k1, k2, k3 := y.times(t)
	var c uint64
	z[0], c = bits.Add64(l0, k0^minus, minus&1) // -y is all bits of y inverted, and 1
	z[1], c = bits.Add64(l1, k1^minus, c)
	z[2], c = bits.Add64(l2, k2^minus, c)
	z[3], _ = bits.Add64(l3, k3^minus, c)
}

// times has the lower limbs of a product.
func (x *p256Scalar) times(y uint64) (l0, l1, l2, l3 uint64) {
	h0, l0 := bits.Mul64(x[0], y)
	h1, l1 := bits.Mul64(x[1], y)
	h2, l2 := bits.Mul64(x[2], y)
	l1, c := bits.Add64(l1, h0, 0)
	l2, c = bits.Add64(l2, h1, c)
	l3, _ = bits.Add64(x[3]*y, h2, c)
	return l0, l1, l2, l3
}

// steps are some quotients of Euclid's algorithm at once. If they are an even number,
// a becomes u0·a - v0·b and b becomes v1·b - u1·a; otherwise, the negatives of that.
type steps struct {
	u0, u1, v0, v1 uint64
	even           bool
}

// quotients finds those that the highest 64 bits of a and b determine: Collins's
// condition is that all but the last are right. b is below a, which has more than one
// limb. It is not ok if there is none.
func quotients(a, b *p256Scalar) (m steps, ok bool) {
	top := 3
	for a[top] == 0 {
		top--
	}
	shift := bits.LeadingZeros64(a[top])
	x := a[top]<<shift | a[top-1]>>(64-shift)
	y := b[top]<<shift | b[top-1]>>(64-shift)
	m.u1 = 1
	var u2, v2 uint64 = 0, 1
	for y >= v2 && x-y >= m.v1+v2 {
		q, rest := divideWord(x, y)
		x, y = y, rest
		m.u0, m.u1, u2 = m.u1, u2, m.u1+q*u2
		m.v0, m.v1, v2 = m.v1, v2, m.v1+q*v2
		m.even = !m.even
	}
	return m, m.v0 != 0
}

// divide does one step, for quotients that are too large for [quotients]. b is not
// zero, and below a.
func divide(a, b, u, v *p256Scalar) {
	// b·2^i and v·2^i are taken away and added for each bit of the quotient.
	for !a.below(b) {
		shift := max(a.bitLen()-b.bitLen(), 0)
		part := b.shifted(shift)
		if a.below(&part) {
			shift--
			part = b.shifted(shift)
		}
		a.sub(a, &part)
		part = v.shifted(shift)
		u.add(u, &part)
	}
	*a, *b, *u, *v = *b, *a, *v, *u
}

func (x *p256Scalar) bitLen() int {
	for i := 3; i >= 0; i-- {
		if x[i] != 0 {
			return 64*i + bits.Len64(x[i])
		}
	}
	return 0
}

func (x *p256Scalar) shifted(by int) (z p256Scalar) {
	for i := by / 64; i < len(z); i++ {
		z[i] = x[i-by/64] << (by % 64)
		if i > by/64 {
			z[i] |= x[i-by/64-1] >> (64 - by%64)
		}
	}
	return z
}

package k256

import (
	"sync"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// affine is a point that is not infinity.
type affine struct{ x, y element }

// point is x = X/Z, y = Y/Z; infinity has Z = 0.
type point struct{ x, y, z element }

func (q *affine) point() point { return point{q.x, q.y, element{1}} }

// add sets p to p + q: the mixed addition of Renes, Costello and Batina
// (eprint 2015/1060, algorithm 8) for curves with a = 0. It is complete: p may
// be q, its negative or infinity, so there is no case to tell apart.
func (p *point) add(q *affine) {
	var t0, t1, t2, t3, t4, x3, y3, z3 element
	t0.mul(&p.x, &q.x)
	t1.mul(&p.y, &q.y)
	t3.add(&q.x, &q.y)
	t4.add(&p.x, &p.y)
	t3.mul(&t3, &t4)
	t4.add(&t0, &t1)
	t3.sub(&t3, &t4)
	t4.mul(&q.y, &p.z)
	t4.add(&t4, &p.y)
	y3.mul(&q.x, &p.z)
	y3.add(&y3, &p.x)
	x3.add(&t0, &t0)
	t0.add(&x3, &t0)
	t2.times21(&p.z)
	z3.add(&t1, &t2)
	t1.sub(&t1, &t2)
	y3.times21(&y3)
	x3.mul(&t4, &y3)
	t2.mul(&t3, &t1)
	p.x.sub(&t2, &x3)
	y3.mul(&y3, &t0)
	t1.mul(&t1, &z3)
	p.y.add(&t1, &y3)
	t0.mul(&t0, &t3)
	z3.mul(&z3, &t4)
	p.z.add(&z3, &t0)
}

// sum is x = X/ZZ, y = Y/ZZZ, where ZZ^3 = ZZZ^2; infinity has ZZ = 0.
type sum struct{ x, y, zz, zzz element }

func (q *affine) sum() sum { return sum{q.x, q.y, element{1}, element{1}} }

// addGeneric sets p to p + q, if neither is infinity and p is neither q nor its
// negative: otherwise it makes p infinity, whatever the sum is, and adding to
// infinity leaves it there. It is the formula madd-2008-s for these
// coordinates, 8 products and 2 squares; that of a point has 13.
func (p *sum) addGeneric(q *affine) {
	var u, r element
	u.mul(&q.x, &p.zz)
	r.mul(&q.y, &p.zzz)
	p.join(&u, &r)
}

// addSum is add for another sum, with the same exceptions: add-2008-s.
func (p *sum) addSum(q *sum) {
	var u, r element
	u.mul(&q.x, &p.zz)
	r.mul(&q.y, &p.zzz)
	p.x.mul(&p.x, &q.zz)
	p.y.mul(&p.y, &q.zzz)
	p.zz.mul(&p.zz, &q.zz)
	p.zzz.mul(&p.zzz, &q.zzz)
	p.join(&u, &r)
}

// join adds the point (u/zz, r/zzz), with the zz and zzz of p.
func (p *sum) join(u, r *element) {
	u.sub(u, &p.x)
	r.sub(r, &p.y)
	var uu, uuu, v element
	uu.square(u, 1)
	uuu.mul(u, &uu)
	v.mul(&p.x, &uu)
	p.zz.mul(&p.zz, &uu)
	p.zzz.mul(&p.zzz, &uuu)
	p.y.mul(&p.y, &uuu)
	p.x.square(r, 1)
	p.x.subTwice(&p.x, &uuu, &v)
	v.sub(&v, &p.x)
	v.mul(&v, r)
	p.y.sub(&v, &p.y)
}

// point is the sum over one denominator.
func (p *sum) point() (q point) {
	q.x.mul(&p.x, &p.zzz)
	q.y.mul(&p.y, &p.zz)
	q.z.mul(&p.zz, &p.zzz)
	return q
}

// toAffine takes points other than infinity, and inverts once for all of them:
// each 1/Z is the inverse of the product of all, times the others.
func toAffine(points []point) []affine {
	before := make([]element, len(points)) // the product of those before
	all := element{1}
	for i := range points {
		before[i] = all
		all.mul(&all, &points[i].z)
	}
	all.invert(&all)
	out := make([]affine, len(points))
	for i := len(points) - 1; i >= 0; i-- {
		var inverse element
		inverse.mul(&all, &before[i])
		all.mul(&all, &points[i].z)
		out[i].x.mul(&points[i].x, &inverse)
		out[i].y.mul(&points[i].y, &inverse)
	}
	return out
}

// A scalar is written in windows of 5 bits whose digits are odd and of either
// sign, so that none is zero and half of them need no entry.
const (
	width   = 5
	windows = (256 + width - 1) / width
	entries = 1 << (width - 1)
)

// comb has (2j+1) * 2^(width*i) * G as entry j of row i, and what recoding adds.
type comb struct {
	rows  [windows]row
	half  secp256k1.ModNScalar // 1/2
	shift secp256k1.ModNScalar // (2^(width*windows) - 1)/2
}

// theComb is a constant of 53 KB, which takes about a millisecond to compute.
var theComb = sync.OnceValue(func() *comb {
	var c comb
	var one secp256k1.ModNScalar
	one.SetInt(1)
	c.half.SetInt(2).InverseNonConst()
	c.shift.SetInt(1)
	for range width * windows {
		c.shift.Add2(&c.shift, &c.shift)
	}
	c.shift.Add(one.Negate()).Mul(&c.half)

	var g secp256k1.JacobianPoint
	one.SetInt(1)
	secp256k1.ScalarBaseMultNonConst(&one, &g)
	g.ToAffine()
	var base affine
	base.x.setField(&g.X)
	base.y.setField(&g.Y)
	for i := range c.rows {
		twice := base.point()
		twice.add(&base)
		step := toAffine([]point{twice})[0]
		var row [entries + 1]point
		p := base.point()
		for j := range entries {
			row[j] = p
			p.add(&step)
		}
		row[entries] = row[entries-1] // (2^width - 1) and 1 more make the next base
		row[entries].add(&base)
		made := toAffine(row[:])
		c.rows[i].set(made[:entries])
		base = made[entries]
	}
	return &c
})

// row is a table of points. Each bit of a limb of an entry is a polynomial in
// the four bits of the entry's index, modulo 2; a row has the coefficients.
// Number j is that of the product of those bits which are set in j.
//
// Entries themselves would need a mask for each of them, which are more than
// there are registers: picking one takes twice as long.
type row struct{ x, y [4][entries]uint64 }

func (r *row) set(points []affine) {
	for j := range points {
		for i := range 4 {
			r.x[i][j], r.y[i][j] = points[j].x[i], points[j].y[i]
		}
	}
	for i := range 4 {
		toPolynomial(&r.x[i])
		toPolynomial(&r.y[i])
	}
}

// toPolynomial makes coefficients of values, one bit of the index after the other:
// f = f(0) + b*(f(0) + f(1)).
func toPolynomial(limbs *[entries]uint64) {
	for bit := 1; bit < entries; bit *= 2 {
		for j := range limbs {
			if j&bit != 0 {
				limbs[j] ^= limbs[j-bit]
			}
		}
	}
}

// pickGeneric sets q to an entry, and reads all of the row to do it.
func (q *affine) pickGeneric(r *row, index uint64) {
	b0, b1, b2, b3 := -(index & 1), -(index >> 1 & 1), -(index >> 2 & 1), -(index >> 3 & 1)
	q.x.evaluate(&r.x, b0, b1, b2, b3)
	q.y.evaluate(&r.y, b0, b1, b2, b3)
}

// evaluate sets z to the number at an index each of whose bits fills a mask.
func (z *element) evaluate(coefficients *[4][entries]uint64, b0, b1, b2, b3 uint64) {
	for i := range z {
		c := &coefficients[i]
		low := c[0] ^ c[1]&b0 ^ (c[2]^c[3]&b0)&b1
		low ^= (c[4] ^ c[5]&b0 ^ (c[6]^c[7]&b0)&b1) & b2
		high := c[8] ^ c[9]&b0 ^ (c[10]^c[11]&b0)&b1
		high ^= (c[12] ^ c[13]&b0 ^ (c[14]^c[15]&b0)&b1) & b2
		z[i] = low ^ high&b3
	}
}

// digits writes k in windows: bit i of m stands for 2^i if it is set, and for
// -2^i if it is not.
//
// With N = width*windows and m = k/2 + (2^N - 1)/2, k is the sum of (2b - 1)2^i
// over the N bits b of m, all of that modulo the order.
func (c *comb) digits(k *secp256k1.ModNScalar) (limbs [windows*width/64 + 1]uint64) {
	var m secp256k1.ModNScalar
	m.Mul2(k, &c.half).Add(&c.shift)
	bytes := m.Bytes()
	number := limbsOf(&bytes)
	copy(limbs[:], number[:])
	m.Zero()
	clear(number[:])
	clear(bytes[:])
	return limbs
}

// entry sets q to the point of window i of m. A window with the bits v is the
// digit 2v - (2^width - 1): with the top bit set it is positive, and without it
// the negative of that with all bits inverted.
func (c *comb) entry(q *affine, m *[windows*width/64 + 1]uint64, i int) {
	at := i * width
	v := m[at/64]>>(at%64) | m[min(at/64+1, len(m)-1)]<<(64-at%64)
	negative := (v>>(width-1))&1 - 1 // all ones without the top bit
	q.pick(&c.rows[i], (v^negative)&(entries-1))
	var minus element
	minus.sub(&minus, &q.y)
	q.y.pick(negative, &q.y, &minus)
}

// multiply is kG, in a time that does not depend on k.
//
// Only the last addition needs the formula that is complete. Write W for
// 2^width. Before window i is added, the sum is sG for an odd number s, because
// all digits are odd, and |s| <= W^i - 1, because no digit is above W - 1. The
// window is eG with W^i <= |e| <= (W - 1)W^i. So s, s - e and s + e are not zero,
// and all are between -W^(i+1) and W^(i+1). Before the last window that is at
// most 2^255, which is less than the order: they are not zero modulo the order
// either, so that the sum is neither infinity nor the window nor its negative.
//
// The last addition would reach 2^260, and has two scalars for which it is
// special: zero, and that for which both points are the same.
//
// What is left of the way there would give digits away, and is cleared.
func multiply(k *secp256k1.ModNScalar) (whole point) {
	c := theComb()
	m := c.digits(k)
	var partial sum
	var q affine
	defer func() {
		clear(m[:])
		partial, q = sum{}, affine{}
	}()
	if eightAtOnce() {
		c.sideBySide(&partial, &m)
	} else {
		c.inTurn(&partial, &m)
	}
	whole = partial.point()
	c.entry(&q, &m, windows-1)
	whole.add(&q)
	return whole
}

// inTurn sets p to the sum of all windows but the last, one after the other.
func (c *comb) inTurn(p *sum, m *[windows*width/64 + 1]uint64) {
	var q affine
	defer func() { q = affine{} }()
	c.entry(&q, m, 0)
	*p = q.sum()
	for i := 1; i < windows-1; i++ {
		c.entry(&q, m, i)
		p.add(&q)
	}
}

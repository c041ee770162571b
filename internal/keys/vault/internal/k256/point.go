package k256

import (
	"encoding/binary"
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

// comb has (2j+1) * 2^(width*i) * G in [i][j], and what recoding adds.
type comb struct {
	points [windows][entries]affine
	half   secp256k1.ModNScalar // 1/2
	shift  secp256k1.ModNScalar // (2^(width*windows) - 1)/2
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
	for i := range c.points {
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
		copy(c.points[i][:], made)
		base = made[entries]
	}
	return &c
})

// pick sets q to an entry, and reads all of them to do it.
func (q *affine) pick(row *[entries]affine, index uint64) {
	var x0, x1, x2, x3, y0, y1, y2, y3 uint64
	for j := range row {
		e := &row[j]
		mask := -((uint64(j) ^ index - 1) >> 63) // all ones where j is the index
		x0 |= e.x[0] & mask
		x1 |= e.x[1] & mask
		x2 |= e.x[2] & mask
		x3 |= e.x[3] & mask
		y0 |= e.y[0] & mask
		y1 |= e.y[1] & mask
		y2 |= e.y[2] & mask
		y3 |= e.y[3] & mask
	}
	q.x, q.y = element{x0, x1, x2, x3}, element{y0, y1, y2, y3}
}

// multiply is kG, in a time that does not depend on k.
//
// With m = k/2 + (2^N - 1)/2, k is the sum of (2b - 1)2^i over the N bits b of
// m. So a window with the bits v is the digit 2v - (2^width - 1): with the top
// bit set it is positive, and without it the negative of that with all bits
// inverted.
func multiply(k *secp256k1.ModNScalar) (sum point) {
	c := theComb()
	var m secp256k1.ModNScalar
	defer m.Zero()
	m.Mul2(k, &c.half).Add(&c.shift)
	bytes := m.Bytes()
	defer clear(bytes[:])
	var limbs [windows*width/64 + 1]uint64
	defer clear(limbs[:])
	for i := range 4 {
		limbs[i] = binary.BigEndian.Uint64(bytes[8*(3-i):])
	}
	sum.y = element{1} // infinity
	for i := range windows {
		at := i * width
		v := limbs[at/64]>>(at%64) | limbs[min(at/64+1, len(limbs)-1)]<<(64-at%64)
		negative := (v>>(width-1))&1 - 1 // all ones without the top bit
		var q affine
		q.pick(&c.points[i], (v^negative)&(entries-1))
		var minus element
		minus.sub(&minus, &q.y)
		q.y.pick(negative, &q.y, &minus)
		sum.add(&q)
	}
	return sum
}

// Package k256 does the secret arithmetic on secp256k1 that the curve library
// does slowly, and in a time that depends on the secret: multiplying the base
// point, and inverting.
//
// All of it takes constant time: no branch and no address depends on a number. The
// library's own scalars add and multiply in constant time too.
package k256

import "github.com/decred/dcrd/dcrec/secp256k1/v4"

// Base sets p to kG, in affine coordinates, and reports whether that is a point
// of the curve. It is not if k is zero, or if the table is damaged: then it
// would be wrong each time in the same way, and comparing two results would
// not show it.
func Base(k *secp256k1.ModNScalar, p *secp256k1.JacobianPoint) bool {
	sum := multiply(k)
	var q affine
	var inverse element
	inverse.invert(&sum.z)
	q.x.mul(&sum.x, &inverse)
	q.y.mul(&sum.y, &inverse)
	q.x.putField(&p.X)
	q.y.putField(&p.Y)
	p.Z.SetInt(1)
	return q.onCurve()
}

// IsBase computes kG anew and reports whether it is p, which is affine and on
// the curve.
func IsBase(k *secp256k1.ModNScalar, p *secp256k1.JacobianPoint) bool {
	sum := multiply(k)
	var q affine
	q.x.setField(&p.X)
	q.y.setField(&p.Y)
	var x, y element // x = X/Z, without the division
	x.mul(&q.x, &sum.z)
	y.mul(&q.y, &sum.z)
	return !sum.z.isZero() && q.onCurve() && x.equal(&sum.x) && y.equal(&sum.y)
}

// onCurve is y^2 = x^3 + 7.
func (q *affine) onCurve() bool {
	var left, right element
	left.square(&q.y, 1)
	right.square(&q.x, 1)
	right.mul(&right, &q.x)
	right.add(&right, &element{7})
	return left.equal(&right)
}

// Inverse sets to to 1/k modulo the order. k must not be zero.
func Inverse(to, k *secp256k1.ModNScalar) {
	text := k.Bytes()
	number := limbsOf(&text)
	groupOrder.invert(&number)
	text = bytesOf(number)
	to.SetBytes(&text)
	clear(text[:])
	clear(number[:])
}

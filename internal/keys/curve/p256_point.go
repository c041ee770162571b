package curve

import (
	"math/big"

	"filippo.io/nistec"
)

// affine is a point of P-256 that is not the one at infinity.
type affine struct{ x, y p256Element }

// jacobian is the point (x/z², y/z³); that at infinity, if z is zero.
type jacobian struct{ x, y, z p256Element }

// set takes a point over that is not at infinity.
func (p *jacobian) set(q *nistec.P256Point) {
	text := q.Bytes()
	p.x = fromBytes([coordinateSize]byte(text[1:]))
	p.y = fromBytes([coordinateSize]byte(text[1+coordinateSize:]))
	p.z = p256One
}

// p256Square is 2^512 modulo the prime, which brings a number into the form of an
// element.
var p256Square = func() (r p256Element) {
	r = p256One
	for range 256 {
		r.add(&r, &r)
	}
	return r
}()

// fromBytes makes an element of a number below the prime.
func fromBytes(text [coordinateSize]byte) (z p256Element) {
	z = limbs(&text)
	z.mul(&z, &p256Square)
	return z
}

func (p *jacobian) setAffine(a *affine) { p.x, p.y, p.z = a.x, a.y, p256One }

// double sets p to 2·p, by the formulas dbl-2001-b.
func (p *jacobian) double() {
	var delta, gamma, beta, alpha, t p256Element
	delta.square(&p.z)
	gamma.square(&p.y)
	beta.mul(&p.x, &gamma)
	t.sub(&p.x, &delta)
	alpha.add(&p.x, &delta)
	alpha.mul(&alpha, &t)
	t.add(&alpha, &alpha)
	alpha.add(&alpha, &t) // 3·(x - delta)·(x + delta)

	p.z.add(&p.y, &p.z) // (y + z)² - gamma - delta
	p.z.square(&p.z)
	p.z.sub(&p.z, &gamma)
	p.z.sub(&p.z, &delta)

	beta.add(&beta, &beta)
	beta.add(&beta, &beta) // 4·x·gamma
	p.x.square(&alpha)
	p.x.sub(&p.x, &beta)
	p.x.sub(&p.x, &beta)

	gamma.square(&gamma)
	gamma.add(&gamma, &gamma)
	gamma.add(&gamma, &gamma)
	gamma.add(&gamma, &gamma) // 8·y⁴
	beta.sub(&beta, &p.x)
	p.y.mul(&alpha, &beta)
	p.y.sub(&p.y, &gamma)
}

// addAffine sets p to p + q.
func (p *jacobian) addAffine(q *affine) {
	if p.z.isZero() {
		p.setAffine(q)
		return
	}
	var zz, u, s p256Element
	zz.square(&p.z)
	u.mul(&q.x, &zz)
	s.mul(&q.y, &p.z)
	s.mul(&s, &zz)
	p.join(&p.x, &p.y, &u, &s, &p.z)
}

// add sets p to p + q.
func (p *jacobian) add(q *jacobian) {
	switch {
	case q.z.isZero():
		return
	case p.z.isZero():
		*p = *q
		return
	}
	var zz, qzz, x, y, u, s, z p256Element
	zz.square(&p.z)
	qzz.square(&q.z)
	x.mul(&p.x, &qzz)
	y.mul(&p.y, &q.z)
	y.mul(&y, &qzz)
	u.mul(&q.x, &zz)
	s.mul(&q.y, &p.z)
	s.mul(&s, &zz)
	z.mul(&p.z, &q.z)
	p.join(&x, &y, &u, &s, &z)
}

// join sets p to (x, y) + (u, s), over the same z. Neither is at infinity.
func (p *jacobian) join(x, y, u, s, z *p256Element) {
	var h, r, hh, v p256Element
	h.sub(u, x)
	r.sub(s, y)
	if h.isZero() {
		if r.isZero() {
			p.x, p.y, p.z = *x, *y, *z
			p.double()
			return
		}
		*p = jacobian{} // they cancel
		return
	}
	hh.square(&h)
	v.mul(x, &hh)
	p.z.mul(z, &h)
	hh.mul(&hh, &h)
	h.mul(y, &hh)
	p.x.square(&r)
	p.x.sub(&p.x, &hh)
	p.x.sub(&p.x, &v)
	p.x.sub(&p.x, &v)
	v.sub(&v, &p.x)
	p.y.mul(&r, &v)
	p.y.sub(&p.y, &h)
}

// hasX reports whether a number below the prime is the point's x. That at infinity
// has none.
func (p *jacobian) hasX(n *big.Int) bool {
	if p.z.isZero() {
		return false
	}
	var text [coordinateSize]byte
	n.FillBytes(text[:])
	x, square := fromBytes(text), p256Element{}
	square.square(&p.z)
	x.mul(&x, &square)
	return x == p.x
}

// normalize brings points into the form in which they are added fastest, with one
// inversion for all. None is at infinity.
func normalize(points []jacobian) []affine {
	products := make([]p256Element, len(points)+1) // of the z before each
	products[0] = p256One
	for i := range points {
		products[i+1].mul(&products[i], &points[i].z)
	}
	var inverse p256Element
	inverse.invert(&products[len(points)])
	all := make([]affine, len(points))
	for i := len(points) - 1; i >= 0; i-- {
		var own, square p256Element
		own.mul(&inverse, &products[i])
		inverse.mul(&inverse, &points[i].z)
		square.square(&own)
		all[i].x.mul(&points[i].x, &square)
		square.mul(&square, &own)
		all[i].y.mul(&points[i].y, &square)
	}
	return all
}

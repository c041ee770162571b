package curve

import "filippo.io/nistec"

// affine is a point of P-256 that is not the one at infinity.
type affine struct{ x, y p256Element }

// sum is the point (x/zz, y/zzz), where zz³ = zzz²; that at infinity, if zz is zero.
// A point of a table is added to it with 10 products; to coordinates of Jacobi, with 11.
type sum struct{ x, y, zz, zzz p256Element }

// set takes a point over that is not at infinity.
func (p *sum) set(q *nistec.P256Point) {
	text := q.Bytes()
	p.x = fromBytes([coordinateSize]byte(text[1:]))
	p.y = fromBytes([coordinateSize]byte(text[1+coordinateSize:]))
	p.zz, p.zzz = p256One, p256One
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

// doubleGeneric sets p to 2·p, by the formulas dbl-2008-s-1.
func (p *sum) doubleGeneric() {
	var u, v, w, s, m, t p256Element
	u.add(&p.y, &p.y)
	v.square(&u)
	w.mul(&u, &v)
	s.mul(&p.x, &v)
	t.sub(&p.x, &p.zz)
	m.add(&p.x, &p.zz)
	m.mul(&m, &t)
	t.add(&m, &m)
	m.add(&m, &t) // 3·(x - zz)·(x + zz), because the curve's a is -3

	p.zz.mul(&p.zz, &v)
	p.zzz.mul(&p.zzz, &w)
	w.mul(&w, &p.y)
	t.square(&m)
	p.x.subTwice(&t, &p256Element{}, &s)
	s.sub(&s, &p.x)
	s.mul(&s, &m)
	p.y.sub(&s, &w)
}

// addAffineGeneric sets p to p + q.
func (p *sum) addAffineGeneric(q *affine) {
	if p.zz.isZero() {
		*p = sum{q.x, q.y, p256One, p256One}
		return
	}
	var u, s p256Element
	u.mul(&q.x, &p.zz)
	s.mul(&q.y, &p.zzz)
	p.join(&u, &s)
}

// add sets p to p + q.
func (p *sum) add(q *sum) {
	switch {
	case q.zz.isZero():
		return
	case p.zz.isZero():
		*p = *q
		return
	}
	var u, s p256Element
	u.mul(&q.x, &p.zz)
	s.mul(&q.y, &p.zzz)
	p.x.mul(&p.x, &q.zz)
	p.y.mul(&p.y, &q.zzz)
	p.zz.mul(&p.zz, &q.zz)
	p.zzz.mul(&p.zzz, &q.zzz)
	p.join(&u, &s)
}

// join adds the point (u/zz, s/zzz), with the zz and zzz of p, by the formulas
// add-2008-s. Neither is at infinity.
func (p *sum) join(u, s *p256Element) {
	u.sub(u, &p.x)
	s.sub(s, &p.y)
	if u.isZero() {
		if s.isZero() {
			p.double()
			return
		}
		*p = sum{} // they cancel
		return
	}
	p.joinOther(u, s)
}

// joinOther is join for points that are different and do not cancel, of which it is
// given the differences of x and of y. If u is zero, it leaves the point at infinity.
func (p *sum) joinOther(u, s *p256Element) {
	var square, cube, v p256Element
	square.square(u)
	cube.mul(u, &square)
	v.mul(&p.x, &square)
	p.zz.mul(&p.zz, &square)
	p.zzz.mul(&p.zzz, &cube)
	p.y.mul(&p.y, &cube)
	p.x.square(s)
	p.x.subTwice(&p.x, &cube, &v)
	v.sub(&v, &p.x)
	v.mul(&v, s)
	p.y.sub(&v, &p.y)
}

// hasX reports whether a number below the prime is the point's x. That at infinity
// has none.
func (p *sum) hasX(number p256Scalar) bool {
	if p.zz.isZero() {
		return false
	}
	x := p256Element(number)
	x.mul(&x, &p256Square)
	x.mul(&x, &p.zz)
	return x.reduced() == p.x.reduced()
}

// normalize brings points into the form in which they are added fastest, with one
// inversion for all. None is at infinity.
func normalize(points []sum) []affine {
	products := make([]p256Element, len(points)+1) // of the zzz before each
	products[0] = p256One
	for i := range points {
		products[i+1].mul(&products[i], &points[i].zzz)
	}
	var inverse p256Element
	inverse.invert(&products[len(points)])
	all := make([]affine, len(points))
	for i := len(points) - 1; i >= 0; i-- {
		var own, square p256Element
		own.mul(&inverse, &products[i])
		inverse.mul(&inverse, &points[i].zzz)
		all[i].y.mul(&points[i].y, &own)
		square.mul(&own, &points[i].zz)
		square.square(&square) // 1/zz, because zzz is zz to the power of 3/2
		all[i].x.mul(&points[i].x, &square)
	}
	return all
}

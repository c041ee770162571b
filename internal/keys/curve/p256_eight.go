package curve

import (
	"encoding/binary"

	"latchkey/internal/keys/lanes"
)

// eightSums are the sums of eight columns, which grow side by side. Numbers in lanes are
// times 2^260 modulo the prime, where an element is times 2^256.
type eightSums struct{ lanes.Sums }

// maxAtOnce is how many points a column may have.
const maxAtOnce = 8

// sumOfEight is sumOf for terms of eight columns. It is not done (ok is false) where a
// column has no point, or where two points that are added are the same or cancel.
func sumOfEight(terms []term) (all sum, ok bool) {
	var points [lanes.Count][maxAtOnce]*affine
	var counts [lanes.Count]int
	for i := range terms {
		for block, sums := range terms[i].sums {
			for column, d := range terms[i].digits(block) {
				if d != 0 {
					points[column][counts[column]] = &sums[d-1]
					counts[column]++
				}
			}
		}
	}
	var s eightSums
	for column := range lanes.Count {
		if counts[column] == 0 {
			return sum{}, false
		}
		s.begin(column, points[column][0])
	}
	for i := 1; i < maxAtOnce; i++ {
		var which uint16
		for column := range lanes.Count {
			if i < counts[column] {
				q := points[column][i]
				s.Put(column, (*[4]uint64)(&q.x), (*[4]uint64)(&q.y))
				which |= 1 << column
			}
		}
		if which == 0 {
			break
		}
		addEight(&s, which)
	}
	for column := lanes.Count - 1; column >= 0; column-- {
		p := s.sum(column)
		if p.zz.isZero() {
			return sum{}, false
		}
		all.double()
		all.add(&p)
	}
	return all, true
}

// fitEight reports whether sumOfEight takes terms of these combs.
func fitEight(terms []term) bool {
	points := 0
	for i := range terms {
		if terms[i].stride != lanes.Count {
			return false
		}
		points += terms[i].blocks
	}
	return points <= maxAtOnce
}

// digits are those of all columns of a block: the bits of the rows in it, with rows and
// columns exchanged (Hacker's Delight, 7-3).
func (t *term) digits(block int) (all [lanes.Count]byte) {
	var m uint64
	for row, bits := range t.bits {
		m |= bits >> (lanes.Count * block) & 0xff << (8 * row)
	}
	swap := func(by int, where uint64) {
		bits := (m ^ m>>by) & where
		m ^= bits ^ bits<<by
	}
	swap(7, 0x00aa00aa00aa00aa)
	swap(14, 0x0000cccc0000cccc)
	swap(28, 0x00000000f0f0f0f0)
	binary.LittleEndian.PutUint64(all[:], m)
	return all
}

// lanesOne is the one of lanes.
var lanesOne = p256One.times16()

// begin sets one of the sums to a point.
func (s *eightSums) begin(lane int, q *affine) {
	s.set(lane, &sum{q.x.times16(), q.y.times16(), lanesOne, lanesOne})
}

func (s *eightSums) set(lane int, p *sum) {
	s.Set(lane, (*[4]uint64)(&p.x), (*[4]uint64)(&p.y), (*[4]uint64)(&p.zz), (*[4]uint64)(&p.zzz))
}

// get are the coordinates of a sum as they are in its lane: as elements, 16 times what
// they stand for.
func (s *eightSums) get(lane int) (p sum) {
	number := func(z *p256Element, n *lanes.Number) {
		over := n.Get(lane, (*[4]uint64)(z))
		z.add(z, &p256Folds[over&15])
	}
	number(&p.x, &s.X)
	number(&p.y, &s.Y)
	number(&p.zz, &s.ZZ)
	number(&p.zzz, &s.ZZZ)
	return p
}

// sum is one of the sums. The form of a sum allows x and zz to be multiplied by the
// square of a number, and y and zzz by its cube: with 4 times more it is the number 4.
func (s *eightSums) sum(lane int) sum {
	p := s.get(lane)
	p.y, p.zzz = p.y.times4(), p.zzz.times4()
	return p
}

// sixteenth is 1/16.
var sixteenth = func() (z p256Element) {
	sixteen := p256One.times16()
	z.invert(&sixteen)
	return z
}()

// addEightGeneric adds the points that were put to the sums that bits of which name. Only
// tests need it, where the processor cannot: adding one after the other is faster. A sum that
// is at infinity, or is the point or its opposite, is at infinity afterwards.
func addEightGeneric(s *eightSums, which uint16) {
	for lane := range lanes.Count {
		if which>>lane&1 == 0 {
			continue
		}
		p := s.get(lane)
		for _, z := range []*p256Element{&p.x, &p.y, &p.zz, &p.zzz} {
			z.mul(z, &sixteenth)
		}
		x, y := s.Point(lane)
		var u, r p256Element
		u.mul((*p256Element)(&x), &p.zz)
		r.mul((*p256Element)(&y), &p.zzz)
		u.sub(&u, &p.x)
		r.sub(&r, &p.y)
		p.joinOther(&u, &r)
		s.set(lane, &sum{p.x.times16(), p.y.times16(), p.zz.times16(), p.zzz.times16()})
	}
}

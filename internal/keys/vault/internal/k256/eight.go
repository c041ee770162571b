package k256

import "latchkey/internal/keys/lanes"

// eightSums are sums that grow side by side.
type eightSums struct{ lanes.Sums }

// sideBySide is inTurn, with every eighth window in a lane, and then the lanes. No case of
// the shorter formulas occurs that they do not have:
//
//   - In a lane the multiple that is added is larger than the sum before it, as it is in
//     turn: fewer windows are below it.
//   - Lane i is W^i times an odd number: all its digits are odd, and W is even. So the
//     sum of those before it, which begins with lane 0, is odd, and neither lane i nor
//     its negative. All together are below W^51, as multiply says.
//
// A lane alone gives the digits of its windows away: no copy of one is left in memory.
func (c *comb) sideBySide(p *sum, m *[windows*width/64 + 1]uint64) {
	var w struct {
		sums eightSums
		q    affine
		lane sum
	}
	defer func() { w.sums, w.q, w.lane = eightSums{}, affine{}, sum{} }()
	for i := range windows - 1 {
		c.entry(&w.q, m, i)
		lane := i % lanes.Count
		if i < lanes.Count {
			w.sums.Set(lane, (*[4]uint64)(&w.q.x), (*[4]uint64)(&w.q.y), &[4]uint64{1}, &[4]uint64{1})
			continue
		}
		w.sums.Put(lane, (*[4]uint64)(&w.q.x), (*[4]uint64)(&w.q.y))
		if lane == lanes.Count-1 || i == windows-2 {
			addEight(&w.sums, 1<<(lane+1)-1)
		}
	}
	w.sums.get(0, p)
	for lane := 1; lane < lanes.Count; lane++ {
		w.sums.get(lane, &w.lane)
		p.addSum(&w.lane)
	}
}

// get sets p to one of the sums.
func (s *eightSums) get(lane int, p *sum) {
	number := func(z *element, n *lanes.Number) {
		over := n.Get(lane, (*[4]uint64)(z))
		z.add(z, &element{over * fold})
	}
	number(&p.x, &s.X)
	number(&p.y, &s.Y)
	number(&p.zz, &s.ZZ)
	number(&p.zzz, &s.ZZZ)
}

// addEightGeneric adds the points that were put to the sums that bits of which name, as
// addGeneric does. Only tests need it, where the processor cannot: adding one after the
// other is faster.
func addEightGeneric(s *eightSums, which uint16) {
	for lane := range lanes.Count {
		if which>>lane&1 == 0 {
			continue
		}
		var p sum
		s.get(lane, &p)
		x, y := s.Point(lane)
		p.addGeneric(&affine{x, y})
		s.Set(lane, (*[4]uint64)(&p.x), (*[4]uint64)(&p.y), (*[4]uint64)(&p.zz), (*[4]uint64)(&p.zzz))
	}
}

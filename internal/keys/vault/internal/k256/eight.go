package k256

import "latchkey/internal/keys/lanes"

// eightSums are sums that grow side by side.
type eightSums struct{ lanes.Sums }

// sideBySide adds up every eighth window in a lane, and then the lanes. No case of
// the shorter formulas occurs that they do not have:
//
//   - In a lane the multiple that is added is larger than the sum before it, as it is in
//     turn: fewer windows are below it.
//   - Lane i is W^i times an odd number: all its digits are odd, and W is even. So the
//     sum of those before it, which begins with lane 0, is odd, and neither lane i nor
//     its negative. All together are below W^51, as multiply says.
func (c *comb) sideBySide(m *[windows*width/64 + 1]uint64) sum {
	var s eightSums
	defer func() { s = eightSums{} }()
	var q affine
	for i := range windows - 1 {
		c.entry(&q, m, i)
		lane := i % lanes.Count
		if i < lanes.Count {
			s.set(lane, &sum{q.x, q.y, element{1}, element{1}})
			continue
		}
		s.Put(lane, (*[4]uint64)(&q.x), (*[4]uint64)(&q.y))
		if lane == lanes.Count-1 || i == windows-2 {
			addEight(&s, 1<<(lane+1)-1)
		}
	}
	all := s.get(0)
	for lane := 1; lane < lanes.Count; lane++ {
		one := s.get(lane)
		all.addSum(&one)
	}
	return all
}

func (s *eightSums) set(lane int, p *sum) {
	s.X.Set(lane, (*[4]uint64)(&p.x))
	s.Y.Set(lane, (*[4]uint64)(&p.y))
	s.ZZ.Set(lane, (*[4]uint64)(&p.zz))
	s.ZZZ.Set(lane, (*[4]uint64)(&p.zzz))
}

func (s *eightSums) get(lane int) sum {
	number := func(n *lanes.Number) element {
		limbs, over := n.Get(lane)
		z := element(limbs)
		z.add(&z, &element{over * fold})
		return z
	}
	return sum{number(&s.X), number(&s.Y), number(&s.ZZ), number(&s.ZZZ)}
}

// addEightGeneric adds the points that were put to the sums that bits of which name, as
// addGeneric does. It is what the assembly is held to, and slower than adding one after
// the other.
func addEightGeneric(s *eightSums, which uint16) {
	for lane := range lanes.Count {
		if which>>lane&1 == 0 {
			continue
		}
		p := s.get(lane)
		x, y := s.Point(lane)
		p.addGeneric(&affine{x, y})
		s.set(lane, &p)
	}
}

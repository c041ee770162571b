//go:build !amd64

package k256

func (z *element) mul(x, y *element) { z.mulGeneric(x, y) }

// square squares n times, at least once.
func (z *element) square(x *element, n int) { z.squareGeneric(x, n) }

func (p *sum) add(q *affine) { p.addGeneric(q) }

func (q *affine) pick(r *row, index uint64) { q.pickGeneric(r, index) }

// eightAtOnce reports whether the processor adds eight points at once.
func eightAtOnce() bool { return false }

func addEight(s *eightSums, which uint16) { addEightGeneric(s, which) }

package k256

import "golang.org/x/sys/cpu"

// hasAssembly: what processors since 2013 (Intel) and 2015 (AMD) can. Only tests
// change it.
var hasAssembly = cpu.X86.HasBMI2 && cpu.X86.HasAVX2

// hasEight: what servers since 2021 (Intel) and 2022 (AMD) can. Only tests change it.
var hasEight = cpu.X86.HasAVX512F && cpu.X86.HasAVX512IFMA

// eightAtOnce reports whether the processor adds eight points at once.
func eightAtOnce() bool { return hasAssembly && hasEight }

func addEight(s *eightSums, which uint16) {
	if eightAtOnce() {
		addEightAssembly(s, which)
		return
	}
	addEightGeneric(s, which)
}

func (z *element) mul(x, y *element) {
	if hasAssembly {
		mulAssembly(z, x, y)
		return
	}
	z.mulGeneric(x, y)
}

// square squares n times, at least once.
func (z *element) square(x *element, n int) {
	if hasAssembly {
		squareAssembly(z, x, n)
		return
	}
	z.squareGeneric(x, n)
}

func (p *sum) add(q *affine) {
	if hasAssembly {
		addAssembly(p, q)
		return
	}
	p.addGeneric(q)
}

func (q *affine) pick(r *row, index uint64) {
	if hasAssembly {
		pickAssembly(q, r, index)
		return
	}
	q.pickGeneric(r, index)
}

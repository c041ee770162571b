package curve

import "golang.org/x/sys/cpu"

// hasAssembly: what processors since 2013 (Intel) and 2015 (AMD) can. Only tests
// change it.
var hasAssembly = cpu.X86.HasBMI2

// hasEight: what servers since 2021 (Intel) and 2022 (AMD) can. Only tests change it.
var hasEight = cpu.X86.HasAVX512F && cpu.X86.HasAVX512IFMA

// eightAtOnce reports whether the processor adds eight points at once.
func eightAtOnce() bool { return hasAssembly && hasEight }

func addEight(s *eightSums, which uint16) {
	if eightAtOnce() {
		p256AddEightAssembly(s, which)
		return
	}
	addEightGeneric(s, which)
}

func (z *p256Element) mul(x, y *p256Element) {
	if hasAssembly {
		p256MulAssembly(z, x, y)
		return
	}
	z.mulGeneric(x, y)
}

func (z *p256Element) square(x *p256Element) {
	if hasAssembly {
		p256SquareAssembly(z, x)
		return
	}
	z.squareGeneric(x)
}

func (p *sum) double() {
	if hasAssembly {
		p256DoubleAssembly(p)
		return
	}
	p.doubleGeneric()
}

func (p *sum) addAffine(q *affine) {
	if hasAssembly && !p.zz.isZero() && p256AddAssembly(p, q) {
		return
	}
	p.addAffineGeneric(q)
}

package curve

import "golang.org/x/sys/cpu"

// hasAssembly: what processors since 2013 (Intel) and 2015 (AMD) can. Only tests
// change it.
var hasAssembly = cpu.X86.HasBMI2

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

package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// p256 is the field of P-256 in the form of Montgomery, for public numbers.
var p256 = target{
	folder: "internal/keys/curve",
	types: `
		type p256Element [4]uint64
		type affine struct{ x, y p256Element }
		type sum struct{ x, y, zz, zzz p256Element }
	` + eightTypes,
	routines: []routine{
		{"p256MulAssembly", "(z, x, y *p256Element)", []string{"p256MulAssembly is mulGeneric."}, func(c *code) {
			z, x, y := c.pointer("z"), c.pointer("x"), c.pointer("y")
			c.store(c.p256Product(c.at(x), c.at(y)), c.at(z))
		}},
		{"p256SquareAssembly", "(z, x *p256Element)", []string{"p256SquareAssembly is squareGeneric."}, func(c *code) {
			z, x := c.pointer("z"), c.pointer("x")
			c.store(c.p256Squared(c.at(x)), c.at(z))
		}},
		{"p256DoubleAssembly", "(p *sum)", []string{"p256DoubleAssembly is doubleGeneric."}, p256Double},
		{"p256AddAssembly", "(p *sum, q *affine) (done bool)", []string{
			"p256AddAssembly is addAffineGeneric of points that are different, not opposite, and",
			"not at infinity. Where they may not be, it changes nothing, and is not done.",
		}, p256Add},
		{"p256AddEightAssembly", "(s *eightSums, which uint16)", []string{"p256AddEightAssembly is addEightGeneric, with other limbs of the same numbers."}, p256Eight.add},
	},
}

// step adds the multiple of the prime that makes the lowest limb zero, and leaves that
// limb out; the carry is a new highest one. The multiple is that limb times the prime.
// Products with 2^32 are shifts, but not by the units that add carries.
func (c *code) step(t row) row {
	c.MOVQ(t[0], reg.RDX)
	up, down := c.times(c.constant("shift", 1<<32))
	low, high := c.times(c.constant("limb3", 1<<64-1<<32+1))
	carry := c.zero()
	c.add(limbs(t[1:]), number{up, down, low, high})
	c.ADCQ(operand.U8(0), carry)
	return row{t[1], t[2], t[3], t[4], carry}
}

// p256Product is mulGeneric.
func (c *code) p256Product(x, y number) limbs {
	t := c.step(c.row(x, y[0]))
	for j := 1; j < 4; j++ {
		r := c.row(x, y[j])
		c.add(limbs(t[:4]), number{r[0], r[1], r[2], r[3]})
		c.ADCQ(r[4], t[4])
		t = c.step(t)
	}
	return c.below(t)
}

// p256Squared is squareGeneric.
func (c *code) p256Squared(x number) limbs {
	all := c.square(x)
	t := row{all[0], all[1], all[2], all[3], c.zero()}
	for range 4 {
		t = c.step(t)
	}
	c.add(limbs(t[:4]), number{all[4], all[5], all[6], all[7]})
	c.ADCQ(operand.U8(0), t[4])
	return c.below(t)
}

// below takes the prime away if there is a fifth limb, or if the highest is all ones;
// both cannot be.
func (c *code) below(t row) limbs {
	top, over := c.GP64(), t[4]
	c.MOVQ(t[3], top)
	c.ADDQ(operand.U8(1), top)
	c.ADCQ(operand.U8(0), over)
	c.NEGQ(over)
	c.less(limbs(t[:4]), over)
	return limbs(t[:4])
}

// prime is the prime if the mask is all ones, and zero if it is zero.
func (c *code) prime(mask reg.GPVirtual) number {
	limb1, limb3 := c.GP64(), c.GP64()
	c.MOVQ(mask, limb1)
	c.SHRQ(operand.U8(32), limb1) // 2^32 - 1
	c.MOVQ(limb1, limb3)
	c.NEGQ(limb3) // 2^64 - 2^32 + 1
	return number{mask, limb1, operand.U8(0), limb3}
}

// less takes the prime away from t, or zero, and leaves the borrow in the flag.
func (c *code) less(t limbs, mask reg.GPVirtual) { c.subtract(t, c.prime(mask)) }

// more adds the prime to t, or zero, and leaves the carry in the flag.
func (c *code) more(t limbs, mask reg.GPVirtual) { c.add(t, c.prime(mask)) }

func (c *code) allOnes() reg.GPVirtual {
	mask := c.GP64()
	c.MOVQ(operand.I32(-1), mask)
	return mask
}

// p256Plus adds y to t.
func (c *code) p256Plus(t limbs, y number) {
	mask := c.zero()
	c.add(t, y)
	c.SBBQ(operand.U8(0), mask)
	c.less(t, mask)
	c.ADCQ(operand.U8(0), mask) // zero, if that borrowed what had overflowed
	c.rarely(func() { c.less(t, c.allOnes()) }, func(there operand.Op) {
		c.JNE(there)
		c.CMPQ(t[3], operand.I8(-1))
		c.JEQ(there)
	})
}

// p256Minus takes y away from t.
func (c *code) p256Minus(t limbs, y number) {
	mask := c.zero()
	c.subtract(t, y)
	c.SBBQ(operand.U8(0), mask)
	c.more(t, mask)
	c.ADCQ(operand.U8(0), mask) // zero, if that overflowed what had been borrowed
	c.rarely(func() { c.more(t, c.allOnes()) }, c.JNE)
}

// p256MinusTwice takes y, if there is one, and 2w away from t.
func (c *code) p256MinusTwice(t limbs, y *number, w number) {
	over := c.subtractTwice(t, y, w)
	// over times 2^256 less the prime, which is 2^224 - 2^192 - 2^96 + 1
	limb1, limb2, limb3 := c.zero(), c.zero(), c.GP64()
	c.MOVQ(over, limb3)
	c.SHLQ(operand.U8(32), limb3)
	c.SUBQ(limb3, limb1)
	c.SBBQ(operand.U8(0), limb2)
	c.SUBQ(over, limb3)
	c.ADDQ(limb2, limb3)
	c.subtract(t, number{over, limb1, limb2, limb3})
	c.rarely(func() { c.more(t, c.allOnes()) }, c.JCS)
}

// p256Double has the steps of doubleGeneric, line by line.
func p256Double(c *code) {
	p := c.pointer("p")
	px, py, zz, zzz := c.at(p.Field("x")), c.at(p.Field("y")), c.at(p.Field("zz")), c.at(p.Field("zzz"))
	u, v, w, s, m, d := c.local(), c.local(), c.local(), c.local(), c.local(), c.local()

	c.Comment("u = 2*p.y")
	t := c.load(py)
	c.p256Plus(t, py)
	c.store(t, u)
	c.Comment("v = u*u")
	c.store(c.p256Squared(u), v)
	c.Comment("w = u*v")
	c.store(c.p256Product(u, v), w)
	c.Comment("s = p.x*v")
	c.store(c.p256Product(px, v), s)
	c.Comment("d = p.x - p.zz")
	t = c.load(px)
	c.p256Minus(t, zz)
	c.store(t, d)
	c.Comment("m = 3*(p.x + p.zz)*d")
	t = c.load(px)
	c.p256Plus(t, zz)
	c.store(t, m)
	t = c.p256Product(m, d)
	c.store(t, m)
	c.p256Plus(t, m)
	c.p256Plus(t, m)
	c.store(t, m)
	c.Comment("p.zz *= v")
	c.store(c.p256Product(zz, v), zz)
	c.Comment("p.zzz *= w")
	c.store(c.p256Product(zzz, w), zzz)
	c.Comment("w *= p.y")
	c.store(c.p256Product(w, py), w)
	c.Comment("p.x = m*m - 2*s")
	t = c.p256Squared(m)
	c.p256MinusTwice(t, nil, s)
	c.store(t, px)
	c.Comment("p.y = (s - p.x)*m - w")
	t = c.load(s)
	c.p256Minus(t, px)
	c.store(t, s)
	t = c.p256Product(s, m)
	c.p256Minus(t, w)
	c.store(t, py)
}

// p256Add has the steps of addAffineGeneric, line by line. It looks only at the third
// limb of the difference: both forms of zero have a zero there, and next to nothing
// else has.
func p256Add(c *code) {
	p, q := c.pointer("p"), c.pointer("q")
	px, py, zz, zzz := c.at(p.Field("x")), c.at(p.Field("y")), c.at(p.Field("zz")), c.at(p.Field("zzz"))
	qx, qy := c.at(q.Field("x")), c.at(q.Field("y"))
	u, r, uu, rr, uuu, v := c.local(), c.local(), c.local(), c.local(), c.local(), c.local()
	done, err := c.Return("done").Resolve()
	if err != nil {
		panic(err)
	}

	c.Comment("u = q.x*p.zz - p.x")
	special := c.mark("special")
	t := c.p256Product(qx, zz)
	c.p256Minus(t, px)
	c.TESTQ(t[2], t[2])
	c.JEQ(special)
	c.later = append(c.later, func() {
		c.Label(string(special))
		c.MOVB(operand.U8(0), done.Addr)
		c.RET()
	})
	c.store(t, u)
	c.Comment("r = q.y*p.zzz - p.y")
	t = c.p256Product(qy, zzz)
	c.p256Minus(t, py)
	c.store(t, r)
	c.Comment("uu = u*u")
	c.store(c.p256Squared(u), uu)
	c.Comment("rr = r*r")
	c.store(c.p256Squared(r), rr)
	c.Comment("uuu = u*uu")
	c.store(c.p256Product(u, uu), uuu)
	c.Comment("v = p.x*uu")
	c.store(c.p256Product(px, uu), v)
	c.Comment("p.zz *= uu")
	c.store(c.p256Product(zz, uu), zz)
	c.Comment("p.y *= uuu")
	c.store(c.p256Product(py, uuu), py)
	c.Comment("p.zzz *= uuu")
	c.store(c.p256Product(zzz, uuu), zzz)
	c.Comment("p.x = rr - uuu - 2*v")
	t = c.load(rr)
	c.p256MinusTwice(t, &uuu, v)
	c.store(t, px)
	c.Comment("p.y = (v - p.x)*r - p.y")
	t = c.load(v)
	c.p256Minus(t, px)
	c.store(t, v)
	t = c.p256Product(v, r)
	c.p256Minus(t, py)
	c.store(t, py)
	c.MOVB(operand.U8(1), done.Addr)
}

package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// k256 is the field modulo 2^256 - fold. All of it takes constant time.
var k256 = target{
	folder: "internal/keys/vault/internal/k256",
	types: `
		type element [4]uint64
		type affine struct{ x, y element }
		type sum struct{ x, y, zz, zzz element }
		type row struct{ x, y [4][16]uint64 }
	` + eightTypes,
	routines: []routine{
		{"mulAssembly", "(z, x, y *element)", []string{"mulAssembly is mulGeneric."}, func(c *code) {
			z, x, y := c.pointer("z"), c.pointer("x"), c.pointer("y")
			c.store(c.fold(c.product(c.at(x), c.at(y))), c.at(z))
		}},
		{"squareAssembly", "(z, x *element, n int)", []string{"squareAssembly is squareGeneric. It squares at least once."}, k256Square},
		{"addAssembly", "(p *sum, q *affine)", []string{"addAssembly is addGeneric of sums."}, k256Add},
		{"pickAssembly", "(q *affine, r *row, index uint64)", []string{"pickAssembly is pickGeneric."}, k256Pick},
		{"addEightAssembly", "(s *eightSums, which uint16)", []string{"addEightAssembly is addEightGeneric, with other limbs of the same numbers."}, k256Eight.add},
	},
}

const fold = operand.U64(1<<32 + 977)

// fold brings the upper half of a product down.
func (c *code) fold(t wide) (low limbs) {
	copy(low[:], t[:])
	up := c.row(number{t[4], t[5], t[6], t[7]}, fold) // leaves fold in DX
	c.add(low, number{up[0], up[1], up[2], up[3]})
	c.ADCQ(operand.U8(0), up[4])
	l, h := c.times(up[4])
	over := c.zero()
	c.ADDQ(l, low[0])
	c.ADCQ(h, low[1])
	c.ADCQ(operand.U8(0), low[2])
	c.ADCQ(operand.U8(0), low[3])
	c.CMOVQCS(reg.RDX, over)
	c.ADDQ(over, low[0]) // if that overflowed, less than 2^67 is left
	c.ADCQ(operand.U8(0), low[1])
	return low
}

// k256Minus takes y away from t.
func (c *code) k256Minus(t limbs, y number) {
	c.MOVQ(fold, reg.RDX)
	over := c.zero()
	c.subtract(t, y)
	c.CMOVQCS(reg.RDX, over)
	c.unfold(t, over)
}

// unfold takes over away from t for the 2^256 that were borrowed. If that borrows
// once more, too much is left for another. DX is fold.
func (c *code) unfold(t limbs, over reg.GPVirtual) {
	last := c.zero()
	c.SUBQ(over, t[0])
	for i := 1; i < 4; i++ {
		c.SBBQ(operand.U8(0), t[i])
	}
	c.CMOVQCS(reg.RDX, last)
	c.SUBQ(last, t[0])
}

func k256Square(c *code) {
	z, x := c.pointer("z"), c.load(c.at(c.pointer("x")))
	n, err := c.Param("n").Resolve()
	if err != nil {
		panic(err)
	}
	c.Label("again")
	for i, limb := range c.fold(c.square(x.number())) {
		c.MOVQ(limb, x[i])
	}
	c.DECQ(n.Addr)
	c.JNE(operand.LabelRef("again"))
	c.store(x, c.at(z))
}

// k256Add has the steps of addGeneric, line by line.
func k256Add(c *code) {
	p, q := c.pointer("p"), c.pointer("q")
	px, py, zz, zzz := c.at(p.Field("x")), c.at(p.Field("y")), c.at(p.Field("zz")), c.at(p.Field("zzz"))
	qx, qy := c.at(q.Field("x")), c.at(q.Field("y"))
	u, r, uu, rr, uuu, v := c.local(), c.local(), c.local(), c.local(), c.local(), c.local()

	c.Comment("u = q.x*p.zz - p.x")
	t := c.fold(c.product(qx, zz))
	c.k256Minus(t, px)
	c.store(t, u)
	c.Comment("r = q.y*p.zzz - p.y")
	t = c.fold(c.product(qy, zzz))
	c.k256Minus(t, py)
	c.store(t, r)
	c.Comment("uu = u*u")
	c.store(c.fold(c.square(u)), uu)
	c.Comment("rr = r*r")
	c.store(c.fold(c.square(r)), rr)
	c.Comment("uuu = u*uu")
	c.store(c.fold(c.product(u, uu)), uuu)
	c.Comment("v = p.x*uu")
	c.store(c.fold(c.product(px, uu)), v)
	c.Comment("p.zz *= uu")
	c.store(c.fold(c.product(zz, uu)), zz)
	c.Comment("p.y *= uuu")
	c.store(c.fold(c.product(py, uuu)), py)
	c.Comment("p.zzz *= uuu")
	c.store(c.fold(c.product(zzz, uuu)), zzz)
	c.Comment("p.x = rr - uuu - 2*v")
	t = c.load(rr)
	over := c.subtractTwice(t, &uuu, v)
	c.MOVQ(fold, reg.RDX)
	c.IMULQ(reg.RDX, over)
	c.unfold(t, over)
	c.store(t, px)
	c.Comment("v = (v - p.x)*r")
	t = c.load(v)
	c.k256Minus(t, px)
	c.store(t, v)
	t = c.fold(c.product(v, r))
	c.Comment("p.y = v - p.y")
	c.k256Minus(t, py)
	c.store(t, py)
}

// k256Pick sums up the coefficients whose number j has no bit that the index has not:
// (index & j) == j. Four of a limb are looked at together, and all are read.
func k256Pick(c *code) {
	q, r := c.pointer("q"), c.pointer("r")
	index, err := c.Param("index").Resolve()
	if err != nil {
		panic(err)
	}
	numbers := c.StaticGlobal("numbers")
	c.DataAttributes(attr.RODATA | attr.NOPTR)
	for j := range 16 {
		c.AddDatum(8*j, operand.U64(j))
	}
	every := c.YMM()
	c.VPBROADCASTQ(index.Addr, every)
	var masks [4]reg.VecVirtual
	for i := range masks {
		masks[i] = c.YMM()
		c.VPAND(numbers.Offset(32*i), every, masks[i])
		c.VPCMPEQQ(numbers.Offset(32*i), masks[i], masks[i])
	}
	for _, name := range []string{"x", "y"} {
		var sums [4]reg.VecVirtual // of every fourth coefficient of a limb
		for limb := range sums {
			sums[limb] = c.YMM()
			for i, mask := range masks {
				coefficients, err := r.Field(name).Index(limb).Index(4 * i).Resolve()
				if err != nil {
					panic(err)
				}
				if i == 0 {
					c.VPAND(coefficients.Addr, mask, sums[limb])
					continue
				}
				some := c.YMM()
				c.VPAND(coefficients.Addr, mask, some)
				c.VPXOR(some, sums[limb], sums[limb])
			}
		}
		// The four sums of each limb are added, and the limbs laid side by side.
		var pairs [2]reg.VecVirtual
		for i := range pairs {
			pairs[i] = c.YMM()
			high := c.YMM()
			c.VPUNPCKLQDQ(sums[2*i+1], sums[2*i], pairs[i])
			c.VPUNPCKHQDQ(sums[2*i+1], sums[2*i], high)
			c.VPXOR(high, pairs[i], pairs[i])
		}
		low, high := c.YMM(), c.YMM()
		c.VPERM2I128(operand.U8(0x20), pairs[1], pairs[0], low)
		c.VPERM2I128(operand.U8(0x31), pairs[1], pairs[0], high)
		c.VPXOR(high, low, low)
		c.VMOVDQU(low, c.at(q.Field(name))[0])
	}
	c.VZEROUPPER()
}

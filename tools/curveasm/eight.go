package main

import (
	"fmt"
	"math/big"

	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// This file has additions of points in eight lanes: to each of eight sums a point of its
// own is added, with the products of AVX-512 (IFMA), which are of eight limbs of 52 bits
// at a time.
//
// A number has five limbs, and a vector for each that has this limb of all lanes. Limbs
// between two steps are below 2^52, since a product looks at no more of them. What is
// said of numbers below counts in units of 2^256, of which 16 have room in five limbs:
//
//   - a product of numbers x and y is at most 1 and a little for secp256k1, and at most
//     xy/16 + 1 for P-256;
//   - a difference is at most 2 and a little, and what is taken away is less than was
//     added before ([eight.minus]), so that it is not negative.
//
// So coordinates and all that is made of them stay below 3.

// vectors are the limbs of a number in registers, lowest first; room is where they are
// in memory.
type (
	vectors [5]reg.VecVirtual
	room    [5]operand.Mem
)

const limbBits = 52

// field is one of points that are added in eight lanes.
type field struct {
	p *big.Int
	// reduce brings the upper half of a product down. Its limbs are below 2^56.
	reduce func(e *eight, t [10]reg.VecVirtual) vectors
	// fold adds over·2^256 modulo p, where over is below 16. Limbs may become negative.
	fold func(e *eight, t vectors, over reg.VecVirtual)
	// shift is by how much the points are shifted that are added: by 4, where numbers
	// in the form of Montgomery are times 2^256 outside and times 2^260 here.
	shift int
	// secret: nothing of the numbers may be left in registers, which compiled code does
	// not all use again.
	secret bool
}

// eight is a routine that is being written.
type eight struct {
	*code
	field field
	known map[uint64]reg.VecVirtual // see every
}

// eightTypes are sums, the points that are added to them, and room for what is between
// the steps: package lanes declares them.
const eightTypes = `
	type number [5][8]uint64
	type eightSums struct {
		x, y, zz, zzz number
		px, py [4][8]uint64
		room [6]number
	}
`

// every is a register with a number in all lanes.
func (e *eight) every(n uint64) reg.VecVirtual {
	if _, ok := e.known[n]; !ok {
		e.known[n] = e.ZMM()
		e.VPBROADCASTQ(e.number(n), e.known[n])
	}
	return e.known[n]
}

func (e *eight) number(n uint64) operand.Mem {
	return e.constant(fmt.Sprintf("n%x", n), operand.U64(n))
}

func (e *eight) zero() reg.VecVirtual {
	z := e.ZMM()
	e.VMOVDQA64(e.every(0), z)
	return z
}

// rooms are n vectors in memory.
func (e *eight) rooms(first gotypes.Component, n int) (all []operand.Mem) {
	for i := range n {
		limb, err := first.Index(i).Index(0).Resolve()
		if err != nil {
			panic(err) // the declarations above are wrong
		}
		all = append(all, limb.Addr)
	}
	return all
}

func (e *eight) load(from room) (t vectors) {
	for i := range t {
		t[i] = e.ZMM()
		e.VMOVDQU64(from[i], t[i])
	}
	return t
}

func (e *eight) store(t vectors, to room) {
	for i := range t {
		e.VMOVDQU64(t[i], to[i])
	}
}

// storeSome stores the lanes that are in a mask.
func (e *eight) storeSome(t vectors, some reg.Register, to room) {
	for i := range t {
		e.VMOVDQU64(t[i], some, to[i])
	}
}

// point is a coordinate that is added. There may be more than 52 bits in its limbs.
func (e *eight) point(from []operand.Mem) (t vectors) {
	for i := range t {
		t[i] = e.ZMM()
		at := limbBits*i - e.field.shift
		if at < 0 {
			e.VMOVDQU64(from[0], t[i])
			e.VPSLLQ(operand.U8(-at), t[i], t[i])
			continue
		}
		e.VMOVDQU64(from[at/64], t[i])
		if at%64 == 0 {
			continue
		}
		e.VPSRLQ(operand.U8(at%64), t[i], t[i])
		if at%64+limbBits > 64 && at/64+1 < len(from) {
			above := e.ZMM()
			e.VMOVDQU64(from[at/64+1], above)
			e.VPSLLQ(operand.U8(64-at%64), above, above)
			e.VPORQ(above, t[i], t[i])
		}
	}
	return t
}

// timesInto adds x·y to two limbs: 52 bits to the lower, and those above to the upper.
func (e *eight) timesInto(x, y, low, high reg.VecVirtual) {
	e.VPMADD52LUQ(x, y, low)
	e.VPMADD52HUQ(x, y, high)
}

// product is x·y. A limb of what is reduced has at most five lower halves of products
// of limbs and five upper ones, all below 2^52.
func (e *eight) product(x, y vectors) vectors {
	var t [10]reg.VecVirtual
	for i := range t {
		t[i] = e.zero()
	}
	for i := range x {
		for j := range y {
			e.timesInto(x[i], y[j], t[i+j], t[i+j+1])
		}
	}
	return e.field.reduce(e, t)
}

// multiply is product of what is in memory.
func (e *eight) multiply(x, y room) vectors {
	first := e.load(x)
	if x == y {
		return e.product(first, first)
	}
	return e.product(first, e.load(y))
}

// carry leaves 52 bits in each limb but the highest. Limbs may be negative.
func (e *eight) carry(t vectors) {
	mask := e.every(1<<limbBits - 1)
	for i := range 4 {
		up := e.ZMM()
		e.VPSRAQ(operand.U8(limbBits), t[i], up)
		e.VPANDQ(mask, t[i], t[i])
		e.VPADDQ(up, t[i+1], t[i+1])
	}
}

// minus takes numbers away from t that are less than units - 1 together.
//
// It adds (units + 1)·p - 2^256 before: then the highest limb is not negative. Of what
// is above 2^256 then one unit is put back, and the rest is folded, so that the difference
// is between 1 and 2, but for what lower limbs borrow, and what was folded.
func (e *eight) minus(t vectors, units int64, away ...room) {
	more := new(big.Int).Mul(e.field.p, big.NewInt(units+1))
	more.Sub(more, new(big.Int).Lsh(big.NewInt(1), 256))
	for i := range t {
		limb := new(big.Int).Rsh(more, uint(limbBits*i))
		if i < 4 {
			limb.And(limb, big.NewInt(1<<limbBits-1))
		}
		if limb.Sign() != 0 {
			e.VPADDQ_BCST(e.number(limb.Uint64()), t[i], t[i])
		}
		for _, y := range away {
			e.VPSUBQ(y[i], t[i], t[i])
		}
	}
	const topBits = 256 - 4*limbBits
	over := e.ZMM()
	e.VPSRLQ(operand.U8(topBits), t[4], over)
	const andOr = 0xea // of three bits: (a and b) or c
	e.VPTERNLOGQ(operand.U8(andOr), e.every(1<<topBits), e.every(1<<topBits-1), t[4])
	e.field.fold(e, t, over)
	e.carry(t)
}

// add adds points to those sums that are named by a mask, by the formula madd-2008-s.
// A sum that is at infinity, or that is the point that is added, or its opposite, is at
// infinity afterwards.
func (f field) add(c *code) {
	e := &eight{code: c, field: f, known: map[uint64]reg.VecVirtual{}}
	s := e.pointer("s")
	at := func(number gotypes.Component) room { return room(e.rooms(number, 5)) }
	x, y, zz, zzz := at(s.Field("x")), at(s.Field("y")), at(s.Field("zz")), at(s.Field("zzz"))
	var between [6]room
	for i := range between {
		between[i] = at(s.Field("room").Index(i))
	}
	u, r, uu, rr, uuu, v := between[0], between[1], between[2], between[3], between[4], between[5]
	some := e.K()
	e.KMOVW(e.Load(e.Param("which"), e.GP32()), some)

	e.Comment("u = p.x*zz - x")
	t := e.product(e.point(e.rooms(s.Field("px"), 4)), e.load(zz))
	e.minus(t, 4, x)
	e.store(t, u)
	e.Comment("r = p.y*zzz - y")
	t = e.product(e.point(e.rooms(s.Field("py"), 4)), e.load(zzz))
	e.minus(t, 4, y)
	e.store(t, r)
	e.Comment("uu = u*u")
	e.store(e.multiply(u, u), uu)
	e.Comment("rr = r*r")
	e.store(e.multiply(r, r), rr)
	e.Comment("uuu = u*uu")
	e.store(e.multiply(u, uu), uuu)
	e.Comment("v = x*uu")
	e.store(e.multiply(x, uu), v)
	e.Comment("zz *= uu")
	e.storeSome(e.multiply(zz, uu), some, zz)
	e.Comment("zzz *= uuu")
	e.storeSome(e.multiply(zzz, uuu), some, zzz)
	e.Comment("uu = y*uuu")
	e.store(e.multiply(y, uuu), uu)
	e.Comment("x = rr = rr - uuu - 2*v")
	t = e.load(rr)
	e.minus(t, 5, uuu, v, v)
	e.store(t, rr)
	e.storeSome(t, some, x)
	e.Comment("y = (v - rr)*r - uu")
	t = e.load(v)
	e.minus(t, 4, rr)
	t = e.product(t, e.load(r))
	e.minus(t, 3, uu)
	e.storeSome(t, some, y)
	if f.secret {
		e.forget()
	}
	e.VZEROUPPER()
}

// forget clears all vector registers.
func (e *eight) forget() {
	e.VZEROALL()
	nothing := e.number(0)
	for _, z := range []reg.VecPhysical{
		reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23,
		reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31,
	} {
		e.VPBROADCASTQ(nothing, z)
	}
}

func hexNumber(text string) *big.Int {
	n, ok := new(big.Int).SetString(text, 16)
	if !ok {
		panic("not a number: " + text)
	}
	return n
}

// k256Eight folds at 2^260 and at 2^256: both are 2^32 + 977, times 16 and times 1.
var k256Eight = field{
	p:      hexNumber("fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f"),
	secret: true,
	reduce: func(e *eight, t [10]reg.VecVirtual) vectors {
		// The upper half is below 2^260, so that no carry leaves its highest limb.
		for i := 5; i < 9; i++ {
			up := e.ZMM()
			e.VPSRLQ(operand.U8(limbBits), t[i], up)
			e.VPADDQ(up, t[i+1], t[i+1])
		}
		low, above := vectors(t[:5]), e.zero()
		for i := range low {
			high := above
			if i < 4 {
				high = low[i+1]
			}
			e.timesInto(t[5+i], e.every(uint64(fold)<<4), low[i], high)
		}
		// What is left above 2^256 is below 2^42.
		over := e.ZMM()
		e.VPSRLQ(operand.U8(48), low[4], over)
		e.VPANDQ(e.every(1<<48-1), low[4], low[4])
		e.VPSLLQ(operand.U8(4), above, above)
		e.VPADDQ(above, over, over)
		e.timesInto(over, e.every(uint64(fold)), low[0], low[1])
		e.carry(low)
		return low
	},
	fold: func(e *eight, t vectors, over reg.VecVirtual) {
		e.VPMADD52LUQ(over, e.every(uint64(fold)), t[0])
	},
}

// p256Eight has products in the form of Montgomery: five times a multiple of the prime is
// added that makes the lowest limb zero. The lowest limb of the prime is -1, so that the
// multiple is that limb m, and what is added are m·2^96, m·2^192 and m·(2^256 - 2^224).
var p256Eight = field{
	p:     hexNumber("ffffffff00000001000000000000000000000000ffffffffffffffffffffffff"),
	shift: 4,
	reduce: func(e *eight, t [10]reg.VecVirtual) vectors {
		for i := range 5 {
			up := e.ZMM()
			e.VPSRLQ(operand.U8(limbBits), t[i], up)
			e.VPADDQ(up, t[i+1], t[i+1])
			e.timesInto(t[i], e.every(1<<(96-limbBits)), t[i+1], t[i+2])
			e.timesInto(t[i], e.every(1<<(192-3*limbBits)), t[i+3], t[i+4])
			e.timesInto(t[i], e.every(1<<48-1<<16), t[i+4], t[i+5])
		}
		high := vectors(t[5:])
		e.carry(high)
		return high
	},
	// 2^256 is 2^224 - 2^192 - 2^96 + 1.
	fold: func(e *eight, t vectors, over reg.VecVirtual) {
		for _, part := range []struct {
			bit int
			add bool
		}{{0, true}, {96, false}, {192, false}, {224, true}} {
			shifted, limb := e.ZMM(), t[part.bit/limbBits]
			e.VPSLLQ(operand.U8(part.bit%limbBits), over, shifted)
			if part.add {
				e.VPADDQ(shifted, limb, limb)
			} else {
				e.VPSUBQ(shifted, limb, limb)
			}
		}
	},
}

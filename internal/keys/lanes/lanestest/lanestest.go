// Package lanestest holds the addition of points in eight lanes to the same in numbers
// of any size.
package lanestest

import (
	"bytes"
	"encoding/binary"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"latchkey/internal/keys/lanes"
)

// Field is one of the fields, and its addition.
type Field struct {
	Prime *big.Int
	// Montgomery: numbers are times 2^260 in lanes, and times 2^256 in points that are added.
	Montgomery bool
	Add        func(s *lanes.Sums, which uint16)
}

// size is how many bytes Check makes eight sums and points of.
const size = 8 * limbs

const limbs = lanes.Count * (4*5 + 2*4)

// Test is the property of numbers of which many have limbs where carries go far.
func (f Field) Test(t *testing.T) {
	limb := rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{0, 1, 1<<48 - 1, 1<<52 - 1, 1 << 63, 1<<64 - 1<<32, 1<<64 - 1}))
	rapid.Check(t, func(t *rapid.T) {
		var data []byte
		for range limbs {
			data = binary.LittleEndian.AppendUint64(data, limb.Draw(t, "limb"))
		}
		f.Check(t, data, rapid.Uint16Range(0, 1<<lanes.Count-1).Draw(t, "which"))
	})
}

// TestLargest has differences of the largest numbers that products leave, which random
// numbers do not reach: x, y and the difference of x are next to zero, of either sign,
// so that their products are too, and the difference of y is zero.
func (f Field) TestLargest(t *testing.T) {
	near := []int64{-1, 1, -2, 2, -3, 3}
	for _, x := range near {
		for _, y := range near {
			var s lanes.Sums
			for lane := range lanes.Count {
				u := near[lane%len(near)]
				for n, value := range map[*lanes.Number]int64{&s.X: x, &s.Y: y, &s.ZZ: 1, &s.ZZZ: 1} {
					limbs := f.limbs(value, 260)
					n.Set(lane, &limbs)
				}
				px, py := f.limbs(x+u, 256), f.limbs(y, 256)
				s.Put(lane, &px, &py)
			}
			f.checkTwice(t, &s, 1<<lanes.Count-1)
		}
	}
}

// limbs are those of a number that is kept times a power of two, where that is so.
func (f Field) limbs(n int64, power uint) (limbs [4]uint64) {
	v := big.NewInt(n)
	if f.Montgomery {
		v.Lsh(v, power)
	}
	var text [32]byte
	f.mod(v).FillBytes(text[:])
	for i := range limbs {
		limbs[i] = binary.BigEndian.Uint64(text[8*(3-i):])
	}
	return limbs
}

// Seeds are numbers to begin with that are all alike.
func Seeds() (all [][]byte) {
	for _, limb := range []byte{0, 1, 0x7f, 0x80, 0xff} {
		all = append(all, bytes.Repeat([]byte{limb}, size))
	}
	return all
}

// Limits of the highest limb, which are a little above what an addition leaves.
const (
	maxTop    = 1<<49 + 1<<20 // of x and y
	maxTopOfZ = 9 << 45       // of zz and zzz
)

// fataler is a test, or a rapid check inside one.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

type sum struct{ x, y, zz, zzz *big.Int }

// Check makes sums and points of data, and adds some of them.
func (f Field) Check(t fataler, data []byte, which uint16) {
	t.Helper()
	data = append(data, make([]byte, size)...)
	next := func() uint64 {
		n := binary.LittleEndian.Uint64(data)
		data = data[8:]
		return n
	}
	var s lanes.Sums
	var px, py [lanes.Count][4]uint64
	for lane := range lanes.Count {
		for k, n := range []*lanes.Number{&s.X, &s.Y, &s.ZZ, &s.ZZZ} {
			for i := range 4 {
				n[i][lane] = next() & (1<<52 - 1)
			}
			n[4][lane] = min(next()&(1<<50-1), []uint64{maxTop, maxTop, maxTopOfZ, maxTopOfZ}[k])
		}
		for _, coordinate := range []*[4]uint64{&px[lane], &py[lane]} {
			for i := range coordinate {
				coordinate[i] = next()
			}
			coordinate[3] = min(coordinate[3], 1<<64-2) // of an element it is never all ones
		}
		s.Put(lane, &px[lane], &py[lane])
	}
	f.checkTwice(t, &s, which)
}

// checkTwice adds once, and once more to what came out, so that what an addition leaves
// is good enough for the next.
func (f Field) checkTwice(t fataler, s *lanes.Sums, which uint16) {
	t.Helper()
	for range 2 {
		before := *s
		f.Add(s, which)
		for lane := range lanes.Count {
			want := f.sum(t, &before, lane)
			if which>>lane&1 == 1 {
				px, py := s.Point(lane)
				want = f.plus(want, f.outside(px), f.outside(py))
			}
			got := f.sum(t, s, lane)
			for name, both := range map[string][2]*big.Int{
				"x": {got.x, want.x}, "y": {got.y, want.y}, "zz": {got.zz, want.zz}, "zzz": {got.zzz, want.zzz},
			} {
				if both[0].Cmp(both[1]) != 0 {
					t.Fatalf("lane %d of %08b: %s is %x, not %x, after %+v", lane, which, name, both[0], both[1], before)
				}
			}
		}
	}
}

// plus is madd-2008-s.
func (f Field) plus(p sum, x, y *big.Int) sum {
	mul := func(a, b *big.Int) *big.Int { return f.mod(new(big.Int).Mul(a, b)) }
	minus := func(a, b *big.Int) *big.Int { return f.mod(new(big.Int).Sub(a, b)) }
	u, r := minus(mul(x, p.zz), p.x), minus(mul(y, p.zzz), p.y)
	uu := mul(u, u)
	uuu, v := mul(u, uu), mul(p.x, uu)
	x3 := minus(minus(minus(mul(r, r), uuu), v), v)
	return sum{x3, minus(mul(r, minus(v, x3)), mul(p.y, uuu)), mul(p.zz, uu), mul(p.zzz, uuu)}
}

func (f Field) mod(n *big.Int) *big.Int { return n.Mod(n, f.Prime) }

// sum is what a lane stands for. It also holds the limbs to their limits.
func (f Field) sum(t fataler, s *lanes.Sums, lane int) sum {
	t.Helper()
	value := func(n *lanes.Number, most uint64) *big.Int {
		v := new(big.Int)
		for i := len(n) - 1; i >= 0; i-- {
			limb := n[i][lane]
			if i < 4 && limb>>52 != 0 || i == 4 && limb > most {
				t.Fatalf("lane %d: limb %d is %x, which is too large", lane, i, limb)
			}
			v.Add(v.Lsh(v, 52), new(big.Int).SetUint64(limb))
		}
		var limbs [4]uint64
		if over := n.Get(lane, &limbs); f.over(limbs, over).Cmp(v) != 0 {
			t.Fatalf("lane %d is read as %x and %x above it, and is %x", lane, limbs, over, v)
		}
		if f.Montgomery {
			v.Mul(v, f.inverse(260))
		}
		return f.mod(v)
	}
	return sum{value(&s.X, maxTop), value(&s.Y, maxTop), value(&s.ZZ, maxTopOfZ), value(&s.ZZZ, maxTopOfZ)}
}

func (f Field) over(limbs [4]uint64, over uint64) *big.Int {
	v := new(big.Int).SetUint64(over)
	for i := len(limbs) - 1; i >= 0; i-- {
		v.Add(v.Lsh(v, 64), new(big.Int).SetUint64(limbs[i]))
	}
	return v
}

// outside is what limbs of a point stand for.
func (f Field) outside(limbs [4]uint64) *big.Int {
	v := f.over(limbs, 0)
	if f.Montgomery {
		v.Mul(v, f.inverse(256))
	}
	return f.mod(v)
}

// inverse is 2^-n.
func (f Field) inverse(n uint) *big.Int {
	power := new(big.Int).Lsh(big.NewInt(1), n)
	return power.ModInverse(power, f.Prime)
}

package k256

import (
	"math/big"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"pgregory.net/rapid"

	"latchkey/internal/keys/lanes"
	"latchkey/internal/keys/lanes/lanestest"
)

var eight = lanestest.Field{Prime: p, Add: func(s *lanes.Sums, which uint16) {
	all := eightSums{*s}
	addEight(&all, which)
	*s = all.Sums
}}

// TestEight holds the addition of eight points to numbers of any size: that in assembly,
// where the processor can, else that in Go.
func TestEight(t *testing.T) { eight.Test(t) }

func TestEightOfTheLargest(t *testing.T) { eight.TestLargest(t) }

// FuzzEight is the same of any numbers.
func FuzzEight(f *testing.F) {
	for _, seed := range lanestest.Seeds() {
		f.Add(seed, byte(0xff))
	}
	f.Fuzz(func(t *testing.T, data []byte, which byte) { eight.Check(t, data, uint16(which)) })
}

// TestSideBySide: windows are the same side by side and in turn.
func TestSideBySide(t *testing.T) {
	c := theComb()
	rapid.Check(t, func(t *rapid.T) {
		m := c.digits(scalar(t))
		var beside, turn sum
		c.sideBySide(&beside, &m)
		c.inTurn(&turn, &m)
		one, other := beside.point(), turn.point()
		var left, right element
		for name, both := range map[string][2]*element{"x": {&one.x, &other.x}, "y": {&one.y, &other.y}} {
			left.mul(both[0], &other.z)
			right.mul(both[1], &one.z)
			if one.z.isZero() || other.z.isZero() || !left.equal(&right) {
				t.Fatalf("%s of %x", name, m)
			}
		}
	})
}

// TestLanesAreNotSpecial: no addition in a lane, or of lanes, is a doubling, cancels or
// has infinity, for scalars whose digits are the largest, the smallest, next to zero, or
// random.
func TestLanesAreNotSpecial(t *testing.T) {
	check := func(t fataler, k *secp256k1.ModNScalar) {
		t.Helper()
		m := theComb().digits(k)
		var sums [lanes.Count]*big.Int
		for i := range windows - 1 {
			own, lane := weighed(digit(&m, i), i), i%lanes.Count
			if i < lanes.Count {
				sums[lane] = own
				continue
			}
			if special(sums[lane], own) {
				t.Fatalf("%v: adding window %d", k, i)
			}
			sums[lane].Add(sums[lane], own)
		}
		all := sums[0]
		for lane, sum := range sums[1:] {
			if special(all, sum) {
				t.Fatalf("%v: adding lane %d", k, lane+1)
			}
			all.Add(all, sum)
		}
	}
	const most = 1<<width - 1
	for _, low := range []int{most, -most, 1, -1} {
		for _, high := range []int{most, -most, 1, -1} {
			for from := range windows - 1 {
				whole := weighed(-most, windows-1)
				for i := range windows - 1 {
					d := low
					if i >= from {
						d = high
					}
					whole.Add(whole, weighed(d, i))
				}
				check(t, scalarOf(whole))
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) { check(t, scalar(t)) })
}

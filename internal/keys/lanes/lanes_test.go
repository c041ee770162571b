package lanes_test

import (
	"testing"

	"pgregory.net/rapid"

	"latchkey/internal/keys/lanes"
)

// A number that is put in a lane comes out of it, and is in no other.
func TestNumber(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limb := rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{0, 1, 1<<52 - 1, 1 << 63, 1<<64 - 1}))
		var n lanes.Number
		var want [lanes.Count][4]uint64
		for lane := range want {
			for i := range want[lane] {
				want[lane][i] = limb.Draw(t, "limb")
			}
			n.Set(lane, &want[lane])
		}
		for lane := range want {
			var got [4]uint64
			if over := n.Get(lane, &got); got != want[lane] || over != 0 {
				t.Fatalf("lane %d: %x and %x above it, not %x", lane, got, over, want[lane])
			}
		}
		for i := range n {
			for lane, limb := range n[i] {
				if limb>>52 != 0 {
					t.Fatalf("lane %d: limb %d is %x", lane, i, limb)
				}
			}
		}
	})
}

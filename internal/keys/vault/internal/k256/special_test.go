package k256

import (
	"math/big"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

var order = secp256k1.Params().N

func scalarOf(n *big.Int) *secp256k1.ModNScalar {
	var k secp256k1.ModNScalar
	k.SetByteSlice(new(big.Int).Mod(n, order).FillBytes(make([]byte, 32)))
	return &k
}

// weighed is a digit times the weight of its window.
func weighed(digit, window int) *big.Int {
	return new(big.Int).Lsh(big.NewInt(int64(digit)), uint(width*window))
}

// steps are the numbers of a scalar whose multiples multiply adds up: each window,
// and the sum before it.
func steps(k *secp256k1.ModNScalar) (sums, added [windows]*big.Int) {
	m := theComb().digits(k)
	sum := new(big.Int)
	for i := range windows {
		sums[i], added[i] = new(big.Int).Set(sum), weighed(digit(&m, i), i)
		sum.Add(sum, added[i])
	}
	return sums, added
}

// special reports whether adding the multiples is a doubling or cancels, or one is
// infinity.
func special(sum, added *big.Int) bool {
	for _, n := range []*big.Int{sum, added, new(big.Int).Add(sum, added), new(big.Int).Sub(sum, added)} {
		if new(big.Int).Mod(n, order).Sign() == 0 {
			return true
		}
	}
	return false
}

func checkBase(t *testing.T, k *secp256k1.ModNScalar) {
	t.Helper()
	var got secp256k1.JacobianPoint
	if ok := Base(k, &got); ok == k.IsZero() || ok && !same(&got, theirs(k)) {
		t.Errorf("%v: wrong", k)
	}
	if !k.IsZero() && !IsBase(k, theirs(k)) {
		t.Errorf("%v: its point is not recognized", k)
	}
}

// Sums that are as near as they come to the window that follows, for each window
// and either sign: all digits before it have the largest value or the smallest, or
// the sum is 1 or -1.
func TestSumsNextToAWindow(t *testing.T) {
	const most = 1<<width - 1
	below := map[string]func(i, window int) int{
		"largest":  func(int, int) int { return most },
		"smallest": func(int, int) int { return -most },
		"one": func(i, window int) int { // W^(window-1) less all that is below it
			if i == window-1 {
				return 1
			}
			return -most
		},
		"minus one": func(i, window int) int {
			if i == window-1 {
				return -1
			}
			return most
		},
	}
	for name, low := range below {
		for window := 1; window < windows; window++ {
			for _, own := range []int{1, -1, 3, -3, most, -most} {
				for _, high := range []int{-most, 1, most - 2} {
					var digits [windows]int
					for i := range digits {
						switch {
						case i < window:
							digits[i] = low(i, window)
						case i == window:
							digits[i] = own
						default:
							digits[i] = high
						}
					}
					// m is below the order, which leaves the last window two digits.
					if digits[windows-1] = -most; window == windows-1 {
						digits[windows-1] = min(own, -most+2)
					}
					whole := new(big.Int)
					for i, d := range digits {
						whole.Add(whole, weighed(d, i))
					}
					k := scalarOf(whole)
					sums, added := steps(k)
					if window < windows-1 && added[window].Cmp(weighed(own, window)) != 0 {
						t.Fatalf("%s, %d in window %d: the scalar has other digits", name, own, window)
					}
					for i := 1; i < windows-1; i++ {
						if special(sums[i], added[i]) {
							t.Errorf("%s, %d in window %d: adding window %d is special", name, own, window, i)
						}
					}
					checkBase(t, k)
				}
			}
		}
	}
}

// The scalars for which the last addition is special: all sums that are the last
// window or its negative, modulo the order.
func TestSpecialLastAddition(t *testing.T) {
	const last = windows - 1
	limit := weighed(1, last) // of sums before the last window
	found := 0
	for _, d := range []int{-31, -29} { // m is below 2^256
		window := weighed(d, last)
		for _, sign := range []int64{1, -1} {
			sum := new(big.Int).Mul(window, big.NewInt(sign))
			sum.Mod(sum, order)
			for _, s := range []*big.Int{sum, new(big.Int).Sub(sum, order)} {
				if s.CmpAbs(limit) >= 0 || s.Bit(0) == 0 {
					continue // no digits have that sum
				}
				k := scalarOf(new(big.Int).Add(s, window))
				sums, added := steps(k)
				if sums[last].Cmp(s) != 0 || added[last].Cmp(window) != 0 || !special(s, window) {
					t.Fatalf("%v: it has other digits", k)
				}
				checkBase(t, k)
				found++
			}
		}
	}
	if found != 2 { // zero is one of them
		t.Errorf("%d scalars are special, not two", found)
	}
}

package curve

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func (x *p256Scalar) value() *big.Int {
	text := x.bytes()
	return new(big.Int).SetBytes(text[:])
}

// drawScalar is below the order and not zero. Often it is near a power of two or near
// a part of the order, where quotients are large.
func drawScalar(t *rapid.T, label string) p256Scalar {
	n := new(big.Int)
	switch rapid.IntRange(0, 3).Draw(t, label+" kind") {
	case 0:
		text := number(t, label)
		n.SetBytes(text[:])
	case 1:
		raw := p256Scalar(rawElement(t, label))
		n = raw.value()
	case 2:
		part := rapid.Uint64Range(1, 1<<40).Draw(t, label+" part")
		n.Div(orderP256, new(big.Int).SetUint64(part))
		n.Add(n, big.NewInt(rapid.Int64Range(-2, 2).Draw(t, label+" beside")))
	case 3:
		n.SetUint64(rapid.Uint64().Draw(t, label))
		if rapid.Bool().Draw(t, label+" negative") {
			n.Neg(n)
		}
	}
	if n.Mod(n, orderP256).Sign() == 0 {
		n.SetInt64(1)
	}
	return scalarFromBig(n)
}

// TestScalars holds the arithmetic modulo the order to math/big.
func TestScalars(t *testing.T) {
	inverse := new(big.Int).ModInverse(new(big.Int).Lsh(big.NewInt(1), 256), orderP256)
	rapid.Check(t, func(t *rapid.T) {
		x, y := drawScalar(t, "x"), drawScalar(t, "y")
		any32 := p256Scalar(rawElement(t, "any"))
		if rapid.Bool().Draw(t, "largest") {
			any32[3] = allOnes
		}
		for _, left := range []p256Scalar{x, any32} {
			var z p256Scalar
			z.mul(&left, &y)
			want := new(big.Int).Mul(left.value(), y.value())
			if want.Mod(want.Mul(want, inverse), orderP256); z.value().Cmp(want) != 0 {
				t.Fatalf("%x · %x: got %x, want %x", left, y, z, want)
			}
		}
		var z p256Scalar
		if z.invert(&x); z.value().Cmp(new(big.Int).ModInverse(x.value(), orderP256)) != 0 {
			t.Fatalf("1/%x is not %x", x, z)
		}
		if x.below(&y) != (x.value().Cmp(y.value()) < 0) || x.below(&x) {
			t.Fatalf("%x is below %x: %v", x, y, x.below(&y))
		}
	})
}

// TestInverses: all small numbers, all powers of two and parts of the order, and what
// is next to them, of either sign.
func TestInverses(t *testing.T) {
	var all []*big.Int
	for i := range int64(300) {
		all = append(all, big.NewInt(i+1), new(big.Int).Div(orderP256, big.NewInt(i+2)))
	}
	for i := range uint(256) {
		power := new(big.Int).Lsh(big.NewInt(1), i)
		all = append(all, power, new(big.Int).Div(orderP256, power))
	}
	for _, n := range all {
		for offset := int64(-2); offset <= 2; offset++ {
			x := new(big.Int).Add(n, big.NewInt(offset))
			for range 2 {
				if x.Mod(x, orderP256).Sign() == 0 {
					continue
				}
				z := scalarFromBig(x)
				if z.invert(&z); z.value().Cmp(new(big.Int).ModInverse(x, orderP256)) != 0 {
					t.Errorf("1/%x is not %x", x, z)
				}
				x.Neg(x)
			}
		}
	}
}

func BenchmarkInverse(b *testing.B) {
	x := scalarFromBytes([]byte("a number that has some quotients"))
	n := x.value()
	b.Run("ours", func(b *testing.B) {
		var z p256Scalar
		for b.Loop() {
			z.invert(&x)
		}
	})
	b.Run("math-big", func(b *testing.B) {
		for b.Loop() {
			new(big.Int).ModInverse(n, orderP256)
		}
	})
}

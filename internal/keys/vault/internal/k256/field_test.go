package k256

import (
	"math/big"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"pgregory.net/rapid"
)

var p = secp256k1.Params().P

func (x *element) number() *big.Int {
	n := new(big.Int)
	for i := 3; i >= 0; i-- {
		n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(x[i]))
	}
	return n
}

// limb is often one of those at which carries happen.
var limb = rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{
	0, 1, 2, 21, 977, fold - 1, fold, fold + 1, 1<<64 - fold - 1, 1<<64 - fold, 1<<64 - fold + 1, 1<<64 - 1, 1<<64 - 2, 1 << 63,
}))

func drawElement(t *rapid.T, name string) *element {
	return &element{limb.Draw(t, name+"0"), limb.Draw(t, name+"1"), limb.Draw(t, name+"2"), limb.Draw(t, name+"3")}
}

func TestField(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y, w := drawElement(t, "x"), drawElement(t, "y"), drawElement(t, "w")
		a, b := x.number(), y.number()
		check := func(name string, got element, want *big.Int) {
			t.Helper()
			reduced := got.reduced()
			if want.Mod(want, p); reduced.number().Cmp(want) != 0 {
				t.Fatalf("%s: %x, not %x", name, reduced.number(), want)
			}
		}
		var z element
		z.add(x, y)
		check("add", z, new(big.Int).Add(a, b))
		z.sub(x, y)
		check("sub", z, new(big.Int).Sub(a, b))
		z.mul(x, y)
		check("mul", z, new(big.Int).Mul(a, b))
		z.times21(x)
		check("times21", z, new(big.Int).Mul(a, big.NewInt(21)))
		z.subTwice(x, y, w)
		check("subTwice", z, minusTwice(x, y, w))
		z.square(x, 1)
		check("square", z, new(big.Int).Mul(a, a))
		z.square(x, 3)
		check("square three times", z, new(big.Int).Exp(a, big.NewInt(8), p))
		z.invert(x)
		check("invert", z, inverseOf(x.number(), p))
		z.pick(0, x, y)
		check("pick 0", z, new(big.Int).Set(a))
		z.pick(^uint64(0), x, y)
		check("pick 1", z, new(big.Int).Set(b))
		z = *x
		z.mul(&z, &z)
		check("mul in place", z, new(big.Int).Mul(a, a))
		z = *x
		z.square(&z, 1)
		check("square in place", z, new(big.Int).Mul(a, a))
		z = *x
		z.invert(&z)
		check("invert in place", z, inverseOf(x.number(), p))
		z = *x
		z.subTwice(&z, &z, &z)
		check("subTwice in place", z, minusTwice(x, x, x))
		z = *x
		z.sub(&z, &z)
		check("sub in place", z, new(big.Int))
		if !z.isZero() || x.isZero() != (new(big.Int).Mod(a, p).Sign() == 0) {
			t.Fatal("isZero")
		}
		if equal := new(big.Int).Mod(a, p).Cmp(new(big.Int).Mod(b, p)) == 0; x.equal(y) != equal {
			t.Fatal("equal")
		}
		var f secp256k1.FieldVal
		x.putField(&f)
		z.setField(&f)
		check("to the library and back", z, new(big.Int).Set(a))
	})
}

func minusTwice(x, y, w *element) *big.Int {
	n := new(big.Int).Sub(x.number(), y.number())
	return n.Sub(n, new(big.Int).Lsh(w.number(), 1))
}

// The numbers around multiples of p and 2^256, with each other.
func TestFieldEdges(t *testing.T) {
	var edges []*element
	for _, low := range []uint64{0, 1, 2, fold - 1, fold, fold + 1} {
		edges = append(edges, &element{low})
		z := new(element)
		z.sub(z, &element{low}) // p - low, or 2^256 - low
		edges = append(edges, z, &element{-low, ^uint64(0), ^uint64(0), ^uint64(0)})
	}
	for _, x := range edges {
		for _, y := range edges {
			for _, w := range edges {
				var z element
				z.subTwice(x, y, w)
				if z = z.reduced(); z.number().Cmp(new(big.Int).Mod(minusTwice(x, y, w), p)) != 0 {
					t.Errorf("subTwice of %x, %x and %x: %x", x.number(), y.number(), w.number(), z.number())
				}
			}
			for name, op := range map[string]struct {
				got  func(z *element)
				want *big.Int
			}{
				"add":    {func(z *element) { z.add(x, y) }, new(big.Int).Add(x.number(), y.number())},
				"sub":    {func(z *element) { z.sub(x, y) }, new(big.Int).Sub(x.number(), y.number())},
				"mul":    {func(z *element) { z.mul(x, y) }, new(big.Int).Mul(x.number(), y.number())},
				"square": {func(z *element) { z.square(x, 1) }, new(big.Int).Mul(x.number(), x.number())},
			} {
				var z element
				op.got(&z)
				reduced := z.reduced()
				if reduced.number().Cmp(op.want.Mod(op.want, p)) != 0 {
					t.Errorf("%s of %x and %x: %x", name, x.number(), y.number(), reduced.number())
				}
			}
		}
	}
}

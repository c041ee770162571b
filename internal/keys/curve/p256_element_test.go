package curve

import (
	"bytes"
	"fmt"
	"math/big"
	"testing"

	"filippo.io/nistec"
	"pgregory.net/rapid"
)

// value is the number that an element stands for.
func (z *p256Element) value() *big.Int {
	one, plain := p256Element{1}, p256Element{}
	plain.mul(z, &one)
	plain = plain.reduced()
	n := new(big.Int)
	for i := len(plain) - 1; i >= 0; i-- {
		n.Add(n.Lsh(n, 64), new(big.Int).SetUint64(plain[i]))
	}
	return n
}

// text is the point as nistec writes it.
func (p *sum) text() []byte {
	if p.zz.isZero() {
		return []byte{0}
	}
	a := normalize([]sum{*p})[0]
	text := append([]byte{4}, make([]byte, 2*coordinateSize)...)
	a.x.value().FillBytes(text[1:][:coordinateSize])
	a.y.value().FillBytes(text[1+coordinateSize:])
	return text
}

// rawElement draws limbs as they are kept. Often they are zero or full, where carries
// go far, or near the prime, above it too.
func rawElement(t *rapid.T, label string) (z p256Element) {
	n := new(big.Int)
	for range z {
		limb := rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{0, 1, 1<<32 - 1, 1 << 32, 1<<63 - 1, 1 << 63, 1<<64 - 1<<32, 1<<64 - 2, 1<<64 - 1})).Draw(t, label)
		n.Add(n.Lsh(n, 64), new(big.Int).SetUint64(limb))
	}
	if rapid.IntRange(0, 3).Draw(t, label+" near the prime") == 0 {
		n.Sub(p256Prime, big.NewInt(rapid.Int64Range(-1<<20, 1<<20).Draw(t, label+" below")))
	}
	var text [coordinateSize]byte
	n.FillBytes(text[:])
	if z = limbs(&text); z[3] == allOnes {
		z[3]--
	}
	return z
}

// check compares with a number, and holds the limbs to what all operations rely on.
func (z *p256Element) check(t fataler, name string, want *big.Int) {
	t.Helper()
	limbs := newP256Element(new(big.Int).Mod(want, p256Prime))
	if z[3] == allOnes || z.reduced() != limbs {
		t.Fatal(fmt.Sprintf("%s: got %x, want %x", name, *z, limbs))
	}
}

// TestElementsAtTheLimit: results whose highest limb would be all ones if nothing was
// done about it, which random numbers do not reach.
func TestElementsAtTheLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rawElement(t, "x")
		if x.isZero() {
			x = p256One
		}
		// Limbs that are the prime less than all ones and anything: a result that
		// stands for them has either form.
		low := rawElement(t, "low")
		limit := p256Element{low[0], low[1], low[2], allOnes}
		limit = limit.reduced()
		v := limit.value()
		inverse := new(big.Int).ModInverse(x.value(), p256Prime)
		y := newP256Element(inverse.Mul(inverse, v))
		var z p256Element
		z.mul(&x, &y)
		z.check(t, "product", v)
		if root := new(big.Int).ModSqrt(v, p256Prime); root != nil {
			y = newP256Element(root)
			z.square(&y)
			z.check(t, "square", v)
			y = newP256Element(root.Neg(root))
			z.square(&y)
			z.check(t, "square of the negative", v)
		}
		y.sub(&limit, &x) // of either form
		z.add(&x, &y)
		z.check(t, "sum", v)
		most := p256Element{low[0], low[1], low[2], allOnes - 1}
		z.add(&most, &most)
		z.check(t, "sum of the largest", new(big.Int).Lsh(most.value(), 1))
		z.mul(&most, &most)
		z.check(t, "product of the largest", new(big.Int).Mul(most.value(), most.value()))
		z.sub(&p256Element{low[0]}, &most)
		z.check(t, "difference of the largest", new(big.Int).Sub((&p256Element{low[0]}).value(), most.value()))
		z.subTwice(&p256Element{low[0]}, &most, &most)
		z.check(t, "three times the largest", new(big.Int).Sub((&p256Element{low[0]}).value(), new(big.Int).Mul(most.value(), big.NewInt(3))))
	})
}

// TestElements holds the arithmetic to math/big.
func TestElements(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y, w := rawElement(t, "x"), rawElement(t, "y"), rawElement(t, "w")
		a, b := x.value(), y.value()
		twice := new(big.Int).Lsh(w.value(), 1)
		for name, c := range map[string]struct {
			do   func(z *p256Element)
			want *big.Int
		}{
			"sum":         {func(z *p256Element) { z.add(&x, &y) }, new(big.Int).Add(a, b)},
			"difference":  {func(z *p256Element) { z.sub(&x, &y) }, new(big.Int).Sub(a, b)},
			"product":     {func(z *p256Element) { z.mul(&x, &y) }, new(big.Int).Mul(a, b)},
			"square":      {func(z *p256Element) { z.square(&x) }, new(big.Int).Mul(a, a)},
			"with itself": {func(z *p256Element) { *z = x; z.mul(z, z) }, new(big.Int).Mul(a, a)},
			"twice less":  {func(z *p256Element) { z.subTwice(&x, &y, &w) }, twice.Sub(new(big.Int).Sub(a, b), twice)},
			"less itself": {func(z *p256Element) { *z = x; z.subTwice(z, z, z) }, new(big.Int).Mul(a, big.NewInt(-2))},
		} {
			var z p256Element
			c.do(&z)
			z.check(t, fmt.Sprintf("%s of %x, %x and %x", name, x, y, w), c.want)
		}
		if x.isZero() != (a.Sign() == 0) {
			t.Fatalf("%x is zero: %v", x, x.isZero())
		}
	})
	var x, zero p256Element
	x = newP256Element(big.NewInt(7))
	x.invert(&x)
	if got := x.value(); got.Cmp(new(big.Int).ModInverse(big.NewInt(7), p256Prime)) != 0 {
		t.Errorf("1/7 is %x", got)
	}
	if x = newP256Element(p256Prime); x != zero {
		t.Errorf("the prime is %x", x)
	}
}

// TestPoints adds and doubles small multiples of the generator, so that every case is
// met: equal, opposite and infinite points.
func TestPoints(t *testing.T) {
	const most = 6
	multiple := func(n int) []byte {
		scalar := new(big.Int).Mod(big.NewInt(int64(n)), orderP256)
		p, err := nistec.NewP256Point().ScalarBaseMult(scalar.FillBytes(make([]byte, 32)))
		if err != nil {
			t.Fatal(err)
		}
		return p.Bytes()
	}
	point := func(n int) (p sum) {
		var one sum
		one.set(nistec.NewP256Point().SetGenerator())
		g := normalize([]sum{one})[0]
		for range max(n, -n) {
			p.addAffine(&g) // of its own z
		}
		var zero p256Element
		if n < 0 {
			p.y.sub(&zero, &p.y)
		}
		return p
	}
	for a := -most; a <= most; a++ {
		for b := -most; b <= most; b++ {
			p, q := point(a), point(b)
			p.add(&q)
			if !bytes.Equal(p.text(), multiple(a+b)) {
				t.Errorf("%d·G + %d·G is wrong", a, b)
			}
			if b == 0 {
				continue
			}
			p = point(a)
			p.addAffine(&normalize([]sum{q})[0])
			if !bytes.Equal(p.text(), multiple(a+b)) {
				t.Errorf("%d·G + %d·G, the second in the simple form, is wrong", a, b)
			}
		}
		double := point(a)
		double.double()
		if !bytes.Equal(double.text(), multiple(2*a)) {
			t.Errorf("2·%d·G is wrong", a)
		}
	}
	if infinite := (sum{}); infinite.hasX(p256Scalar{}) {
		t.Error("the point at infinity has an x")
	}
}

package curve

import (
	"bytes"
	"math/big"
	"testing"

	"filippo.io/nistec"
	"pgregory.net/rapid"
)

// value is the number that an element stands for.
func (z *p256Element) value() *big.Int {
	one, plain := p256Element{1}, p256Element{}
	plain.mul(z, &one)
	n := new(big.Int)
	for i := len(plain) - 1; i >= 0; i-- {
		n.Add(n.Lsh(n, 64), new(big.Int).SetUint64(plain[i]))
	}
	return n
}

// text is the point as nistec writes it.
func (p *jacobian) text() []byte {
	if p.z.isZero() {
		return []byte{0}
	}
	a := normalize([]jacobian{*p})[0]
	text := append([]byte{4}, make([]byte, 2*coordinateSize)...)
	a.x.value().FillBytes(text[1:][:coordinateSize])
	a.y.value().FillBytes(text[1+coordinateSize:])
	return text
}

// rawElement draws limbs as they are kept. Often they are zero or full, where carries
// go far, or near the prime.
func rawElement(t *rapid.T, label string) (z p256Element) {
	n := new(big.Int)
	for range z {
		limb := rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{0, 1, 1<<32 - 1, 1 << 32, 1<<63 - 1, 1 << 63, 1<<64 - 1<<32, 1<<64 - 2, 1<<64 - 1})).Draw(t, label)
		n.Add(n.Lsh(n, 64), new(big.Int).SetUint64(limb))
	}
	if rapid.IntRange(0, 3).Draw(t, label+" near the prime") == 0 {
		n.Sub(p256Prime, big.NewInt(rapid.Int64Range(1, 1<<20).Draw(t, label+" below")))
	}
	var text [coordinateSize]byte
	n.Mod(n, p256Prime).FillBytes(text[:])
	return limbs(&text)
}

// TestElements holds the arithmetic to math/big.
func TestElements(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := rawElement(t, "x"), rawElement(t, "y")
		a, b := x.value(), y.value()
		for name, c := range map[string]struct {
			do   func(z *p256Element)
			want *big.Int
		}{
			"sum":         {func(z *p256Element) { z.add(&x, &y) }, new(big.Int).Add(a, b)},
			"difference":  {func(z *p256Element) { z.sub(&x, &y) }, new(big.Int).Sub(a, b)},
			"product":     {func(z *p256Element) { z.mul(&x, &y) }, new(big.Int).Mul(a, b)},
			"square":      {func(z *p256Element) { z.square(&x) }, new(big.Int).Mul(a, a)},
			"with itself": {func(z *p256Element) { *z = x; z.mul(z, z) }, new(big.Int).Mul(a, a)},
		} {
			var z p256Element
			c.do(&z)
			want := newP256Element(new(big.Int).Mod(c.want, p256Prime))
			if z != want { // the limbs, not only what they stand for: each number has one form
				t.Fatalf("%s of %x and %x: got %x, want %x", name, x, y, z, want)
			}
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
	point := func(n int) (p jacobian) {
		var one jacobian
		one.set(nistec.NewP256Point().SetGenerator())
		g := normalize([]jacobian{one})[0]
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
			sum, q := point(a), point(b)
			sum.add(&q)
			if !bytes.Equal(sum.text(), multiple(a+b)) {
				t.Errorf("%d·G + %d·G is wrong", a, b)
			}
			if b == 0 {
				continue
			}
			sum = point(a)
			sum.addAffine(&normalize([]jacobian{q})[0])
			if !bytes.Equal(sum.text(), multiple(a+b)) {
				t.Errorf("%d·G + %d·G, the second in the simple form, is wrong", a, b)
			}
		}
		double := point(a)
		double.double()
		if !bytes.Equal(double.text(), multiple(2*a)) {
			t.Errorf("2·%d·G is wrong", a)
		}
	}
	if infinite := (jacobian{}); infinite.hasX(new(big.Int)) {
		t.Error("the point at infinity has an x")
	}
}

package curve

import (
	"bytes"
	"encoding/binary"
	"math/big"
	"math/bits"
	"testing"

	"pgregory.net/rapid"
)

// checkAssembly holds what may be in assembly to the same in Go, limb by limb, and
// that to math/big. Where there is no assembly, both are the same.
func checkAssembly(t fataler, p *sum, q *affine) {
	t.Helper()
	x, y := &p.x, &p.y
	var want p256Element
	want.mulGeneric(x, y)
	want.check(t, "product in Go", new(big.Int).Mul(x.value(), y.value()))
	for name, do := range map[string]func(a, b *p256Element) *p256Element{
		"product":                 func(a, b *p256Element) *p256Element { z := new(p256Element); z.mul(a, b); return z },
		"product into the first":  func(a, b *p256Element) *p256Element { a.mul(a, b); return a },
		"product into the second": func(a, b *p256Element) *p256Element { b.mul(a, b); return b },
	} {
		a, b := *x, *y
		do(&a, &b).same(t, name, &want)
	}
	want.squareGeneric(x)
	want.check(t, "square in Go", new(big.Int).Mul(x.value(), x.value()))
	var product, elsewhere p256Element
	product.mulGeneric(x, x)
	product.same(t, "product with itself in Go", &want)
	elsewhere.square(x)
	elsewhere.same(t, "square", &want)
	into, itself := *x, *x
	into.square(&into)
	into.same(t, "square in place", &want)
	itself.mul(&itself, &itself)
	itself.same(t, "product with itself", &want)

	// The formulas in Go are of products that were just compared.
	got, added := *p, *p
	got.addAffine(q)
	added.addAffineGeneric(q)
	got.same(t, "sum", &added)
	got, added = *p, *p
	got.double()
	added.doubleGeneric()
	got.same(t, "double", &added)
}

// raw is the number that the limbs are.
func (z *p256Element) raw() *big.Int {
	n := new(big.Int)
	for i := len(z) - 1; i >= 0; i-- {
		n.Or(n.Lsh(n, 64), new(big.Int).SetUint64(z[i]))
	}
	return n
}

func (z *p256Element) same(t fataler, name string, want *p256Element) {
	t.Helper()
	if *z != *want {
		t.Fatal(name, *z, "is not", *want)
	}
}

func (p *sum) same(t fataler, name string, want *sum) {
	t.Helper()
	p.x.same(t, name+": x", &want.x)
	p.y.same(t, name+": y", &want.y)
	p.zz.same(t, name+": zz", &want.zz)
	p.zzz.same(t, name+": zzz", &want.zzz)
}

func TestAssembly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := sum{rawElement(t, "x"), rawElement(t, "y"), rawElement(t, "zz"), rawElement(t, "zzz")}
		q := affine{rawElement(t, "x2"), rawElement(t, "y2")}
		// Differences that are zero, of either form, or next to it.
		if rapid.Bool().Draw(t, "same x") {
			p.x.mul(&q.x, &p.zz)
			p.x = nextTo(t, p.x, "x")
		}
		if rapid.Bool().Draw(t, "same y") {
			p.y.mul(&q.y, &p.zzz)
			p.y = nextTo(t, p.y, "y")
		}
		switch rapid.IntRange(0, 3).Draw(t, "zz") {
		case 0:
			p.zz = p.x
		case 1: // the sum has a highest limb of all ones, as 2·y has
			low := rawElement(t, "sum")
			var carry uint64
			p.zz[0], carry = bits.Sub64(low[0], p.x[0], 0)
			p.zz[1], carry = bits.Sub64(low[1], p.x[1], carry)
			p.zz[2], carry = bits.Sub64(low[2], p.x[2], carry)
			p.zz[3], _ = bits.Sub64(allOnes, p.x[3], carry)
			p.zz[3] = min(p.zz[3], allOnes-1)
			p.y[2], p.y[3] = p.y[2]|1<<63, allOnes>>1
		}
		checkAssembly(t, &p, &q)
	})
}

// TestAssemblyAtTheLimit has what random numbers do not reach: a difference that is zero
// in the form of the prime, and one next to a multiple of 2^256.
func TestAssemblyAtTheLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nonzero := func(label string) p256Element {
			z := rawElement(t, label)
			if z.isZero() {
				return p256One
			}
			return z
		}
		quotient := func(a, b *p256Element) p256Element {
			n := new(big.Int).ModInverse(b.value(), p256Prime)
			return newP256Element(n.Mul(n, a.value()))
		}
		// Such a product comes with the prime added.
		small := nonzero("small")
		small[3] &= 1<<31 - 1
		p := sum{small, rawElement(t, "y"), nonzero("zz"), rawElement(t, "zzz")}
		q := affine{quotient(&small, &p.zz), rawElement(t, "y2")}
		checkAssembly(t, &p, &q)
		// x = zz makes m zero, and the new x is -2·s.
		s := nonzero("s")
		s[3] = 1<<63 - 1 - s[3]&(1<<31-1)
		y := nonzero("y")
		var v p256Element
		v.add(&y, &y)
		v.squareGeneric(&v)
		x := quotient(&s, &v)
		checkAssembly(t, &sum{x, y, x, nonzero("zzz")}, &q)
		// x + zz would be too large for the product with x - zz that follows.
		m := p256Element{nonzero("m 0")[0] &^ 1, nonzero("m 1")[1], allOnes, allOnes}
		d := p256Element{nonzero("d 0")[0] &^ 1, allOnes, nonzero("d 2")[2], allOnes >> 8}
		half := func(n *big.Int) p256Element {
			var text [coordinateSize]byte
			n.Rsh(n, 1).FillBytes(text[:])
			return limbs(&text)
		}
		checkAssembly(t, &sum{half(new(big.Int).Add(m.raw(), d.raw())), y, half(new(big.Int).Sub(m.raw(), d.raw())), y}, &q)
	})
}

// nextTo is x, or that with the lowest limb changed or the prime added.
func nextTo(t *rapid.T, x p256Element, label string) p256Element {
	switch rapid.IntRange(0, 2).Draw(t, label+" next to it") {
	case 1:
		x[0] += rapid.Uint64().Draw(t, label+" more")
	case 2:
		t0, t1, t2, t3, carry := more(x[0], x[1], x[2], x[3], allOnes)
		if carry == 0 && t3 != allOnes {
			x = p256Element{t0, t1, t2, t3}
		}
	}
	return x
}

// FuzzAssembly is the same on anything that elements may be.
func FuzzAssembly(f *testing.F) {
	for _, limb := range []byte{0, 1, 0x7f, 0x80, 0xff} {
		f.Add(bytes.Repeat([]byte{limb}, 6*coordinateSize))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		data = append(data, make([]byte, 6*coordinateSize)...)
		var all [6]p256Element
		for i := range all {
			for j := range all[i] {
				all[i][j] = binary.LittleEndian.Uint64(data[coordinateSize*i+8*j:])
			}
			if all[i][3] == allOnes {
				all[i][3]--
			}
		}
		checkAssembly(t, &sum{all[0], all[1], all[2], all[3]}, &affine{all[4], all[5]})
	})
}

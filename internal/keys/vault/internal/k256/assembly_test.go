package k256

import (
	"bytes"
	"encoding/binary"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// fataler is a test, or a rapid check inside one.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkAssembly holds what may be in assembly to the same in Go, limb by limb, and
// that to math/big. Where there is no assembly, both are the same.
func checkAssembly(t fataler, left *sum, right *affine) {
	t.Helper()
	x, y := &left.x, &left.y
	var want element
	want.mulGeneric(x, y)
	product := new(big.Int).Mul(x.number(), y.number())
	if reduced := want.reduced(); reduced.number().Cmp(product.Mod(product, p)) != 0 {
		t.Fatalf("%x * %x: %x in Go", *x, *y, want)
	}
	for name, do := range map[string]func(a, b *element) *element{
		"elsewhere":  func(a, b *element) *element { z := new(element); z.mul(a, b); return z },
		"into first": func(a, b *element) *element { a.mul(a, b); return a },
		"into other": func(a, b *element) *element { b.mul(a, b); return b },
	} {
		a, b := *x, *y
		if got := do(&a, &b); *got != want {
			t.Fatalf("%x * %x %s: %x, not %x", *x, *y, name, *got, want)
		}
	}
	for n := 1; n <= 3; n++ {
		want := *x
		for range n {
			want.mulGeneric(&want, &want)
		}
		var plain, elsewhere element
		plain.squareGeneric(x, n)
		elsewhere.square(x, n)
		into, twice := *x, *x
		into.square(&into, n)
		for range n {
			twice.mul(&twice, &twice)
		}
		if plain != want || elsewhere != want || into != want || twice != want {
			t.Fatalf("%x squared %d times: %x, %x, %x and %x, not %x", *x, n, plain, elsewhere, into, twice, want)
		}
	}
	got, added := *left, *left
	got.add(right)
	added.addGeneric(right)
	if got != added {
		t.Fatalf("%x + %x: %x, not %x", *left, *right, got, added)
	}
}

func TestAssembly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) element {
			z := *drawElement(t, name)
			switch rapid.IntRange(0, 5).Draw(t, name+" is special") {
			case 0: // leaves a factor as it is, so that differences are of any limbs
				z = element{1}
			case 1: // next to the prime, or to 2^256
				low := rapid.Uint64Range(0, 4).Draw(t, name+" low")
				z = rapid.SampledFrom([]element{
					{1<<64 - fold - low, ^uint64(0), ^uint64(0), ^uint64(0)},
					{1<<64 - fold + low, ^uint64(0), ^uint64(0), ^uint64(0)},
					{^low, ^uint64(0), ^uint64(0), ^uint64(0)},
					{low},
				}).Draw(t, name+" edge")
			}
			return z
		}
		p := sum{draw("x"), draw("y"), draw("zz"), draw("zzz")}
		q := affine{draw("x2"), draw("y2")}
		checkAssembly(t, &p, &q)
	})
}

// TestLastCarry: to a product of which 2^256 was left out at the end, fold is added.
// That carries into the second limb if the product is a little more than 2^64, of
// numbers next to the prime. Random numbers do not reach that.
func TestLastCarry(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Uint64Range(2, 1<<32).Draw(t, "a")
		b := (1<<64-1)/a + 1 // a*b is between 2^64 and 2^64 + a
		var x, y element
		x.sub(&element{}, &element{a})
		y.sub(&element{}, &element{b})
		checkAssembly(t, &sum{x: x, y: y}, &affine{})
		x.sub(&element{}, &element{1 << 32})
		checkAssembly(t, &sum{x: x, y: x}, &affine{})
	})
}

// FuzzAssembly is the same on anything.
func FuzzAssembly(f *testing.F) {
	for _, limb := range []byte{0, 1, 0x7f, 0x80, 0xff} {
		f.Add(bytes.Repeat([]byte{limb}, 6*32))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		data = append(data, make([]byte, 6*32)...)
		var all [6]element
		for i := range all {
			for j := range all[i] {
				all[i][j] = binary.LittleEndian.Uint64(data[32*i+8*j:])
			}
		}
		checkAssembly(t, &sum{all[0], all[1], all[2], all[3]}, &affine{all[4], all[5]})
	})
}

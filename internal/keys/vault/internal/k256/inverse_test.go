package k256

import (
	"math/big"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"pgregory.net/rapid"
)

var moduli = []struct {
	*modulus
	n *big.Int
}{{fieldPrime, p}, {groupOrder, secp256k1.Params().N}}

// inverseOf is 1/x modulo n, and zero if there is none.
func inverseOf(x, n *big.Int) *big.Int {
	inverse := new(big.Int).ModInverse(x, n)
	if inverse == nil {
		return new(big.Int)
	}
	return inverse
}

func (x *long) number() *big.Int {
	n := new(big.Int)
	for i := len(x) - 1; i >= 0; i-- {
		n.Lsh(n, limbBits).Add(n, big.NewInt(x[i]))
	}
	return n
}

func limbsOfNumber(x *big.Int) [4]uint64 {
	var text [32]byte
	return limbsOf((*[32]byte)(x.FillBytes(text[:])))
}

// step is one division step, as it is defined; delta is twice what it is.
func step(delta *int, f, g *big.Int) {
	switch odd := g.Bit(0) == 1; {
	case odd && *delta > 0:
		*delta = 2 - *delta
		was := new(big.Int).Set(g)
		g.Sub(g, f)
		f.Set(was)
	case odd:
		*delta += 2
		g.Add(g, f)
	default:
		*delta += 2
	}
	g.Rsh(g, 1) // which is even
}

// checkInvert follows an inversion of x, which is below the modulus, round by round.
func checkInvert(t fataler, m *modulus, n, x *big.Int) {
	t.Helper()
	limbs := limbsOfNumber(x)
	i := m.inversion(&limbs)
	if i.f.number().Cmp(n) != 0 || i.g.number().Cmp(x) != 0 {
		t.Fatalf("%x and %x in limbs: %x and %x", n, x, i.f, i.g)
	}
	delta, f, g := 1, new(big.Int).Set(n), new(big.Int).Set(x)
	for round := range rounds {
		i.round()
		for range stepsAtOnce {
			step(&delta, f, g)
		}
		if i.f.number().Cmp(f) != 0 || i.g.number().Cmp(g) != 0 || i.minusDelta != int64(-delta-1)/2 {
			t.Fatalf("%x modulo %x, round %d: f, g and -delta - 1/2 are %x, %x and %d, not %x, %x and %d",
				x, n, round, i.f.number(), i.g.number(), i.minusDelta, f, g, (-delta-1)/2)
		}
		for _, multiple := range []struct {
			of *long
			is *big.Int
		}{{&i.d, f}, {&i.e, g}} {
			of := multiple.of.number()
			if !inBounds(of, n) {
				t.Fatalf("%x modulo %x, round %d: %x is out of bounds", x, n, round, of)
			}
			if of.Mul(of, x).Sub(of, multiple.is).Mod(of, n).Sign() != 0 {
				t.Fatalf("%x modulo %x, round %d: no multiple", x, n, round)
			}
		}
	}
	if g.Sign() != 0 {
		t.Fatalf("%x modulo %x: not done", x, n)
	}
	m.invert(&limbs)
	if want := limbsOfNumber(inverseOf(x, n)); limbs != want {
		t.Fatalf("1/%x modulo %x: %x, not %x", x, n, limbs, want)
	}
}

// inBounds reports whether x is between -2n and n.
func inBounds(x, n *big.Int) bool {
	return new(big.Int).Add(x, new(big.Int).Lsh(n, 1)).Sign() > 0 && x.Cmp(n) < 0
}

func longOfNumber(x *big.Int) (z long) {
	rest := new(big.Int).Set(x)
	for i := range z[:4] {
		z[i] = new(big.Int).And(rest, big.NewInt(limbMask)).Int64()
		rest.Rsh(rest, limbBits)
	}
	z[4] = rest.Int64()
	return z
}

// drawMultiple is a number between -2n and n, often next to one of them.
func drawMultiple(t *rapid.T, n *big.Int, name string) *big.Int {
	x := drawElement(t, name).number()
	x.Mod(x.Mul(x, big.NewInt(3)), new(big.Int).Sub(new(big.Int).Mul(n, big.NewInt(3)), big.NewInt(1)))
	return x.Add(x, big.NewInt(1)).Sub(x, new(big.Int).Lsh(n, 1))
}

// What d and e can be is further apart than what inversions come by: any steps keep any
// two within their bounds, and from the bounds the result is made.
func TestBoundsOfInversion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, g, minusDelta := limb.Draw(t, "f")|1, limb.Draw(t, "g"), rapid.Int64Range(-600, 600).Draw(t, "minusDelta")
		_, by := divisionSteps(minusDelta, f&limbMask, g&limbMask)
		for _, m := range moduli {
			was := [2]*big.Int{drawMultiple(t, m.n, "d"), drawMultiple(t, m.n, "e")}
			d, e := longOfNumber(was[0]), longOfNumber(was[1])
			by.applyModulo(&d, &e, m.modulus)
			for i, got := range []*big.Int{d.number(), e.number()} {
				if !inBounds(got, m.n) {
					t.Fatalf("%v takes %x and %x modulo %x to %x", by, was[0], was[1], m.n, got)
				}
				row := [][2]int64{{by.u, by.v}, {by.q, by.r}}[i]
				sum := new(big.Int).Mul(was[0], big.NewInt(row[0]))
				sum.Add(sum, new(big.Int).Mul(was[1], big.NewInt(row[1])))
				if sum.Sub(sum, got.Lsh(got, limbBits)).Mod(sum, m.n).Sign() != 0 {
					t.Fatalf("%v takes %x and %x modulo %x to another multiple", by, was[0], was[1], m.n)
				}
			}
			for _, sign := range []int64{1, -1} {
				x := longOfNumber(was[0])
				want := new(big.Int).Mul(was[0], big.NewInt(sign))
				x.normalize(m.modulus, sign)
				if x.number().Cmp(want.Mod(want, m.n)) != 0 {
					t.Fatalf("%d times %x modulo %x: %x, not %x", sign, was[0], m.n, x.number(), want)
				}
			}
		}
	})
}

func TestInvert(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawElement(t, "x").number()
		for _, m := range moduli {
			checkInvert(t, m.modulus, m.n, new(big.Int).Mod(x, m.n))
		}
	})
}

// Numbers that take 537 steps, where nine rounds, 531, are enough for all but one of
// 17,000; powers of two; halves, thirds and such of the modulus; their neighbours, and
// all of their negatives.
func TestInvertEdges(t *testing.T) {
	for i, m := range moduli {
		long, _ := new(big.Int).SetString([]string{
			"f373c723be1b658641512255a68ad053ba22c40af0b9c5a3d0450a14bf615dc",
			"3adfa57aa366485a325df839e037defbf98641f7dd36989901d4a8c803843bc6",
		}[i], 16)
		edges := []*big.Int{long}
		for i := range uint(257) {
			edges = append(edges, new(big.Int).Lsh(big.NewInt(1), i))
		}
		for i := range int64(20) {
			edges = append(edges, new(big.Int).Div(m.n, big.NewInt(i+1)))
		}
		for _, edge := range edges {
			for offset := int64(-1); offset <= 1; offset++ {
				x := new(big.Int).Add(edge, big.NewInt(offset))
				checkInvert(t, m.modulus, m.n, new(big.Int).Mod(x, m.n))
				checkInvert(t, m.modulus, m.n, x.Neg(x).Mod(x, m.n))
			}
		}
	}
}

func TestInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := scalar(t)
		var got, one secp256k1.ModNScalar
		Inverse(&got, k)
		one.SetInt(1)
		if !got.Mul(k).Equals(&one) {
			t.Fatalf("%v", k)
		}
	})
}

// BenchmarkInverse: ours against that of the curve library, which takes a time that
// depends on the number.
func BenchmarkInverse(b *testing.B) {
	var k secp256k1.ModNScalar
	k.SetByteSlice([]byte("a scalar that uses some entries."))
	b.Run("ours", func(b *testing.B) {
		for b.Loop() {
			Inverse(&k, &k)
		}
	})
	b.Run("library", func(b *testing.B) {
		for b.Loop() {
			k.InverseNonConst()
		}
	})
}

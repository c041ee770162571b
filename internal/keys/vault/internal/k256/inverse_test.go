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
	f, g, d, e := m.number, longOf(&limbs), long{}, long{1}
	if f.number().Cmp(n) != 0 || g.number().Cmp(x) != 0 {
		t.Fatalf("%x and %x in limbs: %x and %x", n, x, f, g)
	}
	delta, wantF, wantG := 1, new(big.Int).Set(n), new(big.Int).Set(x)
	minusDelta := int64(-1)
	lowest := new(big.Int).Lsh(n, 1)
	lowest.Neg(lowest)
	for round := range rounds {
		var by matrix
		minusDelta, by = divisionSteps(minusDelta, uint64(f[0]), uint64(g[0]))
		by.apply(&f, &g, m, 0, 0)
		by.applyModulo(&d, &e, m)
		for range stepsAtOnce {
			step(&delta, wantF, wantG)
		}
		if f.number().Cmp(wantF) != 0 || g.number().Cmp(wantG) != 0 || minusDelta != int64(-delta-1)/2 {
			t.Fatalf("%x modulo %x, round %d: f, g and delta are %x, %x and %d, not %x, %x and %d", x, n, round, f.number(), g.number(), -minusDelta, wantF, wantG, (delta+1)/2)
		}
		for _, multiple := range []struct{ of, is *long }{{&d, &f}, {&e, &g}} {
			of := multiple.of.number()
			if of.Cmp(lowest) <= 0 || of.Cmp(n) >= 0 {
				t.Fatalf("%x modulo %x, round %d: %x is out of bounds", x, n, round, of)
			}
			if of.Mul(of, x).Sub(of, multiple.is.number()).Mod(of, n).Sign() != 0 {
				t.Fatalf("%x modulo %x, round %d: no multiple", x, n, round)
			}
		}
	}
	if wantG.Sign() != 0 {
		t.Fatalf("%x modulo %x: not done", x, n)
	}
	m.invert(&limbs)
	if want := limbsOfNumber(inverseOf(x, n)); limbs != want {
		t.Fatalf("1/%x modulo %x: %x, not %x", x, n, limbs, want)
	}
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

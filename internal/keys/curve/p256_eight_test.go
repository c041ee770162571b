package curve

import (
	"math/big"
	"testing"

	"filippo.io/nistec"
	"pgregory.net/rapid"

	"latchkey/internal/keys/lanes"
	"latchkey/internal/keys/lanes/lanestest"
)

var eight = lanestest.Field{Prime: p256Prime, Montgomery: true, Add: func(s *lanes.Sums, which uint16) {
	all := eightSums{*s}
	addEight(&all, which)
	*s = all.Sums
}}

// TestEight holds the addition of eight points to numbers of any size: that in assembly,
// where the processor can, else that in Go.
func TestEight(t *testing.T) { eight.Test(t) }

func TestEightOfTheLargest(t *testing.T) { eight.TestLargest(t) }

// FuzzEight is the same of any numbers.
func FuzzEight(f *testing.F) {
	for _, seed := range lanestest.Seeds() {
		f.Add(seed, byte(0xff))
	}
	f.Fuzz(func(t *testing.T, data []byte, which byte) { eight.Check(t, data, uint16(which)) })
}

// TestDigits: all digits of a block are those that are asked for one by one.
func TestDigits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := number(t, "scalar")
		limbs := scalarFromBytes(n[:])
		term := newTerm(generator(), &limbs)
		for block := range term.blocks {
			for column, d := range term.digits(block) {
				if uint64(d) != term.digit(block, column) {
					t.Fatalf("digit of block %d, column %d: %d, not %d", block, column, d, term.digit(block, column))
				}
			}
		}
	})
}

// TestSumOfEight: columns that are added side by side are the product, for one term and
// for two. Where one cannot be added so, it says so; with random scalars all can.
func TestSumOfEight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := scalar(number(t, "base"))
		q, err := nistec.NewP256Point().ScalarBaseMult(base)
		if err != nil {
			t.Fatal(err)
		}
		n1, n2 := number(t, "first"), number(t, "second")
		u1, u2 := scalarFromBytes(n1[:]), scalarFromBytes(n2[:])
		terms := []term{newTerm(generator(), &u1), newTerm(newComb(largeComb, q), &u2)}
		if !fitEight(terms) {
			t.Fatal("two terms of large combs do not fit")
		}
		// u1 + u2·base, times G
		whole := new(big.Int).Mul(new(big.Int).SetBytes(n2[:]), new(big.Int).SetBytes(base))
		whole.Add(whole, new(big.Int).SetBytes(n1[:]))
		for n, terms := range map[*big.Int][]term{whole: terms, new(big.Int).SetBytes(n1[:]): terms[:1]} {
			got, ok := sumOfEight(terms)
			if !ok {
				continue
			}
			want, err := nistec.NewP256Point().ScalarBaseMult(n.Mod(n, orderP256).FillBytes(make([]byte, 32)))
			if err != nil {
				t.Fatal(err)
			}
			if string(got.text()) != string(want.Bytes()) {
				t.Fatalf("%x and %x of %x, %d terms: %x, not %x", n1, n2, base, len(terms), got.text(), want.Bytes())
			}
		}
	})
}

// TestSumOfEightRefuses what the shorter formula has no case for, and nothing else: a
// column without a point, and points that are the same or cancel.
func TestSumOfEightRefuses(t *testing.T) {
	g := generator()
	negative, err := nistec.NewP256Point().ScalarBaseMult(new(big.Int).Sub(orderP256, big.NewInt(1)).Bytes())
	if err != nil {
		t.Fatal(err)
	}
	opposite := newComb(largeComb, negative)
	all := p256Scalar{0xff} // one point in each column
	many, less := scalarFromBig(new(big.Int).Sub(orderP256, big.NewInt(1234567))), scalarFromBig(new(big.Int).Rsh(orderP256, 1))
	for _, tc := range []struct {
		name  string
		terms []term
		want  *big.Int // times the generator; nil: refused
	}{
		{"one point in each column", []term{newTerm(g, &all)}, big.NewInt(0xff)},
		{"eight points in most columns", []term{newTerm(g, &many), newTerm(opposite, &less)}, new(big.Int).Sub(big.NewInt(-1234567), new(big.Int).Rsh(orderP256, 1))},
		{"a column without a point", []term{newTerm(g, &p256Scalar{0xfe})}, nil},
		{"the same points", []term{newTerm(g, &all), newTerm(g, &all)}, nil},
		{"points that cancel", []term{newTerm(g, &all), newTerm(opposite, &all)}, nil},
	} {
		got, ok := sumOfEight(tc.terms)
		if ok != (tc.want != nil) {
			t.Errorf("%s: done %v", tc.name, ok)
		}
		if !ok {
			continue
		}
		text := tc.want.Mod(tc.want, orderP256).FillBytes(make([]byte, coordinateSize))
		if want, err := nistec.NewP256Point().ScalarBaseMult(text); err != nil || string(got.text()) != string(want.Bytes()) {
			t.Errorf("%s: the sum is %x", tc.name, got.text())
		}
	}
	small := newComb(smallComb, negative)
	for name, terms := range map[string][]term{
		"other columns":   {newTerm(small, &all)},
		"too many points": {newTerm(g, &all), newTerm(g, &all), newTerm(g, &all)},
	} {
		if fitEight(terms) {
			t.Errorf("%s fit", name)
		}
	}
}

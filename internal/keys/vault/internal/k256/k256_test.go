package k256

import (
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"pgregory.net/rapid"
)

func scalar(t *rapid.T) *secp256k1.ModNScalar {
	var k secp256k1.ModNScalar
	k.SetByteSlice(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "scalar"))
	if k.IsZero() {
		k.SetInt(1)
	}
	return &k
}

// theirs is kG by the curve library.
func theirs(k *secp256k1.ModNScalar) *secp256k1.JacobianPoint {
	var p secp256k1.JacobianPoint
	secp256k1.ScalarBaseMultNonConst(k, &p)
	p.ToAffine()
	return &p
}

func same(p, q *secp256k1.JacobianPoint) bool {
	return p.X.Equals(&q.X) && p.Y.Equals(&q.Y) && p.Z.Equals(&q.Z)
}

func TestBase(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := scalar(t)
		want := theirs(k)
		var got secp256k1.JacobianPoint
		if !Base(k, &got) || !same(&got, want) {
			t.Fatalf("%v", k)
		}
		if !IsBase(k, want) {
			t.Fatalf("%v: its point is not recognized", k)
		}
		if want.Y.Negate(1).Normalize(); IsBase(k, want) {
			t.Fatalf("%v: the negative of its point passes", k)
		}
	})
}

// Powers of two and their neighbours, of either sign, have the digits that
// random scalars do not: runs of the smallest and the largest.
func TestBaseOfOddScalars(t *testing.T) {
	var one, power secp256k1.ModNScalar
	one.SetInt(1)
	power.SetInt(1)
	for i := range 257 {
		for _, offset := range []int{-1, 0, 1} {
			k := power
			switch offset {
			case -1:
				minus := one
				k.Add(minus.Negate())
			case 1:
				k.Add(&one)
			}
			for range 2 {
				var got secp256k1.JacobianPoint
				if ok := Base(&k, &got); ok == k.IsZero() || ok && !same(&got, theirs(&k)) {
					t.Errorf("2^%d%+d: wrong", i, offset)
				}
				k.Negate()
			}
		}
		power.Add2(&power, &power)
	}
}

func TestInfinity(t *testing.T) {
	var zero secp256k1.ModNScalar
	var p secp256k1.JacobianPoint
	if Base(&zero, &p) {
		t.Error("infinity is taken for a point")
	}
	if !p.X.IsZero() || !p.Y.IsZero() {
		t.Error("infinity has coordinates")
	}
	if IsBase(&zero, &p) {
		t.Error("zero has a point")
	}
}

// A damaged table gives the same wrong point each time, so comparing two
// results is not enough. A number of a row is in all entries whose index has
// the bits of the number's.
func TestDamagedTable(t *testing.T) {
	var k secp256k1.ModNScalar
	k.SetByteSlice([]byte("a scalar that uses some entries."))
	want := theirs(&k)
	c := theComb()
	m := c.digits(&k)
	for i := range c.rows {
		index := digit(&m, i)
		if index < 0 {
			index = -index
		}
		index /= 2 // of 2j + 1
		for j := range entries {
			damaged := &c.rows[i].x[2][j]
			if j%2 == 1 {
				damaged = &c.rows[i].y[2][j]
			}
			*damaged ^= 1 << 17
			var p secp256k1.JacobianPoint
			noticed := !Base(&k, &p)
			switch used := index&j == j; {
			case noticed != used:
				t.Errorf("number %d of row %d is damaged: noticed %v, used %v", j, i, noticed, used)
			case used && (IsBase(&k, &p) || IsBase(&k, want)):
				t.Errorf("number %d of row %d is damaged, and its point passes", j, i)
			case !used && !same(&p, want):
				t.Errorf("number %d of row %d is damaged, and that is not noticed", j, i)
			}
			*damaged ^= 1 << 17
		}
	}
}

// BenchmarkBase: ours against the curve library's, which is not in constant
// time, with the inversion to affine coordinates and without it.
func BenchmarkBase(b *testing.B) {
	var k secp256k1.ModNScalar
	k.SetByteSlice([]byte("a scalar that uses some entries."))
	p := theirs(&k)
	for _, bm := range []struct {
		name string
		f    func()
	}{
		{"ours/affine", func() { Base(&k, p) }},
		{"ours/compared", func() { IsBase(&k, p) }},
		{"library/affine", func() {
			var q secp256k1.JacobianPoint
			secp256k1.ScalarBaseMultNonConst(&k, &q)
			q.ToAffine()
		}},
		{"library/projective", func() {
			var q secp256k1.JacobianPoint
			secp256k1.ScalarBaseMultNonConst(&k, &q)
		}},
	} {
		b.Run(bm.name, func(b *testing.B) {
			for b.Loop() {
				bm.f()
			}
		})
	}
}

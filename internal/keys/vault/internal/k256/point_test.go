package k256

import (
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"pgregory.net/rapid"
)

func affineOf(p *secp256k1.JacobianPoint) *affine {
	var q affine
	q.x.setField(&p.X)
	q.y.setField(&p.Y)
	return &q
}

// is compares with a point of the library, which may be infinity.
func (p *point) is(want *secp256k1.JacobianPoint) bool {
	if want.X.IsZero() && want.Y.IsZero() || want.Z.IsZero() {
		return p.z.isZero() && !p.y.isZero()
	}
	want.ToAffine()
	q := affineOf(want)
	var x, y element
	x.mul(&q.x, &p.z)
	y.mul(&q.y, &p.z)
	return !p.z.isZero() && x.equal(&p.x) && y.equal(&p.y)
}

// A sum is that of the library: of different points, of a point with itself
// and with its negative, and from infinity, whatever Z the left one has.
func TestAddition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := theirs(scalar(t)), theirs(scalar(t))
		minus := *a
		minus.Y.Negate(1).Normalize()
		for name, right := range map[string]*secp256k1.JacobianPoint{"another": b, "itself": a, "its negative": &minus} {
			left := affineOf(a).point()
			scale := drawElement(t, "scale")
			if scale.isZero() {
				scale = &element{1}
			}
			left.x.mul(&left.x, scale)
			left.y.mul(&left.y, scale)
			left.z.mul(&left.z, scale)
			left.add(affineOf(right))
			var want secp256k1.JacobianPoint
			secp256k1.AddNonConst(a, right, &want)
			if !left.is(&want) {
				t.Fatalf("a point and %s", name)
			}
			if name == "its negative" {
				if left.add(affineOf(b)); !left.is(b) {
					t.Fatal("infinity and a point")
				}
			}
		}
	})
}

// A sum of different points is that of the library. In the cases that it does not
// have, it becomes infinity and stays there: a caller that used it so would find no
// point rather than a wrong one.
func TestIncompleteAddition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := theirs(scalar(t)), theirs(scalar(t))
		minus := *a
		minus.Y.Negate(1).Normalize()
		scale := drawElement(t, "scale")
		if scale.isZero() {
			scale = &element{1}
		}
		var scale2, scale3 element
		scale2.square(scale, 1)
		scale3.mul(&scale2, scale)
		left := affineOf(a).sum()
		left.x.mul(&left.x, &scale2)
		left.y.mul(&left.y, &scale3)
		left.zz, left.zzz = scale2, scale3
		if p := left.point(); !p.is(a) {
			t.Fatal("it is another point over one denominator")
		}
		if !a.X.Equals(&b.X) {
			other := left
			other.add(affineOf(b))
			var want secp256k1.JacobianPoint
			secp256k1.AddNonConst(a, b, &want)
			if p := other.point(); !p.is(&want) {
				t.Fatal("a point and another")
			}
		}
		for name, right := range map[string]*secp256k1.JacobianPoint{"itself": a, "its negative": &minus} {
			none := left
			none.add(affineOf(right))
			if !none.zz.isZero() || !none.zzz.isZero() {
				t.Fatalf("a point and %s are not infinity", name)
			}
			if none.add(affineOf(b)); !none.zz.isZero() || !none.zzz.isZero() {
				t.Fatal("infinity and a point are not infinity")
			}
		}
	})
}

// Every entry of the table is what it should be.
func TestComb(t *testing.T) {
	c := theComb()
	var unit secp256k1.ModNScalar
	unit.SetInt(1)
	for i := range c.rows {
		k, two := unit, *new(secp256k1.ModNScalar).Add2(&unit, &unit)
		for j := range entries {
			var q affine
			q.pick(&c.rows[i], uint64(j))
			if p := q.point(); !p.is(theirs(&k)) || !q.onCurve() {
				t.Fatalf("entry %d of window %d is wrong", j, i)
			}
			k.Add(&two)
		}
		for range width {
			unit.Add2(&unit, &unit)
		}
	}
}

// Any entries come back, each by its index.
func TestPick(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var points [entries]affine
		for i := range points {
			points[i] = affine{*drawElement(t, "x"), *drawElement(t, "y")}
		}
		var r row
		r.set(points[:])
		for i := range points {
			var q affine
			if q.pick(&r, uint64(i)); q != points[i] {
				t.Fatalf("entry %d is not picked", i)
			}
		}
	})
}

// digit is that of a window of m, by the sum that defines it.
func digit(m *[windows*width/64 + 1]uint64, window int) (d int) {
	for i := range width {
		at := window*width + i
		d += (2*int(m[at/64]>>(at%64)&1) - 1) << i
	}
	return d
}

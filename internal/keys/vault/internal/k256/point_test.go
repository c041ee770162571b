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

// Every entry of the table is what it should be.
func TestComb(t *testing.T) {
	c := theComb()
	var unit secp256k1.ModNScalar
	unit.SetInt(1)
	for i := range c.points {
		k, two := unit, *new(secp256k1.ModNScalar).Add2(&unit, &unit)
		for j := range c.points[i] {
			q := &c.points[i][j]
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

func TestPick(t *testing.T) {
	row := &theComb().points[1]
	for i := range row {
		var q affine
		if q.pick(row, uint64(i)); q != row[i] {
			t.Errorf("entry %d is not picked", i)
		}
	}
}

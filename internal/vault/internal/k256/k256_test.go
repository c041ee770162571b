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

func TestBase(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := scalar(t)
		var got, want secp256k1.JacobianPoint
		Base(k, &got)
		secp256k1.ScalarBaseMultNonConst(k, &want)
		want.ToAffine()
		if !got.X.Equals(&want.X) || !got.Y.Equals(&want.Y) || !got.Z.Equals(&want.Z) {
			t.Fatalf("%v", k)
		}
	})
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

func TestInfinity(t *testing.T) {
	var p secp256k1.JacobianPoint
	Base(new(secp256k1.ModNScalar), &p)
	if !p.X.IsZero() || !p.Y.IsZero() {
		t.Error("infinity has coordinates")
	}
}

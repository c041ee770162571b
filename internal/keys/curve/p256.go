package curve

import (
	"crypto/elliptic"
	"errors"
	"sync"
	"sync/atomic"

	"filippo.io/nistec"
)

// p256Verifier checks ECDSA signatures of one key on P-256. A key that is
// used again is given a table of multiples, with which a check takes a third of the
// time: checking stamps is the largest part of the work of a server. Without a table
// the arithmetic is nistec's, which is the standard library's own. Keys, signatures
// and digests are public, so nothing here needs to take the same time for all of them.
type p256Verifier struct {
	point *nistec.P256Point
	good  atomic.Int32         // signatures that were, as far as they are counted
	table atomic.Pointer[comb] // nil until the key is worth one
}

const (
	// worthATable: making a table costs as much as a check, and it takes four
	// kilobytes. A key that was used a few times will be used again.
	worthATable = 3
	// worthALargeTable: it costs as much as twenty checks, and there are only
	// [maxLargeTables] of 65 kilobytes. Each spares a third of a check.
	worthALargeTable = 1000
)

var orderP256 = elliptic.P256().Params().N

func parseP256(raw []byte) (*p256Verifier, error) {
	point, err := nistec.NewP256Point().SetBytes(raw)
	if err != nil {
		return nil, errors.New("public key is not a compressed point of the curve P-256")
	}
	return &p256Verifier{point: point}, nil
}

// verify is the check of FIPS 186-5, section 6.4.2, of numbers of at most 32 bytes.
func (k *p256Verifier) verify(digest [32]byte, r, s []byte) bool {
	rn, inverse := scalarFromBytes(r), scalarFromBytes(s)
	if rn.isZero() || !rn.below(&p256OrderLimbs) || inverse.isZero() || !inverse.below(&p256OrderLimbs) {
		return false
	}
	inverse.invert(&inverse)
	inverse.mul(&inverse, &p256OrderSquare) // 2^256/s: mul divides by that
	u1, u2 := scalarFromBytes(digest[:]), rn
	u1.mul(&u1, &inverse)
	u2.mul(&u2, &inverse)

	table := k.table.Load()
	if table == nil && !k.check(&rn, &u1, &u2) || table != nil && !table.check(&rn, &u1, &u2) {
		return false
	}
	if k.good.Load() < worthALargeTable {
		switch k.good.Add(1) {
		case worthATable:
			k.table.Store(newComb(smallComb, k.point))
		case worthALargeTable:
			largeTables.give(k)
		}
	}
	return true
}

// check reports whether u1·G + u2·Q has an x that is r modulo the order.
func (k *p256Verifier) check(r, u1, u2 *p256Scalar) bool {
	text1, text2 := u1.bytes(), u2.bytes()
	sum, err := nistec.NewP256Point().ScalarBaseMult(text1[:])
	if err != nil {
		return false
	}
	product, err := nistec.NewP256Point().ScalarMult(k.point, text2[:])
	if err != nil {
		return false
	}
	text, err := sum.Add(sum, product).BytesX()
	if err != nil { // the point at infinity has none
		return false
	}
	x := scalarFromBytes(text)
	if !x.below(&p256OrderLimbs) { // it is below the prime, and so below twice the order
		x.sub(&x, &p256OrderLimbs)
	}
	return x == *r
}

// generator multiplies the generator of the curve.
var generator = sync.OnceValue(func() *comb { return newComb(largeComb, nistec.NewP256Point().SetGenerator()) })

// check is the same by the table of Q.
func (c *comb) check(r, u1, u2 *p256Scalar) bool {
	var found sum
	if g := generator(); g.stride == c.stride {
		found = sumOf(newTerm(g, u1), newTerm(c, u2))
	} else {
		found = sumOf(newTerm(g, u1))
		other := sumOf(newTerm(c, u2))
		found.add(&other)
	}
	if found.hasX(*r) {
		return true
	}
	// There are more numbers below the prime than below the order.
	above := *r
	carry := above.add(&above, &p256OrderLimbs)
	return carry == 0 && above.below(&p256PrimeLimbs) && found.hasX(above)
}

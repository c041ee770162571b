package hd

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

var (
	errScalar = errors.New("hd: the private key is not in [1, n-1]")
	errPoint  = errors.New("hd: a public key is not on its curve; suspect the hardware")
)

// limbs is a 256-bit number, lowest limb first.
type limbs [4]uint64

// orderP256 is n of FIPS 186-5 / SEC2 for P-256.
var orderP256 = limbs{0xf3b9cac2fc632551, 0xbce6faada7179e84, 0xffffffffffffffff, 0xffffffff00000000}

// addP256 adds modulo the order. It takes the same time for all keys, which
// math/big does not.
func addP256(key, tweak []byte) bool {
	k, t := read(key), read(tweak)
	defer clear(k[:])
	defer clear(t[:])
	if _, less := sub(t, orderP256); less == 0 {
		return false // SLIP-0010: the tweak must be below n
	}
	total, carry := add(k, t)
	reduced, borrow := sub(total, orderP256)
	defer clear(total[:])
	defer clear(reduced[:])
	// The difference holds if the sum overflowed or did not need to borrow.
	keep := -(carry | (borrow ^ 1))
	var all uint64
	for i := range total {
		total[i] = reduced[i]&keep | total[i]&^keep
		all |= total[i]
	}
	if all == 0 {
		return false
	}
	for i := range total {
		binary.BigEndian.PutUint64(key[8*(3-i):], total[i])
	}
	return true
}

func read(b []byte) (n limbs) {
	for i := range n {
		n[i] = binary.BigEndian.Uint64(b[8*(3-i):])
	}
	return n
}

func add(a, b limbs) (sum limbs, carry uint64) {
	for i := range a {
		sum[i], carry = bits.Add64(a[i], b[i], carry)
	}
	return sum, carry
}

func sub(a, b limbs) (difference limbs, borrow uint64) {
	for i := range a {
		difference[i], borrow = bits.Sub64(a[i], b[i], borrow)
	}
	return difference, borrow
}

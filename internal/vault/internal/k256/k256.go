// Package k256 does the secret arithmetic on secp256k1 that the curve library
// does slowly, or in a time that depends on the secret: inversions. Both kinds
// are blinded here by a random factor, so that the fast algorithm may take
// the time that it likes:
//
//	1/x = b/(x*b)
package k256

import (
	"crypto/rand"
	"math/big"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// Base sets p to kG, in affine coordinates. k must not be zero.
func Base(k *secp256k1.ModNScalar, p *secp256k1.JacobianPoint) {
	secp256k1.ScalarBaseMultNonConst(k, p)
	affine(p)
}

// affine brings p, which is not infinity, to Z = 1. The library's own way is an
// exponentiation that takes half as long as the multiplication before it.
func affine(p *secp256k1.JacobianPoint) {
	var blind, product secp256k1.FieldVal
	var buffer [32]byte
	for blind.IsZero() {
		rand.Read(buffer[:])
		blind.SetBytes(&buffer)
		blind.Normalize()
	}
	product.Mul2(&p.Z, &blind).Normalize()
	product.PutBytes(&buffer)
	inverse := new(big.Int).ModInverse(new(big.Int).SetBytes(buffer[:]), secp256k1.Params().P)
	if inverse == nil { // Z was zero: infinity, which has no affine form
		p.X.Zero()
		p.Y.Zero()
		p.Z.Zero()
		return
	}
	inverse.FillBytes(buffer[:])
	product.SetBytes(&buffer)
	product.Mul(&blind) // 1/Z
	var square secp256k1.FieldVal
	square.SquareVal(&product)
	p.X.Mul(&square).Normalize()
	p.Y.Mul(square.Mul(&product)).Normalize()
	p.Z.SetInt(1)
}

// Inverse sets to to 1/k modulo the order. k must not be zero.
func Inverse(to, k *secp256k1.ModNScalar) {
	var blind secp256k1.ModNScalar
	defer blind.Zero()
	var buffer [32]byte
	for blind.IsZero() {
		rand.Read(buffer[:])
		blind.SetBytes(&buffer)
	}
	to.Mul2(k, &blind).InverseNonConst().Mul(&blind)
}

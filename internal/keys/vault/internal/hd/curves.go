package hd

import (
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/elliptic"
	"fmt"
	"math/big"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"latchkey/internal/keys/curve"
	"latchkey/internal/keys/vault/internal/k256"
)

// Public returns the public key of a private key: compressed SEC1, or the 32
// bytes of RFC 8032. It refuses what is no private key of the curve.
func Public(c curve.KeyCurve, key []byte) ([]byte, error) {
	if len(key) != keySize {
		return nil, fmt.Errorf("hd: a private key of %d bytes", len(key))
	}
	switch c {
	case curve.KeySecp256k1:
		return pointSecp256k1(key)
	case curve.KeyP256:
		return pointP256(key)
	case curve.KeyEd25519:
		whole := ed25519.NewKeyFromSeed(key)
		defer clear(whole)
		return append([]byte(nil), whole[keySize:]...), nil
	}
	return nil, fmt.Errorf("hd: unknown curve %q", c)
}

func pointSecp256k1(key []byte) ([]byte, error) {
	var scalar secp256k1.ModNScalar
	defer scalar.Zero()
	if overflow := scalar.SetByteSlice(key); overflow || scalar.IsZero() {
		return nil, errScalar
	}
	var point secp256k1.JacobianPoint
	if !k256.Base(&scalar, &point) {
		return nil, errPoint
	}
	return secp256k1.NewPublicKey(&point.X, &point.Y).SerializeCompressed(), nil
}

func addSecp256k1(key, tweak []byte) bool {
	var k, t secp256k1.ModNScalar
	defer k.Zero()
	defer t.Zero()
	k.SetByteSlice(key)
	if overflow := t.SetByteSlice(tweak); overflow {
		return false
	}
	if k.Add(&t); k.IsZero() {
		return false
	}
	k.PutBytesUnchecked(key)
	return true
}

// pointP256 goes through crypto/ecdh, which multiplies in constant time and
// refuses scalars outside [1, n-1].
func pointP256(key []byte) ([]byte, error) {
	private, err := ecdh.P256().NewPrivateKey(key)
	if err != nil {
		return nil, errScalar
	}
	return Compress(private.PublicKey().Bytes()), nil
}

// Compress shortens an uncompressed P-256 point, SEC1 section 2.3.3.
func Compress(point []byte) []byte {
	short := append([]byte(nil), point[:1+keySize]...)
	short[0] = 2 | point[2*keySize]&1
	return short
}

// Expand reads a P-256 point in either form and returns the uncompressed one,
// or nil when it is none.
func Expand(point []byte) []byte {
	var x, y *big.Int
	if len(point) == 1+keySize {
		x, y = elliptic.UnmarshalCompressed(elliptic.P256(), point)
	} else if public, err := ecdh.P256().NewPublicKey(point); err == nil {
		return public.Bytes()
	}
	if x == nil {
		return nil
	}
	long := make([]byte, 1+2*keySize)
	long[0] = 4
	x.FillBytes(long[1 : 1+keySize])
	y.FillBytes(long[1+keySize:])
	return long
}

// setEd25519 replaces: SLIP-0010 has no sum there, and no invalid keys.
func setEd25519(key, tweak []byte) bool {
	copy(key, tweak)
	return true
}

package address

import (
	"crypto/sha256"
	"errors"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// IsTaproot reports whether the format pays to a tweaked key. What signs for
// such an address is not the account's key itself: see [TaprootOutputKey].
func IsTaproot(f Format) bool {
	switch f {
	case BitcoinMainnetP2TR, BitcoinTestnetP2TR, BitcoinSignetP2TR, BitcoinRegtestP2TR:
		return true
	}
	return false
}

// TaprootOutputKey returns the x coordinate of the key that a P2TR address of
// the given compressed secp256k1 key pays to: the key tweaked as BIP-341 does
// for the key path, with no script tree. It is the x-only key that BIP-340
// signatures for that address verify under.
func TaprootOutputKey(compressed []byte) ([32]byte, error) {
	point, err := parseSecp256k1(compressed)
	if err != nil {
		return [32]byte{}, err
	}
	return outputKey(point)
}

// outputKey is taproot_tweak_pubkey of BIP-341 with an empty merkle root:
// Q = P + hash("TapTweak", x(P))·G, where P has the even y of its x.
func outputKey(point *secp256k1.PublicKey) ([32]byte, error) {
	x := point.X().FillBytes(make([]byte, 32))
	hash := taggedHash("TapTweak", x)
	var tweak secp256k1.ModNScalar
	if overflow := tweak.SetBytes(&hash); overflow != 0 {
		return [32]byte{}, errTweak
	}

	var p, q, tG secp256k1.JacobianPoint
	point.AsJacobian(&p)
	if p.Y.IsOdd() {
		p.Y.Negate(1).Normalize()
	}
	// Nothing here is secret, so that varying time does no harm.
	secp256k1.ScalarBaseMultNonConst(&tweak, &tG)
	secp256k1.AddNonConst(&p, &tG, &q)
	if q.Z.IsZero() { // the point at infinity
		return [32]byte{}, errTweak
	}
	q.ToAffine()
	return *q.X.Bytes(), nil
}

// BIP-341 lets these cases fail. They come up with a chance of about 2^-127.
var errTweak = errors.New("public key has no taproot address: its tweak is out of range")

// taggedHash is hash_tag(data) of BIP-340.
func taggedHash(tag string, data []byte) [32]byte {
	name := sha256.Sum256([]byte(tag))
	h := sha256.New()
	h.Write(name[:])
	h.Write(name[:])
	h.Write(data)
	return [32]byte(h.Sum(nil))
}

package sign

import (
	"crypto/sha256"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"latchkey/internal/keys/vault/internal/k256"
)

// Taproot signs a digest by BIP-340 with the key of a BIP-341 output that has
// no script tree, and 32 zero bytes of auxiliary randomness. public is the
// compressed public key that was computed when the key was stored.
func Taproot(key, public []byte, digest [32]byte) (Signature, error) {
	return bip340(func(d *secp256k1.ModNScalar) bool { return tweaked(d, key, public) }, digest)
}

// Schnorr signs a digest by BIP-340 with the key itself, and 32 zero bytes of
// auxiliary randomness.
func Schnorr(key []byte, digest [32]byte) (Signature, error) {
	return bip340(func(d *secp256k1.ModNScalar) bool { return !d.SetByteSlice(key) && !d.IsZero() }, digest)
}

// tweaked sets d to the private key of the output, BIP-341
// taproot_tweak_seckey: negated if the internal point has an odd y, plus the
// hash of its x.
func tweaked(d *secp256k1.ModNScalar, key, public []byte) bool {
	const odd = secp256k1.PubKeyFormatCompressedOdd
	if overflow := d.SetByteSlice(key); overflow || d.IsZero() || len(public) != secp256k1.PubKeyBytesLenCompressed {
		return false
	}
	if public[0] == odd {
		d.Negate()
	}
	tweak := tagged("TapTweak", public[1:])
	var t secp256k1.ModNScalar
	if overflow := t.SetBytes(&tweak); overflow != 0 {
		return false
	}
	return !d.Add(&t).IsZero()
}

// bip340 signs with the key that load sets ("Default Signing"), and loads it
// again for the check.
func bip340(load func(*secp256k1.ModNScalar) bool, digest [32]byte) (Signature, error) {
	var d, k, e secp256k1.ModNScalar
	defer d.Zero()
	defer k.Zero()
	if !load(&d) {
		return Signature{}, errKey
	}
	public, ok := even(&d)
	if !ok {
		return Signature{}, errFault
	}
	masked := tagged("BIP0340/aux", make([]byte, 32))
	defer clear(masked[:])
	secret := d.Bytes()
	defer clear(secret[:])
	for i := range masked {
		masked[i] ^= secret[i]
	}
	nonce := tagged("BIP0340/nonce", masked[:], public[:], digest[:])
	defer clear(nonce[:])
	if k.SetBytes(&nonce); k.IsZero() {
		return Signature{}, errFault // never observed
	}
	var sig Signature
	if sig.R, ok = even(&k); !ok {
		return Signature{}, errFault
	}
	challenge := tagged("BIP0340/challenge", sig.R[:], public[:], digest[:])
	e.SetBytes(&challenge)
	e.Mul(&d).Add(&k).PutBytes(&sig.S)
	d.Zero()
	if !load(&d) || !checkBIP340(&sig, &d, digest) {
		return Signature{}, errFault
	}
	return sig, nil
}

// even returns the x of the scalar's point, and negates the scalar if y is odd:
// BIP-340 knows points by x alone and takes the even one.
func even(d *secp256k1.ModNScalar) (x [32]byte, ok bool) {
	var point secp256k1.JacobianPoint
	if !k256.Base(d, &point) {
		return x, false
	}
	if point.Y.IsOdd() {
		d.Negate()
	}
	point.X.PutBytes(&x)
	return x, true
}

// checkBIP340 starts over from the bytes that are about to leave and from the
// key as it was stored: sG - eP = R, as (s - e*d)G because d is at hand. e
// hashes R and P, and two e for one nonce are what gives the key away. A wrong
// R is not (s - e*d)G; P is computed a second time, since the check cannot
// tell a wrong P from a right one otherwise.
func checkBIP340(sig *Signature, d *secp256k1.ModNScalar, digest [32]byte) bool {
	var e, s secp256k1.ModNScalar
	public, ok := even(d)
	if !ok {
		return false
	}
	challenge := tagged("BIP0340/challenge", sig.R[:], public[:], digest[:])
	e.SetBytes(&challenge)
	if overflow := s.SetBytes(&sig.S); overflow != 0 {
		return false
	}
	k := s.Add(e.Mul(d).Negate())
	defer k.Zero()
	var point secp256k1.JacobianPoint
	if !k256.Base(k, &point) {
		return false
	}
	var x [32]byte
	point.X.PutBytes(&x)
	return !point.Y.IsOdd() && x == sig.R
}

// tagged is the tagged hash of BIP-340.
func tagged(tag string, parts ...[]byte) (sum [32]byte) {
	name := sha256.Sum256([]byte(tag))
	h := sha256.New()
	h.Write(name[:])
	h.Write(name[:])
	for _, part := range parts {
		h.Write(part)
	}
	h.Sum(sum[:0])
	return sum
}

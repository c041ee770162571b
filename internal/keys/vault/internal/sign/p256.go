package sign

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"math/big"
	"sync"

	"filippo.io/bigmod"
	"filippo.io/nistec"
	"golang.org/x/crypto/cryptobyte"
	"golang.org/x/crypto/cryptobyte/asn1"
)

// P256 signs a digest by ECDSA.
func P256(key []byte, digest [32]byte) (Signature, error) {
	private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), key)
	if err != nil {
		return Signature{}, errKey
	}
	der, err := private.Sign(nil, digest[:], crypto.SHA256) // no randomness: RFC 6979
	if err != nil {
		return Signature{}, err
	}
	r, s, ok := parseDER(der)
	if !ok {
		return Signature{}, errFault
	}
	var sig Signature
	n := elliptic.P256().Params().N
	if half := new(big.Int).Rsh(n, 1); s.Cmp(half) > 0 {
		s.Sub(n, s)
	}
	if r.Sign() <= 0 || s.Sign() <= 0 || r.Cmp(n) >= 0 {
		return Signature{}, errFault
	}
	r.FillBytes(sig.R[:])
	s.FillBytes(sig.S[:])
	if sig.V, ok = checkP256(&sig, key, digest); !ok {
		return Signature{}, errFault
	}
	return sig, nil
}

// orderP256 is n, with what multiplying modulo n needs.
var orderP256 = sync.OnceValue(func() *bigmod.Modulus {
	n, err := bigmod.NewModulus(elliptic.P256().Params().N.Bytes())
	if err != nil {
		panic("sign: " + err.Error()) // impossible: n is above one
	}
	return n
})

// checkP256 starts over from the bytes that are about to leave and from the key
// as it was stored. They stand for the nonce k = (e + r*d)/s, and r must be
// the x of kG. What gives a key away is two equations s*k = e + r*d with one
// k that differ in r, s or e. Here a wrong r, s, e or d gives a k that has
// nothing to do with r, except that one in 2^255 fits by chance.
//
// It also returns the recovery id of kG. Of the numbers, k and d are secret:
// they are multiplied in constant time. The inverse of s is public.
func checkP256(sig *Signature, key []byte, digest [32]byte) (v byte, ok bool) {
	n := orderP256()
	d, err := bigmod.NewNat().SetBytes(key, n)
	if err != nil {
		return 0, false
	}
	defer clear(d.Bits())
	r, err := bigmod.NewNat().SetBytes(sig.R[:], n)
	if err != nil || r.IsZero() == 1 {
		return 0, false
	}
	e, err := bigmod.NewNat().SetOverflowingBytes(digest[:], n) // reduced, as SEC1 has it
	if err != nil {
		return 0, false
	}
	inverse, ok := inverseP256(sig.S[:])
	if !ok {
		return 0, false
	}
	k := d.Mul(r, n).Add(e, n).Mul(inverse, n)
	nonce := k.Bytes(n)
	defer clear(nonce)
	kG, err := nistec.NewP256Point().ScalarBaseMult(nonce)
	if err != nil {
		return 0, false
	}
	const size = 1 + 32 + 32
	point := kG.Bytes()
	if len(point) != size { // infinity
		return 0, false
	}
	x, err := bigmod.NewNat().SetOverflowingBytes(point[1:33], n)
	if err != nil || x.Equal(r) == 0 {
		return 0, false
	}
	v = point[size-1] & 1
	if !bytes.Equal(point[1:33], sig.R[:]) { // x was not below n
		v |= 2
	}
	return v, true
}

// inverseP256 is 1/s modulo n for a public s below n.
func inverseP256(s []byte) (*bigmod.Nat, bool) {
	inverse := new(big.Int).SetBytes(s)
	if inverse.ModInverse(inverse, elliptic.P256().Params().N) == nil {
		return nil, false
	}
	var b [32]byte
	nat, err := bigmod.NewNat().SetBytes(inverse.FillBytes(b[:]), orderP256())
	return nat, err == nil
}

func parseDER(der []byte) (r, s *big.Int, ok bool) {
	r, s = new(big.Int), new(big.Int)
	input := cryptobyte.String(der)
	var inner cryptobyte.String
	ok = input.ReadASN1(&inner, asn1.SEQUENCE) && input.Empty() &&
		inner.ReadASN1Integer(r) && inner.ReadASN1Integer(s) && inner.Empty()
	return r, s, ok
}

// DER encodes an ECDSA signature, SEC1 appendix C.8. Its length always has the
// short form.
func (sig Signature) DER() ([]byte, error) {
	var b cryptobyte.Builder
	b.AddASN1(asn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1BigInt(new(big.Int).SetBytes(sig.R[:]))
		b.AddASN1BigInt(new(big.Int).SetBytes(sig.S[:]))
	})
	return b.Bytes()
}

package sign

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"math/big"

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
	r.FillBytes(sig.R[:])
	s.FillBytes(sig.S[:])
	sig.V, ok = recoverP256(&private.PublicKey, digest, r, s)
	if !ok {
		return Signature{}, errFault
	}
	return sig, nil
}

// recoverP256 verifies, SEC1 section 4.1.4, and returns the recovery id of the
// nonce point that it computes on the way. Only public numbers are involved:
// there is no arithmetic modulo n in constant time to be had for the cheaper
// check with the private key.
func recoverP256(public *ecdsa.PublicKey, digest [32]byte, r, s *big.Int) (v byte, ok bool) {
	point, err := public.Bytes()
	if err != nil {
		return 0, false
	}
	c := elliptic.P256()
	n := c.Params().N
	inverse := new(big.Int).ModInverse(s, n)
	if inverse == nil {
		return 0, false
	}
	u1 := new(big.Int).SetBytes(digest[:])
	u1.Mul(u1, inverse).Mod(u1, n)
	u2 := inverse.Mul(r, inverse)
	u2.Mod(u2, n)
	//lint:ignore SA1019 no other interface of the standard library returns the y that the recovery id needs
	x1, y1 := c.ScalarBaseMult(u1.Bytes())
	//lint:ignore SA1019 see above
	x2, y2 := c.ScalarMult(new(big.Int).SetBytes(point[1:33]), new(big.Int).SetBytes(point[33:]), u2.Bytes())
	//lint:ignore SA1019 see above
	x, y := c.Add(x1, y1, x2, y2)
	v = byte(y.Bit(0))
	if x.Cmp(n) >= 0 {
		x.Sub(x, n)
		v |= 2
	}
	return v, x.Sign() > 0 && x.Cmp(r) == 0
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

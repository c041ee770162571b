package passkey

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/go-webauthn/webauthn/protocol/webauthncbor"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"
)

// RSA keys below the minimum are weak; above the maximum they are a means to
// keep the server busy.
const minRSABits, maxRSABits = 2048, 4096

// key is the public key of a new passkey.
type key struct {
	algorithm webauthncose.COSEAlgorithmIdentifier
	public    interface{ Equal(crypto.PublicKey) bool }
}

// certified reports whether the certificate is one of this very key.
func (k key) certified(cert *x509.Certificate) bool { return k.public.Equal(cert.PublicKey) }

// The members of a COSE key: its type, its algorithm and those of the type.
// Optional ones are forbidden (WebAuthn section 6.5.1.1).
const membersES256, membersRS256 = 5, 4

func readKey(cose []byte) (key, error) {
	const shape = "has a credential key that is not well-formed: it must be a COSE key with only the members of its type"
	var members map[int64]webauthncbor.RawMessage
	if err := webauthncbor.Unmarshal(cose, &members); err != nil {
		return key{}, because(err, shape)
	}
	var head webauthncose.PublicKeyData
	if err := webauthncbor.Unmarshal(cose, &head); err != nil {
		return key{}, because(err, shape)
	}
	var want int
	switch algorithm := webauthncose.COSEAlgorithmIdentifier(head.Algorithm); {
	case algorithm == webauthncose.AlgES256 && head.KeyType == int64(webauthncose.EllipticKey):
		want = membersES256
	case algorithm == webauthncose.AlgRS256 && head.KeyType == int64(webauthncose.RSAKey):
		want = membersRS256
	default:
		return key{}, fmt.Errorf("has a credential key of type %d and algorithm %d: only ES256 (type 2, algorithm -7) "+
			"and RS256 (type 3, algorithm -257) are allowed", head.KeyType, head.Algorithm)
	}
	if len(members) != want {
		return key{}, errors.New(shape)
	}
	parsed, err := webauthncose.ParsePublicKey(cose)
	if err != nil {
		return key{}, because(err, "has a credential key that cannot be used: it must be a point on P-256 or an RSA key")
	}
	switch k := parsed.(type) {
	case webauthncose.EC2PublicKeyData:
		return readES256(k)
	case webauthncose.RSAPublicKeyData:
		return readRS256(k)
	}
	return key{}, errors.New(shape)
}

func readES256(k webauthncose.EC2PublicKeyData) (key, error) {
	point, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), slices.Concat([]byte{4}, k.XCoord, k.YCoord))
	if err != nil || k.Curve != int64(webauthncose.P256) {
		return key{}, because(err, "has a credential key that is not on P-256")
	}
	return key{webauthncose.AlgES256, point}, nil
}

func readRS256(k webauthncose.RSAPublicKeyData) (key, error) {
	e, err := webauthncose.ParseRSAPublicKeyDataExponent(&k)
	if err != nil || e < 3 || e > math.MaxInt32 || e%2 == 0 {
		return key{}, because(err, "has an RSA key whose exponent is not an odd number from 3 to 2^31-1 (usual is 65537)")
	}
	n := new(big.Int).SetBytes(k.Modulus)
	if bits := n.BitLen(); bits < minRSABits || bits > maxRSABits {
		return key{}, fmt.Errorf("has an RSA key of %d bits: it must have %d to %d", bits, minRSABits, maxRSABits)
	}
	if n.Bit(0) == 0 {
		return key{}, errors.New("has an RSA key with an even modulus, which is the product of no two large primes")
	}
	return key{webauthncose.AlgRS256, &rsa.PublicKey{N: n, E: e}}, nil
}

package stamp

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/go-webauthn/webauthn/protocol/webauthncose"

	"latchkey/internal/fault"
)

// Passkey is what was stored at registration.
type Passkey struct {
	COSEKey  []byte
	RPIDHash []byte   // 32 bytes
	Origins  []string // exact; all are allowed when it is nil or contains "*"
}

func (p Passkey) allows(origin string) bool {
	return p.Origins == nil || slices.Contains(p.Origins, "*") || slices.Contains(p.Origins, origin)
}

// VerifyPasskey checks that the passkey signed body, by the steps of WebAuthn
// section 7.2 that apply here. It returns the authenticator's signature
// counter; that it grows is for the caller to check, which keeps the last one.
//
// User verification is not demanded: clients ask for it as "preferred" only.
func (v *Verifier) VerifyPasskey(s *Stamp, body []byte, p Passkey) (counter uint32, err error) {
	if s.Scheme != Webauthn || len(s.passkey.authenticatorData) < minAuthData { // not from Read
		return 0, refused("the stamp is not that of a passkey")
	}
	a := &s.passkey
	if a.kind != "webauthn.get" {
		return 0, refused("type is %s: it must be \"webauthn.get\"", quote(a.kind))
	}
	digest := sha256.Sum256(body)
	if string(a.challenge) != hex.EncodeToString(digest[:]) {
		return 0, refused("challenge does not fit the body: it must be the 64 lower-case hex digits of the body's SHA-256, as text")
	}
	if !p.allows(a.origin) {
		return 0, refused("origin %s is not allowed", quote(a.origin))
	}
	if !bytes.Equal(a.rpIDHash(), p.RPIDHash) {
		return 0, refused("rpIdHash is not that of the relying party where the passkey was registered")
	}
	if !a.userPresent() {
		return 0, refused("the user-present flag is not set")
	}
	key, err := v.passkey(p.COSEKey)
	if err != nil {
		return 0, refused("the passkey's public key cannot be used: it must be ES256 or RS256").Because(err)
	}
	clientDataHash := sha256.Sum256(a.clientDataJSON)
	signed := sha256.Sum256(slices.Concat(a.authenticatorData, clientDataHash[:]))
	if !key.verify(signed, s.signature) {
		return 0, refused("the signature does not fit the passkey")
	}
	return a.counter(), nil
}

func refused(format string, args ...any) *fault.Error {
	return invalid("could not verify WebAuthN signature: "+format, args...)
}

// passkeyVerifier is a parsed COSE key; one of the two is set.
type passkeyVerifier struct {
	es256 *ecdsa.PublicKey
	rs256 *rsa.PublicKey
}

func (k passkeyVerifier) verify(digest [32]byte, signature []byte) bool {
	if k.es256 != nil {
		return ecdsa.VerifyASN1(k.es256, digest[:], signature)
	}
	return k.rs256 != nil && rsa.VerifyPKCS1v15(k.rs256, crypto.SHA256, digest[:], signature) == nil
}

func (v *Verifier) passkey(cose []byte) (passkeyVerifier, error) {
	if key, ok := v.passkeys.get(string(cose)); ok {
		return key, nil
	}
	key, err := parseCOSE(cose)
	if err != nil {
		return passkeyVerifier{}, err
	}
	v.passkeys.put(string(cose), key, v.Remember)
	return key, nil
}

// RSA keys below the minimum are weak; above the maximum they are a means to
// keep the server busy.
const minRSABits, maxRSABits = 2048, 8192

func parseCOSE(cose []byte) (passkeyVerifier, error) {
	parsed, err := webauthncose.ParsePublicKey(cose)
	if err != nil {
		return passkeyVerifier{}, fmt.Errorf("parsing COSE key: %w", err)
	}
	switch k := parsed.(type) {
	case webauthncose.EC2PublicKeyData:
		if webauthncose.COSEAlgorithmIdentifier(k.Algorithm) != webauthncose.AlgES256 {
			return passkeyVerifier{}, fmt.Errorf("COSE algorithm %d is not ES256 (-7)", k.Algorithm)
		}
		key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), slices.Concat([]byte{4}, k.XCoord, k.YCoord))
		return passkeyVerifier{es256: key}, err
	case webauthncose.RSAPublicKeyData:
		if webauthncose.COSEAlgorithmIdentifier(k.Algorithm) != webauthncose.AlgRS256 {
			return passkeyVerifier{}, fmt.Errorf("COSE algorithm %d is not RS256 (-257)", k.Algorithm)
		}
		e, err := webauthncose.ParseRSAPublicKeyDataExponent(&k)
		if err != nil {
			return passkeyVerifier{}, fmt.Errorf("reading RSA exponent: %w", err)
		}
		key := &rsa.PublicKey{N: new(big.Int).SetBytes(k.Modulus), E: e}
		if bits := key.N.BitLen(); bits < minRSABits || bits > maxRSABits {
			return passkeyVerifier{}, fmt.Errorf("RSA key of %d bits is not within %d and %d", bits, minRSABits, maxRSABits)
		}
		return passkeyVerifier{rs256: key}, nil
	}
	return passkeyVerifier{}, errors.New("COSE key is neither of an elliptic curve nor RSA")
}

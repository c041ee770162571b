package stamp

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/crypto/sha3"

	"latchkey/internal/keys/curve"
)

// readAPIKey reads the value of X-Stamp: base64url of
//
//	{"publicKey": <hex>, "scheme": <name>, "signature": <hex>}
func readAPIKey(value string) (*Stamp, error) {
	if len(value) > maxHeader {
		return nil, tooLong(value)
	}
	text, err := fromBase64(value)
	if err != nil {
		return nil, err
	}
	m, err := members(text, false, "publicKey", "scheme", "signature")
	if err != nil {
		return nil, err
	}
	publicKey, scheme, signature := m[0], m[1], m[2]
	s := &Stamp{Scheme: Scheme(scheme), PublicKey: strings.ToLower(publicKey), Signature: signature}
	size := s.Scheme.Curve().KeySize()
	if size == 0 || s.Scheme == AttestedToken || s.Scheme == AttestedOIDC {
		return nil, fmt.Errorf("scheme %s is not known: use one of %s, %s, %s, %s",
			quote(scheme), P256, Secp256k1, Secp256k1EIP191, Ed25519)
	}
	return s, s.decode(size)
}

// readAttested reads the value of X-Stamp-Attested: base64url of
//
//	{"publicKeyAttestation": <token>, "scheme": <name>, "publicKey": <hex>, "signature": <hex>}
//
// or the JSON itself.
func readAttested(value string) (*Stamp, error) {
	if len(value) > maxHeader {
		return nil, tooLong(value)
	}
	text := []byte(value)
	if !strings.HasPrefix(strings.TrimSpace(value), "{") {
		var err error
		if text, err = fromBase64(value); err != nil {
			return nil, err
		}
	}
	m, err := members(text, false, "publicKeyAttestation", "scheme", "publicKey", "signature")
	if err != nil {
		return nil, err
	}
	attestation, scheme, publicKey, signature := m[0], m[1], m[2], m[3]
	s := &Stamp{
		Scheme:    Scheme(scheme),
		PublicKey: strings.ToLower(publicKey), SentKey: publicKey,
		Attestation: attestation, Signature: signature,
	}
	if s.Scheme != AttestedToken && s.Scheme != AttestedOIDC {
		return nil, fmt.Errorf("scheme %s is not known: use %s or %s", quote(scheme), AttestedToken, AttestedOIDC)
	}
	if s.Attestation == "" {
		return nil, errors.New("publicKeyAttestation must be a token")
	}
	return s, s.decode(curve.P256.KeySize())
}

// decode reads the key and the signature, of which the key has size bytes.
func (s *Stamp) decode(size int) (err error) {
	// Whether the key is a point is seen when it is parsed, which is only worth
	// its time for a key that a user has registered.
	if raw, err := hex.DecodeString(s.PublicKey); err != nil || len(raw) != size {
		return fmt.Errorf("publicKey must be the %d hex digits of a key for %s", 2*size, s.Scheme)
	}
	s.signature, err = hex.DecodeString(s.Signature)
	if err != nil || len(s.signature) == 0 {
		return errors.New("signature must be hex")
	}
	return nil
}

func tooLong(value string) error {
	return fmt.Errorf("it is %d characters long: at most %d are read", len(value), maxHeader)
}

// verify checks the signature by the stamp's scheme.
func (s *Stamp) verify(key curve.PublicKey, body []byte) error {
	if s.Scheme == Ed25519 {
		if len(s.signature) != 64 {
			return errors.New("signature must be 64 bytes (128 hex digits) for " + string(Ed25519))
		}
		if !key.VerifyMessage(body, s.signature) {
			return errMismatch
		}
		return nil
	}
	r, t, err := curve.ParseDER(s.signature)
	if err != nil {
		return fmt.Errorf("signature must be DER: %w", err)
	}
	digest := sha256.Sum256(body)
	if s.Scheme == Secp256k1EIP191 {
		digest = eip191(body)
	}
	if !key.VerifyDigest(digest, r, t) {
		return errMismatch
	}
	return nil
}

// errMismatch is the plain case: a well-formed signature of something else, or
// by another key. The client reads the bare message.
var errMismatch = errors.New("the signature does not fit the body and the public key")

// eip191 is the digest that wallets sign for personal messages (EIP-191,
// version byte 0x45). The length is that of the bytes, in decimal.
func eip191(body []byte) (digest [32]byte) {
	h := sha3.NewLegacyKeccak256()
	h.Write([]byte("\x19Ethereum Signed Message:\n" + strconv.Itoa(len(body))))
	h.Write(body)
	h.Sum(digest[:0])
	return digest
}

package client

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"

	secp "github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
	"github.com/go-json-experiment/json"
	"golang.org/x/crypto/sha3"
)

// Stamper signs requests.
type Stamper interface {
	// Stamp returns the header that authenticates a request with this body,
	// which must then be sent byte by byte as it is.
	Stamp(body []byte) (header, value string, err error)
	// PublicKey is the signing key's public key in lower-case hex; empty for
	// passkeys, which are found by their credential id, and for sessions.
	PublicKey() string
}

// NewAPIKeyStamper makes a stamper from a private key; see [ParsePrivateKey]
// for its form.
func NewAPIKeyStamper(c Curve, privateKeyHex string) (Stamper, error) {
	key, err := ParsePrivateKey(c, privateKeyHex)
	if err != nil {
		return nil, err
	}
	return key.Stamper(), nil
}

// NewEIP191Stamper makes a stamper that signs as Ethereum wallets do, from a
// secp256k1 private key.
func NewEIP191Stamper(privateKeyHex string) (Stamper, error) {
	key, err := ParsePrivateKey(Secp256k1, privateKeyHex)
	if err != nil {
		return nil, err
	}
	return key.EIP191Stamper()
}

// Stamper signs requests with the key.
func (k PrivateKey) Stamper() Stamper {
	scheme := map[Curve]string{
		P256:      "SIGNATURE_SCHEME_TK_API_P256",
		Secp256k1: "SIGNATURE_SCHEME_TK_API_SECP256K1",
		Ed25519:   "SIGNATURE_SCHEME_TK_API_ED25519",
	}[k.curve]
	return apiKeyStamper{PrivateKey: k, scheme: scheme}
}

// EIP191Stamper signs requests with a secp256k1 key as Ethereum wallets do.
func (k PrivateKey) EIP191Stamper() (Stamper, error) {
	if k.curve != Secp256k1 {
		return nil, fmt.Errorf("a wallet's key is on secp256k1, and this one is on %q", string(k.curve))
	}
	return apiKeyStamper{PrivateKey: k, scheme: schemeEIP191}, nil
}

const schemeEIP191 = "SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191"

// apiKeyStamper embeds the key, so as to be printed and marshalled as little as
// the key is.
type apiKeyStamper struct {
	PrivateKey
	scheme string
}

// Stamp implements [Stamper].
func (s apiKeyStamper) Stamp(body []byte) (header, value string, err error) {
	signature, err := s.sign(body)
	if err != nil {
		return "", "", fmt.Errorf("stamping: %w", err)
	}
	text, err := json.Marshal(struct {
		PublicKey string `json:"publicKey"`
		Scheme    string `json:"scheme"`
		Signature string `json:"signature"`
	}{s.public, s.scheme, hex.EncodeToString(signature)})
	if err != nil {
		return "", "", fmt.Errorf("stamping: %w", err)
	}
	return "X-Stamp", base64.RawURLEncoding.EncodeToString(text), nil
}

func (s apiKeyStamper) sign(body []byte) ([]byte, error) {
	switch s.curve {
	case P256:
		digest := sha256.Sum256(body)
		return ecdsa.SignASN1(rand.Reader, s.secret.p256, digest[:])
	case Secp256k1:
		digest := sha256.Sum256(body)
		if s.scheme == schemeEIP191 {
			digest = personalMessage(body)
		}
		return secp.Sign(s.secret.k256, digest[:]).Serialize(), nil
	case Ed25519:
		return ed25519.Sign(s.secret.edwards, body), nil
	}
	return nil, errors.New("the private key is empty")
}

// personalMessage is the digest that EIP-191 (version byte 0x45) signs.
func personalMessage(body []byte) (digest [32]byte) {
	h := sha3.NewLegacyKeccak256()
	h.Write([]byte("\x19Ethereum Signed Message:\n" + strconv.Itoa(len(body))))
	h.Write(body)
	h.Sum(digest[:0])
	return digest
}

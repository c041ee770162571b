package client

import (
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
)

// VerificationStamper signs requests with a P-256 key that the server knows
// only by a verification token, which [Client.VerifyOTP] gives for the key. It
// is for [Client.StampLogin], which makes the key the user's.
func (k PrivateKey) VerificationStamper(verificationToken string) (Stamper, error) {
	return k.attested("STAMP_ATTESTED_SCHEME_P256_VERIFICATION_TOKEN", verificationToken)
}

// OIDCStamper signs requests with a P-256 key that the server knows only by a
// token of an OpenID Connect issuer, whose nonce is the hex SHA-256 of the
// key's PublicKey. It is for [Client.StampLogin], which makes the key the
// user's.
func (k PrivateKey) OIDCStamper(oidcToken string) (Stamper, error) {
	return k.attested("STAMP_ATTESTED_SCHEME_P256_OIDC", oidcToken)
}

func (k PrivateKey) attested(scheme, token string) (Stamper, error) {
	if k.curve != P256 {
		return nil, fmt.Errorf("an attested key is on p256, and this one is on %q", string(k.curve))
	}
	if token == "" {
		return nil, errors.New("the token is empty")
	}
	return attestedStamper{apiKeyStamper: apiKeyStamper{PrivateKey: k, scheme: scheme}, token: token}, nil
}

// attestedStamper embeds the key, so as to be printed as little as the key is.
type attestedStamper struct {
	apiKeyStamper
	token string
}

// Stamp implements [Stamper].
func (s attestedStamper) Stamp(body []byte) (header, value string, err error) {
	signature, err := s.sign(body)
	if err != nil {
		return "", "", fmt.Errorf("stamping: %w", err)
	}
	text, err := json.Marshal(struct {
		Attestation string `json:"publicKeyAttestation"`
		Scheme      string `json:"scheme"`
		PublicKey   string `json:"publicKey"`
		Signature   string `json:"signature"`
	}{s.token, s.scheme, s.public, hex.EncodeToString(signature)})
	if err != nil {
		return "", "", fmt.Errorf("stamping: %w", err)
	}
	return "X-Stamp-Attested", base64url(text), nil
}

package client

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
)

// Assertion is what an authenticator answers to a challenge: the members of
// WebAuthn's AuthenticatorAssertionResponse, and the credential's raw id.
type Assertion struct {
	CredentialID      []byte
	ClientDataJSON    []byte
	AuthenticatorData []byte
	Signature         []byte
}

// NewPasskeyStamper makes a stamper of a passkey. assert gives the challenge to
// the authenticator, as navigator.credentials.get does, and returns its answer;
// it may take as long as a person needs.
func NewPasskeyStamper(assert func(challenge []byte) (Assertion, error)) Stamper {
	return passkeyStamper{assert}
}

type passkeyStamper struct {
	assert func(challenge []byte) (Assertion, error)
}

// Stamp implements [Stamper].
func (s passkeyStamper) Stamp(body []byte) (header, value string, err error) {
	// The challenge is the hex text of the hash, not the hash.
	digest := sha256.Sum256(body)
	a, err := s.assert([]byte(hex.EncodeToString(digest[:])))
	if err != nil {
		return "", "", fmt.Errorf("stamping with a passkey: %w", err)
	}
	if len(a.CredentialID) == 0 || len(a.ClientDataJSON) == 0 || len(a.AuthenticatorData) == 0 || len(a.Signature) == 0 {
		return "", "", errors.New("stamping with a passkey: the assertion is not complete")
	}
	text, err := json.Marshal(struct {
		CredentialID      string `json:"credentialId"`
		ClientDataJSON    string `json:"clientDataJson"`
		AuthenticatorData string `json:"authenticatorData"`
		Signature         string `json:"signature"`
	}{base64url(a.CredentialID), base64url(a.ClientDataJSON), base64url(a.AuthenticatorData), base64url(a.Signature)})
	if err != nil {
		return "", "", fmt.Errorf("stamping with a passkey: %w", err)
	}
	return "X-Stamp-Webauthn", string(text), nil
}

// PublicKey implements [Stamper].
func (passkeyStamper) PublicKey() string { return "" }

func base64url(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

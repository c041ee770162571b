package passkey

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// Bounds of what is looked at. The largest honest attestation object, a TPM's
// with a long chain of certificates, has about 8 KiB.
const (
	maxCredentialID = 1023 // WebAuthn section 4
	maxClientData   = 8 << 10
	maxObject       = 64 << 10
)

// clientData is what the browser says about the registration. Its other
// members, such as crossOrigin, are not looked at.
type clientData struct {
	challenge string
	hash      [sha256.Size]byte
}

func readClientData(text string, origins []string) (*clientData, error) {
	raw, err := fromBase64(text, maxClientData)
	if err != nil {
		return nil, err
	}
	var in struct {
		Type      string `json:"type"`
		Challenge string `json:"challenge"`
		Origin    string `json:"origin"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, because(err, "must be base64url of one JSON object in which type, challenge and origin are strings and no name is repeated")
	}
	if in.Type != "webauthn.create" {
		return nil, fmt.Errorf(`has the type %s: it must be "webauthn.create"`, quote(in.Type))
	}
	if in.Challenge == "" {
		return nil, errors.New("has no challenge")
	}
	if in.Origin == "" {
		return nil, errors.New("has no origin")
	}
	if origins != nil && !slices.Contains(origins, "*") && !slices.Contains(origins, in.Origin) {
		return nil, fmt.Errorf("has the origin %s: it must be one that FEATURE_NAME_WEBAUTHN_ORIGINS lists", quote(in.Origin))
	}
	return &clientData{challenge: in.Challenge, hash: sha256.Sum256(raw)}, nil
}

// canonical is a base64 text in the form that browsers write: base64url
// without padding.
func canonical(text string) string {
	return strings.NewReplacer("+", "-", "/", "_").Replace(strings.TrimRight(text, "="))
}

// fromBase64 decodes base64url of 1 to most bytes. Padding and the standard
// alphabet are tolerated; line ends and unused bits that are set are not.
func fromBase64(text string, most int) ([]byte, error) {
	bare := canonical(text)
	if len(text)-len(bare) > 2 || strings.ContainsAny(bare, "\r\n") { // which Go's decoder skips
		return nil, errors.New("must be base64url")
	}
	if base64.RawURLEncoding.DecodedLen(len(bare)) > most {
		return nil, fmt.Errorf("must be base64url of at most %d bytes", most)
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(bare)
	if err != nil {
		return nil, because(err, "must be base64url")
	}
	if len(raw) == 0 {
		return nil, errors.New("is empty: it must be base64url of what the authenticator answered")
	}
	return raw, nil
}

// quote repeats a little of what was sent.
func quote(text string) string {
	const most = 40
	if len(text) > most {
		return fmt.Sprintf("%.40q...", text)
	}
	return fmt.Sprintf("%q", text)
}

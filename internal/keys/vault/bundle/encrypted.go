package bundle

import (
	"encoding/hex"

	"github.com/go-json-experiment/json"

	"latchkey/internal/fault"
)

const (
	pointSize = 65
	tagSize   = 16
	// maxCiphertext is far above any phrase and passphrase.
	maxCiphertext = 16 << 10
	maxText       = 2*(pointSize+maxCiphertext) + 1024
)

// Encrypted is what a client sealed to a target.
type Encrypted struct {
	Enc        []byte // an encapsulated key: 65 bytes that begin with 4, not yet known to be a point
	Ciphertext []byte
}

// ParseEncrypted reads an encryptedBundle: a JSON text with the members
// encappedPublic and ciphertext and no others, both in hex.
func ParseEncrypted(text []byte) (Encrypted, error) {
	if len(text) > maxText {
		return Encrypted{}, fault.Invalid("encryptedBundle is too long: %d bytes, of at most %d", len(text), maxText)
	}
	var in struct {
		Encapped   *string `json:"encappedPublic"`
		Ciphertext *string `json:"ciphertext"`
	}
	// The parser refuses names twice and invalid UTF-8. Its own message could
	// quote what the client sent, and is left out.
	if err := json.Unmarshal(text, &in, json.RejectUnknownMembers(true)); err != nil {
		return Encrypted{}, fault.Invalid(`encryptedBundle is not a JSON object {"encappedPublic": hex, "ciphertext": hex}`)
	}
	if in.Encapped == nil || in.Ciphertext == nil {
		return Encrypted{}, fault.Invalid("encryptedBundle must have both encappedPublic and ciphertext")
	}
	enc, err := hex.DecodeString(*in.Encapped)
	if err != nil || len(enc) != pointSize || enc[0] != 4 {
		return Encrypted{}, fault.Invalid("encryptedBundle: encappedPublic must be an uncompressed P-256 point: 130 hex digits that begin with 04")
	}
	ciphertext, err := hex.DecodeString(*in.Ciphertext)
	if err != nil || len(ciphertext) <= tagSize {
		return Encrypted{}, fault.Invalid("encryptedBundle: ciphertext must be hex, of more than %d bytes", tagSize)
	}
	return Encrypted{Enc: enc, Ciphertext: ciphertext}, nil
}

// Text is the bundle as a client would write it.
func (e Encrypted) Text() (string, error) {
	text, err := json.Marshal(struct {
		Encapped   string `json:"encappedPublic"`
		Ciphertext string `json:"ciphertext"`
	}{hex.EncodeToString(e.Enc), hex.EncodeToString(e.Ciphertext)})
	return string(text), err
}

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
)

// Encrypted is what a client sealed to a target.
type Encrypted struct {
	Enc        []byte // an encapsulated key: 65 bytes that begin with 4, not yet known to be a point
	Ciphertext []byte
}

// ParseEncrypted reads an encryptedBundle: a JSON text with the members
// encappedPublic and ciphertext and no others, both in hex.
func ParseEncrypted(text []byte) (Encrypted, error) {
	return ParsePayload("encryptedBundle", text, maxCiphertext)
}

// ParsePayload is [ParseEncrypted] for a bundle that is a member of another name
// and holds at most so many bytes.
func ParsePayload(member string, text []byte, most int) (Encrypted, error) {
	if longest := 2*(pointSize+most+tagSize) + 1024; len(text) > longest {
		return Encrypted{}, fault.Invalid("%s is too long: %d bytes, of at most %d", member, len(text), longest)
	}
	var in struct {
		Encapped   *string `json:"encappedPublic"`
		Ciphertext *string `json:"ciphertext"`
	}
	// The parser refuses names twice and invalid UTF-8. Its own message could
	// quote what the client sent, and is left out.
	if err := json.Unmarshal(text, &in, json.RejectUnknownMembers(true)); err != nil {
		return Encrypted{}, fault.Invalid(`%s is not a JSON object {"encappedPublic": hex, "ciphertext": hex}`, member)
	}
	if in.Encapped == nil || in.Ciphertext == nil {
		return Encrypted{}, fault.Invalid("%s must have both encappedPublic and ciphertext", member)
	}
	enc, err := hex.DecodeString(*in.Encapped)
	if err != nil || len(enc) != pointSize || enc[0] != 4 {
		return Encrypted{}, fault.Invalid("%s: encappedPublic must be an uncompressed P-256 point: 130 hex digits that begin with 04", member)
	}
	ciphertext, err := hex.DecodeString(*in.Ciphertext)
	if err != nil || len(ciphertext) <= tagSize {
		return Encrypted{}, fault.Invalid("%s: ciphertext must be hex, of more than %d bytes", member, tagSize)
	}
	if n := len(ciphertext) - tagSize; n > most {
		return Encrypted{}, fault.Invalid("%s holds %d bytes, and may hold at most %d", member, n, most)
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

package stamp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// assertion is what an authenticator signed, taken apart.
type assertion struct {
	clientDataJSON    []byte
	authenticatorData []byte

	// From clientDataJSON, which a browser wrote.
	kind      string
	challenge []byte
	origin    string
}

// Authenticator data (WebAuthn section 6.1):
//
//	rpIdHash 32 | flags 1 | signCount 4 | extensions, if any
const (
	flagsOffset   = 32
	counterOffset = 33
	minAuthData   = 37

	flagUserPresent = 1 << 0
)

func (a *assertion) rpIDHash() []byte  { return a.authenticatorData[:flagsOffset] }
func (a *assertion) userPresent() bool { return a.authenticatorData[flagsOffset]&flagUserPresent != 0 }

func (a *assertion) counter() uint32 {
	return binary.BigEndian.Uint32(a.authenticatorData[counterOffset:minAuthData])
}

// maxCredentialID is the limit of WebAuthn section 4 for a credential id.
const maxCredentialID = 1023

// readWebauthn reads the value of X-Stamp-Webauthn: JSON as it is, or its
// base64url, with four members that are base64url themselves.
func readWebauthn(value string) (*Stamp, error) {
	if len(value) > maxHeader {
		return nil, tooLong(value)
	}
	text := []byte(value)
	// No base64 begins with a brace, so the two forms cannot be confused.
	if !strings.HasPrefix(strings.TrimLeft(value, " \t"), "{") {
		var err error
		if text, err = fromBase64(value); err != nil {
			return nil, fmt.Errorf("it is not a JSON object, so it was read as base64url of one: %w", err)
		}
	}
	names := []string{"authenticatorData", "clientDataJson", "credentialId", "signature"}
	m, err := members(text, false, names...)
	if err != nil {
		return nil, err
	}
	raw := make(map[string][]byte, len(names))
	for i, name := range names {
		if raw[name], err = fromBase64(m[i]); err != nil {
			return nil, fmt.Errorf("member %s: %w", name, err)
		}
	}
	id := raw["credentialId"]
	if len(id) == 0 || len(id) > maxCredentialID {
		return nil, fmt.Errorf("member credentialId must be 1 to %d bytes, in base64url", maxCredentialID)
	}
	if n := len(raw["authenticatorData"]); n < minAuthData {
		return nil, fmt.Errorf("member authenticatorData is %d bytes: at least %d are needed", n, minAuthData)
	}
	if len(raw["signature"]) == 0 {
		return nil, errors.New("member signature is empty")
	}
	s := &Stamp{
		Scheme:       Webauthn,
		CredentialID: toBase64(id),
		signature:    raw["signature"],
		passkey: assertion{
			clientDataJSON:    raw["clientDataJson"],
			authenticatorData: raw["authenticatorData"],
		},
	}
	if err := s.passkey.readClientData(); err != nil {
		return nil, fmt.Errorf("member clientDataJson: %w", err)
	}
	s.Signature = compact(raw, names)
	return s, nil
}

// readClientData takes from the browser's JSON what is checked. Browsers add
// members over time, some of them to teach servers to ignore such.
func (a *assertion) readClientData() error {
	m, err := members(a.clientDataJSON, true, "type", "challenge", "origin")
	if err != nil {
		return err
	}
	kind, challenge, origin := m[0], m[1], m[2]
	if a.challenge, err = fromBase64(challenge); err != nil {
		return fmt.Errorf("member challenge: %w", err)
	}
	a.kind, a.origin = kind, origin
	return nil
}

// compact writes a stamp in one form, whatever spaces, order, escapes and
// padding it was sent with; [Read] accepts it. Base64url needs no escaping.
func compact(raw map[string][]byte, names []string) string {
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = `"` + name + `":"` + toBase64(raw[name]) + `"`
	}
	return "{" + strings.Join(parts, ",") + "}"
}

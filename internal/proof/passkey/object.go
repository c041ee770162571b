package passkey

import (
	"errors"
	"fmt"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncbor"
)

// object is an attestation object (WebAuthn section 6.5) whose parts are
// well-formed; that the statement fits is not yet checked.
type object struct {
	protocol.AttestationObject
	key       key
	statement statement
}

// Authenticator data (WebAuthn section 6.1):
//
//	rpIdHash 32 | flags 1 | signCount 4 |
//	aaguid 16 | length of id 2 | id | COSE key | extensions, if flagged
const (
	flagsOffset = 32
	minAuthData = 37
)

func readObject(text string) (*object, error) {
	raw, err := fromBase64(text, maxObject)
	if err != nil {
		return nil, err
	}
	const shape = "must be base64url of one CBOR map with exactly the members fmt, attStmt and authData, and nothing after it"
	const kinds = "must have the format's name as text in fmt, a map in attStmt and bytes in authData"
	// Into a map, not a struct: a struct would take FMT for fmt.
	var members map[string]webauthncbor.RawMessage
	if err := webauthncbor.Unmarshal(raw, &members); err != nil {
		return nil, because(err, shape)
	}
	o := &object{}
	parts := map[string]any{"fmt": &o.Format, "attStmt": &o.AttStatement, "authData": &o.RawAuthData}
	if len(members) != len(parts) {
		return nil, errors.New(shape)
	}
	for name, value := range parts {
		member, ok := members[name]
		if !ok {
			return nil, errors.New(shape)
		}
		if err := webauthncbor.Unmarshal(member, value); err != nil {
			return nil, because(err, kinds)
		}
	}
	if o.AttStatement == nil { // null
		return nil, errors.New(kinds)
	}
	if err := o.readAuthData(); err != nil {
		return nil, err
	}
	if o.key, err = readKey(o.AuthData.AttData.CredentialPublicKey); err != nil {
		return nil, err
	}
	if o.statement, err = readStatement(o.Format, o.AttStatement); err != nil {
		return nil, err
	}
	return o, nil
}

func (o *object) readAuthData() error {
	if n := len(o.RawAuthData); n < minAuthData {
		return fmt.Errorf("has authData of %d bytes: at least %d are needed", n, minAuthData)
	}
	flags := protocol.AuthenticatorFlags(o.RawAuthData[flagsOffset])
	if !flags.HasUserPresent() {
		return errors.New("has authData without the user-present flag (UP): the user must have been present")
	}
	if !flags.HasAttestedCredentialData() {
		return errors.New("has authData without the attested-credential flag (AT): it must carry the new key")
	}
	if err := o.AuthData.Unmarshal(o.RawAuthData); err != nil {
		return because(err, "has authData that cannot be read: after rpIdHash, flags and signCount it must have the AAGUID, "+
			"an id of 1 to %d bytes, the COSE key in CBOR, extensions in CBOR if flagged, and nothing more", maxCredentialID)
	}
	return nil
}

// Package passkey reads what an authenticator answers when a passkey is
// registered, by the steps of WebAuthn section 7.1 that apply here.
//
// It refuses an answer to another challenge, of another kind or from a page
// that is not allowed; one without the user's presence; a key that could not
// stamp later (other than ES256 and RS256); and an attestation statement that
// is malformed or does not fit the key. It takes nothing from the network, and
// it does not ask who made the authenticator: a statement is checked against
// the certificate that it brings, and that certificate is not traced to a root.
// So [Registered.Attestation] and [Registered.AAGUID] are claims, and no right
// may depend on them.
//
// The relying party is not a parameter of a registration. Its hash is returned,
// and stamps are held to it afterwards.
//
// Invariants: a passkey that [Verify] returned has one text of its id (base64url
// without padding) and one encoding of its key (CTAP2 canonical CBOR with
// exactly the members of its type). Every refusal is a [*fault.Error] that names
// the fields and says what would be right; no text of a library is in it.
package passkey

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"

	"latchkey/internal/fault"
)

// Answer is the answer of an authenticator to a registration, as the client
// sent it: base64url texts.
type Answer struct {
	Challenge         string
	CredentialID      string
	ClientDataJSON    string
	AttestationObject string
}

// Registered is a passkey whose registration was verified.
type Registered struct {
	CredentialID string // base64url of the raw id, without padding
	COSEKey      []byte
	RPIDHash     []byte
	Counter      uint32
	Attestation  string // format of the attestation statement, such as none
	AAGUID       []byte
}

// The members of a request that a refusal can name.
const (
	fieldChallenge  = "challenge"
	fieldID         = "attestation.credentialId"
	fieldClientData = "attestation.clientDataJson"
	fieldObject     = "attestation.attestationObject"
)

// Verify checks the answer. origins lists the pages that may register; nil, or
// a list with "*", is all. The error is a [*fault.Error] whose fields name the
// members of the request: challenge, attestation.credentialId,
// attestation.clientDataJson, attestation.attestationObject.
//
// User verification is not demanded: clients ask for it as "preferred" only.
func Verify(a Answer, origins []string) (*Registered, error) {
	var p problems
	id, err := fromBase64(a.CredentialID, maxCredentialID)
	p.add(fieldID, err)
	client, err := readClientData(a.ClientDataJSON, origins)
	p.add(fieldClientData, err)
	object, err := readObject(a.AttestationObject)
	p.add(fieldObject, err)
	switch {
	case a.Challenge == "":
		p.add(fieldChallenge, errors.New("is empty: it must be the challenge that the authenticator was given"))
	case client != nil && canonical(a.Challenge) != canonical(client.challenge):
		p.add(fieldChallenge, errors.New("is not the challenge in clientDataJson: it must be the same base64url text"))
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	if !bytes.Equal(id, object.AuthData.AttData.CredentialID) {
		p.add(fieldID, errors.New("is not the id inside attestationObject: it must be the base64url text of that raw id"))
	}
	p.add(fieldObject, object.verify(client.hash[:]))
	if err := p.err(); err != nil {
		return nil, err
	}
	return &Registered{
		CredentialID: base64.RawURLEncoding.EncodeToString(id),
		COSEKey:      object.AuthData.AttData.CredentialPublicKey,
		RPIDHash:     slices.Clone(object.AuthData.RPIDHash),
		Counter:      object.AuthData.Counter,
		Attestation:  object.Format,
		AAGUID:       slices.Clone(object.AuthData.AttData.AAGUID),
	}, nil
}

// problems are what is wrong with an answer, at most one thing a field.
type problems struct {
	fields []fault.Field
	cause  error
}

// add takes the error's text as a description for the client, and what the
// error wraps, if anything, for the log.
func (p *problems) add(field string, err error) {
	if err == nil {
		return
	}
	p.fields = append(p.fields, fault.Field{Path: field, Description: err.Error()})
	p.cause = errors.Join(p.cause, errors.Unwrap(err))
}

func (p *problems) err() error {
	if len(p.fields) == 0 {
		return nil
	}
	var more string
	if n := len(p.fields) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more; see details)", n)
	}
	first := p.fields[0]
	err := fault.Invalid("invalid authenticator attestation: %s: %s%s", first.Path, first.Description, more).Because(p.cause)
	err.Fields = p.fields
	return err
}

// refusal is an error in our own words about the error of a library, which the
// client does not read.
type refusal struct {
	text  string
	cause error
}

func (r *refusal) Error() string { return r.text }
func (r *refusal) Unwrap() error { return r.cause }

func because(cause error, format string, args ...any) error {
	return &refusal{text: fmt.Sprintf(format, args...), cause: cause}
}

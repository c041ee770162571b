package passkey

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-webauthn/webauthn/protocol"
)

// statement is an attestation statement, taken apart. Which members a format
// has is in membersOf.
type statement struct {
	algorithm int64
	signature []byte
	certs     []*x509.Certificate
}

// formats are the attestation formats that are known, in the words of fmt.
func formats() []string {
	return []string{
		string(protocol.AttestationFormatNone), string(protocol.AttestationFormatPacked),
		string(protocol.AttestationFormatFIDOUniversalSecondFactor), string(protocol.AttestationFormatApple),
		string(protocol.AttestationFormatAndroidKey), string(protocol.AttestationFormatTPM),
	}
}

// membersOf lists the members of a format's statement, those that may be
// absent with a question mark (WebAuthn sections 8.2 to 8.8).
func membersOf(format protocol.AttestationFormat) (names []string, known bool) {
	switch format {
	case protocol.AttestationFormatNone:
		return nil, true
	case protocol.AttestationFormatPacked:
		return []string{"alg", "sig", "x5c?"}, true
	case protocol.AttestationFormatFIDOUniversalSecondFactor:
		return []string{"sig", "x5c"}, true
	case protocol.AttestationFormatApple:
		return []string{"x5c"}, true
	case protocol.AttestationFormatAndroidKey:
		return []string{"alg", "sig", "x5c"}, true
	case protocol.AttestationFormatTPM:
		return []string{"ver", "alg", "x5c", "sig", "certInfo", "pubArea"}, true
	}
	return nil, false
}

// readStatement is strict about members and their types, because the library
// is not: to it, an x5c that is not an array is an x5c that is absent.
func readStatement(format string, members map[string]any) (statement, error) {
	names, known := membersOf(protocol.AttestationFormat(format))
	if !known {
		return statement{}, fmt.Errorf("has the format %s: it must be one of %s", quote(format), strings.Join(formats(), ", "))
	}
	left := maps.Clone(members)
	var s statement
	for _, name := range names {
		name, optional := strings.CutSuffix(name, "?")
		value, there := members[name]
		if !there && optional {
			continue
		}
		if !there {
			return statement{}, fmt.Errorf("has a statement of format %s without %s", format, name)
		}
		if err := s.read(name, value); err != nil {
			return statement{}, err
		}
		delete(left, name)
	}
	if len(left) == 0 {
		return s, nil
	}
	if len(names) == 0 {
		return statement{}, fmt.Errorf("has a statement with the format %s: it must be an empty map", format)
	}
	return statement{}, fmt.Errorf("has a statement with the member %s: the format %s has only %s",
		quote(slices.Min(slices.Collect(maps.Keys(left)))), format, strings.ReplaceAll(strings.Join(names, ", "), "?", ""))
}

func (s *statement) read(name string, value any) (err error) {
	ok := true
	switch name {
	case "alg":
		s.algorithm, ok = value.(int64) // every signature algorithm is negative
	case "sig":
		s.signature, ok = value.([]byte)
	case "x5c":
		s.certs, err = certificates(value)
	case "ver":
		_, ok = value.(string)
	default: // certInfo, pubArea
		_, ok = value.([]byte)
	}
	if !ok {
		return fmt.Errorf("has a statement with a wrong %s: alg must be a COSE algorithm, ver text, and sig, certInfo and pubArea bytes", name)
	}
	return err
}

// certificates reads x5c: the certificate of the key that attests comes first.
func certificates(value any) ([]*x509.Certificate, error) {
	const shape = "has a statement with a wrong x5c: it must be an array of one or more X.509 certificates in DER"
	chain, ok := value.([]any)
	if !ok || len(chain) == 0 {
		return nil, errors.New(shape)
	}
	certs := make([]*x509.Certificate, len(chain))
	for i, element := range chain {
		der, ok := element.([]byte)
		if !ok {
			return nil, errors.New(shape)
		}
		var err error
		if certs[i], err = x509.ParseCertificate(der); err != nil {
			return nil, because(err, shape)
		}
	}
	// Nothing else bounds the time that a check of its signature takes.
	if k, ok := certs[0].PublicKey.(*rsa.PublicKey); ok && k.N.BitLen() > maxRSABits {
		return nil, fmt.Errorf("has a statement by an RSA key of %d bits: it must have at most %d", k.N.BitLen(), maxRSABits)
	}
	return certs, nil
}

// verify checks that the statement was made for this key and these client
// data. It does not ask for a path to a root that is trusted; the library does
// for two formats, which are therefore checked here.
func (o *object) verify(clientDataHash []byte) error {
	signed := slices.Concat(o.RawAuthData, clientDataHash)
	var err error
	switch protocol.AttestationFormat(o.Format) {
	case protocol.AttestationFormatApple:
		err = verifyApple(o.statement, o.key, signed)
	case protocol.AttestationFormatAndroidKey:
		err = verifyAndroidKey(o.statement, o.key, signed, clientDataHash)
	default:
		err = o.VerifyAttestation(clientDataHash, nil, protocol.AttestationPolicy{}, protocol.SignaturePolicy{})
		if err != nil {
			err = because(err, "%s", demand(protocol.AttestationFormat(o.Format)))
		}
	}
	if err != nil {
		return because(errors.Unwrap(err), "has a statement of format %s that does not verify: %v", o.Format, err)
	}
	return nil
}

// demand says what a statement that the library checks must be.
func demand(format protocol.AttestationFormat) string {
	switch format {
	case protocol.AttestationFormatPacked:
		return "sig must be over authData and the SHA-256 of clientDataJSON, by the valid certificate in x5c that WebAuthn section 8.2.1 " +
			"describes or, where x5c is absent, by the new key with its own algorithm"
	case protocol.AttestationFormatFIDOUniversalSecondFactor:
		return "sig must be over the registration data of U2F (WebAuthn section 8.6) for an ES256 key, by the P-256 key of the one valid certificate in x5c"
	case protocol.AttestationFormatTPM:
		return "pubArea must hold the new key, certInfo must certify it with the hash of authData and the SHA-256 of clientDataJSON as extraData, " +
			"and sig must be over certInfo, by the valid certificate in x5c that WebAuthn section 8.3.1 describes"
	}
	return "it must be a statement of its format"
}

// extension finds an extension of a certificate. Go refuses certificates that
// repeat one.
func extension(cert *x509.Certificate, id asn1.ObjectIdentifier) (value []byte, ok bool) {
	for _, e := range cert.Extensions {
		if e.Id.Equal(id) {
			return e.Value, true
		}
	}
	return nil, false
}

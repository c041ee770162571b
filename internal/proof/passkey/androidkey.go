package passkey

import (
	"bytes"
	"encoding/asn1"
	"errors"
	"slices"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"
)

// verifyAndroidKey follows WebAuthn section 8.4, but for the path to Google's
// root. Keys that are kept in software are accepted too.
func verifyAndroidKey(s statement, k key, signed, clientDataHash []byte) error {
	cert := s.certs[0]
	if !k.certified(cert) {
		return errors.New("the first certificate must be that of the new key")
	}
	if webauthncose.COSEAlgorithmIdentifier(s.algorithm) != k.algorithm {
		return errors.New("alg must be the algorithm of the new key")
	}
	if err := cert.CheckSignature(webauthncose.SigAlgFromCOSEAlg(k.algorithm), signed, s.signature); err != nil {
		return because(err, "sig must be over authData and the SHA-256 of clientDataJSON, by the new key")
	}
	value, ok := extension(cert, asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 11129, 2, 1, 17})
	if !ok {
		return errors.New("the first certificate must have the extension 1.3.6.1.4.1.11129.2.1.17")
	}
	d, err := readKeyDescription(value)
	if err != nil {
		return because(err, "the certificate's extension 1.3.6.1.4.1.11129.2.1.17 must hold a key description")
	}
	switch {
	case !bytes.Equal(d.challenge, clientDataHash):
		return errors.New("attestationChallenge in the key description must be the SHA-256 of clientDataJSON")
	case d.allApplications:
		return errors.New("allApplications must be absent from the key description: a passkey belongs to one relying party")
	case len(d.origins) == 0 || slices.ContainsFunc(d.origins, func(o int) bool { return o != protocol.KM_ORIGIN_GENERATED }):
		return errors.New("origin in the key description must be 0: the key must have been generated on the device")
	case !slices.Contains(d.purposes, protocol.KM_PURPOSE_SIGN):
		return errors.New("purpose in the key description must contain 2: the key must be for signing")
	}
	return nil
}

// keyDescription is what counts of Android's description of a key. The two
// lists of authorizations, of hardware and software, are taken together.
type keyDescription struct {
	challenge       []byte
	purposes        []int
	origins         []int
	allApplications bool
}

// readKeyDescription reads the extension of an Android certificate
// (source.android.com/docs/security/features/keystore/attestation).
func readKeyDescription(der []byte) (*keyDescription, error) {
	var in struct {
		Version          int
		SecurityLevel    asn1.RawValue
		KeyMintVersion   int
		KeyMintLevel     asn1.RawValue
		Challenge        []byte
		UniqueID         []byte
		SoftwareEnforced asn1.RawValue
		HardwareEnforced asn1.RawValue
	}
	rest, err := asn1.Unmarshal(der, &in)
	if err != nil {
		return nil, err
	}
	if len(rest) > 0 {
		return nil, errors.New("something follows the key description")
	}
	d := &keyDescription{challenge: in.Challenge}
	for _, list := range []asn1.RawValue{in.SoftwareEnforced, in.HardwareEnforced} {
		if list.Class != asn1.ClassUniversal || list.Tag != asn1.TagSequence || !list.IsCompound {
			return nil, errors.New("a list of authorizations is not a sequence")
		}
		if err := d.readAuthorizations(list.Bytes); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// readAuthorizations walks over the elements, which are told apart by their
// tags; later versions of Android add new ones.
func (d *keyDescription) readAuthorizations(list []byte) error {
	const purpose, allApplications, origin = 1, 600, 702
	for len(list) > 0 {
		var element asn1.RawValue
		var err error
		if list, err = asn1.Unmarshal(list, &element); err != nil {
			return err
		}
		if element.Class != asn1.ClassContextSpecific {
			return errors.New("an authorization has no tag of its own")
		}
		var rest []byte
		switch element.Tag {
		case purpose:
			var all []int
			rest, err = asn1.UnmarshalWithParams(element.Bytes, &all, "set")
			d.purposes = append(d.purposes, all...)
		case origin:
			var one int
			rest, err = asn1.Unmarshal(element.Bytes, &one)
			d.origins = append(d.origins, one)
		case allApplications:
			d.allApplications = true
		}
		if err != nil {
			return err
		}
		if len(rest) > 0 {
			return errors.New("something follows the value of an authorization")
		}
	}
	return nil
}

package passkeytest

import "encoding/asn1"

// KeyDescription is what Android says about a key.
type KeyDescription struct {
	Challenge          []byte
	Software, Hardware []Authorization
}

// Authorization is one element of a list of authorizations, in DER.
type Authorization []byte

// Purpose says what the key is for; 2 is signing.
func Purpose(purposes ...int) Authorization {
	return authorization(1, must(asn1.MarshalWithParams(purposes, "set")))
}

// Origin says where the key comes from; 0 is that it was generated.
func Origin(origin int) Authorization { return authorization(702, must(asn1.Marshal(origin))) }

// AllApplications says that every application may use the key.
func AllApplications() Authorization { return authorization(600, asn1.NullBytes) }

// KeySize is an authorization that no check reads.
func KeySize(bits int) Authorization { return authorization(3, must(asn1.Marshal(bits))) }

func authorization(tag int, value []byte) Authorization {
	return must(asn1.Marshal(asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: tag, IsCompound: true, Bytes: value}))
}

// DER is the description as the certificate carries it.
func (d *KeyDescription) DER() []byte {
	const trustedEnvironment = 1
	list := func(all []Authorization) (v asn1.RawValue) {
		v = asn1.RawValue{Class: asn1.ClassUniversal, Tag: asn1.TagSequence, IsCompound: true}
		for _, a := range all {
			v.Bytes = append(v.Bytes, a...)
		}
		return v
	}
	return must(asn1.Marshal(struct {
		Version            int
		Level              asn1.Enumerated
		KeyMintVersion     int
		KeyMintLevel       asn1.Enumerated
		Challenge          []byte
		UniqueID           []byte
		Software, Hardware asn1.RawValue
	}{300, trustedEnvironment, 300, trustedEnvironment, d.Challenge, []byte{}, list(d.Software), list(d.Hardware)}))
}

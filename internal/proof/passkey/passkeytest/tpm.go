package passkeytest

import (
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/binary"
	"slices"
)

// Numbers of the TPM 2.0 library, part 2.
const (
	tpmGenerated     = 0xff544347
	tpmAttestCertify = 0x8017
	tpmSHA256        = 0x000b
	tpmNull          = 0x0010
	tpmRSA           = 0x0001
	tpmECC           = 0x0023
	tpmP256          = 0x0003
)

// Certification is what a TPM certifies about a key.
type Certification struct {
	Magic     uint32
	Type      uint16
	ExtraData []byte
	PubArea   []byte
	Name      []byte // of the certified key; a function of PubArea
}

// tpmStatement is as WebAuthn section 8.3 describes it.
func (r *Registration) tpmStatement(signed []byte) map[string]any {
	pubArea := r.pubArea()
	c := &Certification{
		Magic: tpmGenerated, Type: tpmAttestCertify, ExtraData: hash(signed), PubArea: pubArea, Name: TPMName(pubArea),
	}
	if r.Certify != nil {
		r.Certify(c)
	}
	aik := attester()
	cert, _ := r.certify(&x509.Certificate{
		BasicConstraintsValid: true, // no subject, which is how it has to be
		UnknownExtKeyUsage:    []asn1.ObjectIdentifier{oidAIKUsage},
		ExtraExtensions:       []pkix.Extension{{Id: oidAltName, Critical: true, Value: tpmAltName()}},
	}, aik.Public())
	certInfo := c.attest()
	return map[string]any{
		"ver": "2.0", "alg": int64(ES256), "x5c": []any{cert}, "sig": sign(aik, certInfo), "certInfo": certInfo, "pubArea": c.PubArea,
	}
}

// pubArea is a TPMT_PUBLIC of the key: a signing key without a policy.
func (r *Registration) pubArea() []byte {
	const attributes = 0x00040072
	kind := uint16(tpmECC)
	if r.Key.Algorithm() == RS256 {
		kind = tpmRSA
	}
	b := u16(nil, kind, tpmSHA256)
	b = binary.BigEndian.AppendUint32(b, attributes)
	b = sized(b, nil)
	switch public := r.Key.Private.Public().(type) {
	case *rsa.PublicKey:
		b = u16(b, tpmNull, tpmNull, uint16(public.N.BitLen()))
		b = binary.BigEndian.AppendUint32(b, uint32(public.E))
		b = sized(b, public.N.Bytes())
	case *ecdsa.PublicKey:
		x, y := coordinates(public)
		b = u16(b, tpmNull, tpmNull, tpmP256, tpmNull)
		b = sized(sized(b, x), y)
	}
	return b
}

// TPMName is the name that a TPM gives to an object with a public area.
func TPMName(pubArea []byte) []byte { return append(u16(nil, tpmSHA256), hash(pubArea)...) }

// attest is the TPMS_ATTEST.
func (c *Certification) attest() []byte {
	b := u16(binary.BigEndian.AppendUint32(nil, c.Magic), c.Type)
	b = sized(b, TPMName([]byte("the attestation key")))
	b = sized(b, c.ExtraData)
	b = append(b, make([]byte, 8+4+4+1+8)...) // clock, two counters, safe, firmware
	return sized(sized(b, c.Name), TPMName([]byte("its qualified name")))
}

// tpmAltName names the TPM's maker, model and version (TCG EK credential
// profile, section 3.2.9).
func tpmAltName() []byte {
	attribute := func(last int, value string) pkix.RelativeDistinguishedNameSET {
		return pkix.RelativeDistinguishedNameSET{{Type: asn1.ObjectIdentifier{2, 23, 133, 2, last}, Value: value}}
	}
	const manufacturer = "id:FFFFF1D0" // of the conformance tests
	name := must(asn1.Marshal(pkix.RDNSequence{attribute(1, manufacturer), attribute(2, "Latchkey"), attribute(3, "id:13")}))
	const directoryName = 4
	return must(asn1.Marshal([]asn1.RawValue{{Class: asn1.ClassContextSpecific, Tag: directoryName, IsCompound: true, Bytes: name}}))
}

func u16(b []byte, numbers ...uint16) []byte {
	for _, n := range numbers {
		b = binary.BigEndian.AppendUint16(b, n)
	}
	return b
}

// sized appends bytes with their length before them.
func sized(b, value []byte) []byte { return slices.Concat(u16(b, uint16(len(value))), value) }

func hash(b []byte) []byte {
	h := sha256.Sum256(b)
	return h[:]
}

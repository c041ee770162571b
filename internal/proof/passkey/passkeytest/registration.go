package passkeytest

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/binary"
	"slices"

	"latchkey/internal/proof/passkey"
)

// Format is a way to attest. Each is named by its fmt, but for the second form
// of packed.
type Format string

// The formats.
const (
	None       Format = "none"
	PackedSelf Format = "packed, self" // signed by the new key
	Packed     Format = "packed"       // with a certificate
	FIDOU2F    Format = "fido-u2f"
	Apple      Format = "apple"
	AndroidKey Format = "android-key"
	TPM        Format = "tpm"
)

// Formats lists those in which a key of the algorithm can attest.
func (a Algorithm) Formats() []Format {
	all := []Format{None, PackedSelf, Packed, Apple, AndroidKey, TPM}
	if a == ES256 {
		all = append(all, FIDOU2F)
	}
	return all
}

// Wire is the format's name in an attestation object.
func (f Format) Wire() string {
	switch f {
	case "":
		return string(None)
	case PackedSelf:
		return string(Packed)
	default:
		return string(f)
	}
}

// Registration is a registration in progress. What is changed before
// [Registration.Attest] is attested to; what is changed after it makes the
// statement false.
type Registration struct {
	Key        *Key
	Challenge  string
	ID         []byte // beside the attestation object
	ClientData []byte
	AuthData   []byte
	Format     string
	Statement  map[string]any

	// Hooks that change what Attest makes before it is signed.
	Certificate func(*x509.Certificate) // template of the first certificate
	Describe    func(*KeyDescription)   // of android-key
	Certify     func(*Certification)    // of tpm
}

// Begin makes the client's data and the authenticator's.
func (k *Key) Begin(challenge, origin string) *Registration {
	return &Registration{
		Key: k, Challenge: challenge, ID: k.ID, Format: k.Format.Wire(), Statement: map[string]any{},
		ClientData: ClientData("webauthn.create", challenge, origin),
		AuthData:   k.AuthData(k.ID, k.COSEKey(), nil),
	}
}

// AuthData is authenticator data with a new credential; extensions, if any, is
// CBOR.
func (k *Key) AuthData(id, coseKey, extensions []byte) []byte {
	flags := k.Flags | Attested
	if extensions != nil {
		flags |= Extended
	}
	data := binary.BigEndian.AppendUint32(append(k.RPIDHash(), flags), k.Counter())
	data = append(data, k.AAGUID[:]...)
	data = binary.BigEndian.AppendUint16(data, uint16(len(id)))
	return slices.Concat(data, id, coseKey, extensions)
}

// Attest makes the statement over the data as they are now.
func (r *Registration) Attest() {
	hash := r.clientDataHash()
	signed := slices.Concat(r.AuthData, hash)
	switch r.Key.Format {
	case None, "":
	case PackedSelf:
		r.Statement = map[string]any{"alg": int64(r.Key.Algorithm()), "sig": sign(r.Key.Private, signed)}
	case Packed:
		attester, cert := r.packedCertificate()
		r.Statement = map[string]any{"alg": int64(ES256), "sig": sign(attester, signed), "x5c": []any{cert}}
	case FIDOU2F:
		attester, cert := r.u2fCertificate()
		r.Statement = map[string]any{"sig": sign(attester, r.u2fData(hash)), "x5c": []any{cert}}
	case Apple:
		r.Statement = map[string]any{"x5c": r.appleCertificates(signed)}
	case AndroidKey:
		r.Statement = map[string]any{
			"alg": int64(r.Key.Algorithm()), "sig": sign(r.Key.Private, signed), "x5c": r.androidCertificates(hash),
		}
	case TPM:
		r.Statement = r.tpmStatement(signed)
	default:
		panic("passkeytest: unknown format " + r.Key.Format)
	}
}

// Object is the attestation object in CBOR.
func (r *Registration) Object() []byte {
	return Cbor(map[string]any{"fmt": r.Format, "attStmt": r.Statement, "authData": r.AuthData})
}

// Answer is what the client sends.
func (r *Registration) Answer() passkey.Answer {
	return passkey.Answer{
		Challenge: r.Challenge, CredentialID: Encode(r.ID),
		ClientDataJSON: Encode(r.ClientData), AttestationObject: Encode(r.Object()),
	}
}

func (r *Registration) clientDataHash() []byte {
	h := sha256.Sum256(r.ClientData)
	return h[:]
}

package passkeytest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"math/big"
	"slices"
	"time"
)

// The extensions that attestation certificates carry.
var (
	OIDAAGUID   = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 45724, 1, 1, 4}
	OIDApple    = asn1.ObjectIdentifier{1, 2, 840, 113635, 100, 8, 2}
	OIDAndroid  = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 11129, 2, 1, 17}
	oidAltName  = asn1.ObjectIdentifier{2, 5, 29, 17}
	oidAIKUsage = asn1.ObjectIdentifier{2, 23, 133, 8, 3}
)

// certify issues a certificate for a public key, by an issuer that is not
// trusted.
func (r *Registration) certify(template *x509.Certificate, public crypto.PublicKey) (leaf, issuer []byte) {
	ca := attester()
	parent := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Latchkey test issuer"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	template.SerialNumber = big.NewInt(2)
	template.NotBefore, template.NotAfter = parent.NotBefore, parent.NotAfter
	if r.Certificate != nil {
		r.Certificate(template)
	}
	leaf = must(x509.CreateCertificate(rand.Reader, template, parent, public, ca))
	return leaf, must(x509.CreateCertificate(rand.Reader, parent, parent, ca.Public(), ca))
}

// attester is the key by which an authenticator model, a TPM or an issuer
// signs.
func attester() *ecdsa.PrivateKey { return must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) }

// packedCertificate is as WebAuthn section 8.2.1 describes it.
func (r *Registration) packedCertificate() (*ecdsa.PrivateKey, []byte) {
	key := attester()
	cert, _ := r.certify(&x509.Certificate{
		BasicConstraintsValid: true,
		Subject: pkix.Name{
			Country: []string{"CH"}, Organization: []string{"Latchkey"},
			OrganizationalUnit: []string{"Authenticator Attestation"}, CommonName: "Software authenticator",
		},
		ExtraExtensions: []pkix.Extension{{Id: OIDAAGUID, Value: must(asn1.Marshal(r.Key.AAGUID[:]))}},
	}, key.Public())
	return key, cert
}

func (r *Registration) u2fCertificate() (*ecdsa.PrivateKey, []byte) {
	key := attester()
	cert, _ := r.certify(&x509.Certificate{Subject: pkix.Name{CommonName: "Software U2F token"}}, key.Public())
	return key, cert
}

// u2fData is what a U2F token signs: none of the authenticator data but the
// relying party, the id and the key (WebAuthn section 8.6).
func (r *Registration) u2fData(clientDataHash []byte) []byte {
	x, y := coordinates(r.Key.Private.Public().(*ecdsa.PublicKey))
	return slices.Concat([]byte{0}, r.AuthData[:32], clientDataHash, r.Key.ID, []byte{4}, x, y)
}

// appleCertificates carry the nonce (WebAuthn section 8.8).
func (r *Registration) appleCertificates(signed []byte) []any {
	nonce := struct {
		Nonce []byte `asn1:"tag:1,explicit"`
	}{hash(signed)}
	leaf, issuer := r.certify(&x509.Certificate{
		Subject:         pkix.Name{CommonName: "Software Secure Enclave"},
		ExtraExtensions: []pkix.Extension{{Id: OIDApple, Value: must(asn1.Marshal(nonce))}},
	}, r.Key.Private.Public())
	return []any{leaf, issuer}
}

// androidCertificates carry the key description (WebAuthn section 8.4).
func (r *Registration) androidCertificates(clientDataHash []byte) []any {
	d := &KeyDescription{
		Challenge: clientDataHash,
		Hardware:  []Authorization{Purpose(2), Origin(0)},
	}
	if r.Describe != nil {
		r.Describe(d)
	}
	leaf, issuer := r.certify(&x509.Certificate{
		Subject:         pkix.Name{CommonName: "Android Keystore Key"},
		ExtraExtensions: []pkix.Extension{{Id: OIDAndroid, Value: d.DER()}},
	}, r.Key.Private.Public())
	return []any{leaf, issuer}
}

package servertest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"testing"

	"latchkey/internal/domain"
	"latchkey/internal/ids"
	"latchkey/internal/store"
)

// Passkey is an authenticator in software. It stamps requests.
type Passkey struct {
	Origin       string
	RPID         string
	Counter      uint32
	CredentialID string
	key          *ecdsa.PrivateKey
}

// NewPasskey makes an authenticator.
func NewPasskey(t testing.TB) *Passkey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	id := make([]byte, 16)
	rand.Read(id)
	return &Passkey{Origin: "https://example.com", RPID: "example.com", CredentialID: base64url(id), key: key}
}

// Register puts the passkey on a user, as the registration of passkeys will.
func (p *Passkey) Register(t testing.TB, s *Server, c *Caller) {
	t.Helper()
	hash := sha256.Sum256([]byte(p.RPID))
	err := s.Store.Update(context.Background(), c.OrganizationID, func(tx *store.Tx) error {
		return tx.Users().Edit(c.UserID, func(u *domain.User) error {
			u.Authenticators = append(u.Authenticators, domain.Authenticator{
				ID: ids.New(), Name: "Passkey", CredentialID: p.CredentialID, COSEKey: p.COSEKey(t),
				RPIDHash: hash[:], Counter: p.Counter, Attestation: "none", AAGUID: make([]byte, 16), Model: "Test",
			})
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// COSEKey is the public key in CBOR: EC2, ES256, P-256 (RFC 9053 section 7.1).
func (p *Passkey) COSEKey(t testing.TB) []byte {
	t.Helper()
	point, err := p.key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	cose := append([]byte{0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20}, point[1:33]...)
	return append(append(cose, 0x22, 0x58, 0x20), point[33:]...)
}

// PublicKey is the credential id; passkeys are not found by their key.
func (p *Passkey) PublicKey() string { return p.CredentialID }

// Stamp signs a body: the challenge is the hex text of its hash.
func (p *Passkey) Stamp(body []byte) (header, value string, err error) {
	if p.Counter > 0 {
		p.Counter++
	}
	digest := sha256.Sum256(body)
	clientData := fmt.Appendf(nil, `{"type":"webauthn.get","challenge":%q,"origin":%q,"crossOrigin":false}`,
		base64url([]byte(hex.EncodeToString(digest[:]))), p.Origin)
	rp := sha256.Sum256([]byte(p.RPID))
	const userPresent = 1
	data := binary.BigEndian.AppendUint32(append(rp[:], userPresent), p.Counter)
	clientHash := sha256.Sum256(clientData)
	signed := sha256.Sum256(append(data[:len(data):len(data)], clientHash[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, p.key, signed[:])
	return "X-Stamp-Webauthn", fmt.Sprintf(`{"authenticatorData":%q,"clientDataJson":%q,"credentialId":%q,"signature":%q}`,
		base64url(data), base64url(clientData), p.CredentialID, base64url(signature)), err
}

func base64url(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

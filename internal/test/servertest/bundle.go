package servertest

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/hpke"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/mr-tron/base58"

	"latchkey/client"
	"latchkey/internal/test/testkit"
)

// This file is the client's side of import and export, as clients do it.

const hpkeInfo = "turnkey_hpke"

// Seal encrypts a secret to the target of an import, after checking who signed
// the target and which user it is for.
func (s *Server) Seal(t testing.TB, c *Caller, importBundle string, secret []byte) string {
	t.Helper()
	var target struct {
		TargetPublic   string `json:"targetPublic"`
		OrganizationID string `json:"organizationId"`
		UserID         string `json:"userId"`
	}
	s.openEnvelope(t, importBundle, &target)
	if target.OrganizationID != c.OrganizationID || target.UserID != c.UserID {
		t.Fatalf("the target is for %+v", target)
	}
	return SealTo(t, target.TargetPublic, secret)
}

// SealTo encrypts a secret to a public key.
func SealTo(t testing.TB, targetPublic string, secret []byte) string {
	t.Helper()
	receiver := testkit.Unhex(t, targetPublic)
	public, err := hpke.DHKEM(ecdh.P256()).NewPublicKey(receiver)
	if err != nil {
		t.Fatal(err)
	}
	enc, sender, err := hpke.NewSender(public, hpke.HKDFSHA256(), hpke.AES256GCM(), []byte(hpkeInfo))
	if err != nil {
		t.Fatal(err)
	}
	ciphertext, err := sender.Seal(slices.Concat(enc, receiver), secret)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{"encappedPublic":"%x","ciphertext":"%x"}`, enc, ciphertext)
}

// Recipient is a key to which exports are encrypted.
type Recipient struct{ key *ecdh.PrivateKey }

// NewRecipient makes one.
func NewRecipient(t testing.TB) *Recipient {
	t.Helper()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return &Recipient{key}
}

// PublicKey is the recipient's key, uncompressed.
func (r *Recipient) PublicKey() string { return hex.EncodeToString(r.key.PublicKey().Bytes()) }

// Open decrypts an export, after checking who signed it and which
// organization it is of.
func (r *Recipient) Open(t testing.TB, s *Server, c *Caller, exportBundle string) []byte {
	t.Helper()
	var export struct {
		EncappedPublic string `json:"encappedPublic"`
		Ciphertext     string `json:"ciphertext"`
		OrganizationID string `json:"organizationId"`
	}
	s.openEnvelope(t, exportBundle, &export)
	if export.OrganizationID != c.OrganizationID {
		t.Fatalf("the export is for %s", export.OrganizationID)
	}
	return r.decrypt(t, testkit.Unhex(t, export.EncappedPublic), testkit.Unhex(t, export.Ciphertext))
}

// LogIn opens a credential bundle, and returns the user of the organization
// whose key is in it.
func (r *Recipient) LogIn(t testing.TB, c *Caller, credentialBundle string) *Caller {
	t.Helper()
	private := r.OpenBundle(t, credentialBundle)
	if len(private) != 32 {
		t.Fatalf("a bundle with a key of %d bytes", len(private))
	}
	key, err := client.ParsePrivateKey(client.P256, hex.EncodeToString(private))
	if err != nil {
		t.Fatal(err)
	}
	user := *c
	user.Key, user.Stamper = key, key.Stamper()
	return &user
}

// OpenBundle opens what is sealed as credentials are.
func (r *Recipient) OpenBundle(t testing.TB, text string) []byte {
	t.Helper()
	raw, err := base58.Decode(text)
	if err != nil || len(raw) < 33+16+4 {
		t.Fatalf("a bundle of %d bytes: %v", len(raw), err)
	}
	payload, checksum := raw[:len(raw)-4], raw[len(raw)-4:]
	once := sha256.Sum256(payload)
	if twice := sha256.Sum256(once[:]); !bytes.Equal(twice[:4], checksum) {
		t.Fatal("the bundle's checksum is wrong")
	}
	x, y := elliptic.UnmarshalCompressed(elliptic.P256(), payload[:33])
	if x == nil {
		t.Fatal("the bundle has no point")
	}
	enc := append([]byte{4}, append(x.FillBytes(make([]byte, 32)), y.FillBytes(make([]byte, 32))...)...)
	return r.decrypt(t, enc, payload[33:])
}

func (r *Recipient) decrypt(t testing.TB, enc, ciphertext []byte) []byte {
	t.Helper()
	private, err := hpke.DHKEM(ecdh.P256()).NewPrivateKey(r.key.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	recipient, err := hpke.NewRecipient(enc, private, hpke.HKDFSHA256(), hpke.AES256GCM(), []byte(hpkeInfo))
	if err != nil {
		t.Fatal(err)
	}
	secret, err := recipient.Open(slices.Concat(enc, r.key.PublicKey().Bytes()), ciphertext)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// openEnvelope checks the server's signature and reads what it signed.
func (s *Server) openEnvelope(t testing.TB, text string, into any) {
	t.Helper()
	var envelope struct {
		Version             string `json:"version"`
		Data                string `json:"data"`
		DataSignature       string `json:"dataSignature"`
		EnclaveQuorumPublic string `json:"enclaveQuorumPublic"`
	}
	if err := json.Unmarshal([]byte(text), &envelope); err != nil {
		t.Fatal(err)
	}
	if envelope.Version != "v1.0.0" || envelope.EnclaveQuorumPublic != s.Keys.ServerKeys.SignerPublicKey() {
		t.Fatalf("envelope: %+v", envelope)
	}
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), testkit.Unhex(t, envelope.EnclaveQuorumPublic))
	if err != nil {
		t.Fatal(err)
	}
	data := testkit.Unhex(t, envelope.Data)
	digest := sha256.Sum256(data)
	if !ecdsa.VerifyASN1(key, digest[:], testkit.Unhex(t, envelope.DataSignature)) {
		t.Fatal("the envelope's signature is wrong")
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// SealClientSecret encrypts a client secret of OAuth 2.0 to the key that the server
// publishes for that, as clients do.
func (s *Server) SealClientSecret(t testing.TB, clientSecret string) string {
	t.Helper()
	known := Send(t, http.MethodGet, s.URL+"/.well-known/latchkey.json", http.Header{}, nil).JSON(t)
	receiver, err := ecdh.P256().NewPublicKey(testkit.Unhex(t, known.Get("oauth2ClientSecretPublicKey").Text()))
	if err != nil {
		t.Fatal(err)
	}
	sender, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	shared, err := sender.ECDH(receiver)
	if err != nil {
		t.Fatal(err)
	}
	from, to, nonce := sender.PublicKey().Bytes(), receiver.Bytes(), make([]byte, 12)
	mac := hmac.New(sha512.New, slices.Concat(from, to, shared))
	mac.Write([]byte("qos_encryption_hmac_message"))
	block, err := aes.NewCipher(mac.Sum(nil)[:32])
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	ciphertext := aead.Seal(nil, nonce, []byte(clientSecret), slices.Concat(from, []byte{65}, to, []byte{65}))
	length := binary.LittleEndian.AppendUint32(nil, uint32(len(ciphertext)))
	return hex.EncodeToString(slices.Concat(nonce, from, length, ciphertext))
}

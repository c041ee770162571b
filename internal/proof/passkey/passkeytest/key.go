// Package passkeytest is an authenticator in software, for tests: it registers
// passkeys in every format of attestation that the service knows, and stamps
// requests with them afterwards.
//
// [Key.Register] and [Key.Stamp] do what honest hardware and an honest browser
// do. A test that wants something else takes the steps one by one: [Key.Begin],
// changes, [Registration.Attest], more changes, [Registration.Answer].
package passkeytest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"testing"

	"github.com/go-webauthn/webauthn/protocol/webauthncbor"

	"latchkey/internal/proof/passkey"
)

// Algorithm is a COSE algorithm.
type Algorithm int64

// The algorithms of passkeys.
const (
	ES256 Algorithm = -7
	RS256 Algorithm = -257
)

// Flags of authenticator data (WebAuthn section 6.1).
const (
	UserPresent  byte = 1 << 0
	UserVerified byte = 1 << 2
	Attested     byte = 1 << 6
	Extended     byte = 1 << 7
)

// Key is a passkey in an authenticator of its own.
type Key struct {
	ID      []byte        // raw credential id
	Private crypto.Signer // *ecdsa.PrivateKey on P-256 or *rsa.PrivateKey
	RPID    string
	Flags   byte // of both registrations and stamps; Attested is set and cleared as needed
	AAGUID  [16]byte
	Format  Format // of registrations; the zero value is None

	mu      sync.Mutex
	counter uint32
}

// New makes a passkey of localhost with a format of None, and a counter that
// stays zero, as those of synced passkeys do.
func New(t testing.TB, a Algorithm) *Key {
	t.Helper()
	k := &Key{ID: make([]byte, 16), RPID: "localhost", Flags: UserPresent | UserVerified}
	rand.Read(k.ID)
	var err error
	switch a {
	case ES256:
		k.Private, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case RS256:
		k.Private, err = rsa.GenerateKey(rand.Reader, 2048)
	default:
		t.Fatalf("passkeytest: algorithm %d is neither ES256 nor RS256", a)
	}
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Count sets the signature counter. Other than zero, it grows with each stamp.
func (k *Key) Count(n uint32) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.counter = n
}

// Counter is the counter that the last registration or stamp said.
func (k *Key) Counter() uint32 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.counter
}

// CredentialID is the id as the service shows it.
func (k *Key) CredentialID() string { return Encode(k.ID) }

// RPIDHash is the hash of the relying party, as it is pinned at registration.
func (k *Key) RPIDHash() []byte {
	h := sha256.Sum256([]byte(k.RPID))
	return h[:]
}

// Algorithm is the COSE algorithm of the key.
func (k *Key) Algorithm() Algorithm {
	if _, ok := k.Private.(*rsa.PrivateKey); ok {
		return RS256
	}
	return ES256
}

// COSEKey is the public key in CBOR (RFC 9053 section 7.1, RFC 8230 section 4).
func (k *Key) COSEKey() []byte {
	switch public := k.Private.Public().(type) {
	case *rsa.PublicKey:
		return Cbor(map[int]any{1: 3, 3: int(RS256), -1: public.N.Bytes(), -2: big.NewInt(int64(public.E)).Bytes()})
	case *ecdsa.PublicKey:
		x, y := coordinates(public)
		return Cbor(map[int]any{1: 2, 3: int(ES256), -1: 1, -2: x, -3: y})
	}
	panic("passkeytest: the key is neither of P-256 nor RSA")
}

// Register answers a challenge on a page, in the key's format. The challenge
// is base64url text, as a client passes it on to the service.
func (k *Key) Register(challenge, origin string) passkey.Answer {
	r := k.Begin(challenge, origin)
	r.Attest()
	return r.Answer()
}

// Stamp signs a request's body on a page.
func (k *Key) Stamp(body []byte, origin string) (header, value string) {
	k.mu.Lock()
	if k.counter > 0 {
		k.counter++
	}
	counter := k.counter
	k.mu.Unlock()
	// The challenge's bytes are the text of the hash, not the hash.
	digest := sha256.Sum256(body)
	client := ClientData("webauthn.get", Encode([]byte(hex.EncodeToString(digest[:]))), origin)
	data := binary.BigEndian.AppendUint32(append(k.RPIDHash(), k.Flags&^Attested), counter)
	clientHash := sha256.Sum256(client)
	return "X-Stamp-Webauthn", fmt.Sprintf(`{"authenticatorData":%q,"clientDataJson":%q,"credentialId":%q,"signature":%q}`,
		Encode(data), Encode(client), k.CredentialID(), Encode(sign(k.Private, slices.Concat(data, clientHash[:]))))
}

// ClientData is what a browser writes.
func ClientData(kind, challenge, origin string) []byte {
	return fmt.Appendf(nil, `{"type":%q,"challenge":%q,"origin":%q,"crossOrigin":false}`, kind, challenge, origin)
}

// Encode is base64url without padding.
func Encode(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

// Cbor encodes a value in the form that authenticators use.
func Cbor(v any) []byte { return must(webauthncbor.Marshal(v)) }

// sign is ES256 or RS256, by the type of the key.
func sign(key crypto.Signer, message []byte) []byte {
	digest := sha256.Sum256(message)
	return must(key.Sign(rand.Reader, digest[:], crypto.SHA256))
}

func coordinates(key *ecdsa.PublicKey) (x, y []byte) {
	point := must(key.Bytes())
	return point[1:33], point[33:]
}

// must is for what cannot fail with the inputs that this package makes.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

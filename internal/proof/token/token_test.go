package token

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
)

var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// signer is a server's keys.
type signer struct{ key *ecdsa.PrivateKey }

func newSigner(t testing.TB) signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return signer{key}
}

func (s signer) public() string {
	public, err := s.key.PublicKey.Bytes()
	if err != nil {
		panic(err)
	}
	return hex.EncodeToString(public)
}

func (s signer) sign(digest [32]byte) ([]byte, error) {
	r, v, err := ecdsa.Sign(rand.Reader, s.key, digest[:])
	if err != nil {
		return nil, err
	}
	raw := make([]byte, 64)
	r.FillBytes(raw[:32])
	v.FillBytes(raw[32:])
	return raw, nil
}

func (s signer) SignToken(text []byte) ([]byte, error) { return s.sign(sha256.Sum256(text)) }

func (s signer) SignSession(text []byte) ([]byte, error) {
	once := sha256.Sum256(text)
	return s.sign(sha256.Sum256(once[:]))
}

var verification = Verification{
	ID: "eb39b199-3352-4289-b31f-57194c79609c", OrganizationID: "f9a31c64-d604-42e4-9bef-a773096afad7",
	Type: domain.OTPEmail, Contact: "user@example.com",
	PublicKey: "036335b78f92736e32e99dc6aed979aff0b5c24192e76b1628aa54edaf58c8c15d", ExpiresAt: noon.Add(time.Hour),
}

func TestVerification(t *testing.T) {
	s := newSigner(t)
	text, err := WriteVerification(s, verification)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadVerification(s.public(), text, noon)
	if err != nil {
		t.Fatal(err)
	}
	if !got.ExpiresAt.Equal(verification.ExpiresAt) {
		t.Errorf("ends at %v", got.ExpiresAt)
	}
	got.ExpiresAt = verification.ExpiresAt
	if *got != verification {
		t.Errorf("%+v", got)
	}
	header, payload, _ := strings.Cut(text, ".")
	if raw, _ := base64.RawURLEncoding.DecodeString(header); string(raw) != `{"typ":"JWT","alg":"ES256"}` {
		t.Errorf("header %s", raw)
	}
	if strings.ContainsAny(strings.Split(payload, ".")[0], "-_") {
		t.Errorf("the payload needs base64url: %s", payload)
	}
	login, err := WriteLogin(s, Login{ExpiresAt: noon, PublicKey: "02", UserID: "u", OrganizationID: "o"})
	if err != nil {
		t.Fatal(err)
	}
	reading, err := WriteSession(s, Session{OrganizationID: "o", UserID: "u", Credential: "api:02", ExpiresAt: noon.Add(time.Hour).Unix()})
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(text, ".")
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"typ":"JWT","alg":"none"}`))
	for name, bad := range map[string]string{
		"empty": "", "two parts": parts[0] + "." + parts[1], "four parts": text + ".x", "unsigned": parts[0] + "." + parts[1] + ".",
		"algorithm none": none + "." + parts[1] + ".", "cut signature": text[:len(text)-1], "another payload": parts[0] + "." + encode([]byte(`{}`)) + "." + parts[2],
		"a login": login, "a session": reading, "long": text + strings.Repeat("A", maxToken),
	} {
		if _, err := ReadVerification(s.public(), bad, noon); err == nil {
			t.Errorf("%s was read", name)
		} else if refusal, ok := fault.As(err); !ok || refusal.Code != fault.InvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ReadVerification(newSigner(t).public(), text, noon); err == nil {
		t.Error("another server's token was read")
	}
	if _, err := ReadVerification(s.public(), text, noon.Add(time.Hour)); err == nil || !strings.Contains(err.Error(), "expired") {
		t.Errorf("at its end: %v", err)
	}
}

func TestSession(t *testing.T) {
	s := newSigner(t)
	want := Session{OrganizationID: "o", UserID: "u", Credential: "api:02", ExpiresAt: noon.Add(time.Hour).Unix()}
	text, err := WriteSession(s, want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadSession(s.public(), text, noon)
	if err != nil || *got != want {
		t.Errorf("%+v %v", got, err)
	}
	if _, err := ReadSession(s.public(), text, noon.Add(time.Hour)); err == nil {
		t.Error("an ended session was read")
	}
	proof, err := WriteVerification(s, verification)
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]string{"empty": "", "a verification": proof, "damaged": strings.Replace(text, ".", ".e", 1)} {
		if _, err := ReadSession(s.public(), bad, noon); err == nil {
			t.Errorf("%s was read", name)
		}
	}
}

// TestPlain writes whatever a contact may hold so that a reader of plain base64
// understands it, wherever in a triple it stands.
func TestPlain(t *testing.T) {
	s := newSigner(t)
	for _, contact := range []string{"a>b", "?", "~~~", "x~", "xx~", "ü@example.com", "🔑", "\"\\\x00\x7f", "user+tag@example.com"} {
		for pad := range 3 {
			v := verification
			v.Contact = strings.Repeat("x", pad) + contact
			text, err := WriteVerification(s, v)
			if err != nil {
				t.Fatal(err)
			}
			if payload := strings.Split(text, ".")[1]; strings.ContainsAny(payload, "-_") {
				t.Errorf("%q needs base64url: %s", v.Contact, payload)
			}
			got, err := ReadVerification(s.public(), text, noon)
			if err != nil || got.Contact != v.Contact {
				t.Errorf("%q was read as %+v %v", v.Contact, got, err)
			}
		}
	}
}

// Nothing that the server did not sign is ever read.
func FuzzRead(f *testing.F) {
	s := newSigner(f)
	public := newSigner(f).public()
	for _, write := range []func() (string, error){
		func() (string, error) { return WriteVerification(s, verification) },
		func() (string, error) { return WriteSession(s, Session{ExpiresAt: noon.Unix()}) },
	} {
		text, err := write()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add("..")
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := ReadVerification(public, text, noon); err == nil {
			t.Error("a verification was read")
		}
		if _, err := ReadSession(public, text, noon.Add(-time.Hour)); err == nil {
			t.Error("a session was read")
		}
	})
}

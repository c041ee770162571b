package passkey_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"latchkey/internal/fault"
	"latchkey/internal/proof/passkey"
	"latchkey/internal/proof/passkey/passkeytest"
	"latchkey/internal/proof/stamp"
	"latchkey/internal/test/testkit"
)

const (
	challenge = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc"
	origin    = "http://localhost:3000"

	fieldChallenge  = "challenge"
	fieldID         = "attestation.credentialId"
	fieldClientData = "attestation.clientDataJson"
	fieldObject     = "attestation.attestationObject"
)

// published is the worked example of a registration and of a stamp.
var published = passkey.Answer{
	Challenge:         challenge,
	CredentialID:      "AAECAwQFBgcICQoLDA0ODw",
	ClientDataJSON:    "eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIiwiY2hhbGxlbmdlIjoiQndjSEJ3Y0hCd2NIQndjSEJ3Y0hCd2NIQndjSEJ3Y0hCd2NIQndjSEJ3YyIsIm9yaWdpbiI6Imh0dHA6Ly9sb2NhbGhvc3Q6MzAwMCIsImNyb3NzT3JpZ2luIjpmYWxzZX0",
	AttestationObject: "o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YViUSZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2NFAAAAAAAAAAAAAAAAAAAAAAAAAAAAEAABAgMEBQYHCAkKCwwNDg-lAQIDJiABIVggV-l39tt-M8P-es8oQu2YcAnK9W1FhoL8pEe309diqzQiWCDFqzdwulc73_VBQGVkD_tbNG36hN7E201o5fWcxHHC7A",
}

const (
	publishedCOSE = "pQECAyYgASFYIFfpd_bbfjPD_nrPKELtmHAJyvVtRYaC_KRHt9PXYqs0Ilggxas3cLpXO9_1QUBlZA_7WzRt-oTexNtNaOX1nMRxwuw"
	stampedBody   = `{"organizationId":"f9a31c64-d604-42e4-9bef-a773096afad7"}`
	stampedHeader = `{"authenticatorData":"SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAA","clientDataJson":"eyJ0eXBlIjoid2ViYXV0aG4uZ2V0IiwiY2hhbGxlbmdlIjoiWkRKaE4yTXdaR0ZoTjJJME56WTBPVE0yWXpnNVpHTmlNRGhoTWpneFpEYzROVFEwTVdZME9EY3pObVptWldSbE56SXdZV0l5WldGak5EZ3hNV1ZrTVEiLCJvcmlnaW4iOiJodHRwOi8vbG9jYWxob3N0OjMwMDAiLCJjcm9zc09yaWdpbiI6ZmFsc2V9","credentialId":"AAECAwQFBgcICQoLDA0ODw","signature":"MEUCIQDVeyWXXndLxs9maTO9nlQ4GChGB8sNkNBG7WY3Xm89FAIgd-GR7O947-xuutss7Gn2JxjwIUBlev7J3Gh2SCLrrOg"}`
)

// publishedKey is the authenticator of the worked example.
func publishedKey(t testing.TB) *passkeytest.Key {
	t.Helper()
	private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), slices.Repeat([]byte{0x55}, 32))
	if err != nil {
		t.Fatal(err)
	}
	key := passkeytest.New(t, passkeytest.ES256)
	key.ID, key.Private = testkit.Unbase64(t, published.CredentialID), private
	return key
}

// verifyStamp does what the service does with a stamp by a registered passkey.
func verifyStamp(t testing.TB, header, value, body string, r *passkey.Registered) (counter uint32, err error) {
	t.Helper()
	s, err := stamp.Read(http.Header{header: {value}})
	if err != nil {
		t.Fatal(err)
	}
	if s.CredentialID != r.CredentialID {
		t.Fatalf("the stamp names %s, registered was %s", s.CredentialID, r.CredentialID)
	}
	var v stamp.Verifier
	return v.VerifyPasskey(s, []byte(body), stamp.Passkey{COSEKey: r.COSEKey, RPIDHash: r.RPIDHash})
}

func TestWorkedExample(t *testing.T) {
	key := publishedKey(t)
	// The authenticator of these tests makes the very bytes of the example.
	if diff := cmp.Diff(published, key.Register(challenge, origin)); diff != "" {
		t.Error(diff)
	}
	got, err := passkey.Verify(published, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := &passkey.Registered{
		CredentialID: published.CredentialID, COSEKey: testkit.Unbase64(t, publishedCOSE), RPIDHash: key.RPIDHash(),
		Attestation: "none", AAGUID: make([]byte, 16),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := verifyStamp(t, "X-Stamp-Webauthn", stampedHeader, stampedBody, got); err != nil {
		t.Error(err)
	}
}

// TestPublishedVectors runs those of WebAuthn Level 3, section 16.1. Their
// certificates lead to a root that is not trusted, which must not matter.
func TestPublishedVectors(t *testing.T) {
	refused := map[string]string{
		"packed, ES384": "only ES256",
		"packed, EdDSA": "only ES256",
		// Section 8.4 demands an origin, and the description here has none.
		"android-key, ES256": "origin in the key description must be 0",
		// The maker of this TPM is 00000000, which is not in the register.
		"tpm, ES256": "that WebAuthn section 8.3.1 describes",
	}
	for _, v := range vectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			got, err := passkey.Verify(v.answer(), []string{"https://example.org"})
			if want, ok := refused[v.Name]; ok {
				wantRefusal(t, err, fieldObject, want)
				if strings.HasPrefix(v.Name, "tpm") && !strings.Contains(err.Error(), "manufacturer") {
					t.Errorf("the log does not get the reason: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if format, _, _ := strings.Cut(v.Name, ","); got.Attestation != strings.TrimSuffix(format, " self") || got.CredentialID != v.CredentialID {
				t.Errorf("got %+v", got)
			}
		})
	}
}

type vector struct {
	Name, Challenge, CredentialID, ClientDataJSON, AttestationObject string
}

func (v vector) answer() passkey.Answer {
	return passkey.Answer{
		Challenge: v.Challenge, CredentialID: v.CredentialID, ClientDataJSON: v.ClientDataJSON, AttestationObject: v.AttestationObject,
	}
}

func vectors(t testing.TB) []vector {
	t.Helper()
	text, err := os.ReadFile("testdata/webauthn-level-3.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []vector
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	if len(all) < 10 {
		t.Fatalf("only %d vectors", len(all))
	}
	return all
}

// each runs a test for every algorithm and every format that it has.
func each(t *testing.T, test func(t *testing.T, key *passkeytest.Key)) {
	t.Helper()
	for name, algorithm := range map[string]passkeytest.Algorithm{"ES256": passkeytest.ES256, "RS256": passkeytest.RS256} {
		key := passkeytest.New(t, algorithm)
		key.AAGUID = [16]byte{1, 2, 3, 15: 16}
		key.RPID = "example.com"
		for _, format := range algorithm.Formats() {
			key.Format = format
			t.Run(name+" "+string(format), func(t *testing.T) { test(t, key) })
		}
	}
}

// TestRegisterAndStamp takes a passkey through its life.
func TestRegisterAndStamp(t *testing.T) {
	each(t, func(t *testing.T, key *passkeytest.Key) {
		key.Count(7)
		got, err := passkey.Verify(key.Register(challenge, origin), []string{"https://example.com", origin})
		if err != nil {
			t.Fatal(err)
		}
		want := &passkey.Registered{
			CredentialID: key.CredentialID(), COSEKey: key.COSEKey(), RPIDHash: key.RPIDHash(),
			Counter: 7, Attestation: key.Format.Wire(), AAGUID: key.AAGUID[:],
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		header, value := key.Stamp([]byte("body"), origin)
		counter, err := verifyStamp(t, header, value, "body", got)
		if err != nil || counter != 8 {
			t.Errorf("stamp: counter %d, %v", counter, err)
		}
		if _, err := verifyStamp(t, header, value, "another body", got); err == nil {
			t.Error("the stamp fits another body")
		}
		key.Count(0)
		header, value = key.Stamp([]byte("body"), origin)
		if counter, err := verifyStamp(t, header, value, "body", got); err != nil || counter != 0 {
			t.Errorf("stamp without counter: counter %d, %v", counter, err)
		}
	})
}

// TestTolerated lists what differs from the worked example and is right all
// the same.
func TestTolerated(t *testing.T) {
	key := passkeytest.New(t, passkeytest.ES256)
	key.ID = []byte{0xfb, 0xff, 0xfe, 0xfb} // has + and / in standard base64
	tests := []struct {
		name    string
		answer  func() passkey.Answer
		origins []string
	}{
		{"padding and the standard alphabet", func() passkey.Answer {
			a := key.Register("-_-_-_8", origin)
			for _, text := range []*string{&a.Challenge, &a.CredentialID, &a.ClientDataJSON, &a.AttestationObject} {
				*text = base64.StdEncoding.EncodeToString(testkit.Unbase64(t, *text))
			}
			if !strings.ContainsAny(a.CredentialID, "+/") || !strings.ContainsAny(a.Challenge, "+/") {
				t.Fatal("the test does not test the alphabet")
			}
			return a
		}, nil},
		{"hex as the challenge", func() passkey.Answer { return key.Register(strings.Repeat("0123456789abcdef", 4), origin) }, nil},
		{"another origin in the list", func() passkey.Answer { return key.Register(challenge, origin) }, []string{"https://a.example", origin}},
		{"every origin", func() passkey.Answer { return key.Register(challenge, "android:apk-key-hash:x") }, []string{"*"}},
		{"no user verification", func() passkey.Answer {
			key.Flags = passkeytest.UserPresent
			defer func() { key.Flags |= passkeytest.UserVerified }()
			return key.Register(challenge, origin)
		}, nil},
		{"cross origin and members of the future", func() passkey.Answer {
			r := key.Begin(challenge, origin)
			r.ClientData = []byte(`{"future":{"a":[1]},"origin":"` + origin + `","crossOrigin":true,"topOrigin":"https://x","type":"webauthn.create", "challenge":"` + challenge + `"}`)
			return r.Answer()
		}, nil},
		{"extensions", func() passkey.Answer {
			r := key.Begin(challenge, origin)
			r.AuthData = key.AuthData(key.ID, key.COSEKey(), passkeytest.Cbor(map[string]any{"hmac-secret": true, "credProtect": 2, "new": []byte{1}}))
			return r.Answer()
		}, nil},
		{"longest id", func() passkey.Answer {
			r := key.Begin(challenge, origin)
			r.ID = slices.Repeat([]byte{9}, 1023)
			r.AuthData = key.AuthData(r.ID, key.COSEKey(), nil)
			return r.Answer()
		}, nil},
		{"shortest id", func() passkey.Answer {
			r := key.Begin(challenge, origin)
			r.ID = []byte{0}
			r.AuthData = key.AuthData(r.ID, key.COSEKey(), nil)
			return r.Answer()
		}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := tt.answer()
			got, err := passkey.Verify(a, tt.origins)
			if err != nil {
				t.Fatal(err)
			}
			id := strings.NewReplacer("+", "-", "/", "_").Replace(strings.TrimRight(a.CredentialID, "="))
			if got.CredentialID != id || !slices.Equal(got.COSEKey, key.COSEKey()) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// A key has one encoding in store, however it was sent.
func TestKeyIsStoredCanonical(t *testing.T) {
	key := passkeytest.New(t, passkeytest.ES256)
	cose := key.COSEKey()
	// The map's members in another order: alg before kty.
	swapped := slices.Concat(cose[:1], []byte{3, 0x26, 1, 2}, cose[5:])
	r := key.Begin(challenge, origin)
	r.AuthData = key.AuthData(key.ID, swapped, nil)
	got, err := passkey.Verify(r.Answer(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.COSEKey, cose) {
		t.Errorf("got  %x\nwant %x", got.COSEKey, cose)
	}
}

// wantRefusal checks that err is a 400 that names exactly this field and says
// want about it.
func wantRefusal(t testing.TB, err error, field, want string) {
	t.Helper()
	f := checkRefusal(t, err)
	if len(f.Fields) != 1 || f.Fields[0].Path != field || !strings.Contains(f.Fields[0].Description, want) {
		t.Errorf("got %+v, want %s to say %q", f.Fields, field, want)
	}
}

// checkRefusal checks what holds for every refusal.
func checkRefusal(t testing.TB, err error) *fault.Error {
	t.Helper()
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		t.Fatalf("got %v (%T), want a fault", err, err)
	}
	if f.Code != fault.InvalidArgument || f.Status() != http.StatusBadRequest || f.Reason != fault.ReasonRequestInvalid {
		t.Errorf("got code %d, status %d, reason %s", f.Code, f.Status(), f.Reason)
	}
	if len(f.Fields) == 0 || !strings.HasPrefix(f.Message, "invalid authenticator attestation: "+f.Fields[0].Path+": "+f.Fields[0].Description) {
		t.Errorf("message %q does not begin as it should; fields %v", f.Message, f.Fields)
	}
	seen := map[string]bool{}
	for _, field := range f.Fields {
		known := slices.Contains([]string{fieldChallenge, fieldID, fieldClientData, fieldObject}, field.Path)
		if !known || seen[field.Path] || field.Description == "" {
			t.Errorf("field %+v is unknown, repeated or not described", field)
		}
		seen[field.Path] = true
		if len(field.Description) > 400 {
			t.Errorf("%s repeats too much: %q", field.Path, field.Description)
		}
		for _, foreign := range []string{"cbor:", "asn1:", "x509:", "json:", "tpm2", "illegal base64", "Error ", "\n"} {
			if strings.Contains(field.Description, foreign) {
				t.Errorf("%s has a library's words: %q", field.Path, field.Description)
			}
		}
	}
	return f
}

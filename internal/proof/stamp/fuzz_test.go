package stamp

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"latchkey/internal/fault"
	"latchkey/internal/test/testkit"
)

// fault401 checks what holds for every refusal: it is a 401, and it does not
// repeat what was sent.
func fault401(t *testing.T, err error, value string) {
	t.Helper()
	f, ok := fault.As(err)
	if !ok || f.Code != fault.Unauthenticated {
		t.Fatalf("got %v (%T)", err, err)
	}
	if len(value) > 100 && strings.Contains(f.Error(), value) || len(f.Error()) > 500 {
		t.Fatalf("repeats the header: %v", f)
	}
}

// What Read accepts of an API key has one key text, and reads the same again
// when it is written anew.
func FuzzReadAPIKeyStamp(f *testing.F) {
	f.Add(p256Header)
	f.Add(p256Header + "=")
	f.Add(apiKeyHeader(strings.ToUpper(k256Key), Secp256k1, k256Sig))
	f.Add(apiKeyHeader(k256Key, Secp256k1EIP191, eip191Sig))
	f.Add(apiKeyHeader(edwardsKey, Ed25519, edwardsSig))
	f.Add(apiKeyHeader(p256Key, "x", "00"))
	f.Add(`{"publicKey":"` + p256Key + `","scheme":"` + string(P256) + `","signature":"` + p256Sig + `"}`)
	f.Add(`{"publicKey":"a","publicKey":"a"}`)
	f.Add("")
	var v Verifier
	check := func(t *testing.T, value string) {
		s, err := Read(one("X-Stamp", value))
		if err != nil {
			fault401(t, err, value)
			return
		}
		raw, err := hex.DecodeString(s.PublicKey)
		if err != nil || len(raw) != s.Scheme.Curve().KeySize() || s.PublicKey != strings.ToLower(s.PublicKey) {
			t.Errorf("key %q", s.PublicKey)
		}
		if s.CredentialID != "" {
			t.Errorf("credential id %q", s.CredentialID)
		}
		again, err := Read(one("X-Stamp", apiKeyHeader(s.PublicKey, s.Scheme, s.Signature)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s, again, cmp.AllowUnexported(Stamp{}, assertion{})); diff != "" {
			t.Error(diff)
		}
		if err := v.VerifyAPIKey(s, []byte("not what any seed signed")); err == nil {
			t.Error("verified")
		} else {
			fault401(t, err, value)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		check(t, text)
		check(t, encode(text)) // base64 hides the JSON from the fuzzer
	})
}

// What Read accepts of a passkey is stored in one form, which reads the same.
func FuzzReadWebauthnStamp(f *testing.F) {
	f.Add(webauthnHeader)
	f.Add(encode(webauthnHeader))
	f.Add(strings.Replace(webauthnHeader, "ODw", "ODw==", 1))
	f.Add(strings.Replace(webauthnHeader, "clientDataJson", "clientDataJSON", 1))
	f.Add(`{"authenticatorData":"","clientDataJson":"","credentialId":"","signature":""}`)
	f.Add("{}")
	f.Add("")
	var v Verifier
	stored := Passkey{COSEKey: testkit.Unbase64(f, coseKey), RPIDHash: testkit.Unbase64(f, "SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2M")}
	clientData := string(testkit.Unbase64(f, strings.Split(webauthnHeader, `"`)[7]))
	f.Add(clientData)
	f.Add(strings.Replace(clientData, "{", `{"type":"webauthn.get",`, 1))
	check := func(t *testing.T, value string) {
		s, err := Read(one("X-Stamp-Webauthn", value))
		if err != nil {
			fault401(t, err, value)
			return
		}
		if s.Scheme != Webauthn || s.PublicKey != "" || s.CredentialID == "" || toBase64(testkit.Unbase64(t, s.CredentialID)) != s.CredentialID {
			t.Errorf("got %+v", s)
		}
		again, err := Read(one("X-Stamp-Webauthn", s.Signature))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s, again, cmp.AllowUnexported(Stamp{}, assertion{})); diff != "" {
			t.Error(diff)
		}
		if _, err := v.VerifyPasskey(s, []byte("not what any seed signed"), stored); err == nil {
			t.Error("verified")
		} else {
			fault401(t, err, value)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		check(t, text)
		check(t, encode(text))
		// As the client data of an otherwise good stamp.
		check(t, strings.Replace(webauthnHeader, encode(clientData), encode(text), 1))
	})
}

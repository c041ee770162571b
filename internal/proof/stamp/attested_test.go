package stamp

import (
	"fmt"
	"strings"
	"testing"

	"latchkey/internal/fault"
)

func attestedJSON(token string, scheme Scheme, key, signature string) string {
	return fmt.Sprintf(`{"publicKeyAttestation":%q,"scheme":%q,"publicKey":%q,"signature":%q}`, token, scheme, key, signature)
}

func TestReadAttested(t *testing.T) {
	for _, scheme := range []Scheme{AttestedToken, AttestedOIDC} {
		text := attestedJSON("a.b.c", scheme, strings.ToUpper(p256Key), p256Sig)
		for name, value := range map[string]string{"plain": text, "base64url": encode(text)} {
			s, err := Read(one(HeaderAttested, value))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if s.Attestation != "a.b.c" || s.PublicKey != p256Key || s.SentKey != strings.ToUpper(p256Key) || s.Scheme != scheme {
				t.Errorf("%s: %+v", name, s)
			}
			var v Verifier
			if err := v.VerifyAPIKey(s, []byte(body)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if err := v.VerifyAPIKey(s, []byte(body+" ")); err == nil {
				t.Errorf("%s: another body verified", name)
			}
		}
	}
	for name, value := range map[string]string{
		"empty":             "",
		"no token":          encode(attestedJSON("", AttestedToken, p256Key, p256Sig)),
		"scheme of API key": encode(attestedJSON("a.b.c", P256, p256Key, p256Sig)),
		"other scheme":      encode(attestedJSON("a.b.c", "x", p256Key, p256Sig)),
		"key of 32 bytes":   encode(attestedJSON("a.b.c", AttestedToken, p256Key[2:], p256Sig)),
		"no signature":      encode(attestedJSON("a.b.c", AttestedToken, p256Key, "")),
		"member missing":    encode(`{"publicKeyAttestation":"x"}`),
		"too long":          strings.Repeat("A", maxHeader+1),
	} {
		_, err := Read(one(HeaderAttested, value))
		if refusal, ok := fault.As(err); !ok || refusal.Code != fault.Unauthenticated {
			t.Errorf("%s: %v", name, err)
		}
	}
	// An attested scheme is none of an API key's.
	if _, err := Read(one(HeaderAPIKey, apiKeyHeader(p256Key, AttestedToken, p256Sig))); err == nil {
		t.Error("X-Stamp with an attested scheme was read")
	}
}

// What Read accepts has one key text and a token, and reads the same again.
func FuzzReadAttestedStamp(f *testing.F) {
	f.Add(attestedJSON("a.b.c", AttestedToken, p256Key, p256Sig))
	f.Add(encode(attestedJSON("a.b.c", AttestedOIDC, p256Key, p256Sig)))
	f.Add("")
	f.Fuzz(func(t *testing.T, value string) {
		s, err := Read(one(HeaderAttested, value))
		if err != nil {
			fault401(t, err, value)
			return
		}
		if s.Attestation == "" || s.PublicKey != strings.ToLower(s.SentKey) || len(s.PublicKey) != 66 {
			t.Errorf("%+v", s)
		}
		again, err := Read(one(HeaderAttested, attestedJSON(s.Attestation, s.Scheme, s.SentKey, s.Signature)))
		if err == nil && (again.PublicKey != s.PublicKey || again.Attestation != s.Attestation) {
			t.Errorf("%+v is not %+v", again, s)
		}
	})
}

package client_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"latchkey/client"
	"latchkey/internal/proof/stamp"
)

// Each stamper's stamps must satisfy the server's own verifier, and fit no
// other body.
func TestStampersVerify(t *testing.T) {
	private := strings.Repeat("44", 32)
	tests := []struct {
		name   string
		make   func() (client.Stamper, error)
		scheme stamp.Scheme
		public string
	}{
		{"P-256", func() (client.Stamper, error) { return client.NewAPIKeyStamper(client.P256, private) }, stamp.P256, "025b36890dacbd7c9a96bb74a1ee28b3d2d75b72e09a20ef25cf8e6fd8a9f0350d"},
		{"secp256k1", func() (client.Stamper, error) { return client.NewAPIKeyStamper(client.Secp256k1, private) }, stamp.Secp256k1, "032c0b7cf95324a07d05398b240174dc0c2be444d96b159aa6c7f7b1e668680991"},
		{"EIP-191", func() (client.Stamper, error) { return client.NewEIP191Stamper(private) }, stamp.Secp256k1EIP191, "032c0b7cf95324a07d05398b240174dc0c2be444d96b159aa6c7f7b1e668680991"},
		{"Ed25519", func() (client.Stamper, error) { return client.NewAPIKeyStamper(client.Ed25519, private) }, stamp.Ed25519, "d759793bbc13a2819a827c76adb6fba8a49aee007f49f2d0992d99b825ad2c48"},
	}
	bodies := []string{"", "{}", `{"organizationId":"f9a31c64-d604-42e4-9bef-a773096afad7"}` + "\n", "\xff\x00", strings.Repeat("é", 5000)}
	var v stamp.Verifier
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			stamper, err := tt.make()
			if err != nil {
				t.Fatal(err)
			}
			for _, body := range bodies {
				header, value, err := stamper.Stamp([]byte(body))
				if err != nil {
					t.Fatal(err)
				}
				s, err := stamp.Read(http.Header{header: {value}})
				if err != nil {
					t.Fatal(err)
				}
				if s.Scheme != tt.scheme || s.PublicKey != tt.public || stamper.PublicKey() != tt.public {
					t.Errorf("got %s by %s", s.PublicKey, s.Scheme)
				}
				if err := v.VerifyAPIKey(s, []byte(body)); err != nil {
					t.Error(err)
				}
				if err := v.VerifyAPIKey(s, []byte(body+" ")); err == nil {
					t.Error("fits another body")
				}
			}
		})
	}
}

// The same for keys that a token vouches for.
func TestAttestedStampersVerify(t *testing.T) {
	key, err := client.ParseKeyFile(strings.Repeat("44", 32))
	if err != nil {
		t.Fatal(err)
	}
	for scheme, make := range map[stamp.Scheme]func(string) (client.Stamper, error){
		stamp.AttestedToken: key.VerificationStamper, stamp.AttestedOIDC: key.OIDCStamper,
	} {
		stamper, err := make("a.token.here")
		if err != nil {
			t.Fatal(err)
		}
		header, value, err := stamper.Stamp([]byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		s, err := stamp.Read(http.Header{header: {value}})
		if err != nil || s.Scheme != scheme || s.Attestation != "a.token.here" || s.SentKey != key.PublicKey() || stamper.PublicKey() != key.PublicKey() {
			t.Fatalf("%+v, %v", s, err)
		}
		var v stamp.Verifier
		if err := v.VerifyAPIKey(s, []byte("{}")); err != nil {
			t.Error(err)
		}
		if _, err := make(""); err == nil {
			t.Error("a stamp without a token")
		}
		for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
			if got := fmt.Sprintf(verb, stamper); got != "[secret]" {
				t.Errorf("%s prints %q", verb, got)
			}
		}
	}
}

func TestSessionStamper(t *testing.T) {
	s := client.NewSessionStamper("a session")
	if header, value, err := s.Stamp(nil); header != "X-Session" || value != "a session" || err != nil || s.PublicKey() != "" {
		t.Errorf("%s: %s, %v", header, value, err)
	}
	if got := fmt.Sprintf("%v %+v %#v", s, s, s); got != "[secret] [secret] [secret]" {
		t.Errorf("prints %q", got)
	}
	if text, err := json.Marshal(s); err == nil {
		t.Errorf("marshals to %s", text)
	}
	if _, _, err := client.NewSessionStamper("").Stamp(nil); err == nil {
		t.Error("a stamp without a session")
	}
}

func TestStamperRefuses(t *testing.T) {
	private := strings.Repeat("44", 32)
	if s, err := client.NewAPIKeyStamper("p384", private); err == nil || s != nil {
		t.Errorf("got %v, %v", s, err)
	}
	if s, err := client.NewAPIKeyStamper(client.P256, "x"); err == nil || s != nil {
		t.Errorf("got %v, %v", s, err)
	}
	if s, err := client.NewEIP191Stamper("x"); err == nil || s != nil {
		t.Errorf("got %v, %v", s, err)
	}
	key, err := client.ParseKeyFile(private)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := key.EIP191Stamper(); err == nil || s != nil {
		t.Errorf("got %v, %v", s, err)
	}
	for _, key := range []client.PrivateKey{{}, newKey(t, client.Ed25519), newKey(t, client.Secp256k1)} {
		if s, err := key.VerificationStamper("a.b.c"); err == nil || s != nil {
			t.Errorf("got %v, %v", s, err)
		}
		if r, err := key.Recipient(); err == nil || r != nil {
			t.Errorf("got %v, %v", r, err)
		}
		if s, err := key.SignLogin("a.b.c", "x"); err == nil || s != nil {
			t.Errorf("got %v, %v", s, err)
		}
	}
}

// The names of curves are those that the server knows.
func TestCurveTypes(t *testing.T) {
	for c, scheme := range map[client.Curve]stamp.Scheme{
		client.P256: stamp.P256, client.Secp256k1: stamp.Secp256k1, client.Ed25519: stamp.Ed25519,
	} {
		if got, want := c.CurveType(), string(scheme.Curve()); got != want {
			t.Errorf("%s: got %s, want %s", c, got, want)
		}
	}
}

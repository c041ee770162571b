package oidc

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
)

func newRSA(t testing.TB, bits int) *rsa.PrivateKey {
	t.Helper()
	k, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func newEC(t testing.TB, c elliptic.Curve) *ecdsa.PrivateKey {
	t.Helper()
	k, err := ecdsa.GenerateKey(c, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// published is a key as an issuer publishes it, with members changed.
func published(t testing.TB, k any, change map[string]any) string {
	t.Helper()
	text, err := (&jose.JSONWebKey{Key: k, KeyID: "k"}).MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]any
	if err := json.Unmarshal(text, &members); err != nil {
		t.Fatal(err)
	}
	for name, value := range change {
		members[name] = value
	}
	if text, err = json.Marshal(members); err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestParseKeys(t *testing.T) {
	r, p256, p384, p521 := newRSA(t, 2048), newEC(t, elliptic.P256()), newEC(t, elliptic.P384()), newEC(t, elliptic.P521())
	edwards, edwardsPrivate, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, jwk string
		want      crypto.PublicKey // nil: of no use
		fits      string
	}{
		{"RSA", published(t, r.Public(), nil), r.Public(), "PS256 RS256 RS384 RS512"},
		{"RSA for one algorithm", published(t, r.Public(), map[string]any{"alg": "RS256", "use": "sig"}), r.Public(), "RS256"},
		{"P-256", published(t, p256.Public(), nil), p256.Public(), "ES256"},
		{"P-384", published(t, p384.Public(), nil), p384.Public(), "ES384"},
		{"Ed25519", published(t, edwards, nil), edwards, "EdDSA"},
		{"other members", published(t, r.Public(), map[string]any{"x5c": []string{"no certificate"}, "x5t": "!", "key_ops": []string{"verify"}}), r.Public(), "PS256 RS256 RS384 RS512"},

		{"private RSA", published(t, r, nil), nil, ""},
		{"private P-256", published(t, p256, nil), nil, ""},
		{"private Ed25519", published(t, edwardsPrivate, nil), nil, ""},
		{"private of an odd type", published(t, r.Public(), map[string]any{"d": 1}), nil, ""},
		{"RSA too small", published(t, newRSA(t, 1024).Public(), nil), nil, ""},
		{"RSA too large", `{"kty":"RSA","e":"AQAB","n":"` + strings.Repeat("_", 8200/6) + `"}`, nil, ""},
		{"RSA far too large", `{"kty":"RSA","e":"AQAB","n":"` + strings.Repeat("_", 100_000) + `"}`, nil, ""},
		{"RSA exponent too large", published(t, r.Public(), map[string]any{"e": strings.Repeat("_", 100)}), nil, ""},
		{"RSA without modulus", `{"kty":"RSA","e":"AQAB"}`, nil, ""},
		{"P-521", published(t, p521.Public(), nil), nil, ""},
		{"not on the curve", published(t, p256.Public(), map[string]any{"x": published256("1"), "y": published256("2")}), nil, ""},
		{"EC of the wrong size", published(t, p256.Public(), map[string]any{"x": "AQ"}), nil, ""},
		{"unknown curve", published(t, p256.Public(), map[string]any{"crv": "secp256k1"}), nil, ""},
		{"symmetric", published(t, []byte("a secret of 32 bytes............"), nil), nil, ""},
		{"symmetric that says RS256", published(t, []byte("a secret of 32 bytes............"), map[string]any{"alg": "RS256"}), nil, ""},
		{"for encryption", published(t, r.Public(), map[string]any{"use": "enc"}), nil, ""},
		{"for RSA-OAEP", published(t, r.Public(), map[string]any{"alg": "RSA-OAEP"}), nil, ""},
		{"for ES256 but RSA", published(t, r.Public(), map[string]any{"alg": "ES256"}), nil, ""},
		{"for HS256", published(t, r.Public(), map[string]any{"alg": "HS256"}), nil, ""},
		{"unknown type", `{"kty":"AKP","kid":"k"}`, nil, ""},
		{"X25519", `{"kty":"OKP","crv":"X25519","x":"` + published256("1") + `"}`, nil, ""},
		{"no type", `{"kid":"k"}`, nil, ""},
		{"not an object", `1`, nil, ""},
		{"kid a number", published(t, r.Public(), map[string]any{"kid": 1}), nil, ""},
		{"kid too long", published(t, r.Public(), map[string]any{"kid": strings.Repeat("k", 257)}), nil, ""},
	}
	good := published(t, p256.Public(), map[string]any{"kid": "good"})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			// A key of no use does not affect the one beside it.
			set, err := parseKeys([]byte(`{"keys":[` + tt.jwk + `,` + good + `]}`))
			if err != nil {
				t.Fatal(err)
			}
			if len(set.keys) == 0 || set.keys[len(set.keys)-1].id != "good" {
				t.Fatalf("the good key is lost: %v", set.keys)
			}
			if tt.want == nil {
				if len(set.keys) != 1 {
					t.Errorf("got %+v", set.keys[0])
				}
				return
			}
			if len(set.keys) != 2 {
				t.Fatal("the key is lost")
			}
			k := set.keys[0]
			if !equal(k, key{public: tt.want}) || k.id != "k" {
				t.Errorf("got %+v", k)
			}
			var fits []string
			for _, algorithm := range strings.Split("EdDSA ES256 ES384 ES512 HS256 none PS256 PS384 RS256 RS384 RS512", " ") {
				if k.fits(algorithm) {
					fits = append(fits, algorithm)
				}
			}
			if got := strings.Join(fits, " "); got != tt.fits {
				t.Errorf("fits %s", got)
			}
		})
	}

	for _, document := range []string{"", "null", "[]", "<html>", `{"keys":{}}`, `{"keys":[],"keys":[]}`, `{"keys":[` + strings.Repeat(good+",", maxKeys) + good + `]}`} {
		set, err := parseKeys([]byte(document))
		if document == "null" { // like {}
			if err != nil || len(set.keys) != 0 {
				t.Errorf("%q: %v, %v", document, set, err)
			}
		} else if err == nil {
			t.Errorf("%.40q was accepted", document)
		}
	}
}

func equal(a, b key) bool {
	return a.public.(interface{ Equal(crypto.PublicKey) bool }).Equal(b.public)
}

// published256 is a coordinate with the given last byte.
func published256(digit string) string {
	return encode(strings.Repeat("\x00", 31) + digit)
}

// signed makes a token with an independent signer.
func signed(t testing.TB, algorithm jose.SignatureAlgorithm, k any, keyID, payload string) string {
	t.Helper()
	options := new(jose.SignerOptions)
	if keyID != "" {
		options = options.WithHeader("kid", keyID)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: k}, options)
	if err != nil {
		t.Fatal(err)
	}
	jws, err := signer.Sign([]byte(payload))
	if err != nil {
		t.Fatal(err)
	}
	text, err := jws.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestVerifySignature(t *testing.T) {
	r, other, ec := newRSA(t, 2048), newRSA(t, 2048), newEC(t, elliptic.P256())
	set := func(keys ...key) *keySet { return &keySet{keys: keys} }
	a, b := key{id: "a", public: r.Public()}, key{id: "b", public: other.Public()}
	onlyRS256 := key{id: "a", algorithm: "RS256", public: r.Public()}
	onCurve := key{id: "a", public: ec.Public()}
	tests := []struct {
		name  string
		token string
		set   *keySet
		want  string // of the error
	}{
		{"by its id", signed(t, "RS256", r, "a", payload("")), set(b, a), ""},
		{"without id, the second key", signed(t, "RS256", r, "", payload("")), set(b, a), ""},
		{"two keys of one id", signed(t, "RS256", r, "a", payload("")), set(key{id: "a", public: other.Public()}, a), ""},
		{"ES256", signed(t, "ES256", ec, "a", payload("")), set(a, onCurve), ""},
		{"PS256 by a key for any", signed(t, "PS256", r, "a", payload("")), set(a), ""},
		{"PS256 by a key for RS256", signed(t, "PS256", r, "a", payload("")), set(onlyRS256), `it is signed by key "a" for PS256, which issuer "https://issuer.example" does not publish`},
		{"unknown id", signed(t, "RS256", r, "c", payload("")), set(a, b), `it is signed by key "c" for RS256, which issuer "https://issuer.example" does not publish`},
		{"id of another key", signed(t, "RS256", r, "b", payload("")), set(a, b), "its signature does not fit the keys"},
		{"without id, no key", signed(t, "RS256", r, "", payload("")), set(onCurve), "publishes no key for RS256"},
		{"no keys", signed(t, "RS256", r, "a", payload("")), set(), "does not publish"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			parsed, err := parse(tt.token)
			if err != nil {
				t.Fatal(err)
			}
			now := func() time.Time { return at }
			err = parsed.verify(t.Context(), tt.set, now)
			if tt.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				refuseCorrupted(t, tt.token, tt.set)
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) || !errors.Is(err, errNoKey) {
				t.Errorf("got %v", err)
			}
		})
	}

	t.Run("expired during the fetch", func(t *testing.T) {
		parsed, err := parse(signed(t, "RS256", r, "a", payload("")))
		if err != nil {
			t.Fatal(err)
		}
		err = parsed.verify(t.Context(), set(a), func() time.Time { return at.Add(2 * time.Hour) })
		if err == nil || !strings.HasPrefix(err.Error(), "it expired at 2026-01-02T04:04:05Z") {
			t.Errorf("got %v", err)
		}
	})
	// The library reads names without regard to case, and sees another issuer
	// here. A token that the two of us read differently is refused.
	t.Run("two readings", func(t *testing.T) {
		text := strings.TrimSuffix(payload(""), "}") + `,"ISS":"https://evil.example"}`
		parsed, err := parse(signed(t, "RS256", r, "a", text))
		if err != nil {
			t.Fatal(err)
		}
		err = parsed.verify(t.Context(), set(a), func() time.Time { return at })
		if err == nil || !strings.Contains(err.Error(), "contradict") || errors.Is(err, errNoKey) {
			t.Errorf("got %v", err)
		}
	})
}

// refuseCorrupted changes each part of a good token.
func refuseCorrupted(t *testing.T, good string, set *keySet) {
	t.Helper()
	parts := strings.Split(good, ".")
	corrupted := map[string]string{
		"payload":        parts[0] + "." + encode(payload(`"sub2":"x",`)) + "." + parts[2],
		"header":         encode(fmt.Sprintf(`{"alg":"RS256","typ":"JWT","kid":%q,"x":1}`, "a")) + "." + parts[1] + "." + parts[2],
		"signature":      parts[0] + "." + parts[1] + "." + strings.Repeat("A", len(parts[2])),
		"half signature": parts[0] + "." + parts[1] + "." + parts[2][:len(parts[2])/8*4],
	}
	for name, text := range corrupted {
		parsed, err := parse(text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := parsed.verify(t.Context(), set, func() time.Time { return at }); !errors.Is(err, errNoKey) {
			t.Errorf("corrupted %s: %v", name, err)
		}
	}
}

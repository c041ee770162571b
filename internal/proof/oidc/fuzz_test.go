package oidc

import (
	"bytes"
	"context"
	"crypto/elliptic"
	"strings"
	"testing"
	"time"
)

// Nothing that the issuer did not sign is accepted, whatever it looks like; and
// what parses has one text only.
func FuzzToken(f *testing.F) {
	r, ec, forger := newRSA(f, 2048), newEC(f, elliptic.P256()), newRSA(f, 2048)
	set := &keySet{keys: []key{{id: "a", public: r.Public()}, {id: "b", public: ec.Public()}}}
	v := New(Options{Now: func() time.Time { return at }})
	v.issuers.fetch = func(context.Context, string) (*keySet, error) { return set, nil }

	good := signed(f, "RS256", r, "a", payload(""))
	if _, err := v.Verify(f.Context(), good); err != nil {
		f.Fatal(err) // or the target would prove nothing
	}
	parts := strings.Split(good, ".")
	f.Add(signed(f, "RS256", forger, "a", payload("")))
	f.Add(signed(f, "PS256", forger, "", payload(`"nonce":"a",`)))
	f.Add(signed(f, "ES256", newEC(f, elliptic.P256()), "b", with(`"aud":["client"]`)))
	f.Add(parts[0] + "." + encode(payload(`"x":1,`)) + "." + parts[2])
	f.Add(encode(`{"alg":"none"}`) + "." + parts[1] + ".")
	f.Add(encode(`{"alg":"HS256"}`) + "." + parts[1] + "." + parts[2])
	f.Add(encode(`{"alg":"RS256","crit":["b64"],"b64":false}`) + "." + parts[1] + "." + parts[2])
	f.Add(jwt(`{"alg":"RS256","jwk":{"kty":"RSA","e":"AQAB","n":"AQ"}}`, payload("")))
	f.Add(jwt(goodHeader, with(`"exp":1e30`)))
	f.Add(payload(""))
	f.Add(payload(`"iat":1,"nbf":1.5,"tknonce":"n","_claim_names":{"a":"b"},`))
	f.Add("..")
	f.Add("")

	check := func(t *testing.T, text string) {
		if parsed, err := parse(text); err == nil {
			var again []string
			for part := range strings.SplitSeq(text, ".") {
				raw, err := fromBase64("part", part)
				if err != nil {
					t.Fatal(err)
				}
				again = append(again, encode(string(raw)))
			}
			if strings.Join(again, ".") != text {
				t.Error("has another text")
			}
			c := parsed.claims
			if c.Issuer == "" || c.Subject == "" || c.Audience == "" || c.ExpiresAt.IsZero() {
				t.Errorf("claims are missing: %+v", c)
			}
		}
		if text == good {
			return
		}
		_, err := v.Verify(t.Context(), text)
		checkRefusal(t, err, "", "")
		if len(err.Error()) > 2000 {
			t.Errorf("is too long: %v", err)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		check(t, text)
		// base64 hides the JSON from the fuzzer.
		check(t, jwt(goodHeader, text))
		check(t, jwt(text, payload("")))
	})
}

// A key set never panics, and what is usable of it reads the same again.
func FuzzKeys(f *testing.F) {
	f.Add([]byte(`{"keys":[` + published(f, newRSA(f, 2048).Public(), nil) + `]}`))
	f.Add([]byte(`{"keys":[` + published(f, newEC(f, elliptic.P256()).Public(), nil) + `,` + published(f, newEC(f, elliptic.P384()).Public(), map[string]any{"use": "sig", "alg": "ES384"}) + `]}`))
	f.Add([]byte(`{"keys":[{"kty":"OKP","crv":"Ed25519","x":"` + published256("1") + `"}]}`))
	f.Add([]byte(`{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB","d":"AQ","x5c":["AA"]},{"kty":"oct","k":"AQ"},null,1]}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, document []byte) {
		set, err := parseKeys(document)
		if err != nil {
			return
		}
		var again bytes.Buffer
		again.WriteString(`{"keys":[`)
		for i, k := range set.keys {
			if i > 0 {
				again.WriteString(",")
			}
			change := map[string]any{"kid": k.id}
			if k.algorithm != "" {
				change["alg"] = k.algorithm
			}
			again.WriteString(published(t, k.public, change))
		}
		again.WriteString(`]}`)
		second, err := parseKeys(again.Bytes())
		if err != nil || len(second.keys) != len(set.keys) {
			t.Fatalf("%d of %d keys are left: %v", len(second.keys), len(set.keys), err)
		}
		for i, k := range second.keys {
			if k.id != set.keys[i].id || k.algorithm != set.keys[i].algorithm || !equal(k, set.keys[i]) {
				t.Errorf("key %d changed", i)
			}
		}
	})
}

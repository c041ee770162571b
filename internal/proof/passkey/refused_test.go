package passkey_test

import (
	"bytes"
	"crypto/rsa"
	"encoding/base64"
	"math/big"
	"slices"
	"strings"
	"testing"

	"latchkey/internal/proof/passkey"
	"latchkey/internal/proof/passkey/passkeytest"
	"latchkey/internal/test/testkit"
)

// TestRefusedInEveryFormat corrupts what each format has. Where it can, the
// statement is made over the corrupted data, so that nothing else is wrong.
func TestRefusedInEveryFormat(t *testing.T) {
	flag := func(set, clear byte) func(*passkeytest.Registration) {
		return func(r *passkeytest.Registration) { r.AuthData[32] = r.AuthData[32]&^clear | set }
	}
	replace := func(old, text string) func(*passkeytest.Registration) {
		return func(r *passkeytest.Registration) {
			r.ClientData = bytes.ReplaceAll(r.ClientData, []byte(old), []byte(text))
		}
	}
	other := passkeytest.New(t, passkeytest.ES256)
	tests := []struct {
		name   string
		before func(*passkeytest.Registration) // before the statement is made
		after  func(*passkeytest.Registration)
		field  string
		want   string
	}{
		{"another challenge was signed", replace("BwcH", "CwcH"), nil, fieldChallenge, "must be the same base64url text"},
		{"another challenge is sent", nil, func(r *passkeytest.Registration) { r.Challenge = "Ag" }, fieldChallenge, "must be the same"},
		{"no challenge is sent", nil, func(r *passkeytest.Registration) { r.Challenge = "" }, fieldChallenge, "is empty"},
		{"an assertion", replace("webauthn.create", "webauthn.get"), nil, fieldClientData, `must be "webauthn.create"`},
		{"another origin", replace(origin, "https://evil.example"), nil, fieldClientData, `has the origin "https://evil.example"`},
		{"origin in another case", replace("localhost", "LOCALHOST"), nil, fieldClientData, "FEATURE_NAME_WEBAUTHN_ORIGINS"},
		{"no user presence", flag(0, passkeytest.UserPresent), nil, fieldObject, "(UP)"},
		{"no credential flag", flag(0, passkeytest.Attested), nil, fieldObject, "(AT)"},
		{"extensions flagged but absent", flag(passkeytest.Extended, 0), nil, fieldObject, "nothing more"},
		{"bytes after the key", func(r *passkeytest.Registration) { r.AuthData = append(r.AuthData, 0) }, nil, fieldObject, "nothing more"},
		{"truncated key", func(r *passkeytest.Registration) { r.AuthData = r.AuthData[:len(r.AuthData)-1] }, nil, fieldObject, "cannot be read"},
		{"no credential", func(r *passkeytest.Registration) { r.AuthData = r.AuthData[:37] }, nil, fieldObject, "cannot be read"},
		{"short authData", nil, func(r *passkeytest.Registration) { r.AuthData = r.AuthData[:36] }, fieldObject, "at least 37"},
		{"foreign credential id", nil, func(r *passkeytest.Registration) { r.ID = other.ID }, fieldID, "is not the id inside"},
		{"unknown format", nil, func(r *passkeytest.Registration) { r.Format = "android-safetynet" }, fieldObject, "must be one of none, packed, fido-u2f, apple, android-key, tpm"},
		{"format in another case", nil, func(r *passkeytest.Registration) { r.Format = "None" }, fieldObject, `has the format "None"`},
		{"further member of the statement", nil, func(r *passkeytest.Registration) { r.Statement["zzz"] = true }, fieldObject, "has a statement with the"},
	}
	each(t, func(t *testing.T, key *passkeytest.Key) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				r := key.Begin(challenge, origin)
				if tt.before != nil {
					tt.before(r)
				}
				r.Attest()
				if tt.after != nil {
					tt.after(r)
				}
				_, err := passkey.Verify(r.Answer(), []string{origin})
				wantRefusal(t, err, tt.field, tt.want)
			})
		}
	})
}

// TestOrigins checks that an empty list allows no origin, and a nil list all.
func TestOrigins(t *testing.T) {
	if _, err := passkey.Verify(published, nil); err != nil {
		t.Error(err)
	}
	_, err := passkey.Verify(published, []string{})
	wantRefusal(t, err, fieldClientData, "has the origin")
}

// TestRefusedTexts corrupts the encodings.
func TestRefusedTexts(t *testing.T) {
	client := func(text string) func(*passkey.Answer) {
		return func(a *passkey.Answer) { a.ClientDataJSON = passkeytest.Encode([]byte(text)) }
	}
	const good = `"type":"webauthn.create","challenge":"` + challenge + `","origin":"` + origin + `"`
	raw := func(change func([]byte) []byte) func(*passkey.Answer) {
		return func(a *passkey.Answer) {
			a.AttestationObject = passkeytest.Encode(change(slices.Clone(testkit.Unbase64(t, published.AttestationObject))))
		}
	}
	object := func(members map[string]any) func(*passkey.Answer) {
		return func(a *passkey.Answer) { a.AttestationObject = passkeytest.Encode(passkeytest.Cbor(members)) }
	}
	data := publishedKey(t).Begin(challenge, origin).AuthData
	empty := map[string]any{}
	tests := []struct {
		name    string
		corrupt func(*passkey.Answer)
		field   string
		want    string
	}{
		{"id empty", func(a *passkey.Answer) { a.CredentialID = "" }, fieldID, "is empty"},
		{"id only padding", func(a *passkey.Answer) { a.CredentialID = "==" }, fieldID, "is empty"},
		{"id with much padding", func(a *passkey.Answer) { a.CredentialID += "===" }, fieldID, "must be base64url"},
		{"id with a line end", func(a *passkey.Answer) { a.CredentialID += "\n" }, fieldID, "must be base64url"},
		{"id with unused bits", func(a *passkey.Answer) { a.CredentialID = "AAECAwQFBgcICQoLDA0ODx" }, fieldID, "must be base64url"},
		{"id not base64", func(a *passkey.Answer) { a.CredentialID = "AA!CAwQFBgcICQoLDA0ODw" }, fieldID, "must be base64url"},
		{"id longer than allowed", func(a *passkey.Answer) { a.CredentialID = passkeytest.Encode(make([]byte, 1024)) }, fieldID, "at most 1023 bytes"},
		{"id as CBOR", func(a *passkey.Answer) {
			a.CredentialID = passkeytest.Encode(passkeytest.Cbor(testkit.Unbase64(t, published.CredentialID)))
		}, fieldID, "raw id"},

		{"client data empty", func(a *passkey.Answer) { a.ClientDataJSON = "" }, fieldClientData, "is empty"},
		{"client data not base64", func(a *passkey.Answer) { a.ClientDataJSON = "{}" }, fieldClientData, "must be base64url"},
		{"client data too long", client("{" + good + `,"x":"` + strings.Repeat("x", 9000) + `"}`), fieldClientData, "at most 8192 bytes"},
		{"client data not JSON", client("{" + good), fieldClientData, "must be base64url of one JSON object"},
		{"client data an array", client("[]"), fieldClientData, "one JSON object"},
		{"client data null", client("null"), fieldClientData, `has the type ""`},
		{"client data twice", client("{" + good + "}{}"), fieldClientData, "one JSON object"},
		{"client data with a repeated member", client(`{"challenge":"x",` + good + "}"), fieldClientData, "no name is repeated"},
		{"client data with a repeated unknown member", client(`{"x":1,"x":1,` + good + "}"), fieldClientData, "no name is repeated"},
		{"client data not UTF-8", client("{" + good + ",\"x\":\"\xff\"}"), fieldClientData, "one JSON object"},
		{"type missing", client(`{"challenge":"` + challenge + `","origin":"` + origin + `"}`), fieldClientData, `has the type ""`},
		{"type in another case", client(`{"Type":"webauthn.create","challenge":"` + challenge + `","origin":"x"}`), fieldClientData, `has the type ""`},
		{"type a number", client(`{"type":1,"challenge":"` + challenge + `","origin":"x"}`), fieldClientData, "are strings"},
		{"type very long", client(`{"type":"` + strings.Repeat("x", 1000) + `","challenge":"x","origin":"x"}`), fieldClientData, `xxx"...: it must be`},
		{"challenge missing", client(`{"type":"webauthn.create","origin":"x"}`), fieldClientData, "has no challenge"},
		{"origin missing", client(`{"type":"webauthn.create","challenge":"` + challenge + `"}`), fieldClientData, "has no origin"},
		{"origin null", client(`{"type":"webauthn.create","challenge":"` + challenge + `","origin":null}`), fieldClientData, "has no origin"},

		{"object empty", func(a *passkey.Answer) { a.AttestationObject = "" }, fieldObject, "is empty"},
		{"object not base64", func(a *passkey.Answer) { a.AttestationObject = "o2NmbX.." }, fieldObject, "must be base64url"},
		{"object too long", func(a *passkey.Answer) { a.AttestationObject = passkeytest.Encode(make([]byte, 70_000)) }, fieldObject, "at most 65536 bytes"},
		{"object truncated", raw(func(b []byte) []byte { return b[:len(b)-1] }), fieldObject, "one CBOR map"},
		{"object followed by a byte", raw(func(b []byte) []byte { return append(b, 0) }), fieldObject, "nothing after it"},
		{"object with a repeated member", raw(func(b []byte) []byte {
			return append(append([]byte{0xa4}, b[1:]...), passkeytest.Cbor("fmt")[0], 'f', 'm', 't', 0x64, 'n', 'o', 'n', 'e')
		}), fieldObject, "one CBOR map"},
		{"object of indefinite length", raw(func(b []byte) []byte { return append(append([]byte{0xbf}, b[1:]...), 0xff) }), fieldObject, "one CBOR map"},
		{"object tagged", raw(func(b []byte) []byte { return append([]byte{0xd9, 0xd9, 0xf7}, b...) }), fieldObject, "one CBOR map"},
		{"object an array", func(a *passkey.Answer) { a.AttestationObject = passkeytest.Encode(passkeytest.Cbor([]any{1})) }, fieldObject, "one CBOR map"},
		{"object without fmt", object(map[string]any{"attStmt": empty, "authData": data}), fieldObject, "exactly the members"},
		{"object with FMT", object(map[string]any{"FMT": "none", "attStmt": empty, "authData": data}), fieldObject, "exactly the members"},
		{"object with more", object(map[string]any{"fmt": "none", "attStmt": empty, "authData": data, "epAtt": true}), fieldObject, "exactly the members"},
		{"fmt bytes", object(map[string]any{"fmt": []byte("none"), "attStmt": empty, "authData": data}), fieldObject, "as text in fmt"},
		{"fmt null", object(map[string]any{"fmt": nil, "attStmt": empty, "authData": data}), fieldObject, `has the format ""`},
		{"fmt very long", object(map[string]any{"fmt": strings.Repeat("x", 1000), "attStmt": empty, "authData": data}), fieldObject, `xxx"...: it must be one of`},
		{"attStmt null", object(map[string]any{"fmt": "none", "attStmt": nil, "authData": data}), fieldObject, "a map in attStmt"},
		{"attStmt an array", object(map[string]any{"fmt": "none", "attStmt": []any{}, "authData": data}), fieldObject, "a map in attStmt"},
		{"attStmt not empty", object(map[string]any{"fmt": "none", "attStmt": map[string]any{"sig": []byte{}}, "authData": data}), fieldObject, "it must be an empty map"},
		{"authData text", object(map[string]any{"fmt": "none", "attStmt": empty, "authData": string(slices.Repeat([]byte{'x'}, 200))}), fieldObject, "bytes in authData"},
		{"authData null", object(map[string]any{"fmt": "none", "attStmt": empty, "authData": nil}), fieldObject, "at least 37"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := published
			tt.corrupt(&a)
			_, err := passkey.Verify(a, nil)
			wantRefusal(t, err, tt.field, tt.want)
		})
	}
}

// TestEveryProblemAtOnce checks that one refusal names all fields.
func TestEveryProblemAtOnce(t *testing.T) {
	_, err := passkey.Verify(passkey.Answer{}, nil)
	f := checkRefusal(t, err)
	if len(f.Fields) != 4 || !strings.HasSuffix(f.Message, "(and 3 more; see details)") {
		t.Errorf("got %q with %v", f.Message, f.Fields)
	}
	key := passkeytest.New(t, passkeytest.ES256)
	key.Format = passkeytest.PackedSelf
	r := key.Begin(challenge, origin)
	r.Attest()
	r.ID, r.ClientData = []byte{1}, append(r.ClientData, ' ')
	_, err = passkey.Verify(r.Answer(), nil)
	if f := checkRefusal(t, err); len(f.Fields) != 2 {
		t.Errorf("got %v", f.Fields)
	}
}

// TestRefusedKeys registers keys that could not, or should not, stamp.
func TestRefusedKeys(t *testing.T) {
	ec := passkeytest.New(t, passkeytest.ES256)
	point := testkit.Unbase64(t, publishedCOSE)
	x, y := point[10:42], point[45:77]
	public := passkeytest.New(t, passkeytest.RS256).Private.Public().(*rsa.PublicKey)
	n, e := public.N.Bytes(), []byte{1, 0, 1}
	even := new(big.Int).Sub(public.N, big.NewInt(1)).Bytes()
	moved := slices.Clone(y)
	moved[31] ^= 1
	tests := []struct {
		name string
		cose any
		want string
	}{
		{"ES384", map[int]any{1: 2, 3: -35, -1: 2, -2: make([]byte, 48), -3: make([]byte, 48)}, "algorithm -35: only ES256 (type 2, algorithm -7) and RS256 (type 3, algorithm -257)"},
		{"ES256K", map[int]any{1: 2, 3: -47, -1: 8, -2: x, -3: y}, "only ES256"},
		{"ESP256", map[int]any{1: 2, 3: -9, -1: 1, -2: x, -3: y}, "only ES256"},
		{"EdDSA", map[int]any{1: 1, 3: -8, -1: 6, -2: x}, "only ES256"},
		{"PS256", map[int]any{1: 3, 3: -37, -1: n, -2: e}, "only ES256"},
		{"RS1", map[int]any{1: 3, 3: -65535, -1: n, -2: e}, "only ES256"},
		{"no algorithm", map[int]any{1: 2, -1: 1, -2: x, -3: y}, "algorithm 0: only ES256"},
		{"an elliptic curve with RS256", map[int]any{1: 2, 3: -257, -1: 1, -2: x, -3: y}, "only ES256"},
		{"RSA with ES256", map[int]any{1: 3, 3: -7, -1: n, -2: e}, "only ES256"},
		{"other curve", map[int]any{1: 2, 3: -7, -1: 2, -2: x, -3: y}, "cannot be used"},
		{"no curve", map[int]any{1: 2, 3: -7, -2: x, -3: y}, "not well-formed"},
		{"curve null", map[int]any{1: 2, 3: -7, -1: nil, -2: x, -3: y}, "cannot be used"},
		{"not on the curve", map[int]any{1: 2, 3: -7, -1: 1, -2: x, -3: moved}, "cannot be used"},
		{"the point at infinity", map[int]any{1: 2, 3: -7, -1: 1, -2: make([]byte, 32), -3: make([]byte, 32)}, "cannot be used"},
		{"coordinate not reduced", map[int]any{1: 2, 3: -7, -1: 1, -2: slices.Repeat([]byte{0xff}, 32), -3: y}, "cannot be used"},
		{"short coordinate", map[int]any{1: 2, 3: -7, -1: 1, -2: x[1:], -3: y}, "cannot be used"},
		{"compressed point", map[int]any{1: 2, 3: -7, -1: 1, -2: x, -3: true}, "cannot be used"},
		{"private key within", map[int]any{1: 2, 3: -7, -1: 1, -2: x, -3: y, -4: x}, "not well-formed"},
		{"member by name", map[any]any{1: 2, 3: -7, -1: 1, -2: x, -3: y, "y": y}, "not well-formed"},
		{"RSA 1024", map[int]any{1: 3, 3: -257, -1: n[:128], -2: e}, "RSA key of 1024 bits: it must have 2048 to 4096"},
		{"RSA 2047", map[int]any{1: 3, 3: -257, -1: new(big.Int).Rsh(public.N, 1).Bytes(), -2: e}, "RSA key of 2047 bits"},
		{"RSA 4104", map[int]any{1: 3, 3: -257, -1: slices.Repeat([]byte{0xff}, 513), -2: e}, "RSA key of 4104 bits"},
		{"RSA without modulus", map[int]any{1: 3, 3: -257, -1: []byte{}, -2: e}, "cannot be used"},
		{"RSA even modulus", map[int]any{1: 3, 3: -257, -1: even, -2: e}, "even modulus"},
		{"RSA exponent 1", map[int]any{1: 3, 3: -257, -1: n, -2: []byte{1}}, "exponent"},
		{"RSA even exponent", map[int]any{1: 3, 3: -257, -1: n, -2: []byte{1, 0, 0}}, "exponent"},
		{"RSA exponent too large", map[int]any{1: 3, 3: -257, -1: n, -2: []byte{0x80, 0, 0, 1}}, "exponent"},
		{"RSA exponent huge", map[int]any{1: 3, 3: -257, -1: n, -2: slices.Repeat([]byte{0xff}, 300)}, "cannot be used"},
		{"RSA without exponent", map[int]any{1: 3, 3: -257, -1: n}, "not well-formed"},
		{"not a map", 7, "not well-formed"},
		{"an empty map", map[int]any{}, "only ES256"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := ec.Begin(challenge, origin)
			r.AuthData = ec.AuthData(ec.ID, passkeytest.Cbor(tt.cose), nil)
			_, err := passkey.Verify(r.Answer(), nil)
			wantRefusal(t, err, fieldObject, tt.want)
		})
	}
}

// TestRefusedIDs registers ids of impossible lengths.
func TestRefusedIDs(t *testing.T) {
	key := passkeytest.New(t, passkeytest.ES256)
	r := key.Begin(challenge, origin)
	r.AuthData = key.AuthData(make([]byte, 1024), key.COSEKey(), nil)
	_, err := passkey.Verify(r.Answer(), nil)
	wantRefusal(t, err, fieldObject, "an id of 1 to 1023 bytes")
	r.AuthData = key.AuthData(nil, key.COSEKey(), nil)
	a := r.Answer()
	_, err = passkey.Verify(a, nil)
	wantRefusal(t, err, fieldID, "is not the id inside")
	a.CredentialID = base64.StdEncoding.EncodeToString(nil)
	_, err = passkey.Verify(a, nil)
	wantRefusal(t, err, fieldID, "is empty")
}

package stamp

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"latchkey/internal/fault"
)

func TestRead(t *testing.T) {
	p256 := &Stamp{Scheme: P256, PublicKey: p256Key, Signature: p256Sig}
	passkey := &Stamp{Scheme: Webauthn, CredentialID: "AAECAwQFBgcICQoLDA0ODw", Signature: webauthnHeader}
	loose := strings.ReplaceAll(strings.ReplaceAll(webauthnHeader, ":", " :\t"), "ODw", "ODw==")
	tests := []struct {
		name   string
		header http.Header
		want   *Stamp
	}{
		{"P-256", one("X-Stamp", p256Header), p256},
		{"padding", one("X-Stamp", p256Header+"=="), p256},
		{
			"other order, escapes and spaces",
			one("X-Stamp", encode(` {"signature":"`+p256Sig+`", "scheme":"\u0053IGNATURE_SCHEME_TK_API_P256", "publicKey":"`+p256Key+`"} `)),
			p256,
		},
		{"upper-case key", one("X-Stamp", apiKeyHeader(strings.ToUpper(p256Key), P256, p256Sig)), p256},
		{
			"upper-case signature, kept as sent",
			one("X-Stamp", apiKeyHeader(p256Key, P256, strings.ToUpper(p256Sig))),
			&Stamp{Scheme: P256, PublicKey: p256Key, Signature: strings.ToUpper(p256Sig)},
		},
		{
			"secp256k1",
			one("X-Stamp", apiKeyHeader(k256Key, Secp256k1, k256Sig)),
			&Stamp{Scheme: Secp256k1, PublicKey: k256Key, Signature: k256Sig},
		},
		{
			"EIP-191",
			one("X-Stamp", apiKeyHeader(k256Key, Secp256k1EIP191, eip191Sig)),
			&Stamp{Scheme: Secp256k1EIP191, PublicKey: k256Key, Signature: eip191Sig},
		},
		{
			"Ed25519",
			one("X-Stamp", apiKeyHeader(edwardsKey, Ed25519, edwardsSig)),
			&Stamp{Scheme: Ed25519, PublicKey: edwardsKey, Signature: edwardsSig},
		},
		{
			"beside a header that is not supported",
			http.Header{"X-Stamp": {p256Header}, "X-Session": {"x"}},
			p256,
		},
		{"passkey", one("X-Stamp-Webauthn", webauthnHeader), passkey},
		{"passkey in base64url", one("X-Stamp-Webauthn", encode(webauthnHeader)), passkey},
		{"passkey with spaces and padding", one("X-Stamp-Webauthn", " "+loose), passkey},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Read(tt.header)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreUnexported(Stamp{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReadSpelling(t *testing.T) {
	h := http.Header{}
	h.Set("x-stamp-WebAuthn", webauthnHeader)
	if _, err := Read(h); err != nil {
		t.Error(err)
	}
}

// The beginnings of refusals, which clients recognise.
const (
	noStamp     = "cannot authenticate public API activity request without a stamp (X-Stamp/X-Stamp-Webauthn header)"
	badStamp    = "malformed activity stamp: "
	badAPIKey   = "could not extract api key stamp: "
	badWebauthn = "could not extract webauthn stamp: "
)

// refuses checks that headers are refused with a message that begins with
// prefix and contains all parts.
func refuses(t *testing.T, name string, h http.Header, prefix string, parts ...string) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		reason := fault.ReasonSignatureInvalid
		if prefix == noStamp {
			reason = fault.ReasonSignatureMissing
		}
		_, err := Read(h)
		wantRefusal(t, err, reason, prefix, parts...)
	})
}

func TestReadRefusesHeaders(t *testing.T) {
	refuses(t, "no header", nil, noStamp)
	refuses(t, "other headers", http.Header{"Authorization": {"x"}}, noStamp)
	refuses(t, "X-Session only", one("X-Session", "x"), noStamp, ": X-Session can only read: send X-Stamp or X-Stamp-Webauthn")
	refuses(t, "both stamps", http.Header{"X-Stamp": {p256Header}, "X-Stamp-Webauthn": {webauthnHeader}}, badStamp, "both", "send one of them")
	refuses(t, "X-Stamp twice", http.Header{"X-Stamp": {p256Header, p256Header}}, badStamp, "X-Stamp is present 2 times")
	refuses(t, "X-Stamp-Webauthn twice", http.Header{"X-Stamp-Webauthn": {webauthnHeader, ""}}, badStamp, "X-Stamp-Webauthn is present 2 times")
}

func TestReadRefusesAPIKeyStamp(t *testing.T) {
	stamp := func(name, value string, parts ...string) {
		refuses(t, name, one("X-Stamp", value), badAPIKey, parts...)
	}
	stamp("empty", "", "not valid JSON")
	stamp("plain JSON", `{"publicKey":""}`, "not base64url", `'{' at position 0`)
	stamp("standard alphabet", "ab+/", "use base64url")
	stamp("three of padding", p256Header+"===", "more than two")
	stamp("padding within", p256Header[:8]+"="+p256Header[8:], "not base64url")
	stamp("line end", p256Header[:8]+"\n"+p256Header[8:], "not base64url")
	stamp("set unused bits", encode("{}")[:2]+"1", "last character is wrong")
	stamp("cut", p256Header[:len(p256Header)/4*4-4], "not valid JSON")
	stamp("cut within a byte", p256Header[:len(p256Header)/4*4-3], "last character is wrong")
	stamp("too long", strings.Repeat("A", maxHeader+1), "8193 characters long: at most 8192")
	stamp("array", encode(`["publicKey","scheme","signature"]`), "not a JSON object with the members publicKey, scheme, signature")
	stamp("null", encode(`null`), "not a JSON object")
	stamp("no members", encode(`{}`), "member publicKey is missing")
	stamp("other case", encode(`{"PublicKey":"`+p256Key+`"}`), `member "PublicKey" is not known`)
	stamp("null member", encode(`{"publicKey":null}`), "member publicKey must be a string")
	stamp("number", encode(`{"scheme":1}`), "member scheme must be a string")
	stamp("object", encode(`{"scheme":{}}`), "member scheme must be a string")
	stamp("extra member", encode(`{"publicKey":"","scheme":"","signature":"","x":1}`), `member "x" is not known: send exactly publicKey, scheme, signature`)
	stamp("long extra member", encode(`{"`+strings.Repeat("x", 4000)+`":1}`), `member "xxxx`)
	stamp("repeated member", encode(`{"publicKey":"a","publicKey":"a"}`), `member "publicKey" is repeated`)
	stamp("repeated by escape", encode(`{"scheme":"a","sch\u0065me":"a"}`), `member "scheme" is repeated`)
	stamp("second value", encode(`{"publicKey":"","scheme":"","signature":""}{}`), "something follows")
	stamp("trailing comma", encode(`{"publicKey":"",}`), "not valid JSON")
	stamp("bad UTF-8", encode("{\"publicKey\":\"\xff\"}"), "not valid JSON")
	stamp("no scheme", encode(`{"publicKey":"`+p256Key+`","signature":"`+p256Sig+`"}`), "member scheme is missing")
	stamp("unknown scheme", apiKeyHeader(p256Key, "SIGNATURE_SCHEME_TK_API_P384", p256Sig),
		`scheme "SIGNATURE_SCHEME_TK_API_P384" is not known`, string(P256)+", "+string(Secp256k1)+", "+string(Secp256k1EIP191)+", "+string(Ed25519))
	stamp("scheme of passkeys", apiKeyHeader(p256Key, Webauthn, p256Sig), "is not known")
	stamp("lower-case scheme", apiKeyHeader(p256Key, Scheme(strings.ToLower(string(P256))), p256Sig), "is not known")
	stamp("key not hex", apiKeyHeader("zz"+p256Key[2:], P256, p256Sig), "publicKey must be the 66 hex digits")
	stamp("key uncompressed", apiKeyHeader("04"+strings.Repeat("11", 64), P256, p256Sig), "publicKey must be the 66 hex digits")
	stamp("key of another scheme", apiKeyHeader(p256Key, Ed25519, p256Sig), "publicKey must be the 64 hex digits of a key for "+string(Ed25519))
	stamp("signature not hex", apiKeyHeader(p256Key, P256, "zz"), "signature must be hex")
	stamp("signature odd", apiKeyHeader(p256Key, P256, p256Sig[1:]), "signature must be hex")
	stamp("signature empty", apiKeyHeader(p256Key, P256, ""), "signature must be hex")
}

func TestReadRefusesWebauthnStamp(t *testing.T) {
	passkey := func(name, old, value string, parts ...string) {
		changed := strings.Replace(webauthnHeader, old, value, 1)
		if changed == webauthnHeader {
			t.Fatalf("%s: nothing changed", name)
		}
		refuses(t, name, one("X-Stamp-Webauthn", changed), badWebauthn, parts...)
	}
	passkey("empty", webauthnHeader, "", "not valid JSON")
	passkey("neither JSON nor base64url", webauthnHeader, "@", "read as base64url", "'@' at position 0")
	passkey("too long", webauthnHeader, strings.Repeat("{", maxHeader+1), "at most 8192")
	passkey("extra member", `{"auth`, `{"type":"x","auth`, `member "type" is not known`)
	passkey("missing member", `"credentialId":"AAECAwQFBgcICQoLDA0ODw",`, "", "member credentialId is missing")
	passkey("member of other case", "clientDataJson", "clientDataJSON", `member "clientDataJSON" is not known`)
	passkey("repeated member", `"credentialId"`, `"credentialId":"AA","credentialId"`, `"credentialId" is repeated`)
	passkey("standard alphabet", "MEUCIQ", "MEUC+Q", "member signature: it is standard base64")
	passkey("empty id", "AAECAwQFBgcICQoLDA0ODw", "", "member credentialId must be 1 to 1023 bytes")
	passkey("long id", "AAECAwQFBgcICQoLDA0ODw", strings.Repeat("AAAA", 342), "member credentialId must be 1 to 1023 bytes")
	passkey("short data", "MFAAAAAA", "MF", "member authenticatorData is 33 bytes: at least 37")
	passkey("trailing text", "}", "} x", "something follows")
	clientData := strings.Split(webauthnHeader, `"`)[7]
	for _, c := range []struct{ name, text, part string }{
		{"client data empty", "", "not valid JSON"},
		{"client data no JSON", "x", "not valid JSON"},
		{"client data without type", `{"challenge":"AA","origin":"x"}`, "member type is missing"},
		{"client data repeats", `{"type":"a","type":"b"}`, `"type" is repeated`},
		{"client data repeats what is ignored", `{"a":{"x":1,"x":2}}`, `"x" is repeated`},
		{"client data with a number", `{"type":1}`, "member type must be a string"},
		{"client data with a bad challenge", `{"type":"a","challenge":"*","origin":"x"}`, "member challenge: it is not base64url"},
	} {
		passkey(c.name, clientData, encode(c.text), "member clientDataJson: ", c.part)
	}
}

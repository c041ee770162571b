package stamp

import (
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"testing"

	"latchkey/internal/fault"
)

// The published worked examples: one private scalar (0x44 repeated; 0x55 for
// the passkey) over one body.
const (
	body = `{"organizationId":"f9a31c64-d604-42e4-9bef-a773096afad7"}`

	p256Key    = "025b36890dacbd7c9a96bb74a1ee28b3d2d75b72e09a20ef25cf8e6fd8a9f0350d"
	p256Sig    = "304502202777358fe2dd74acbe0ff52053236e57dd4fe3dce8bd31d51ff65ef0d389ee28022100d47322c48a293d1e0611608c947c2635d241248302518041c9a6eae767151ee5"
	p256Header = "eyJwdWJsaWNLZXkiOiIwMjViMzY4OTBkYWNiZDdjOWE5NmJiNzRhMWVlMjhiM2QyZDc1YjcyZTA5YTIwZWYyNWNmOGU2ZmQ4YTlmMDM1MGQiLCJzY2hlbWUiOiJTSUdOQVRVUkVfU0NIRU1FX1RLX0FQSV9QMjU2Iiwic2lnbmF0dXJlIjoiMzA0NTAyMjAyNzc3MzU4ZmUyZGQ3NGFjYmUwZmY1MjA1MzIzNmU1N2RkNGZlM2RjZThiZDMxZDUxZmY2NWVmMGQzODllZTI4MDIyMTAwZDQ3MzIyYzQ4YTI5M2QxZTA2MTE2MDhjOTQ3YzI2MzVkMjQxMjQ4MzAyNTE4MDQxYzlhNmVhZTc2NzE1MWVlNSJ9"

	k256Key   = "032c0b7cf95324a07d05398b240174dc0c2be444d96b159aa6c7f7b1e668680991"
	k256Sig   = "3045022100de69fd452cd24614c0d03fd3002f0fa13cea9b70d1a067a1a8872a6f5bc20e6202204d3f20148809d5817461244d5478a65be9a689197e46d0ab302bc17da118db0a"
	eip191Sig = "3045022100e56d3d7ca8a98d233ec0630de359d95e24cd2731ced02749c663831fa597cb0202201904e5047e9cad2980054f7f276ee88d96899f44f044cdc5bde0d03140f2b491"

	edwardsKey = "d759793bbc13a2819a827c76adb6fba8a49aee007f49f2d0992d99b825ad2c48"
	edwardsSig = "a4cba2a95a13113c109722034e61efa49f826c08648affda3344c3577503835d48cfdf897e9d6f77cccd2c0340951f24cdd96db00162c87da3bdafd0e2a5210b"

	coseKey        = "pQECAyYgASFYIFfpd_bbfjPD_nrPKELtmHAJyvVtRYaC_KRHt9PXYqs0Ilggxas3cLpXO9_1QUBlZA_7WzRt-oTexNtNaOX1nMRxwuw"
	webauthnHeader = `{"authenticatorData":"SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAA","clientDataJson":"eyJ0eXBlIjoid2ViYXV0aG4uZ2V0IiwiY2hhbGxlbmdlIjoiWkRKaE4yTXdaR0ZoTjJJME56WTBPVE0yWXpnNVpHTmlNRGhoTWpneFpEYzROVFEwTVdZME9EY3pObVptWldSbE56SXdZV0l5WldGak5EZ3hNV1ZrTVEiLCJvcmlnaW4iOiJodHRwOi8vbG9jYWxob3N0OjMwMDAiLCJjcm9zc09yaWdpbiI6ZmFsc2V9","credentialId":"AAECAwQFBgcICQoLDA0ODw","signature":"MEUCIQDVeyWXXndLxs9maTO9nlQ4GChGB8sNkNBG7WY3Xm89FAIgd-GR7O947-xuutss7Gn2JxjwIUBlev7J3Gh2SCLrrOg"}`
)

func one(name, value string) http.Header { return http.Header{name: {value}} }

// apiKeyHeader is a stamp's header value; nothing in it needs escaping.
func apiKeyHeader(key string, scheme Scheme, signature string) string {
	return encode(`{"publicKey":"` + key + `","scheme":"` + string(scheme) + `","signature":"` + signature + `"}`)
}

func encode(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

// wantRefusal checks that err is a 401 with the reason and a message that
// begins with prefix and contains all parts. An empty list of parts demands
// that the message is the prefix.
func wantRefusal(t *testing.T, err error, reason fault.Reason, prefix string, parts ...string) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) {
		t.Fatalf("got error %v (%T), want a fault", err, err)
	}
	if f.Code != fault.Unauthenticated || f.Status() != http.StatusUnauthorized || f.Reason != reason {
		t.Errorf("got code %d, status %d, reason %s, want 16, 401, %s", f.Code, f.Status(), f.Reason, reason)
	}
	if len(parts) == 0 && f.Message != prefix {
		t.Errorf("got message %q, want %q", f.Message, prefix)
	}
	if !strings.HasPrefix(f.Message, prefix) {
		t.Errorf("got message %q, want it to begin with %q", f.Message, prefix)
	}
	for _, part := range parts {
		if !strings.Contains(f.Message, part) {
			t.Errorf("got message %q, want it to contain %q", f.Message, part)
		}
	}
	if len(f.Message) > 400 {
		t.Errorf("message of %d characters repeats too much: %q", len(f.Message), f.Message)
	}
}

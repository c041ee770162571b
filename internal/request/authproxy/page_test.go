package authproxy_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json"

	"latchkey/internal/server/config"
	"latchkey/internal/test/oidctest"
	. "latchkey/internal/test/servertest"
	"latchkey/internal/test/testkit"
)

func TestMain(m *testing.M) {
	code := Main(m)
	oidctest.Clean()
	os.Exit(code)
}

type m = map[string]any

// start runs a server, with the limits that an installation starts with, that
// believes what this machine says of addresses.
func start(t *testing.T, url string) *Server {
	t.Helper()
	c := config.Default()
	c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	return Start(t, url, c)
}

// page is a page of an application in a browser, at an address of its own.
type page struct {
	*Server
	root     *Caller // of the organization whose proxy it calls
	configID string
	origin   string
	address  string
}

// newPage enables the auth proxy, and opens a page.
func newPage(t *testing.T, s *Server, root *Caller) *page {
	t.Helper()
	root.Submit(t, "enable_auth_proxy", m{})
	p := &page{Server: s, root: root, configID: configID(t, root), origin: "https://app.example.com"}
	return p.elsewhere()
}

func configID(t *testing.T, root *Caller) string {
	t.Helper()
	for _, f := range root.Query(t, "get_organization_configs", m{}).Get("configs", "features").List() {
		if f.Get("name").Text() == "FEATURE_NAME_AUTH_PROXY" {
			return f.Get("value").Text()
		}
	}
	t.Fatal("the auth proxy has no configuration")
	return ""
}

var addresses atomic.Int64

// elsewhere is the same page at an address that was not used yet.
func (p *page) elsewhere() *page {
	n := addresses.Add(1)
	there := *p
	there.address = fmt.Sprintf("10.%d.%d.%d", n>>16&255, n>>8&255, n&255)
	return &there
}

func (p *page) header() http.Header {
	h := http.Header{"X-Auth-Proxy-Config-Id": {p.configID}, "X-Forwarded-For": {p.address}, "Content-Type": {"application/json"}}
	if p.origin != "" {
		h.Set("Origin", p.origin)
	}
	return h
}

func (p *page) post(t testing.TB, path string, parameters any) Reply {
	t.Helper()
	body, err := json.Marshal(parameters)
	if err != nil {
		t.Fatal(err)
	}
	return Send(t, http.MethodPost, p.URL+"/v1/"+path, p.header(), body)
}

// ask makes a request that must be answered.
func (p *page) ask(t testing.TB, path string, parameters any) Value {
	t.Helper()
	reply := p.post(t, path, parameters)
	if reply.Status != http.StatusOK {
		t.Fatalf("%s: HTTP %d: %s", path, reply.Status, reply.Body)
	}
	return reply.JSON(t)
}

// refused makes a request that must be refused with a status and a text.
func (p *page) refused(t testing.TB, status int, text, path string, parameters any) {
	t.Helper()
	reply := p.post(t, path, parameters)
	CheckError(t, reply, status)
	if message := reply.JSON(t).Get("message").Text() + string(reply.Body); !strings.Contains(message, text) {
		t.Errorf("%s: %q is not in %s", path, text, message)
	}
}

// clientKey is a key that a browser made.
type clientKey struct {
	*ecdsa.PrivateKey
	public string
}

func newKey(t testing.TB) *clientKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	point, err := key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	compressed := append([]byte{2 + point[64]&1}, point[1:33]...)
	return &clientKey{key, hex.EncodeToString(compressed)}
}

// sign signs what a token is used for.
func (k *clientKey) sign(t testing.TB, message string) m {
	t.Helper()
	digest := sha256.Sum256([]byte(message))
	r, s, err := ecdsa.Sign(rand.Reader, k.PrivateKey, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	raw := make([]byte, 64)
	r.FillBytes(raw[:32])
	s.FillBytes(raw[32:])
	return m{"publicKey": k.public, "scheme": "CLIENT_SIGNATURE_SCHEME_API_P256", "message": message, "signature": hex.EncodeToString(raw)}
}

// prove sends a code to an address, and brings it back bound to the key.
func (p *page) prove(t testing.TB, email string, key *clientKey) (token string) {
	t.Helper()
	sent := p.ask(t, "otp_init_v2", m{"otpType": "OTP_TYPE_EMAIL", "contact": email})
	return p.ask(t, "otp_verify_v2", p.code(t, sent, p.MailTo(t, email).Code, key)).Get("verificationToken").Text()
}

// code is a code on its way back.
func (p *page) code(t testing.TB, sent Value, code string, key *clientKey) m {
	t.Helper()
	var envelope struct{ Data string }
	var target struct{ TargetPublic string }
	unmarshal(t, []byte(sent.Get("otpEncryptionTargetBundle").Text()), &envelope)
	unmarshal(t, testkit.Unhex(t, envelope.Data), &target)
	return m{"otpId": sent.Get("otpId").Text(), "encryptedOtpBundle": SealTo(t, target.TargetPublic,
		fmt.Appendf(nil, `{"otp_code":%q,"public_key":%q}`, code, key.public))}
}

func unmarshal(t testing.TB, text []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
}

// claim reads a member of a token's payload.
func claim(t testing.TB, token, name string) string {
	t.Helper()
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
	if err != nil {
		t.Fatal(err)
	}
	var claims map[string]any
	unmarshal(t, payload, &claims)
	text, _ := claims[name].(string)
	return text
}

// signUpByMail is a sign-up with a proved address and nothing else.
func signUpByMail(t testing.TB, email, token string, key *clientKey) m {
	t.Helper()
	return m{
		"userName": email, "userEmail": email, "organizationName": "sub-org", "verificationToken": token,
		"apiKeys": []any{}, "authenticators": []any{}, "oauthProviders": []any{},
		"clientSignature": key.sign(t, fmt.Sprintf(
			`{"signupV2":{"email":%q,"apiKeys":[],"authenticators":[],"oauthProviders":[]},"tokenId":%q,"type":"USAGE_TYPE_SIGNUP"}`,
			email, claim(t, token, "id"))),
	}
}

// logIn is a login with a proved address.
func logIn(t testing.TB, token string, key *clientKey) m {
	t.Helper()
	return m{
		"verificationToken": token, "publicKey": key.public,
		"clientSignature": key.sign(t, fmt.Sprintf(`{"login":{"publicKey":%q},"tokenId":%q,"type":"USAGE_TYPE_LOGIN"}`, key.public, claim(t, token, "id"))),
	}
}

// signUpByKey is a sign-up with a key, as that of a wallet.
func signUpByKey(publicKey string) m {
	return m{
		"userName": "Owner", "organizationName": "sub-org", "authenticators": []any{}, "oauthProviders": []any{},
		"apiKeys": []any{m{"apiKeyName": "wallet", "publicKey": publicKey, "curveType": "API_KEY_CURVE_P256"}},
	}
}

func base64url(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

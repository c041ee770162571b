package oauth2test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"testing"

	"latchkey/internal/test/testkit"
)

// Provider is a running provider. Its methods fail the test that started it, so
// they belong on that test's goroutine.
type Provider struct {
	URL string
	t   testing.TB
}

// Start runs a provider until the test ends.
func Start(t testing.TB) *Provider {
	t.Helper()
	return &Provider{URL: testkit.StartCommand(t, "latchkey/internal/test/oauth2test/provider"), t: t}
}

// TokenURL is where codes are taken.
func (p *Provider) TokenURL() string { return p.URL + "/token" }

// UserInfoURL is where it says whose a token is, in the member data.id.
func (p *Provider) UserInfoURL() string { return p.URL + "/users/me" }

// Register makes a client known.
func (p *Provider) Register(clientID, clientSecret string) {
	p.t.Helper()
	p.call("/clients", map[string]string{"clientId": clientID, "clientSecret": clientSecret}, nil)
}

// Behave makes the provider behave in one of Modes.
func (p *Provider) Behave(mode string) {
	p.t.Helper()
	p.call("/behave", map[string]string{"mode": mode}, nil)
}

// Stats tells how often the provider was asked.
func (p *Provider) Stats() (s Stats) {
	p.t.Helper()
	p.call("/stats", nil, &s)
	return s
}

// LogIn logs a user in, as a browser does, and returns the code.
func (p *Provider) LogIn(clientID, redirectURI, verifier, user string) (code string) {
	p.t.Helper()
	sum := sha256.Sum256([]byte(verifier))
	q := url.Values{
		"response_type": {"code"}, "client_id": {clientID}, "redirect_uri": {redirectURI}, "state": {"state"}, "user": {user},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}
	browser := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	reply, err := browser.Get(p.URL + "/authorize?" + q.Encode())
	if err != nil {
		p.t.Fatal(err)
	}
	defer reply.Body.Close()
	back, err := reply.Location()
	if err != nil {
		p.t.Fatalf("no code: %s, %v", reply.Status, err)
	}
	return back.Query().Get("code")
}

func (p *Provider) call(path string, request, reply any) {
	p.t.Helper()
	method, body := http.MethodGet, []byte(nil)
	if request != nil {
		method = http.MethodPost
		var err error
		if body, err = json.Marshal(request); err != nil {
			p.t.Fatal(err)
		}
	}
	r, err := http.NewRequest(method, p.URL+path, bytes.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode == http.StatusOK && reply != nil {
		err = json.Unmarshal(text, reply)
	}
	if err != nil || answer.StatusCode != http.StatusOK {
		p.t.Fatalf("%s: %s %s %v", path, answer.Status, text, err)
	}
}

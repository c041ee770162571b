package oauth2

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/test/oauth2test"
	"latchkey/internal/test/testkit"
	"latchkey/internal/webhook/target"
)

// The tests of this file ask a real provider, a process of its own.

func TestMain(m *testing.M) {
	code := m.Run()
	testkit.CleanCommands()
	os.Exit(code)
}

const (
	redirect = "https://app.example.com/callback?a=b"
	verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	clientID = "client 1:+"
	secret   = "s3cret:with/odd+characters %"
)

func newClient(p *oauth2test.Provider, timeout time.Duration) *Client {
	return newClientAt(p.TokenURL(), p.UserInfoURL(), timeout)
}

func newClientAt(tokenURL, userInfoURL string, timeout time.Duration) *Client {
	fetcher := target.NewClient(target.NewGuard(target.Loopback()), target.Options{Timeout: timeout, Now: time.Now})
	return New(map[domain.OAuth2Provider]Provider{
		domain.OAuth2X: {TokenURL: tokenURL, UserInfoURL: userInfoURL, SubjectField: "data.id"},
	}, fetcher, timeout)
}

func code(p *oauth2test.Provider) domain.OAuth2Code {
	return domain.OAuth2Code{
		Provider: domain.OAuth2X, ClientID: clientID, ClientSecret: []byte(secret), Verifier: verifier, RedirectURI: redirect,
		Code: p.LogIn(clientID, redirect, verifier, "1234567890123456789"),
	}
}

func TestExchange(t *testing.T) {
	p := oauth2test.Start(t)
	p.Register(clientID, secret)
	c := newClient(p, testkit.Patience)
	used := code(p)
	identity, err := c.Exchange(t.Context(), used)
	if err != nil || identity.Subject != "x:1234567890123456789" || identity.Bearer == "" {
		t.Fatalf("got %+v, %v", identity, err)
	}
	for name, tt := range map[string]struct {
		change func(*domain.OAuth2Code)
		want   string
	}{
		"used":             {func(c *domain.OAuth2Code) { c.Code = used.Code }, "invalid_grant"},
		"wrong code":       {func(c *domain.OAuth2Code) { c.Code = "wrong" }, "invalid_grant"},
		"wrong verifier":   {func(c *domain.OAuth2Code) { c.Verifier += "x" }, "invalid_grant"},
		"wrong redirect":   {func(c *domain.OAuth2Code) { c.RedirectURI += "x" }, "invalid_grant"},
		"wrong secret":     {func(c *domain.OAuth2Code) { c.ClientSecret = []byte("wrong") }, "update_oauth2_credential"},
		"unknown client":   {func(c *domain.OAuth2Code) { c.ClientID = "unknown" }, "invalid_client"},
		"unknown provider": {func(c *domain.OAuth2Code) { c.Provider = domain.OAuth2Discord }, "OAUTH2_PROVIDER_DISCORD"},
	} {
		sent := code(p)
		tt.change(&sent)
		_, err := c.Exchange(t.Context(), sent)
		check(t, name, sent, err, fault.InvalidArgument, tt.want)
	}
}

// check checks what holds for every refusal.
func check(t *testing.T, name string, sent domain.OAuth2Code, err error, want fault.Code, text string) {
	t.Helper()
	f, ok := fault.As(err)
	if !ok || f.Code != want || !strings.Contains(f.Message, text) {
		t.Errorf("%s: got %v", name, err)
		return
	}
	for _, hidden := range []string{sent.Code, string(sent.ClientSecret), sent.Verifier} {
		if hidden != "wrong" && strings.Contains(fmt.Sprintf("%v %+v", err, f), hidden) {
			t.Errorf("%s: repeats %s: %v", name, hidden, err)
		}
	}
}

func TestMisbehaviour(t *testing.T) {
	p := oauth2test.Start(t)
	p.Register(clientID, secret)
	for _, tt := range []struct {
		mode, want string
		code       fault.Code
		hangs      bool // only the time-out ends it
	}{
		{"hang", "did not answer in time", fault.Unavailable, true},
		{"drip", "did not answer in time", fault.Unavailable, true},
		{"huge", "too large", fault.InvalidArgument, false},
		{"error", "HTTP status 500", fault.Unavailable, false},
		{"redirect", "HTTP status 307", fault.InvalidArgument, false},
		{"not-json", "not the JSON", fault.InvalidArgument, false},
		{"empty", "no bearer token", fault.InvalidArgument, false},
		{"users-hang", "did not answer in time", fault.Unavailable, true},
		{"users-drip", "did not answer in time", fault.Unavailable, true},
		{"users-huge", "too large", fault.InvalidArgument, false},
		{"users-error", "HTTP status 500", fault.Unavailable, false},
		{"users-redirect", "HTTP status 307", fault.InvalidArgument, false},
		{"users-not-json", "no data.id", fault.InvalidArgument, false},
		{"users-empty", "no data.id", fault.InvalidArgument, false},
		{"users-forbidden", "scopes", fault.InvalidArgument, false},
	} {
		t.Run(tt.mode, func(t *testing.T) {
			timeout := testkit.Patience
			if tt.hangs {
				timeout = time.Second
			}
			p.Behave(tt.mode)
			sent := code(p)
			_, err := newClient(p, timeout).Exchange(t.Context(), sent)
			check(t, tt.mode, sent, err, tt.code, tt.want)
			p.Behave("normal")
		})
	}
	if _, err := newClient(p, testkit.Patience).Exchange(t.Context(), code(p)); err != nil {
		t.Error(err)
	}
}

// A provider that is away, in a network of its own, or only there by http is not
// asked.
func TestAway(t *testing.T) {
	for _, url := range []string{"http://127.0.0.1:1/token", "https://10.255.255.1/token", "http://provider.example/token", "https://169.254.169.254/latest"} {
		_, err := newClientAt(url, url, testkit.Patience).Exchange(t.Context(), domain.OAuth2Code{Provider: domain.OAuth2X, Code: "code", ClientSecret: []byte("hidden"), Verifier: "verifier"})
		check(t, url, domain.OAuth2Code{Code: "the code", ClientSecret: []byte("hidden"), Verifier: "the verifier"}, err, fault.Unavailable, "cannot be reached")
	}
}

func TestMember(t *testing.T) {
	for body, want := range map[string]string{
		`{"data":{"id":"1"}}`:                  "1",
		`{"data":{"id":18446744073709551616}}`: "18446744073709551616",
		`{"data":{"id":1.5}}`:                  "",
		`{"data":{"id":-1}}`:                   "",
		`{"data":{"id":true}}`:                 "",
		`{"data":{"id":null}}`:                 "",
		`{"data":{"id":{}}}`:                   "",
		`{"data":{"id":""}}`:                   "",
		`{"data":{"id":"a b"}}`:                "",
		`{"data":{"id":"ä"}}`:                  "",
		`{"data":{"id":"1","id":"2"}}`:         "",
		`{"data":[1]}`:                         "",
		`{"data":{"Id":"1"}}`:                  "",
		`{"id":"1"}`:                           "",
		`[]`:                                   "",
		``:                                     "",

		`{"data":{"id":"1"}} {"data":{"id":"2"}}`:  "",
		`{"data":{"id":"` + long(256) + `"}}`:      "",
		`{"data":{"id":"` + long(255) + `"}}`:      long(255),
		`{"data":{"id":"x"},"data":{"id":"evil"}}`: "",
	} {
		if got, err := member(target.Answer{Body: []byte(body)}, "data.id"); got != want || (err == nil) != (want != "") {
			t.Errorf("%.60s: got %q, %v", body, got, err)
		}
	}
}

func long(n int) string { return strings.Repeat("a", n) }

func FuzzMember(f *testing.F) {
	f.Add([]byte(`{"data":{"id":"1"}}`))
	f.Add([]byte(`{"data":{"id":1}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := member(target.Answer{Body: body}, "data.id")
		if err == nil && (got == "" || len(got) > maxSubject || !isPrintable(got)) {
			t.Errorf("got %q", got)
		}
	})
}

// An exchange ends with its request where nothing else asks for more.
func TestCancelled(t *testing.T) {
	p := oauth2test.Start(t)
	p.Register(clientID, secret)
	p.Behave("hang")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	sent := code(p)
	_, err := newClient(p, testkit.Patience).Exchange(ctx, sent)
	check(t, "cancelled", sent, err, fault.Unavailable, "in time")
	p.Behave("normal")
}

package server_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"latchkey/internal/server"
	"latchkey/internal/server/config"
)

// TestIssuer: the server is an issuer of tokens under the address that its operator
// names, and under no other.
func TestIssuer(t *testing.T) {
	get := func(base, path string) (int, string) {
		t.Helper()
		reply, err := http.Get(base + path)
		if err != nil {
			t.Fatal(err)
		}
		defer reply.Body.Close()
		text, err := io.ReadAll(reply.Body)
		if err != nil {
			t.Fatal(err)
		}
		return reply.StatusCode, string(text)
	}
	none, _ := start(t, patient())
	named := patient()
	named.OAuth2.Issuer = "https://keys.example.com"
	issuer, _ := start(t, named)
	for _, path := range []string{"/.well-known/openid-configuration", "/.well-known/jwks.json"} {
		if status, text := get(none.BaseURL(), path); status != http.StatusNotFound {
			t.Errorf("%s: HTTP %d, %s", path, status, text)
		}
		if status, text := get(issuer.BaseURL(), path); status != http.StatusOK || strings.Contains(text, "127.0.0.1") {
			t.Errorf("%s: HTTP %d, %s", path, status, text)
		}
	}
	if _, text := get(issuer.BaseURL(), "/.well-known/openid-configuration"); !strings.Contains(text, `"issuer":"https://keys.example.com"`) ||
		!strings.Contains(text, `"jwks_uri":"https://keys.example.com/.well-known/jwks.json"`) {
		t.Errorf("got %s", text)
	}
	if _, text := get(none.BaseURL(), "/.well-known/latchkey.json"); !strings.Contains(text, `"oauth2ClientSecretPublicKey":"04`) {
		t.Errorf("got %s", text)
	}
}

// TestProviders refuses to start where a provider could never be asked.
func TestProviders(t *testing.T) {
	for url, allowed := range map[string]bool{
		"https://provider.example.com/token": true, "http://provider.example.com/token": false, "https://10.0.0.1/token": false, "http://127.0.0.1/token": false,
	} {
		c := config.Default()
		c.Listen, c.OAuth2.Providers.X.TokenURL = "127.0.0.1:0", url
		bound, err := server.Bind(&c)
		if err == nil {
			bound.Close()
		}
		if (err == nil) != allowed || err != nil && !strings.Contains(err.Error(), "oauth2.providers.x.tokenUrl") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

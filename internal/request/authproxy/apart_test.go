package authproxy_test

import (
	"net/http"
	"testing"

	"latchkey/internal/server/config"
	. "latchkey/internal/test/servertest"
)

// TestApart serves the proxy on a listener of its own, and nothing else there.
func TestApart(t *testing.T) {
	c := config.Default()
	c.AuthProxy.Listen = "127.0.0.1:0"
	s := Start(t, SQLite(t), c)
	p := newPage(t, s, s.Root)
	CheckError(t, p.post(t, "wallet_kit_config", m{}), http.StatusNotFound)
	there := *s
	there.URL = s.Whole.AuthProxyURL()
	p.Server = &there
	p.ask(t, "wallet_kit_config", m{})
	p.ask(t, "signup_v2", signUpByKey(newKey(t).public))
	for _, path := range []string{"/public/v1/query/whoami", "/healthz", "/metrics", "/openapi.json"} {
		CheckError(t, Send(t, http.MethodPost, there.URL+path, p.header(), []byte("{}")), http.StatusNotFound)
	}
	preflight := Send(t, http.MethodOptions, there.URL+"/v1/signup_v2", http.Header{"Origin": {p.origin}}, nil)
	if preflight.Status != http.StatusNoContent {
		t.Errorf("preflight: HTTP %d", preflight.Status)
	}
}

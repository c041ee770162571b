package api_test

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"latchkey/internal/ids"
	"latchkey/internal/server/config"
	. "latchkey/internal/test/servertest"
)

// TestClientInLog: the log names the client, by way of trusted proxies only.
func TestClientInLog(t *testing.T) {
	c := config.Default()
	c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	trusting := Start(t, SQLite(t), c)
	careful := Start(t, SQLite(t), config.Default())
	for server, want := range map[*Server]string{trusting: "203.0.113.9", careful: "127.0.0.1"} {
		Send(t, http.MethodPost, server.URL+"/public/v1/query/whoami", http.Header{"X-Forwarded-For": {"198.51.100.7, 203.0.113.9"}}, []byte(`{}`))
		if got := server.Log.String(); !strings.Contains(got, `"operation":"whoami"`) || !strings.Contains(got, `"client":"`+want+`"`) || strings.Contains(got, "198.51.100.7") {
			t.Errorf("the log does not have the client %s: %s", want, got)
		}
	}
}

// TestRequestIDs: they are off at first; else the reply has what the log has, and only
// a trusted proxy chooses it.
func TestRequestIDs(t *testing.T) {
	const given = "0af7651916cd43dd8448eb211c80319c"
	ask := func(s *Server, id string) string {
		t.Helper()
		return Send(t, http.MethodPost, s.URL+"/public/v1/query/whoami", http.Header{"X-Request-Id": {id}}, []byte(`{}`)).Header.Get("X-Request-Id")
	}
	if got := ask(Start(t, SQLite(t), config.Default()), given); got != "" {
		t.Errorf("a reply has %s", got)
	}
	c := config.Default()
	c.Log.RequestIDs = true
	careful := Start(t, SQLite(t), c)
	c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	trusting := Start(t, SQLite(t), c)
	for _, asked := range []struct {
		server *Server
		id     string
		kept   bool
	}{
		{careful, given, false},
		{trusting, given, true},
		{trusting, "short", false},
		{trusting, `a "quote" in it`, false},
		{trusting, strings.Repeat("x", 65), false},
		{trusting, "", false},
	} {
		got := ask(asked.server, asked.id)
		if _, ok := ids.Normal(got); asked.kept && got != asked.id || !asked.kept && !ok {
			t.Errorf("%q became %q", asked.id, got)
		}
		if !strings.Contains(asked.server.Log.String(), `"request":"`+got+`"`) {
			t.Errorf("the log does not have %s", got)
		}
	}
}

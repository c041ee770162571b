package server_test

import (
	"net/http"
	"testing"

	"latchkey/internal/server/config"
	"latchkey/internal/test/servertest"
)

// TestConsole: the pages are on the main listener, or on their own with the
// interface, or nowhere.
func TestConsole(t *testing.T) {
	html := http.Header{"Accept": {"text/html"}}
	status := func(base, path string) int {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header = html
		reply, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer reply.Body.Close()
		return reply.StatusCode
	}
	main, _ := start(t, config.Default())
	off := config.Default()
	off.Console.Enabled = false
	without, _ := start(t, off)
	apart := config.Default()
	apart.Console.Listen = "127.0.0.1:0"
	own, _ := start(t, apart)
	console := "http://" + own.ConsoleAddress().String()
	for _, c := range []struct {
		what, base, path string
		want             int
	}{
		{"the page", main.BaseURL(), "/console/", http.StatusOK},
		{"a browser at the root", main.BaseURL(), "/", http.StatusFound},
		{"turned off: the page", without.BaseURL(), "/console/", http.StatusNotFound},
		{"turned off: the root", without.BaseURL(), "/", http.StatusNotFound},
		{"apart: the page on the main listener", own.BaseURL(), "/console/", http.StatusNotFound},
		{"apart: the page", console, "/console/", http.StatusOK},
		{"apart: the interface beside it", console, "/readyz", http.StatusOK},
	} {
		if got := status(c.base, c.path); got != c.want {
			t.Errorf("%s: %d, want %d", c.what, got, c.want)
		}
	}
	key := servertest.Send(t, http.MethodPost, main.BaseURL()+"/console/dev-key", http.Header{}, []byte(`{"code":""}`))
	if key.Status != http.StatusNotFound {
		t.Errorf("a server that is not for development hands out a key: %d", key.Status)
	}
}

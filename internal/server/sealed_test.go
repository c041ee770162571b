package server_test

import (
	"context"
	"html"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"latchkey/internal/keys/vault/sealfile"
	"latchkey/internal/server"
	"latchkey/internal/server/config"
	"latchkey/internal/test/servertest"
)

// TestSealedConsole: while the server is sealed, its pages say whether shares are taken
// there, and it is so; all else is answered with 503.
func TestSealedConsole(t *testing.T) {
	seal := filepath.Join(t.TempDir(), "seal.json")
	group := sealfile.Spec{Name: "board", Kind: sealfile.KindPeople, Threshold: 2, People: 3}
	if err := sealfile.Create(seal, nil, []sealfile.Spec{group}, func([]sealfile.Share) error { return nil }); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		change func(*config.Config)
		says   string // empty: there is no page
		share  int
	}{
		{"off", func(*config.Config) {}, `"sealed":"off"`, http.StatusServiceUnavailable},
		{"on loopback", func(c *config.Config) { c.Seal.HTTP = true }, `"sealed":"taken"`, http.StatusBadRequest},
		{"in the clear", func(c *config.Config) { c.Seal.HTTP, c.Listen = true, "0.0.0.0:0" }, `"sealed":"insecure"`, http.StatusServiceUnavailable},
		{"apart", func(c *config.Config) { c.Seal.HTTP, c.Console.Listen = true, "127.0.0.1:0" }, `"sealed":"taken"`, http.StatusBadRequest},
		{"no console", func(c *config.Config) { c.Seal.HTTP, c.Console.Enabled = true, false }, "", http.StatusBadRequest},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := config.Default()
			c.Listen, c.MasterKey = "127.0.0.1:0", "seal:"+seal
			tt.change(&c)
			bound, err := server.Bind(&c)
			if err != nil {
				t.Fatal(err)
			}
			defer bound.Close()
			ctx, stop := context.WithCancel(t.Context())
			waiting, ended := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(ended)
				_, _ = bound.Unseal(ctx, slog.New(slog.DiscardHandler), func() { close(waiting) }) // it is stopped
			}()
			defer func() {
				stop()
				<-ended
			}()
			<-waiting
			base := "http://127.0.0.1:" + bound.Port()
			page := servertest.Send(t, http.MethodGet, base+"/console/", http.Header{}, nil)
			switch {
			case tt.says == "" && page.Status != http.StatusServiceUnavailable:
				t.Errorf("a page without a console: %d", page.Status)
			case tt.says != "" && !strings.Contains(html.UnescapeString(string(page.Body)), tt.says):
				t.Errorf("the page does not say %s: %d %s", tt.says, page.Status, page.Body)
			}
			for path, want := range map[string]int{"/latchkey/v1/unseal": tt.share, "/public/v1/query/whoami": http.StatusServiceUnavailable} {
				if got := servertest.Send(t, http.MethodPost, base+path, http.Header{}, []byte(`{}`)).Status; got != want {
					t.Errorf("%s: %d, want %d", path, got, want)
				}
			}
		})
	}
}

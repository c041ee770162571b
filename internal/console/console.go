// Package console serves the pages that people use in a browser, below /console/.
// They have no rights of their own: what they ask of the interface is stamped in
// the browser, by the key or the passkey of the person who uses them. So there is
// no cookie, and nothing here knows a user; but for a development server, which
// hands its own key to the page that knows a code of its terminal (Redeem).
//
// dist is what `make console` builds of the top-level folder console.
package console

import (
	"embed"
	"fmt"
	"net/http"
	"strings"
	"time"

	"latchkey/internal/pages"
)

//go:embed dist
var built embed.FS

// Root is where the console is.
const Root = "/console/"

// policy keeps the page to its own files. It has no inline script or style, no
// other origin, and no way to make script of text (Trusted Types).
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"font-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; " +
	"require-trusted-types-for 'script'; trusted-types 'none'"

// Config is what the console is told.
type Config struct {
	// RelyingParty is the domain of the passkeys; empty: the host of the page.
	RelyingParty string
	// Idle is how long an unused page stays signed in.
	Idle time.Duration
	// DevFolder is the data folder of `latchkey dev`, whose key the page may fetch
	// with a one-time code; empty: there is none.
	DevFolder string
	// Sealed is set while the seal of the server is closed. The page then asks for
	// shares, and for nothing else.
	Sealed Shares
}

// Shares says whether people hand in their shares of the seal in the page.
type Shares string

// What a page of a sealed server tells people.
const (
	SharesTaken    Shares = "taken"
	SharesOff      Shares = "off"      // the config does not allow it
	SharesInsecure Shares = "insecure" // they would travel in the clear
)

// settings is what the page reads from its own head.
type settings struct {
	RelyingParty string `json:"rpId,omitempty"`
	IdleSeconds  int    `json:"idleSeconds"`
	Sealed       Shares `json:"sealed,omitempty"`
}

// Handler serves the console.
type Handler struct {
	config Config
	page   []byte
	files  map[string]*pages.File // by path below Root
}

// New makes the handler.
func New(c Config) (*Handler, error) {
	h := &Handler{config: c}
	var err error
	if h.files, err = pages.Load(built, "dist"); err != nil {
		return nil, err
	}
	h.page, err = pages.Render(h.files["index.html"], settings{RelyingParty: c.RelyingParty, IdleSeconds: int(c.Idle.Seconds()), Sealed: c.Sealed})
	if err != nil {
		return nil, fmt.Errorf("the console: %w", err)
	}
	return h, nil
}

// Before answers what is the console's, and leaves all else to next: also / for
// clients that do not ask for a page.
func (h *Handler) Before(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reads := r.Method == http.MethodGet || r.Method == http.MethodHead
		switch {
		case r.URL.Path == "/" && reads:
			w.Header().Add("Vary", "Accept")
			if !strings.Contains(r.Header.Get("Accept"), "text/html") {
				next.ServeHTTP(w, r)
				return
			}
			http.Redirect(w, r, Root, http.StatusFound)
		case r.URL.Path == strings.TrimSuffix(Root, "/") && reads:
			http.Redirect(w, r, Root, http.StatusFound)
		case r.URL.Path == devKeyPath && r.Method == http.MethodPost:
			h.devKey(w, r)
		case strings.HasPrefix(r.URL.Path, Root) && reads:
			h.serve(w, r, strings.TrimPrefix(r.URL.Path, Root))
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// serve answers with a file, or with the page, which finds out itself what its
// path means.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request, name string) {
	header := w.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Content-Security-Policy", policy)
	if name == "index.html" || h.files[name] == nil && !strings.HasPrefix(name, pages.Assets) {
		pages.Send(w, r, h.page)
		return
	}
	pages.SendFile(w, r, h.files, name)
}

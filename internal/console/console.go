// Package console serves the pages that people use in a browser, below /console/.
// They have no rights of their own: what they ask of the interface is stamped in
// the browser, by the key or the passkey of the person who uses them. So there is
// no cookie, and nothing here knows a user; but for a development server, which
// hands its own key to the page that knows a code of its terminal (Redeem).
//
// dist is what `make console` builds of the top-level folder console.
package console

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"
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
}

// settings is what the page reads from its own head.
type settings struct {
	RelyingParty string `json:"rpId,omitempty"`
	IdleSeconds  int    `json:"idleSeconds"`
}

// Handler serves the console.
type Handler struct {
	config Config
	page   []byte
	files  map[string]*asset // by path below Root
}

// asset is a built file, compressed when it is first asked for so.
type asset struct {
	kind string
	body []byte
	gzip func() []byte
}

// New makes the handler.
func New(c Config) (*Handler, error) {
	h := &Handler{config: c, files: map[string]*asset{}}
	err := fs.WalkDir(built, "dist", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := built.ReadFile(name)
		if err != nil {
			return err
		}
		h.files[strings.TrimPrefix(name, "dist/")] = newAsset(name, body)
		return nil
	})
	if err != nil {
		return nil, err
	}
	h.page, err = h.render()
	return h, err
}

func newAsset(name string, body []byte) *asset {
	return &asset{kind: mime.TypeByExtension(path.Ext(name)), body: body, gzip: sync.OnceValue(func() []byte {
		var packed bytes.Buffer
		w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level is a valid one
		_, _ = w.Write(body)                                       // to memory
		_ = w.Close()
		return packed.Bytes()
	})}
}

// render puts the settings into the page.
func (h *Handler) render() ([]byte, error) {
	source := h.files["index.html"]
	if source == nil {
		return nil, fmt.Errorf("the console was not built: run make console")
	}
	text, err := json.Marshal(settings{RelyingParty: h.config.RelyingParty, IdleSeconds: int(h.config.Idle.Seconds())})
	if err != nil {
		return nil, err
	}
	const place = "{{settings}}"
	if !bytes.Contains(source.body, []byte(place)) {
		return nil, fmt.Errorf("the console's page has no place for its settings")
	}
	return bytes.Replace(source.body, []byte(place), []byte(template.HTMLEscapeString(string(text))), 1), nil
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
	found := h.files[name]
	switch {
	case name == "index.html" || found == nil && !strings.HasPrefix(name, "assets/"):
		header.Set("Cache-Control", "no-store")
		header.Set("Content-Type", "text/html; charset=utf-8")
		send(w, r, h.page)
		return
	case found == nil:
		header.Set("Cache-Control", "no-store")
		http.Error(w, "there is no such file: the page was probably built anew, so load it again", http.StatusNotFound)
		return
	case strings.HasPrefix(name, "assets/"):
		// The name holds a hash of what is in it.
		header.Set("Cache-Control", "public, max-age=31536000, immutable")
	default:
		header.Set("Cache-Control", "no-cache")
	}
	header.Set("Content-Type", found.kind)
	header.Add("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		header.Set("Content-Encoding", "gzip")
		send(w, r, found.gzip())
		return
	}
	send(w, r, found.body)
}

func send(w http.ResponseWriter, r *http.Request, body []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the client is gone
	}
}

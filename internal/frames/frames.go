// Package frames serves the pages that an application has in frames of its own
// pages, on an origin of their own: they show exported keys, take keys to import,
// and hold the credential of a login or exported keys to sign with. The page around
// a frame, and what gets into it, reads none of that. They have no rights and make
// no requests: what they are handed is sealed for them by the server and signed with
// its key, which is written into the page.
//
// A frame is below the id of an auth proxy's configuration, whose allowed origins are
// the pages that may have it: /ID/export. Browsers refuse it to all others.
//
// dist is what `make console` builds of console/frames.
package frames

import (
	"context"
	"embed"
	"fmt"
	"net/http"
	"strings"

	"latchkey/internal/fault"
	"latchkey/internal/ids"
	"latchkey/internal/pages"
)

//go:embed dist
var built embed.FS

// Names are the frames, as their addresses have them.
func Names() []string { return []string{"auth", "export", "import", "export-and-sign"} }

// policy keeps a frame to its own files: it has no inline script or style, asks
// nothing of any server, and has no way to make script of text (Trusted Types). Who
// may have it in a page comes after it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; " +
	"require-trusted-types-for 'script'; trusted-types 'none'; frame-ancestors "

// Config is what the frames are told.
type Config struct {
	// SignerPublicKey is the only key whose signature on a bundle they believe.
	SignerPublicKey string
	// AllowedOrigins are the pages that may have frames, of the auth proxy with
	// this configuration; "*" among them: all.
	AllowedOrigins func(ctx context.Context, configID string) ([]string, error)
}

// settings is what a frame reads from its own head.
type settings struct {
	SignerPublicKey string `json:"signerPublicKey"`
}

// Handler serves the frames.
type Handler struct {
	config Config
	pages  map[string][]byte // by name
	files  map[string]*pages.File
}

// New makes the handler.
func New(c Config) (*Handler, error) {
	h := &Handler{config: c, pages: map[string][]byte{}}
	var err error
	if h.files, err = pages.Load(built, "dist"); err != nil {
		return nil, err
	}
	for _, name := range Names() {
		if h.pages[name], err = pages.Render(h.files[name+".html"], settings{c.SignerPublicKey}); err != nil {
			return nil, fmt.Errorf("the frame %s: %w", name, err)
		}
	}
	return h, nil
}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Content-Security-Policy", policy+"'none'")
	// Pages that ask for isolation may have frames that do too.
	header.Set("Cross-Origin-Embedder-Policy", "require-corp")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		http.Error(w, "frames are read with GET", http.StatusMethodNotAllowed)
		return
	}
	path := strings.TrimPrefix(r.URL.Path, "/")
	if strings.HasPrefix(path, pages.Assets) {
		pages.SendFile(w, r, h.files, path)
		return
	}
	sent, name, _ := strings.Cut(path, "/")
	id, ok := ids.Normal(sent)
	page := h.pages[name]
	if !ok || page == nil {
		refuse(w, http.StatusNotFound, "there is no such frame: frames are at /ID/NAME, with the id of an auth proxy's configuration and one of "+strings.Join(Names(), ", "))
		return
	}
	origins, err := h.config.AllowedOrigins(r.Context(), id)
	if err != nil {
		failed(w, err)
		return
	}
	header.Set("Content-Security-Policy", policy+ancestors(origins))
	header.Set("Cross-Origin-Resource-Policy", "cross-origin")
	pages.Send(w, r, page)
}

// ancestors lists origins as a policy does. They were checked when they were set.
func ancestors(origins []string) string {
	if len(origins) == 0 {
		return "'none'"
	}
	return strings.Join(origins, " ")
}

// failed answers with what a client may read of an error.
func failed(w http.ResponseWriter, err error) {
	if known, ok := fault.As(err); ok {
		refuse(w, known.Status(), known.Message)
		return
	}
	refuse(w, http.StatusInternalServerError, "the configuration could not be read")
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Cache-Control", "no-store")
	http.Error(w, message, status)
}

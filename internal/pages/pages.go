// Package pages serves files that were built into the binary: compressed for those
// who ask for it, and kept by browsers as long as their names allow. What a page
// may do and who may show it is said by the packages that serve pages with it.
package pages

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"html/template"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

// Assets is where the files are whose names hold a hash of what is in them.
const Assets = "assets/"

// File is a built file, compressed when it is first asked for so.
type File struct {
	Body []byte
	kind string
	gzip func() []byte
}

// Packed is the file with gzip.
func (f *File) Packed() []byte { return f.gzip() }

// Load reads the files of a folder, by their paths in it.
func Load(built fs.FS, folder string) (map[string]*File, error) {
	files := map[string]*File{}
	err := fs.WalkDir(built, folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(built, name)
		if err != nil {
			return err
		}
		files[strings.TrimPrefix(name, folder+"/")] = newFile(name, body)
		return nil
	})
	return files, err
}

func newFile(name string, body []byte) *File {
	return &File{Body: body, kind: mime.TypeByExtension(path.Ext(name)), gzip: sync.OnceValue(func() []byte {
		var packed bytes.Buffer
		w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level is a valid one
		_, _ = w.Write(body)                                       // to memory
		_ = w.Close()
		return packed.Bytes()
	})}
}

// Render puts settings into a page, which reads them from its own head.
func Render(page *File, settings any) ([]byte, error) {
	if page == nil {
		return nil, errors.New("the page was not built: run make console")
	}
	text, err := json.Marshal(settings)
	if err != nil {
		return nil, err
	}
	const place = "{{settings}}"
	if !bytes.Contains(page.Body, []byte(place)) {
		return nil, errors.New("the page has no place for its settings")
	}
	return bytes.Replace(page.Body, []byte(place), []byte(template.HTMLEscapeString(string(text))), 1), nil
}

// Send answers with a page that is made for this request alone.
func Send(w http.ResponseWriter, r *http.Request, page []byte) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	send(w, r, page)
}

// SendFile answers with the file of this name, or that there is none.
func SendFile(w http.ResponseWriter, r *http.Request, files map[string]*File, name string) {
	header, found := w.Header(), files[name]
	switch {
	case found == nil:
		header.Set("Cache-Control", "no-store")
		http.Error(w, "there is no such file: the page was probably built anew, so load it again", http.StatusNotFound)
		return
	case strings.HasPrefix(name, Assets):
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
	send(w, r, found.Body)
}

func send(w http.ResponseWriter, r *http.Request, body []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the client is gone
	}
}

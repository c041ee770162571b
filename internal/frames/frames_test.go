package frames

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"latchkey/internal/fault"
)

const known = "00000000-0000-4000-8000-000000000001"

func get(t *testing.T, path string, origins []string, failure error) *httptest.ResponseRecorder {
	t.Helper()
	h, err := New(Config{SignerPublicKey: `04"><script>`, AllowedOrigins: func(_ context.Context, id string) ([]string, error) {
		if id != known {
			return nil, fault.Missing("no such configuration")
		}
		return origins, failure
	}})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w
}

func ancestorsOf(w *httptest.ResponseRecorder) string {
	_, after, _ := strings.Cut(w.Header().Get("Content-Security-Policy"), "frame-ancestors ")
	return after
}

func TestPages(t *testing.T) {
	for _, name := range Names() {
		w := get(t, "/"+known+"/"+name, []string{"https://a.example", "https://b.example:8443"}, nil)
		if w.Code != http.StatusOK || ancestorsOf(w) != "https://a.example https://b.example:8443" || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d, %v", name, w.Code, w.Header())
		}
		page := w.Body.String()
		if !strings.Contains(page, "&#34;signerPublicKey&#34;:") || strings.Contains(page, `"><script>`) {
			t.Errorf("%s: the settings are not in the page, or not escaped:\n%s", name, page)
		}
		files := regexp.MustCompile(`"(/assets/[^"]+)"`).FindAllStringSubmatch(page, -1)
		if len(files) < 2 {
			t.Errorf("%s names no script and styles:\n%s", name, page)
		}
		for _, f := range files {
			if got := get(t, f[1], nil, nil); got.Code != http.StatusOK || got.Header().Get("Cache-Control") != "public, max-age=31536000, immutable" {
				t.Errorf("%s: %d, %v", f[1], got.Code, got.Header())
			}
		}
	}
}

func TestOrigins(t *testing.T) {
	for _, c := range []struct {
		path    string
		origins []string
		failure error
		status  int
		want    string
	}{
		{"/" + known + "/auth", []string{"*"}, nil, http.StatusOK, "*"},
		{"/" + known + "/auth", nil, nil, http.StatusOK, "'none'"},
		{"/" + known + "/none", []string{"*"}, nil, http.StatusNotFound, "'none'"},
		{"/auth", []string{"*"}, nil, http.StatusNotFound, "'none'"},
		{"/00000000-0000-4000-8000-000000000002/auth", []string{"*"}, nil, http.StatusNotFound, "'none'"},
		{"/" + known + "/auth", nil, errors.New("a secret of the store"), http.StatusInternalServerError, "'none'"},
	} {
		w := get(t, c.path, c.origins, c.failure)
		if w.Code != c.status || ancestorsOf(w) != c.want || strings.Contains(w.Body.String(), "secret of the store") {
			t.Errorf("%s: %d, ancestors %q, %s; want %d, %q", c.path, w.Code, ancestorsOf(w), w.Body, c.status, c.want)
		}
	}
}

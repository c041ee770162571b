package console

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// behind stands for the interface.
var behind = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })

func handler(t *testing.T, c Config) http.Handler {
	t.Helper()
	h, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return h.Before(behind)
}

// reply is what a request was answered with.
type reply struct {
	StatusCode int
	Header     http.Header
	Text       string
}

func request(h http.Handler, method, path, body string, header ...string) reply {
	r := httptest.NewRequest(method, "http://localhost:8080"+path, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:50000"
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	if host := r.Header.Get("Host"); host != "" {
		r.Host = host
	}
	if peer := r.Header.Get("Peer"); peer != "" {
		r.RemoteAddr = peer
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return reply{w.Code, w.Header(), w.Body.String()}
}

func TestRoutes(t *testing.T) {
	h := handler(t, Config{Idle: time.Minute})
	for _, c := range []struct {
		method, path, accept string
		status               int
		location             string
	}{
		{"GET", "/", "text/html,*/*", http.StatusFound, "/console/"},
		{"HEAD", "/", "text/html", http.StatusFound, "/console/"},
		{"GET", "/", "application/json", http.StatusTeapot, ""},
		{"GET", "/", "", http.StatusTeapot, ""},
		{"POST", "/", "text/html", http.StatusTeapot, ""},
		{"GET", "/console", "", http.StatusFound, "/console/"},
		{"GET", "/console/", "", http.StatusOK, ""},
		{"GET", "/console/activities/1", "", http.StatusOK, ""},
		{"GET", "/console/assets/none.js", "", http.StatusNotFound, ""},
		{"POST", "/console/", "", http.StatusTeapot, ""},
		{"GET", "/public/v1/query/whoami", "text/html", http.StatusTeapot, ""},
	} {
		r := request(h, c.method, c.path, "", "Accept", c.accept)
		if r.StatusCode != c.status || r.Header.Get("Location") != c.location {
			t.Errorf("%s %s (%q): %d %q, want %d %q", c.method, c.path, c.accept, r.StatusCode, r.Header.Get("Location"), c.status, c.location)
		}
		if c.path == "/" && c.method != "POST" && r.Header.Get("Vary") != "Accept" {
			t.Errorf("%s %s: Vary is %q", c.method, c.path, r.Header.Get("Vary"))
		}
	}
}

func TestPage(t *testing.T) {
	h := handler(t, Config{Idle: 90 * time.Second, RelyingParty: `a"><script>`})
	r := request(h, "GET", "/console/", "")
	page := r.Text
	if got := r.Header.Get("Content-Security-Policy"); got != "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'" {
		t.Errorf("the policy is %q", got)
	}
	if got := r.Header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("the page is cached: %q", got)
	}
	if !strings.Contains(page, "&#34;idleSeconds&#34;:90") || strings.Contains(page, `a"><script>`) {
		t.Errorf("the settings are not in the page, or not escaped:\n%s", page)
	}
	assets := regexp.MustCompile(`"/console/(assets/[^"]+)"`).FindAllStringSubmatch(page, -1)
	if len(assets) < 2 {
		t.Fatalf("the page names no script and styles:\n%s", page)
	}
	for _, a := range assets {
		r := request(h, "GET", "/console/"+a[1], "")
		if r.StatusCode != http.StatusOK || r.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" {
			t.Errorf("%s: %d, cached %q", a[1], r.StatusCode, r.Header.Get("Cache-Control"))
		}
		if kind := r.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/javascript") && !strings.HasPrefix(kind, "text/css") {
			t.Errorf("%s is %q", a[1], kind)
		}
		packed := request(h, "GET", "/console/"+a[1], "", "Accept-Encoding", "gzip, br")
		if packed.Header.Get("Content-Encoding") != "gzip" || packed.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s is not compressed: %v", a[1], packed.Header)
		}
	}
}

// TestSize bounds what is loaded for signing in and for the inbox: all but the
// editor, which is loaded with a policy, and the screens and decoders.
func TestSize(t *testing.T) {
	h, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	seen := map[string]bool{}
	var load func(name string)
	static := regexp.MustCompile(`(?:from|import)"\./([^"]+\.js)"`)
	load = func(name string) {
		if seen[name] {
			return
		}
		seen[name] = true
		asset := h.files[name]
		if asset == nil {
			t.Fatalf("%s is imported and not there", name)
		}
		size += len(asset.Packed())
		for _, i := range static.FindAllStringSubmatch(string(asset.Body), -1) {
			load("assets/" + i[1])
		}
	}
	for _, a := range regexp.MustCompile(`"/console/(assets/[^"]+)"`).FindAllStringSubmatch(string(h.page), -1) {
		load(a[1])
	}
	for name := range h.files {
		if strings.HasPrefix(name, "assets/evm-") || strings.HasPrefix(name, "assets/read-") {
			load(name) // what the first waiting transfer needs
		}
	}
	t.Logf("%d bytes gzip in %d files", size, len(seen))
	if size > 250_000 || len(seen) < 3 {
		t.Errorf("sign-in and inbox take %d bytes gzip in %d files; at most 250000 are allowed", size, len(seen))
	}
	for name := range seen {
		if strings.Contains(name, "codemirror") {
			t.Errorf("%s is loaded with the inbox", name)
		}
	}
}

func TestDevKey(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "dev.json"), []byte(`{"apiPrivateKey":"aa"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	h := handler(t, Config{DevFolder: folder})
	ask := func(code string, header ...string) (int, string) {
		body, _ := json.Marshal(map[string]string{"code": code})
		r := request(h, "POST", "/console/dev-key", string(body), header...)
		return r.StatusCode, r.Text
	}
	older, err := NewCode(folder)
	if err != nil {
		t.Fatal(err)
	}
	code, err := NewCode(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what   string
		code   string
		header []string
		status int
	}{
		{"from another machine", code, []string{"Peer", "192.0.2.1:5"}, http.StatusNotFound},
		{"by another name", code, []string{"Host", "evil.example:8080"}, http.StatusNotFound},
		{"without a code", "", nil, http.StatusForbidden},
		{"with an older code", older, nil, http.StatusForbidden},
		{"with another code", code + "x", nil, http.StatusForbidden},
		{"with the code", code, nil, http.StatusOK},
		{"with the code again", code, nil, http.StatusForbidden},
	} {
		status, body := ask(c.code, c.header...)
		if status != c.status || strings.Contains(body, "apiPrivateKey") != (c.status == http.StatusOK) {
			t.Errorf("%s: %d %s", c.what, status, body)
		}
	}
	if r := request(handler(t, Config{}), "POST", "/console/dev-key", `{"code":""}`); r.StatusCode != http.StatusNotFound {
		t.Errorf("another server answers %d", r.StatusCode)
	}
}

func TestDevKeyOnce(t *testing.T) {
	folder := t.TempDir()
	code, err := NewCode(folder)
	if err != nil {
		t.Fatal(err)
	}
	results := make(chan bool)
	for range 20 {
		go func() {
			ok, err := redeem(folder, code)
			results <- ok && err == nil
		}()
	}
	used := 0
	for range 20 {
		if <-results {
			used++
		}
	}
	if used != 1 {
		t.Errorf("the code was good for %d of 20", used)
	}
}

package api_test

import (
	"maps"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"latchkey/internal/request/api"
	"latchkey/internal/request/ops"
	"latchkey/internal/server/config"
	. "latchkey/internal/test/servertest"
)

// TestUnserved answers the calls that clients have and the server has not: with
// or without a stamp, they are told so, and why.
func TestUnserved(t *testing.T) {
	s := Start(t, SQLite(t), config.Default())
	for name, reason := range api.Unserved() {
		path := s.URL + "/public/v1/submit/" + name
		if strings.HasPrefix(name, "get_") || strings.HasPrefix(name, "list_") {
			path = s.URL + "/public/v1/query/" + name
		}
		for _, header := range []http.Header{{}, {"X-Stamp": {"not a stamp"}}} {
			reply := Send(t, http.MethodPost, path, header, []byte("{}"))
			CheckError(t, reply, http.StatusNotFound)
			body := reply.JSON(t)
			if got, want := body.Get("message").Text(), "Latchkey does not serve "+name+"; see docs/differences.md"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if got := body.Get("details", 1, "reason").Text(); got != reason {
				t.Errorf("%s: reason %q, want %q", name, got, reason)
			}
			if reply.Header.Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("%s: a page cannot read the answer: %v", name, reply.Header)
			}
		}
	}
}

// TestUnservedIsDocumented: the table of the server is that of the page, which a
// run of the clients wrote, and has nothing that is served.
func TestUnservedIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/compatibility.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(page), "\n## Not served\n")
	if !found {
		t.Fatal("the page has no list of what is not served")
	}
	documented := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\| ([a-z ]+) \\|").FindAllStringSubmatch(list, -1) {
		documented[row[1]] = row[2]
	}
	if diff := cmp.Diff(documented, api.Unserved()); diff != "" {
		t.Errorf("docs/compatibility.md and the table differ (-page +table):\n%s", diff)
	}
	catalog := ops.Catalog()
	for name := range maps.Keys(api.Unserved()) {
		if catalog.Endpoint(name) != nil || catalog.Query(name) != nil {
			t.Errorf("%s is served", name)
		}
	}
}

// TestPreflight lets pages ask everywhere: what is not there must be told by the
// server, not by the browser.
func TestPreflight(t *testing.T) {
	s := Start(t, SQLite(t), config.Default())
	for _, path := range []string{
		"/", "/nowhere", "/public/v1/query/whoami", "/public/v1/submit/create_users", "/public/v1/query/get_boot_proof",
		"/latchkey/v1/explain", "/v1/signup", "/healthz", "/readyz", "/metrics", "/openapi.json", "/.well-known/latchkey.json",
	} {
		reply := Send(t, http.MethodOptions, s.URL+path, http.Header{
			"Origin": {"https://app.example"}, "Access-Control-Request-Method": {"POST"}, "Access-Control-Request-Headers": {"x-stamp"},
		}, nil)
		if reply.Status != http.StatusNoContent || len(reply.Body) > 0 || reply.Header.Get("Access-Control-Allow-Origin") != "*" ||
			!strings.Contains(reply.Header.Get("Access-Control-Allow-Headers"), "X-Stamp") {
			t.Errorf("%s: HTTP %d %v %s", path, reply.Status, reply.Header, reply.Body)
		}
	}
}

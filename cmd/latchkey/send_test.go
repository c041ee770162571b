package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"latchkey/internal/test/testkit"
)

// failing stands between a client and a server. Requests are carried out; the
// first replies do not arrive.
type failing struct {
	to string // the server

	mu     sync.Mutex
	fails  []func(http.ResponseWriter) // by which the next replies are lost
	bodies [][]byte
}

func (f *failing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	f.bodies = append(f.bodies, body)
	forward, _ := http.NewRequest(r.Method, f.to+r.URL.Path, bytes.NewReader(body))
	forward.Header = r.Header
	reply, err := http.DefaultClient.Do(forward)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer reply.Body.Close()
	if len(f.fails) > 0 {
		fail := f.fails[0]
		f.fails = f.fails[1:]
		fail(w)
		return
	}
	w.WriteHeader(reply.StatusCode)
	_, _ = io.Copy(w, reply.Body) // the client may be gone
}

// unavailable answers 503; cut drops the connection.
func unavailable(w http.ResponseWriter) {
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = io.WriteString(w, `{"code":14,"message":"the database failed"}`)
}

func cut(http.ResponseWriter) { panic(http.ErrAbortHandler) }

// received returns the bodies that have arrived, and sets what is lost next.
func (f *failing) received(next ...func(http.ResponseWriter)) [][]byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	bodies := f.bodies
	f.bodies, f.fails = nil, next
	return bodies
}

// TestResend loses the replies to a request. With --resend the same bytes are
// sent again, and the outcome is that of the first; without it the message says
// how to send them. Nothing is done twice.
func TestResend(t *testing.T) {
	t.Parallel()
	server := startDev(t, "latchkey", filepath.Join(t.TempDir(), "data"))
	testkit.Until(t, "the server answers", server.ready)
	between := &failing{to: server.dev.BaseURL}
	proxy := httptest.NewServer(between)
	defer proxy.Close()
	kept := t.TempDir()
	run := func(arguments ...string) (stdout, stderr string, status int) {
		t.Helper()
		var out, log strings.Builder
		cmd := exec.Command("latchkey", append(arguments, "--data", server.dir, "--url", proxy.URL)...)
		cmd.Stdout, cmd.Stderr, cmd.Env = &out, &log, append(os.Environ(), "TMPDIR="+kept)
		err := cmd.Run()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return out.String(), log.String(), cmd.ProcessState.ExitCode()
	}
	tag := func(name string) string { return `{"userTagName":"` + name + `","userIds":[]}` }
	same := func(bodies [][]byte, n int) {
		t.Helper()
		if len(bodies) != n {
			t.Errorf("%d requests arrived, not %d", len(bodies), n)
		}
		for _, b := range bodies {
			if !bytes.Equal(b, bodies[0]) {
				t.Errorf("other bytes were sent:\n%s\n%s", bodies[0], b)
			}
		}
	}

	between.received(unavailable, cut)
	stdout, stderr, status := run("call", "create_user_tag", "--json", tag("call"), "--resend", "2")
	if status != 0 || !strings.Contains(stdout, "ACTIVITY_STATUS_COMPLETED") || strings.Count(stderr, "sending the same bytes again") != 2 {
		t.Errorf("call: status %d\n%s\n%s", status, stdout, stderr)
	}
	same(between.received(unavailable, cut), 3)
	if stdout, stderr, status = run("request", "create_user_tag", tag("request"), "--resend", "2"); status != 0 || !strings.Contains(stdout, "ACTIVITY_STATUS_COMPLETED") {
		t.Errorf("request: status %d\n%s\n%s", status, stdout, stderr)
	}
	same(between.received(unavailable, unavailable), 3)

	// Not often enough, and not at all: the bytes are kept, and the command that is
	// shown finds out what became of them.
	for name, tt := range map[string]struct {
		arguments []string
		lost      []func(http.ResponseWriter)
	}{
		"once":  {[]string{"call", "create_user_tag", "--json", tag("once"), "--resend", "1"}, []func(http.ResponseWriter){unavailable, unavailable}},
		"never": {[]string{"call", "create_user_tag", "--json", tag("never")}, []func(http.ResponseWriter){unavailable}},
		"cut":   {[]string{"call", "create_user_tag", "--json", tag("cut")}, []func(http.ResponseWriter){cut}},
		"other": {[]string{"request", "create_user_tag", tag("other")}, []func(http.ResponseWriter){cut}},
	} {
		between.received(tt.lost...)
		_, stderr, status := run(tt.arguments...)
		shown := regexp.MustCompile(`latchkey request --exact .* '@(.*)'\n`).FindStringSubmatch(stderr)
		if status != 1 || shown == nil || !strings.Contains(stderr, "--resend N") {
			t.Fatalf("%s: status %d\n%s", name, status, stderr)
		}
		if info, err := os.Stat(shown[1]); err != nil || info.Mode().Perm() != 0o600 || filepath.Dir(shown[1]) != kept {
			t.Errorf("%s: the request is kept as %v, %v", name, info, err)
		}
		out, err := exec.Command("sh", "-c", strings.TrimSpace(shown[0])).Output()
		if err != nil || !strings.Contains(string(out), "ACTIVITY_STATUS_COMPLETED") {
			t.Errorf("%s: the command that was shown: %v\n%s", name, err, out)
		}
		same(between.received(cut), len(tt.lost)+1)
		// What is in a file is not kept once more.
		if _, stderr, status := run("request", "--exact", "create_user_tag", "@"+shown[1]); status != 1 || !strings.Contains(stderr, "run the same command once more, with "+shown[1]) {
			t.Errorf("%s: from the file: status %d\n%s", name, status, stderr)
		}
	}
	stdout, _, _ = run("call", "list_user_tags")
	if n := strings.Count(stdout, `"tagName"`); n != 6 {
		t.Errorf("there are %d tags, not 6:\n%s", n, stdout)
	}

	// A question that was not answered is asked anew, by itself or by the caller:
	// nothing is kept.
	between.received(cut)
	if stdout, stderr, status = run("call", "whoami", "--resend", "1"); status != 0 || !strings.Contains(stdout, "Root user") {
		t.Errorf("a query: status %d\n%s", status, stderr)
	}
	between.received(cut)
	if _, stderr, status = run("call", "whoami"); status != 1 || strings.Contains(stderr, "--exact") {
		t.Errorf("a query without --resend: status %d\n%s", status, stderr)
	}
	// Nor is a request that was refused, or that no server got.
	before, _ := filepath.Glob(filepath.Join(kept, "*"))
	between.received()
	if _, stderr, status = run("call", "create_user_tag", "--json", tag("call"), "--resend", "3"); status != 4 || len(between.received()) != 1 {
		t.Errorf("a refusal: status %d\n%s", status, stderr)
	}
	proxy.Close()
	if _, stderr, status = run("call", "create_user_tag", "--json", tag("nowhere")); status != 1 || strings.Contains(stderr, "--exact") {
		t.Errorf("without a server: status %d\n%s", status, stderr)
	}
	if after, _ := filepath.Glob(filepath.Join(kept, "*")); len(after) != len(before) || len(before) != 4 {
		t.Errorf("kept before %v, after %v", before, after)
	}
	if err := server.stop(); err != nil {
		t.Errorf("%v\n%s", err, server.log)
	}
}

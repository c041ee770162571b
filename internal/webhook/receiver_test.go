package webhook_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	. "latchkey/internal/test/servertest"
	"latchkey/internal/test/testkit"
)

// receiver is a program that gets deliveries.
type receiver struct {
	URL  string
	http *httptest.Server

	mu      sync.Mutex
	changed chan struct{}
	answer  func(attempt int, header http.Header) int // status
	all     []received
}

// received is one attempt to deliver.
type received struct {
	header http.Header
	body   []byte
	status int
}

func (r *received) id() string { return r.header.Get("X-Turnkey-Event-Id") }

func newReceiver(t testing.TB) *receiver {
	r := &receiver{changed: make(chan struct{}), answer: func(int, http.Header) int { return http.StatusOK }}
	r.http = httptest.NewServer(r)
	t.Cleanup(r.http.Close)
	r.URL = r.http.URL + "/hook"
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return
	}
	r.mu.Lock()
	status := r.answer(len(r.all), request.Header)
	r.all = append(r.all, received{request.Header, body, status})
	close(r.changed)
	r.changed = make(chan struct{})
	r.mu.Unlock()
	if status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	if status == http.StatusFound {
		w.Header().Set("Location", "/elsewhere")
	}
	w.WriteHeader(status)
}

// reply changes what the receiver answers.
func (r *receiver) reply(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = func(int, http.Header) int { return status }
}

// await waits until the attempts so far fulfil a condition, and returns them.
func (r *receiver) await(t testing.TB, what string, done func([]received) bool) []received {
	t.Helper()
	late := time.After(testkit.Patience)
	for {
		r.mu.Lock()
		all, changed := append([]received(nil), r.all...), r.changed
		r.mu.Unlock()
		if done(all) {
			return all
		}
		select {
		case <-changed:
		case <-late:
			t.Fatalf("%s did not come; there were %d attempts", what, len(all))
		}
	}
}

// activities waits until all of some activities were taken with status 200, and
// returns the attempts.
func (r *receiver) activities(t testing.TB, ids ...string) []received {
	t.Helper()
	return r.await(t, "an event", func(all []received) bool {
		taken := map[string]bool{}
		for i := range all {
			if all[i].status == http.StatusOK {
				taken[activityOf(t, all[i].body)] = true
			}
		}
		for _, id := range ids {
			if !taken[id] {
				return false
			}
		}
		return true
	})
}

func activityOf(t testing.TB, body []byte) string {
	v := Reply{Body: body}.JSON(t)
	if !v.Has("id") {
		return ""
	}
	return v.Get("id").Text()
}

// order is the activities in the order in which they were first taken.
func order(t testing.TB, all []received) (ids []string) {
	seen := map[string]bool{}
	for i := range all {
		if id := activityOf(t, all[i].body); all[i].status == http.StatusOK && !seen[all[i].id()] {
			seen[all[i].id()] = true
			ids = append(ids, id)
		}
	}
	return ids
}

// publicKeys are the keys that the server publishes, by id.
func publicKeys(t testing.TB, s *Server) map[string]ed25519.PublicKey {
	t.Helper()
	reply := Send(t, http.MethodGet, s.URL+"/public/v1/discovery/webhooks/jwks", nil, nil)
	if reply.Status != http.StatusOK || !strings.Contains(reply.Header.Get("Cache-Control"), "max-age") {
		t.Fatalf("HTTP %d, %v: %s", reply.Status, reply.Header, reply.Body)
	}
	keys := map[string]ed25519.PublicKey{}
	for _, k := range reply.JSON(t).Get("keys").List() {
		if k.Get("kty").Text() != "OKP" || k.Get("crv").Text() != "Ed25519" || k.Get("alg").Text() != "EdDSA" || k.Get("use").Text() != "sig" {
			t.Errorf("a key is %v", k)
		}
		x, err := base64.RawURLEncoding.DecodeString(k.Get("x").Text())
		if err != nil || len(x) != ed25519.PublicKeySize {
			t.Fatalf("a key is %v", k)
		}
		keys[k.Get("kid").Text()] = x
	}
	return keys
}

// verify checks both signatures of a delivery by the words of their
// specifications.
func verify(t testing.TB, keys map[string]ed25519.PublicKey, r *received) {
	t.Helper()
	h := r.header
	key := keys[h.Get("X-Turnkey-Signature-Key-Id")]
	if key == nil {
		t.Fatalf("no key %q is published", h.Get("X-Turnkey-Signature-Key-Id"))
	}
	signature, err := hex.DecodeString(h.Get("X-Turnkey-Signature"))
	signed := strings.Join([]string{
		h.Get("X-Turnkey-Signature-Version"), h.Get("X-Turnkey-Signature-Algorithm"), h.Get("X-Turnkey-Signature-Key-Id"),
		h.Get("X-Turnkey-Timestamp"), h.Get("X-Turnkey-Event-Id"), string(r.body),
	}, ".")
	if err != nil || !strings.HasPrefix(signed, "v1.ed25519.") || !ed25519.Verify(key, []byte(signed), signature) {
		t.Errorf("the signature is not valid: %v", h)
	}
	encoded, isV1a := strings.CutPrefix(h.Get("Webhook-Signature"), "v1a,")
	signature, err = base64.StdEncoding.DecodeString(encoded)
	standard := h.Get("Webhook-Id") + "." + h.Get("Webhook-Timestamp") + "." + string(r.body)
	if err != nil || !isV1a || !ed25519.Verify(key, []byte(standard), signature) {
		t.Errorf("the signature of Standard Webhooks is not valid: %v", h)
	}
	if h.Get("Webhook-Id") != r.id() || strings.Contains(r.id(), ".") || h.Get("X-Turnkey-Webhook-Version") != "1" ||
		h.Get("Content-Type") != "application/json" {
		t.Errorf("the headers are %v", h)
	}
}

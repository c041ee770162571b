package witness

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"latchkey/internal/translog"
)

func TestNewClientRefuses(t *testing.T) {
	l := newLog(t, testOrigin, 1)
	w := openWitness(t, t.TempDir(), l.keys)
	other := openWitness(t, t.TempDir(), l.keys)
	key := w.VerifierKeys().Texts()[0]
	for name, tc := range map[string][2]string{
		"no key": {"http://127.0.0.1", ""}, "a log's key": {"http://127.0.0.1", l.keys[0].Text()}, "keys of two": {"http://127.0.0.1", key + " " + other.VerifierKeys().Texts()[0]},
		"no scheme": {"127.0.0.1:80", key}, "another scheme": {"ftp://x", key}, "user info": {"http://a:b@x", key}, "a query": {"http://x?y", key},
	} {
		if _, err := NewClient(tc[0], tc[1]); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// A witness that lies, or is something else, is an error and never a cosignature.
func TestBadWitness(t *testing.T) {
	l := newLog(t, testOrigin, 1)
	w, other := openWitness(t, t.TempDir(), l.keys), openWitness(t, t.TempDir(), l.keys)
	l.grow(4, "")
	foreign, err := other.AddCheckpoint(l.body(0))
	if err != nil {
		t.Fatal(err)
	}
	for name, handler := range map[string]http.HandlerFunc{
		"nothing":   func(http.ResponseWriter, *http.Request) {},
		"another's": func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write(foreign) },
		"words":     func(rw http.ResponseWriter, _ *http.Request) { answer(rw, 200, "text/plain", "fine\n") },
		"endless": func(rw http.ResponseWriter, _ *http.Request) {
			answer(rw, 200, "text/plain", strings.Repeat("x", maxReply+1))
		},
		"a redirect": func(rw http.ResponseWriter, r *http.Request) {
			http.Redirect(rw, r, "/elsewhere", http.StatusTemporaryRedirect)
		},
		"an error":         func(rw http.ResponseWriter, _ *http.Request) { answer(rw, 500, "text/plain", "no\n") },
		"409 with words":   func(rw http.ResponseWriter, _ *http.Request) { answer(rw, 409, "text/x.tlog.size", "four\n") },
		"409 with no news": func(rw http.ResponseWriter, _ *http.Request) { answer(rw, 409, "text/x.tlog.size", "0\n") },
		"409 for ever": func(rw http.ResponseWriter, r *http.Request) {
			body := make([]byte, 5)
			_, _ = r.Body.Read(body)
			answer(rw, 409, "text/x.tlog.size", map[bool]string{true: "1\n", false: "2\n"}[body[4] != '1'])
		},
	} {
		srv := httptest.NewServer(handler)
		c, err := NewClient(srv.URL, w.VerifierKeys().Texts()[0])
		if err != nil {
			t.Fatal(err)
		}
		cosigned, err := c.Submit(t.Context(), l.checkpoint(), l.prover())
		var fork *ForkError
		if err == nil || cosigned != nil || errors.As(err, &fork) || !strings.Contains(err.Error(), w.Name()) {
			t.Errorf("%s: %v, %v", name, cosigned, err)
		}
		if latest, err := c.Latest(t.Context(), testOrigin, l.keys); err == nil {
			t.Errorf("%s: latest %v", name, latest)
		}
		srv.Close()
	}
	// Of two keys that the client was given, each must have signed.
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		lines, err := w.AddCheckpoint(string(body))
		if err != nil {
			t.Error(err)
		}
		first, _, _ := strings.Cut(string(lines), "\n")
		answer(rw, 200, "text/plain", first+"\n")
	}))
	defer srv.Close()
	both, err := NewClient(srv.URL, strings.Join(w.VerifierKeys().Texts(), " "))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := both.Submit(t.Context(), l.checkpoint(), l.prover()); err == nil || !strings.Contains(err.Error(), "each of its keys") {
		t.Errorf("one cosignature of two: %v", err)
	}
	gone, err := NewClient("http://127.0.0.1:1", w.VerifierKeys().Texts()[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gone.Submit(t.Context(), l.checkpoint(), l.prover()); err == nil {
		t.Error("a witness that is away")
	}
}

// transport answers in the process, so that a bubble can watch it.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func throughHandler(h http.Handler) transport {
	return func(r *http.Request) (*http.Response, error) {
		rw := httptest.NewRecorder()
		h.ServeHTTP(rw, r)
		return rw.Result(), nil
	}
}

// A witness that does not answer holds its courier up and nothing else; when it is
// back it gets the newest checkpoint.
func TestCourier(t *testing.T) {
	l := newLog(t, testOrigin, 1)
	w := openWitness(t, t.TempDir(), l.keys)
	keys := strings.Join(w.VerifierKeys().Texts(), " ")
	synctest.Test(t, func(t *testing.T) {
		c, err := NewClient("http://witness.example", keys)
		if err != nil {
			t.Fatal(err)
		}
		var away atomic.Bool
		c.http.Transport = transport(func(r *http.Request) (*http.Response, error) {
			if away.Load() {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			return throughHandler(w.Handler())(r)
		})
		var cosigned *translog.Signed
		var failures int
		prove := func(_ context.Context, head translog.Head, old int64) ([]translog.Hash, error) {
			return translog.ProveConsistency(l, head, old)
		}
		courier := NewCourier(c, prove, func(_ context.Context, _, signed *translog.Signed, err error) {
			if err != nil {
				failures++
			} else {
				cosigned = signed
			}
		})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { courier.Run(ctx); close(ended) }()
		l.grow(5, "")
		courier.Offer(l.checkpoint())
		synctest.Wait()
		if cosigned == nil || cosigned.Size != 5 {
			t.Fatalf("%+v, %d failures", cosigned, failures)
		}
		away.Store(true)
		before := time.Now()
		for range 10 {
			l.grow(1, "")
			courier.Offer(l.checkpoint())
			synctest.Wait()
		}
		if time.Now() != before {
			t.Error("an offer waited for the witness")
		}
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if failures < 4 || failures > 20 {
			t.Errorf("%d failures in five minutes", failures)
		}
		away.Store(false)
		time.Sleep(2 * maxWait)
		synctest.Wait()
		if cosigned.Size != 15 {
			t.Errorf("the witness is back, and has %d entries", cosigned.Size)
		}
		cancel()
		<-ended
	})
}

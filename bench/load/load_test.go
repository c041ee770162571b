package load

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// request asks a test server for a reply by its path.
func request(path, body string) Request {
	return Request{Wire: fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: test\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body)}
}

// dial connects to a server that echoes bodies and counts them.
func dial(t *testing.T, n int) (c *Clients, seen *atomic.Int64) {
	t.Helper()
	seen = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.Add(1)
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		switch r.URL.Path {
		case "/refuse":
			w.WriteHeader(http.StatusForbidden)
		case "/chunks":
			w.(http.Flusher).Flush()
		}
		_, _ = w.Write(body)
	}))
	t.Cleanup(s.Close)
	c, err := Dial(strings.TrimPrefix(s.URL, "http://"), n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, seen
}

func TestRun(t *testing.T) {
	clients, seen := dial(t, 7)
	requests := make([]Request, 500)
	for i := range requests {
		body := fmt.Sprintf("request %d.", i)
		requests[i] = request([]string{"/", "/chunks"}[i%2], body)
		requests[i].Want = []byte(body)
		requests[i].Check = func(reply []byte) error {
			if string(reply) != body {
				return fmt.Errorf("got %q, want %q", reply, body)
			}
			return nil
		}
	}
	result, err := clients.Run(requests, time.Minute, 10)
	if err != nil {
		t.Fatal(err)
	}
	if result.Requests() != len(requests) || int(seen.Load()) != len(requests) {
		t.Errorf("%d replies to %d of %d requests", result.Requests(), seen.Load(), len(requests))
	}
	if n, err := result.Verify(); err != nil || n != 50 {
		t.Errorf("verified %d, %v; want 50", n, err)
	}
}

func TestRunFails(t *testing.T) {
	missing, wrong := request("/", "good"), request("/", "good")
	missing.Want = []byte("better")
	wrong.Check = func([]byte) error { return errors.New("checked and found wrong") }
	for want, requests := range map[string][]Request{
		"HTTP 403: no": {request("/", "good"), request("/refuse", "no")},
		`no "better"`:  {missing},
		"found wrong":  {wrong},
		"no request":   nil,
	} {
		clients, _ := dial(t, 1)
		result, err := clients.Run(requests, time.Minute, 1)
		if err == nil {
			_, err = result.Verify()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestQuantile(t *testing.T) {
	var r Result
	for i := range 1000 {
		r.Latencies = append(r.Latencies, time.Duration(i+1))
	}
	for q, want := range map[float64]time.Duration{0: 1, 0.5: 500, 0.99: 990, 0.999: 999, 1: 1000} {
		if got := r.Quantile(q); got != want {
			t.Errorf("%v: got %d, want %d", q, got, want)
		}
	}
}

package load

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// request asks a test server for a reply by its path.
func request(path, body string) Request {
	return Request{Wire: fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: test\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body)}
}

// start runs a server that echoes bodies, and counts them.
func start(t *testing.T) (address string, seen func() map[string]int) {
	t.Helper()
	var mu sync.Mutex
	counts := map[string]int{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		counts[string(body)]++
		mu.Unlock()
		switch r.URL.Path {
		case "/refuse":
			w.WriteHeader(http.StatusForbidden)
		case "/chunks":
			w.(http.Flusher).Flush()
		}
		_, _ = w.Write(body)
	}))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://"), func() map[string]int {
		mu.Lock()
		defer mu.Unlock()
		return counts
	}
}

func dial(t *testing.T, address string, n int) *Clients {
	t.Helper()
	c, err := Dial(address, n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestRunSendsEachRequestOnce(t *testing.T) {
	for _, path := range []string{"/", "/chunks"} {
		t.Run(path, func(t *testing.T) {
			address, seen := start(t)
			requests := make([]Request, 500)
			for i := range requests {
				body := fmt.Sprintf("request %d", i)
				requests[i] = request(path, body)
				requests[i].Want = []byte(body)
				requests[i].Check = func(reply []byte) error {
					if string(reply) != body {
						return fmt.Errorf("got %q, want %q", reply, body)
					}
					return nil
				}
			}
			clients := dial(t, address, 7)
			result, err := clients.Run(requests, time.Minute, 10)
			if err != nil {
				t.Fatal(err)
			}
			if result.Requests() != len(requests) || len(seen()) != len(requests) {
				t.Errorf("%d replies to %d of %d requests", result.Requests(), len(seen()), len(requests))
			}
			for body, n := range seen() {
				if n != 1 {
					t.Errorf("%s came %d times", body, n)
				}
			}
			if n, err := result.Verify(); err != nil || n != 50 {
				t.Errorf("verified %d, %v; want 50", n, err)
			}
			if result.Elapsed <= 0 || result.Latencies[0] <= 0 {
				t.Errorf("no time passed: %+v", result.Elapsed)
			}
		})
	}
}

// pipes are n connections in memory to a server that takes a time for each
// request; 0: it never answers.
func pipes(n int, takes time.Duration) *Clients {
	c := new(Clients)
	for range n {
		ours, theirs := net.Pipe()
		c.connections = append(c.connections, &connection{Conn: ours, reader: bufio.NewReader(ours)})
		go func() {
			defer theirs.Close()
			for r := bufio.NewReader(theirs); ; {
				request, err := http.ReadRequest(r)
				if err != nil {
					return
				}
				if _, err := io.Copy(io.Discard, request.Body); err != nil || takes == 0 {
					_, _ = r.ReadByte() // until the connection is closed
					return
				}
				time.Sleep(takes)
				if _, err := io.WriteString(theirs, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"); err != nil {
					return
				}
			}
		}()
	}
	return c
}

func TestRunEndsInTime(t *testing.T) {
	requests := make([]Request, 10_000)
	for i := range requests {
		requests[i] = request("/", "x")
	}
	const takes = 20 * time.Millisecond
	tests := []struct {
		name            string
		during, elapsed time.Duration
		want            int
	}{
		{"while a reply is out", 90 * time.Millisecond, 100 * time.Millisecond, 10},
		{"before the first reply", time.Nanosecond, takes, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clients := pipes(2, takes)
				defer clients.Close()
				result, err := clients.Run(requests, tt.during, 0)
				if err != nil {
					t.Fatal(err)
				}
				if result.Requests() != tt.want || result.Elapsed != tt.elapsed {
					t.Errorf("%d requests in %v, want %d in %v", result.Requests(), result.Elapsed, tt.want, tt.elapsed)
				}
				if result.Latencies[0] != takes || result.Quantile(1) != takes {
					t.Errorf("latencies of %v to %v, want %v", result.Latencies[0], result.Quantile(1), takes)
				}
			})
		})
	}
	t.Run("without a reply", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			clients := pipes(1, 0)
			defer clients.Close()
			begun := time.Now()
			if _, err := clients.Run(requests, time.Second, 0); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(begun) != time.Second+patience {
				t.Errorf("got %v after %v", err, time.Since(begun))
			}
		})
	})
}

func TestRunFails(t *testing.T) {
	address, _ := start(t)
	good := request("/", "good")
	missing := request("/", "good")
	missing.Want = []byte("better")
	wrong := request("/", "good")
	wrong.Check = func([]byte) error { return errors.New("not good") }
	t.Run("status", func(t *testing.T) {
		_, err := dial(t, address, 1).Run([]Request{good, request("/refuse", "no")}, time.Minute, 1)
		refused, ok := errors.AsType[*StatusError](err)
		if !ok || refused.Status != 403 || refused.Body != "no" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("content", func(t *testing.T) {
		if _, err := dial(t, address, 1).Run([]Request{good, missing}, time.Minute, 1); err == nil || !strings.Contains(err.Error(), "better") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("closer look", func(t *testing.T) {
		result, err := dial(t, address, 1).Run([]Request{wrong}, time.Minute, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := result.Verify(); err == nil || !strings.Contains(err.Error(), "not good") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("closed", func(t *testing.T) {
		clients := dial(t, address, 1)
		clients.Close()
		if _, err := clients.Run([]Request{good}, time.Minute, 0); err == nil {
			t.Error("no error")
		}
	})
	t.Run("nothing to send", func(t *testing.T) {
		if _, err := dial(t, address, 1).Run(nil, time.Minute, 0); err == nil {
			t.Error("no error")
		}
	})
	t.Run("nobody there", func(t *testing.T) {
		if _, err := Dial("127.0.0.1:1", 1); err == nil {
			t.Error("no error")
		}
	})
}

func TestQuantile(t *testing.T) {
	var r Result
	for i := 1; i <= 1000; i++ {
		r.Latencies = append(r.Latencies, time.Duration(i))
	}
	for _, tt := range []struct {
		name string
		q    float64
		want time.Duration
	}{
		{"median", 0.5, 500},
		{"p99", 0.99, 990},
		{"p99.9", 0.999, 999},
		{"all", 1, 1000},
		{"none", 0, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := r.Quantile(tt.q); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
	if got := (&Result{Latencies: []time.Duration{7}}).Quantile(0.999); got != 7 {
		t.Errorf("of one: %d", got)
	}
	if got := new(Result).Quantile(0.5); got != 0 {
		t.Errorf("of none: %d", got)
	}
}

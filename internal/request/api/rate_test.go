package api_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"latchkey/internal/request/api"
	"latchkey/internal/request/engine"
	"latchkey/internal/request/ops"
	"latchkey/internal/server/config"
	. "latchkey/internal/test/servertest"
)

// rateServer is the HTTP side alone, on a clock that stands still until the test moves
// it, behind a proxy on this machine.
func rateServer(t *testing.T, trusted ...string) (url string, clock *atomic.Int64) {
	t.Helper()
	clock = new(atomic.Int64)
	clock.Store(time.Now().UnixNano())
	catalog := ops.Catalog()
	c := api.Config{
		Engine: engine.New(engine.Config{Catalog: catalog, Now: time.Now}), Catalog: catalog,
		Log: slog.New(slog.DiscardHandler), Metrics: api.NewMetrics(api.Sources{}),
		MaxBody: 1 << 20, MaxHeader: 1 << 14, Timeout: patience,
		Rate: api.Rate{Address: 10}, Now: func() time.Time { return time.Unix(0, clock.Load()) },
	}
	for _, network := range trusted {
		c.TrustedProxies = append(c.TrustedProxies, netip.MustParsePrefix(network))
	}
	server := httptest.NewServer(api.New(c))
	t.Cleanup(server.Close)
	return server.URL, clock
}

// TestRateOfAddress refuses requests without a stamp, and from some number a
// second on looks at nothing that comes from their address.
func TestRateOfAddress(t *testing.T) {
	url, clock := rateServer(t, "127.0.0.0/8", "10.1.0.0/16")
	post := func(status int, forwarded ...string) Reply {
		t.Helper()
		reply := Send(t, http.MethodPost, url+"/public/v1/query/whoami", http.Header{"X-Forwarded-For": forwarded},
			[]byte(`{"organizationId":"f9a31c64-d604-42e4-9bef-a773096afad7"}`))
		CheckError(t, reply, status)
		return reply
	}
	fill := func(forwarded ...string) {
		t.Helper()
		for range 10 {
			post(http.StatusUnauthorized, forwarded...)
		}
		post(http.StatusTooManyRequests, forwarded...)
	}
	fill("203.0.113.7")
	reply := post(http.StatusTooManyRequests, "203.0.113.7")
	if reply.Header.Get("Retry-After") != "1" || reply.JSON(t).Get("code").Number() != 8 ||
		reply.JSON(t).Get("turnkeyErrorCode").Text() != "RATE_LIMITED" {
		t.Errorf("Retry-After %q: %s", reply.Header.Get("Retry-After"), reply.Body)
	}
	// Another path is refused for the same address, the pages for operators are not.
	CheckError(t, Send(t, http.MethodPost, url+"/nothing", http.Header{"X-Forwarded-For": {"203.0.113.7"}}, nil), http.StatusTooManyRequests)
	if reply := Send(t, http.MethodGet, url+"/healthz", http.Header{"X-Forwarded-For": {"203.0.113.7"}}, nil); reply.Status != http.StatusOK {
		t.Errorf("healthz: HTTP %d", reply.Status)
	}
	// What was refused for its number does not count: a tenth of a second makes room for one.
	clock.Add(int64(100 * time.Millisecond))
	post(http.StatusUnauthorized, "203.0.113.7")
	post(http.StatusTooManyRequests, "203.0.113.7")
	clock.Add(int64(time.Second))
	fill("203.0.113.7")
	clock.Add(-int64(time.Hour)) // a clock that is set back makes no room
	post(http.StatusTooManyRequests, "203.0.113.7")

	// Only what trusted proxies say counts.
	fill("8.8.8.8, 203.0.113.8")
	post(http.StatusTooManyRequests, "9.9.9.9, 203.0.113.8")
	post(http.StatusTooManyRequests, "9.9.9.9", "203.0.113.8, 10.1.2.3")
	post(http.StatusUnauthorized, "203.0.113.8, 203.0.113.9")
	post(http.StatusTooManyRequests, "::ffff:203.0.113.8")
	fill("2001:db8::1")
	post(http.StatusTooManyRequests, "2001:db8::2")
	post(http.StatusUnauthorized, "2001:db8:0:1::1")
	// This machine has no bound.
	for range 30 {
		post(http.StatusUnauthorized)
		post(http.StatusUnauthorized, "127.0.0.1")
		post(http.StatusUnauthorized, "not an address")
	}
}

// TestUntrustedProxy does not believe a client that claims to be a proxy.
func TestUntrustedProxy(t *testing.T) {
	url, _ := rateServer(t)
	for range 30 {
		reply := Send(t, http.MethodPost, url+"/nothing", http.Header{"X-Forwarded-For": {"203.0.113.7"}}, nil)
		CheckError(t, reply, http.StatusNotFound) // from this machine
	}
}

// TestRateOfUser bounds all requests of one user.
func TestRateOfUser(t *testing.T) {
	c := config.Default()
	c.Limits.Rate.User = 1
	s := Start(t, SQLite(t), c)
	for end := time.Now().Add(patience); ; {
		reply := s.Root.Post(t, "whoami", s.Root.Body(t, "whoami", nil))
		if reply.Status == http.StatusTooManyRequests {
			CheckError(t, reply, http.StatusTooManyRequests)
			if !strings.Contains(string(reply.Body), "RATE_LIMITED") || reply.Header.Get("Retry-After") != "1" {
				t.Errorf("%v %s", reply.Header, reply.Body)
			}
			break
		}
		if reply.Status != http.StatusOK || time.Now().After(end) {
			t.Fatalf("HTTP %d: %s", reply.Status, reply.Body)
		}
	}
}

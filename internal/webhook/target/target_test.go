package target

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// spellings are addresses, and what becomes of each in the three kinds of server:
// y is accepted, n refused when the endpoint is made, d refused when it is dialled.
// The first is a server as it is, the second allows 10.1.0.0/16 and fd00::/8, the
// third this machine.
var spellings = []struct{ address, verdicts string }{
	{"https://example.com/hook", "yyy"},
	{"https://example.com:8443/hook?a=b", "yyy"},
	{"https://EXAMPLE.com./", "yyy"},
	{"https://xn--bcher-kva.example/", "yyy"},
	{"https://93.184.215.14/", "yyy"},
	{"https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]:444/", "yyy"},
	{"http://example.com/", "nyn"}, // where it leads is seen when it is dialled
	{"http://93.184.215.14/", "nnn"},
	{"https://user@example.com/", "nnn"},
	{"https://user:password@example.com/", "nnn"},
	{"https://example.com/#fragment", "nnn"},
	{"https://example.com:0/", "nnn"},
	{"https://example.com:/", "nnn"},
	{"https://example.com:99999/", "nnn"},
	{"ftp://example.com/", "nnn"},
	{"//example.com/", "nnn"},
	{"https:example.com", "nnn"},
	{"https://", "nnn"},
	{"example.com", "nnn"},
	{"https://exa mple.com/", "nnn"},
	{"https://bücher.example/", "nnn"},
	{"https://１２７.０.０.１/", "nnn"},
	{"https://127。0。0。1/", "nnn"},
	{"https://%31%32%37.0.0.1/", "nnn"},
	// This machine.
	{"https://127.0.0.1/", "nny"},
	{"http://127.0.0.1:8080/", "nny"},
	{"https://127.255.255.254/", "nny"},
	{"https://[::1]/", "nny"},
	{"https://[0:0:0:0:0:0:0:1]/", "nny"},
	{"https://[::ffff:127.0.0.1]/", "nny"},
	{"https://[::ffff:7f00:1]/", "nny"},
	{"https://localhost/", "nny"},
	{"https://LOCALHOST./", "nny"},
	{"https://a.localhost/", "nny"},
	{"https://127.1/", "nnn"},
	{"https://2130706433/", "nnn"},
	{"https://0x7f000001/", "nnn"},
	{"https://0x7f.0.0.1/", "nnn"},
	{"https://0177.0.0.1/", "nnn"},
	{"https://127.0.0.1./", "nnn"},
	{"https://127.0.0.01/", "nnn"},
	{"https://0.0.0.0/", "nnn"},
	{"https://[::]/", "nnn"},
	// Networks of others.
	{"https://10.1.2.3/", "nyn"},
	{"http://10.1.2.3:9000/", "nyn"},
	{"https://[::ffff:10.1.2.3]/", "nyn"},
	{"https://[fd00::7]/", "nyn"},
	{"https://10.2.2.3/", "nnn"},
	{"https://192.168.1.1/", "nnn"},
	{"https://172.31.255.255/", "nnn"},
	{"https://169.254.169.254/latest/meta-data/", "nnn"},
	{"https://[::ffff:169.254.169.254]/", "nnn"},
	{"https://[64:ff9b::a9fe:a9fe]/", "nnn"},     // the same through NAT64
	{"https://[2002:a9fe:a9fe::1]/", "nnn"},      // the same through 6to4
	{"https://[2001:0:a9fe:a9fe::1]/", "nnn"},    // Teredo
	{"https://[::169.254.169.254]/", "nnn"},      // compatible, of old
	{"https://[fe80::1]/", "nnn"},                // link-local
	{"https://[fe80::1%25eth0]/", "nnn"},         // with a zone
	{"https://[ff02::1]/", "nnn"},                // multicast
	{"https://[fec0::1]/", "nnn"},                // site-local, of old
	{"https://[100::1]/", "nnn"},                 // discarded
	{"https://100.64.0.1/", "nnn"},               // carriers
	{"https://224.0.0.1/", "nnn"},                // multicast
	{"https://255.255.255.255/", "nnn"},          // broadcast
	{"https://198.51.100.7/", "nnn"},             // documentation
	{"https://[2001:db8::1]/", "nnn"},            // documentation
	{"https://[1.2.3.4]/", "nnn"},                // not IPv6
	{"https://metadata.google.internal/", "yyy"}, // refused when it is dialled
	{"https://" + strings.Repeat("a.", 130), "nnn"},
	{"https://example.com/" + strings.Repeat("a", MaxURL), "nnn"},
}

// kindsOfServers is what is allowed in each.
func kindsOfServers() []*Guard {
	return []*Guard{
		NewGuard(nil),
		NewGuard([]netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd00::/8")}),
		NewGuard(Loopback()),
	}
}

func TestCheck(t *testing.T) {
	for _, s := range spellings {
		for i, g := range kindsOfServers() {
			err := g.Check(s.address)
			if got := err == nil; got != (s.verdicts[i] == 'y') {
				t.Errorf("%.100s, server %d: accepted %v, want %c: %v", s.address, i, got, s.verdicts[i], err)
			}
			if err != nil && (strings.Contains(err.Error(), "password@") || strings.Contains(err.Error(), "169.254")) {
				t.Errorf("%.100s: the refusal repeats the address: %v", s.address, err)
			}
		}
	}
}

// TestDial judges the addresses that names resolve to, at the moment of the dial.
// Nothing but this machine is dialled.
func TestDial(t *testing.T) {
	for _, test := range []struct{ scheme, address, verdicts string }{
		{"https", "93.184.215.14:443", "yyy"},
		{"https", "[2606:2800::1]:8443", "yyy"},
		{"http", "93.184.215.14:80", "nnn"},
		{"https", "127.0.0.1:443", "nny"},
		{"http", "127.0.0.1:80", "nny"},
		{"http", "[::1]:80", "nny"},
		{"https", "[::ffff:127.0.0.1]:443", "nny"},
		{"https", "10.1.0.1:443", "nyn"},
		{"http", "10.1.0.1:8080", "nyn"},
		{"https", "10.2.0.1:443", "nnn"},
		{"https", "169.254.169.254:443", "nnn"},
		{"https", "[::ffff:169.254.169.254]:443", "nnn"},
		{"https", "[64:ff9b::a9fe:a9fe]:443", "nnn"},
		{"https", "[fe80::1%eth0]:443", "nnn"},
		{"https", "[fd00::1%eth0]:443", "nnn"},
		{"https", "0.0.0.0:443", "nnn"},
		{"https", "[::]:443", "nnn"},
		{"https", "/run/socket", "nnn"},
	} {
		for i, g := range kindsOfServers() {
			network := "tcp4"
			if strings.HasPrefix(test.address, "[") {
				network = "tcp6"
			}
			err := g.control(test.scheme == "http")(network, test.address, nil)
			if got := err == nil; got != (test.verdicts[i] == 'y') {
				t.Errorf("%s %s, server %d: allowed %v: %v", test.scheme, test.address, i, got, err)
			}
		}
	}
	if NewGuard(Loopback()).control(true)("unix", "127.0.0.1:80", nil) == nil {
		t.Error("a socket that is not TCP may be dialled")
	}
}

// TestNameThatChanges resolves a name to this machine while it is looked at, and to
// the metadata service when it is dialled.
func TestNameThatChanges(t *testing.T) {
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
	}))
	defer receiver.Close()
	_, port, _ := net.SplitHostPort(receiver.Listener.Addr().String())
	var answer atomic.Pointer[netip.Addr]
	resolver := nameServer(t, &answer)
	g := NewGuard(append(Loopback(), netip.MustParsePrefix("192.0.2.0/24")))
	c := NewClient(g, Options{Timeout: time.Minute, Resolver: resolver, Now: time.Now})
	defer c.Close()
	address := "http://receiver.example:" + port + "/"
	for _, step := range []struct {
		answer  string
		allowed bool
	}{{"127.0.0.1", true}, {"169.254.169.254", false}, {"10.0.0.1", false}, {"127.0.0.1", true}, {"93.184.215.14", false}} {
		at := netip.MustParseAddr(step.answer)
		answer.Store(&at)
		if err := g.Check(address); err != nil {
			t.Fatal(err)
		}
		reply, err := c.Post(context.Background(), address, http.Header{}, []byte("{}"))
		switch {
		case step.allowed && (err != nil || !reply.OK()):
			t.Errorf("%s: %v, %v", step.answer, reply, err)
		case !step.allowed && !IsRefused(err):
			t.Errorf("%s: %v, %v, want a refusal", step.answer, reply, err)
		}
	}
}

func TestPost(t *testing.T) {
	var asked atomic.Int32
	mux := http.NewServeMux()
	mux.HandleFunc("/ok", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Test") != "1" || r.Method != http.MethodPost {
			w.WriteHeader(http.StatusBadRequest)
		}
	})
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/target", http.StatusFound) })
	mux.HandleFunc("/target", func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	mux.HandleFunc("/busy", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "120")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 4096)); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/header", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Long", strings.Repeat("a", 64<<10)) })
	receiver := httptest.NewServer(mux)
	defer receiver.Close()
	t.Setenv("HTTP_PROXY", "http://192.0.2.1:1") // never asked
	c := NewClient(NewGuard(Loopback()), Options{Timeout: time.Minute, Now: time.Now})
	defer c.Close()
	for path, want := range map[string]Reply{
		"/ok": {Status: 200}, "/moved": {Status: 302}, "/busy": {Status: 429, RetryAfter: 2 * time.Minute}, "/endless": {Status: 200}, "/none": {Status: 404},
	} {
		got, err := c.Post(context.Background(), receiver.URL+path, http.Header{"X-Test": {"1"}}, []byte(`{}`))
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", path, got, err, want)
		}
	}
	if asked.Load() != 0 {
		t.Error("a redirect was followed")
	}
	if _, err := c.Post(context.Background(), receiver.URL+"/header", http.Header{}, nil); err == nil {
		t.Error("a header of 64 KiB was read")
	}
	c.timeout = 0
	if _, err := c.Post(context.Background(), receiver.URL+"/ok", http.Header{}, nil); err == nil || !strings.Contains(err.Error(), "no answer within") {
		t.Errorf("a receiver that is too slow: %v", err)
	}
	secure := httptest.NewTLSServer(mux)
	defer secure.Close()
	c.timeout = time.Minute
	if _, err := c.Post(context.Background(), secure.URL+"/ok", http.Header{}, nil); err == nil || err.Error() != "the certificate of the receiver is not trusted" {
		t.Errorf("an unknown certificate: %v", err)
	}
	receiver.Close()
	if _, err := c.Post(context.Background(), receiver.URL+"/ok", http.Header{}, nil); err == nil || errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "127.0.0.1") {
		t.Errorf("no receiver: %v", err)
	}
}

func FuzzCheck(f *testing.F) {
	for _, s := range spellings {
		f.Add(s.address)
	}
	g := NewGuard(nil)
	f.Fuzz(func(t *testing.T, text string) {
		if g.Check(text) != nil {
			return
		}
		at, err := Parse(text)
		if err != nil || at.Scheme != "https" || at.User != nil {
			t.Fatalf("%q was accepted", text)
		}
		// What an IP address is to the dialler must have been judged as one.
		if ip, err := netip.ParseAddr(at.Hostname()); err == nil && g.judge(false, ip) != nil {
			t.Fatalf("%q was accepted", text)
		}
	})
}

package oidc

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"latchkey/internal/domain"
	"latchkey/internal/test/oidctest"
	"latchkey/internal/test/testkit"
)

// The tests of this file verify tokens of a real issuer, a process of its own.

// clock stands still unless it is moved.
type clock struct {
	mu   sync.Mutex
	time time.Time
}

func newClock() *clock { return &clock{time: time.Now()} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.time
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.time = c.time.Add(d)
}

// lasting are claims that hold wherever the tests move the clock.
func lasting() map[string]any {
	return map[string]any{"iat": time.Now().Add(-time.Hour).Unix(), "exp": time.Now().Add(24 * time.Hour).Unix()}
}

func accept(t *testing.T, v *Verifier, token string) *domain.Claims {
	t.Helper()
	claims, err := v.Verify(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	return claims
}

func refused(t *testing.T, v *Verifier, token, want string) {
	t.Helper()
	claims, err := v.Verify(t.Context(), token)
	if err == nil {
		t.Fatalf("accepted: %+v", claims)
	}
	checkRefusal(t, err, token, want)
}

func TestVerify(t *testing.T) {
	issuer := oidctest.Start(t)
	v := New(Options{Loopback: true, Timeout: testkit.Patience})
	end := time.Now().Add(time.Hour).Truncate(time.Second).UTC()
	claims := map[string]any{"sub": "the subject", "aud": []string{"app"}, "exp": end.Unix(), "nonce": domain.NonceOf("02aa"), "email": "a@b.example"}
	want := &domain.Claims{
		OIDCSubject: domain.OIDCSubject{Issuer: issuer.URL, Audience: "app", Subject: "the subject"},
		Nonce:       domain.NonceOf("02aa"),
		ExpiresAt:   end,
	}
	for _, alg := range []string{"RS256", "ES256", "RS384", "RS512", "PS256", "ES384", "EdDSA"} {
		t.Run(alg, func(t *testing.T) {
			if diff := cmp.Diff(want, accept(t, v, issuer.Mint(claims, alg))); diff != "" {
				t.Error(diff)
			}
			accept(t, v, issuer.MintToken(oidctest.Token{Alg: alg, Header: map[string]any{"kid": nil, "typ": nil}}))
		})
	}
	if s := issuer.Stats(); s.Discovery != 1 || s.Keys != 1 {
		t.Errorf("asked more than once: %+v", s)
	}
}

func TestVerifyRefuses(t *testing.T) {
	issuer := oidctest.Start(t)
	claims := func(name string, value any) oidctest.Token {
		return oidctest.Token{Claims: map[string]any{name: value}}
	}
	past := time.Now().Add(-time.Minute)
	tests := []struct {
		name  string
		token oidctest.Token
		want  string
	}{
		{"none", oidctest.Token{Alg: "none"}, "it is unsigned (algorithm none)"},
		{"HS256 with the public key", oidctest.Token{Alg: "HS256"}, `algorithm "HS256" is not accepted`},
		{"HS256 that says RS256", oidctest.Token{Alg: "HS256", Header: map[string]any{"alg": "RS256"}}, "its signature does not fit"},
		{"PS256 that says RS256", oidctest.Token{Alg: "PS256", Header: map[string]any{"alg": "RS256"}}, "its signature does not fit"},
		{"stranger", oidctest.Token{Key: "stranger"}, `it is signed by key "rsa-stranger" for RS256, which issuer`},
		{"impostor, RSA", oidctest.Token{Key: "impostor"}, "its signature does not fit the keys that issuer"},
		{"impostor, EC", oidctest.Token{Key: "impostor", Alg: "ES256"}, "its signature does not fit"},
		{"stranger without id", oidctest.Token{Key: "stranger", Header: map[string]any{"kid": nil}}, "its signature does not fit"},
		{"expired", claims("exp", past.Unix()), "it expired at " + past.UTC().Format(time.RFC3339)},
		{"from the future", claims("iat", time.Now().Add(time.Hour).Unix()), "it was issued at"},
		{"not yet valid", claims("nbf", time.Now().Add(time.Hour).Unix()), "it is not valid before"},
		{"several audiences", claims("aud", []string{"a", "b"}), "claim aud has 2 audiences"},
		{"no audience", claims("aud", nil), "claim aud is missing"},
		{"no subject", claims("sub", nil), "claim sub is missing"},
		{"no issuer", claims("iss", nil), "claim iss is missing"},
		{"no expiry", claims("exp", nil), "claim exp is missing"},
		{"issuer with a slash too many", claims("iss", issuer.URL+"/"), `says that it is of issuer "` + issuer.URL + `": both must be the same text`},
		{"issuer by another name", claims("iss", "http://localhost:"+issuer.URL[len("http://127.0.0.1:"):]), "both must be the same text"},
		{"issuer that is none", claims("iss", issuer.URL+"/none"), "does not exist (HTTP status 404): claim iss must name an OpenID Connect issuer"},
		{"issuer that is not there", claims("iss", "http://127.0.0.1:1"), "cannot be reached: try again later"},
		{"issuer in a private network", claims("iss", "https://10.255.255.1"), "is in a private network or on this machine: an issuer must have a public address"},
		{"issuer that is a metadata server", claims("iss", "https://169.254.169.254"), "is in a private network"},
		{"issuer without TLS", claims("iss", "http://issuer.example"), "plain http is allowed on loopback only"},
	}
	v := New(Options{Loopback: true, Timeout: testkit.Patience})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			refused(t, v, issuer.MintToken(tt.token), tt.want)
		})
	}
	// After all that, a valid token is accepted.
	accept(t, v, issuer.Mint(nil, ""))
}

func TestMisbehaviour(t *testing.T) {
	tests := []struct {
		mode, want string
		hangs      bool // only the time-out ends it
	}{
		{"hang", "in time: try again later", true},
		{"drip", "in time: try again later", true},
		{"huge", "is too large: at most 1048576 bytes are read", false},
		{"error", "cannot be had (HTTP status 500): try again later", false},
		{"redirect", "is redirected (HTTP status 302)", false},
		{"not-json", "cannot be understood", false},
		{"wrong-issuer", `says that it is of issuer "https://issuer.example"`, false},
		{"keys-hang", "in time: try again later", true},
		{"keys-drip", "in time: try again later", true},
		{"keys-huge", "is too large: at most 1048576 bytes are read", false},
		{"keys-error", "cannot be had (HTTP status 500): try again later", false},
		{"keys-redirect", "is redirected (HTTP status 302)", false},
		{"keys-not-json", "cannot be understood", false},
		{"keys-none", "does not publish", false},
		{"keys-private", "is in a private network", false},
		{"keys-http", "it must be an https address", false},
	}
	for _, tt := range tests {
		t.Run(tt.mode, func(t *testing.T) {
			t.Parallel()
			issuer := oidctest.Start(t)
			token := issuer.Mint(lasting(), "")
			c := newClock()
			v := New(Options{Loopback: true, Timeout: testkit.Patience, Now: c.now})
			usual := v.issuers.timeout
			if tt.hangs {
				v.issuers.timeout = time.Second
			}
			issuer.Behave(tt.mode)
			refused(t, v, token, tt.want)
			v.issuers.timeout = usual
			// Of 100 MB; the kernel's buffers hold some, too.
			if s := issuer.Stats(); s.Bytes > 50_000_000 {
				t.Errorf("%d bytes were taken", s.Bytes)
			}

			// The failure is remembered, and not for long.
			issuer.Behave("normal")
			before := issuer.Stats().Discovery
			refused(t, v, token, tt.want)
			if after := issuer.Stats().Discovery; after != before {
				t.Errorf("asked again at once: %d times", after-before)
			}
			c.advance(max(failureKept, refreshEvery))
			accept(t, v, token)
		})
	}
}

// An issuer that hangs holds up no other, and is asked once for all that wait.
func TestHangingIssuerHoldsUpNobody(t *testing.T) {
	t.Parallel()
	bad, good := oidctest.Start(t), oidctest.Start(t)
	v := New(Options{Loopback: true, Timeout: testkit.Patience})
	badToken, goodToken := bad.Mint(nil, ""), good.Mint(nil, "")
	bad.Behave("hang")
	const waiting = 20
	failures := make(chan error, waiting)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range waiting {
		go func() {
			_, err := v.Verify(ctx, badToken)
			failures <- err
		}()
	}
	for bad.Stats().Discovery == 0 {
		time.Sleep(time.Millisecond)
	}
	accept(t, v, goodToken)
	if n := len(failures); n > 0 {
		t.Errorf("the good issuer waited for the bad one: %d have given up", n)
	}
	cancel()
	for range waiting {
		checkRefusal(t, <-failures, badToken, "did not answer in time")
	}
	if n := bad.Stats().Discovery; n != 1 {
		t.Errorf("the hanging issuer was asked %d times at once", n)
	}
}

// A caller that is gone is not waited for.
func TestCancelledRequest(t *testing.T) {
	issuer := oidctest.Start(t)
	v := New(Options{Loopback: true, Timeout: testkit.Patience})
	token := issuer.Mint(nil, "")
	issuer.Behave("hang")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := v.Verify(ctx, token)
	checkRefusal(t, err, token, "did not answer in time")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// What took too long is named.
func TestTimeoutNamesTheStep(t *testing.T) {
	for mode, want := range map[string]string{
		"hang":      "the discovery document of issuer %q did not arrive in time",
		"keys-hang": "the key set of issuer %q did not arrive in time",
	} {
		t.Run(mode, func(t *testing.T) {
			issuer := oidctest.Start(t)
			issuer.Behave(mode)
			ctx, cancel := context.WithCancel(t.Context())
			failed := make(chan error)
			go func() {
				_, err := newFetcher(Options{Loopback: true, MaxBytes: 1000}).fetch(ctx, issuer.URL)
				failed <- err
			}()
			asked := func() int64 {
				if mode == "hang" {
					return issuer.Stats().Discovery
				}
				return issuer.Stats().Keys
			}
			for asked() == 0 {
				time.Sleep(time.Millisecond)
			}
			cancel()
			if err := <-failed; err == nil || !strings.Contains(err.Error(), fmt.Sprintf(want, issuer.URL)) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestRotation(t *testing.T) {
	issuer := oidctest.Start(t)
	c := newClock()
	v := New(Options{Loopback: true, Timeout: testkit.Patience, Now: c.now})
	old := issuer.Mint(lasting(), "")
	accept(t, v, old)

	// A token by the new key is valid at once, without any wait.
	issuer.Rotate()
	accept(t, v, issuer.Mint(lasting(), ""))
	if s := issuer.Stats(); s.Discovery != 2 || s.Keys != 2 {
		t.Errorf("asked too often: %+v", s)
	}
	// And with that the old key is gone.
	refused(t, v, old, `it is signed by key "rsa-1" for RS256, which issuer`)

	// Strangers cannot make the server ask again and again.
	stranger := issuer.MintToken(oidctest.Token{Claims: lasting(), Key: "stranger"})
	impostor := issuer.MintToken(oidctest.Token{Claims: lasting(), Key: "impostor"})
	for range 20 {
		refused(t, v, stranger, "does not publish")
		refused(t, v, impostor, "does not fit")
	}
	if s := issuer.Stats(); s.Discovery != 2 || s.Keys != 2 {
		t.Errorf("asked too often: %+v", s)
	}
	// A rotation soon after the last is seen a few seconds later.
	issuer.Rotate()
	third := issuer.Mint(lasting(), "")
	refused(t, v, third, "does not publish")
	c.advance(refreshEvery)
	accept(t, v, third)
	if s := issuer.Stats(); s.Discovery != 3 {
		t.Errorf("asked too often: %+v", s)
	}
}

// An issuer that is down cannot bring new keys, but its known keys stay good
// for their hour.
func TestIssuerGoesDown(t *testing.T) {
	issuer := oidctest.Start(t)
	v := New(Options{Loopback: true, Timeout: testkit.Patience})
	good, stranger := issuer.Mint(nil, ""), issuer.MintToken(oidctest.Token{Key: "stranger"})
	accept(t, v, good)
	issuer.Behave("error")
	refused(t, v, stranger, "cannot be had (HTTP status 500): try again later")
	accept(t, v, good)
}

// A key that the issuer withdraws stops working within the hour, even if no
// token of a newer one came.
func TestRemovedKeyDies(t *testing.T) {
	issuer := oidctest.Start(t)
	c := newClock()
	v := New(Options{Loopback: true, Timeout: testkit.Patience, Now: c.now})
	token := issuer.Mint(lasting(), "")
	accept(t, v, token)
	issuer.Rotate()
	c.advance(defaultMaxAge - time.Minute)
	accept(t, v, token)
	c.advance(time.Minute)
	refused(t, v, token, "does not publish")
}

func TestConcurrentVerifications(t *testing.T) {
	issuer := oidctest.Start(t)
	v := New(Options{Loopback: true, Timeout: testkit.Patience})
	tokens := []string{issuer.Mint(nil, "RS256"), issuer.Mint(nil, "ES256")}
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			if _, err := v.Verify(t.Context(), tokens[i%2]); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if s := issuer.Stats(); s.Discovery != 1 || s.Keys != 1 {
		t.Errorf("asked more than once: %+v", s)
	}
}

// A fetch ends before the requests that wait for it, and both within the time-out.
func TestTimeouts(t *testing.T) {
	for given, want := range map[time.Duration]time.Duration{0: defaultTimeout, 10 * time.Second: 10 * time.Second} {
		v := New(Options{Timeout: given})
		if v.timeout != want || v.issuers.timeout <= 0 || v.issuers.timeout >= want {
			t.Errorf("%v: got %v, and %v for a fetch", given, v.timeout, v.issuers.timeout)
		}
	}
}

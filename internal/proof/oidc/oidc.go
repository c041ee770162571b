// Package oidc verifies OpenID Connect tokens of any issuer.
//
// The issuer is whatever the token names, so a stranger chooses which server
// this package asks for keys. It therefore treats issuers as hostile: it speaks
// https only, connects to public addresses only (checked on the address that is
// dialled, so that a name cannot resolve differently the second time), follows no redirect, uses no
// proxy, reads a bounded number of bytes in a bounded time, asks each issuer
// seldom, and lets none of them hold up another. With
// [Options.Loopback], for development, issuers on this machine may be plain http.
//
// A token is refused unless it has exactly one reading: three parts in strict
// base64url, no repeated member, one audience, a signature by an asymmetric
// algorithm under a key that the issuer publishes now, or did within the last
// hour. Whether a user has the identity in it, and whether its nonce fits the
// request, is for the caller to check.
//
// Every error of [Verifier.Verify] is a [*fault.Error] with status 400 and the reason
// INVALID_OIDC_TOKEN that says what is wrong and what would be right. It may
// name the issuer and the key's id; it never repeats the token.
package oidc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
)

// Options changes how tokens are verified. The zero value is what production
// wants.
type Options struct {
	// Loopback allows issuers on this machine, also by plain http. It is for
	// development: any caller could then make the server call local services.
	Loopback bool

	// Own is the issuer that this server is itself: nothing is fetched for its
	// tokens. The zero value: it is none.
	Own Own

	Timeout  time.Duration    // for one verification, network and all; 5 s if 0
	MaxBytes int64            // of a document that an issuer sends; 1 MiB if 0
	MaxAge   time.Duration    // after which keys are fetched anew; an hour if 0
	Now      func() time.Time // [time.Now] if nil
}

// Own is the server as an issuer.
type Own struct {
	Issuer string
	Keys   []byte // as it publishes them, RFC 7517
}

// The defaults of [Options].
const (
	defaultTimeout  = 5 * time.Second
	defaultMaxBytes = 1 << 20
	defaultMaxAge   = time.Hour
)

// Verifier verifies tokens, and remembers the keys of the issuers it has seen. It
// is safe for concurrent use. Make it with [New].
type Verifier struct {
	loopback bool
	own      string
	timeout  time.Duration
	now      func() time.Time
	issuers  *cache
}

// New makes a verifier.
func New(o Options) *Verifier {
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = defaultMaxBytes
	}
	if o.MaxAge <= 0 {
		o.MaxAge = defaultMaxAge
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	f := newFetcher(o)
	// A fetch ends a little before the verification that waits for it, so that
	// the client reads which step took too long.
	fetchTimeout := o.Timeout * 9 / 10
	return &Verifier{
		loopback: o.Loopback,
		own:      o.Own.Issuer,
		timeout:  o.Timeout,
		now:      o.Now,
		issuers:  &cache{fetch: o.Own.before(f.fetch), now: o.Now, timeout: fetchTimeout, maxAge: o.MaxAge},
	}
}

// before answers for the server itself, and leaves other issuers to fetch.
func (o Own) before(fetch func(context.Context, string) (*keySet, error)) func(context.Context, string) (*keySet, error) {
	return func(ctx context.Context, issuer string) (*keySet, error) {
		if issuer == o.Issuer {
			return parseKeys(o.Keys)
		}
		return fetch(ctx, issuer)
	}
}

// Verify checks a token, the issuer's JWT verbatim, and returns what it says.
func (v *Verifier) Verify(ctx context.Context, token string) (*domain.Claims, error) {
	claims, err := v.verify(ctx, token)
	if err != nil {
		return nil, refuse(err)
	}
	return claims, nil
}

// Unverified returns the identity that a token claims, without any proof and
// without network access. It lets a caller look whether that identity is known
// before a stranger's token makes the server call an issuer.
func (v *Verifier) Unverified(token string) (domain.OIDCSubject, error) {
	t, err := v.read(token)
	if err != nil {
		return domain.OIDCSubject{}, refuse(err)
	}
	return t.claims.OIDCSubject, nil
}

// Reach asks an issuer for its keys, as for a token of it.
func (v *Verifier) Reach(ctx context.Context, issuer string) error {
	if err := checkURL("issuer", issuer, v.loopback, false); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, v.timeout)
	defer cancel()
	_, err := v.issuers.get(ctx, issuer)
	return err
}

// read does everything that needs no network.
func (v *Verifier) read(text string) (*token, error) {
	t, err := parse(text)
	if err != nil {
		return nil, err
	}
	if err := t.checkTimes(v.now()); err != nil {
		return nil, err
	}
	if t.claims.Issuer == v.own {
		return t, nil // wherever this server is
	}
	if err := checkURL("claim iss", t.claims.Issuer, v.loopback, false); err != nil {
		return nil, err
	}
	return t, nil
}

func (v *Verifier) verify(ctx context.Context, text string) (*domain.Claims, error) {
	t, err := v.read(text)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, v.timeout)
	defer cancel()

	set, err := v.issuers.get(ctx, t.claims.Issuer)
	if err != nil {
		return nil, err
	}
	err = t.verify(ctx, set, v.now)
	if errors.Is(err, errNoKey) {
		// The issuer may have new keys, whether their ids are new or not.
		newer, fetchErr := v.issuers.newer(ctx, t.claims.Issuer, set)
		switch {
		case fetchErr != nil:
			return nil, fetchErr
		case newer != nil:
			err = t.verify(ctx, newer, v.now)
		}
	}
	if err != nil {
		return nil, err
	}
	return &t.claims, nil
}

// problem is why a token is refused. The client reads the text; the cause is
// for the log.
type problem struct {
	text  string
	cause error
}

func (p *problem) Error() string { return p.text }
func (p *problem) Unwrap() error { return p.cause }

func problemf(cause error, format string, args ...any) error {
	return &problem{text: fmt.Sprintf(format, args...), cause: cause}
}

// refuse turns an error of this package, whose text is meant for the client,
// into the refusal. Each caller gets its own: errors are cached, and a fault
// may be added to.
func refuse(err error) *fault.Error {
	f := fault.New(fault.InvalidArgument, fault.ReasonInvalidOIDCToken, "invalid OIDC token: %s", err.Error())
	if cause := errors.Unwrap(err); cause != nil {
		return f.Because(cause)
	}
	return f
}

// quote repeats a little of what was sent.
func quote(text string) string {
	const most = 200
	if len(text) > most {
		return fmt.Sprintf("%.200q...", text)
	}
	return fmt.Sprintf("%q", text)
}

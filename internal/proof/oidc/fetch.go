package oidc

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
)

// fetcher asks issuers for their keys.
type fetcher struct {
	client   *http.Client
	loopback bool
	maxBytes int64
	turns    *fetchLimiter
}

func newFetcher(o Options) *fetcher {
	dialer := &net.Dialer{Control: control(o.Loopback)}
	return &fetcher{
		client: &http.Client{Transport: &bounded{
			maxBytes: o.MaxBytes,
			base: &http.Transport{
				// No Proxy: it would connect on our behalf, past the guard.
				DialContext: dialer.DialContext,
				// Issuers are asked about once an hour. An idle connection
				// would only have to be managed.
				DisableKeepAlives:      true,
				DisableCompression:     true,
				MaxResponseHeaderBytes: 64 << 10,
			},
		}},
		loopback: o.Loopback,
		maxBytes: o.MaxBytes,
		turns:    newFetchLimiter(),
	}
}

// errTooLarge is why a document is not read.
var errTooLarge = errors.New("answer is too large")

// statusError is an answer other than 200.
type statusError int

func (s statusError) Error() string { return fmt.Sprintf("HTTP status %d", int(s)) }

// bounded reads an answer whole, up to its bound, or makes an error of it. Only
// status 200 is an answer; so no redirect is ever followed.
type bounded struct {
	base     http.RoundTripper
	maxBytes int64
}

func (b *bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, statusError(resp.StatusCode)
	}
	if resp.ContentLength > b.maxBytes {
		return nil, errTooLarge
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, b.maxBytes+1))
	if err != nil {
		return nil, err
	}
	if int64(len(body)) > b.maxBytes {
		return nil, errTooLarge
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// fetch asks an issuer for its discovery document, and then the server that it
// names for the keys.
func (f *fetcher) fetch(ctx context.Context, issuer string) (*keySet, error) {
	discovery := source{issuer: issuer, document: "discovery document", maxBytes: f.maxBytes}
	done, err := f.turns.take(ctx, host(issuer))
	if err != nil {
		return nil, problemf(err, "too many tokens of issuer %s or of others are being checked: try again later", quote(issuer))
	}
	defer done()

	provider, err := oidc.NewProvider(oidc.ClientContext(ctx, f.client), issuer)
	if err != nil {
		return nil, discovery.explain(ctx, err)
	}
	var document struct {
		KeysURL string `json:"jwks_uri"`
	}
	if err := provider.Claims(&document); err != nil {
		return nil, discovery.explain(ctx, err)
	}
	if err := checkURL("jwks_uri of issuer "+quote(issuer), document.KeysURL, f.loopback, true); err != nil {
		return nil, err
	}

	keys := source{issuer: issuer, document: "key set", maxBytes: f.maxBytes}
	body, err := f.get(ctx, document.KeysURL)
	if err != nil {
		return nil, keys.explain(ctx, err)
	}
	set, err := parseKeys(body)
	if err != nil {
		return nil, keys.explain(ctx, err)
	}
	return set, nil
}

func (f *fetcher) get(ctx context.Context, url string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := f.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	return io.ReadAll(resp.Body)
}

func host(issuer string) string {
	u, err := url.Parse(issuer)
	if err != nil {
		return issuer
	}
	return strings.ToLower(u.Host)
}

// source is a document of an issuer, for errors.
type source struct {
	issuer, document string
	maxBytes         int64
}

// explain says why there is no such document.
func (s source) explain(ctx context.Context, err error) error {
	the := fmt.Sprintf("the %s of issuer %s", s.document, quote(s.issuer))
	var (
		status      statusError
		mismatch    *oidc.IssuerMismatchError
		certificate *tls.CertificateVerificationError
		network     *url.Error
	)
	switch {
	case ctx.Err() != nil:
		return problemf(err, "%s did not arrive in time: try again later", the)
	case errors.Is(err, errPrivate):
		return problemf(err, "%s is in a private network or on this machine: an issuer must have a public address", the)
	case errors.Is(err, errTooLarge):
		return problemf(err, "%s is too large: at most %d bytes are read", the, s.maxBytes)
	case errors.As(err, &status) && status >= 300 && status < 400:
		return problemf(err, "%s is redirected (HTTP status %d): it must be where OpenID Connect Discovery says", the, int(status))
	case errors.As(err, &status) && status == http.StatusNotFound:
		return problemf(err, "%s does not exist (HTTP status 404): claim iss must name an OpenID Connect issuer", the)
	case errors.As(err, &status):
		return problemf(err, "%s cannot be had (HTTP status %d): try again later", the, int(status))
	case errors.As(err, &mismatch):
		return problemf(nil, "%s says that it is of issuer %s: both must be the same text", the, quote(mismatch.Discovered))
	case errors.As(err, &certificate):
		return problemf(err, "the certificate of the server with %s is not valid", the)
	case errors.As(err, &network):
		return problemf(err, "%s cannot be reached: try again later", the)
	}
	return problemf(err, "%s cannot be understood", the)
}

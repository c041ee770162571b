package target

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"syscall"
	"time"
)

// Client posts to addresses that its guard allows: without redirects, without a
// proxy of the environment, and with bounds on what a receiver may cost.
type Client struct {
	timeout   time.Duration
	https     *http.Client
	plainHTTP *http.Client
	now       func() time.Time
}

// Options are what a client needs besides its guard.
type Options struct {
	Timeout  time.Duration  // for one exchange
	Roots    *x509.CertPool // authorities to trust; nil: the system's
	Resolver *net.Resolver  // nil: the system's
	Now      func() time.Time
}

// NewClient makes a client.
func NewClient(g *Guard, o Options) *Client {
	return &Client{
		timeout: o.Timeout, now: o.Now,
		https: newHTTPClient(g, o, false), plainHTTP: newHTTPClient(g, o, true),
	}
}

const (
	maxReply       = 1 << 10 // of a reply's body is read, and thrown away
	maxReplyHeader = 16 << 10
)

func newHTTPClient(g *Guard, o Options, plain bool) *http.Client {
	dialer := &net.Dialer{Control: g.control(plain), Resolver: o.Resolver, KeepAlive: 30 * time.Second}
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext:            dialer.DialContext,
			TLSClientConfig:        &tls.Config{RootCAs: o.Roots, MinVersion: tls.VersionTLS12},
			MaxResponseHeaderBytes: maxReplyHeader,
			MaxIdleConns:           100, MaxIdleConnsPerHost: 2, IdleConnTimeout: 30 * time.Second,
			DisableCompression: true,
		},
	}
}

// Reply is what a receiver answered.
type Reply struct {
	Status     int
	RetryAfter time.Duration // how long it asks to be left alone; 0: it does not
}

// OK reports whether the receiver took what was sent.
func (r Reply) OK() bool { return r.Status >= 200 && r.Status <= 299 }

// Post sends a body. What the error says is safe to show: it never repeats the
// address, or what a receiver wrote.
func (c *Client) Post(ctx context.Context, address string, header http.Header, body []byte) (Reply, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	response, err := c.send(ctx, Request{Method: http.MethodPost, URL: address, Header: header, Body: body})
	if err != nil {
		return Reply{}, err
	}
	defer response.Body.Close()
	// A body that ends soon leaves the connection for the next delivery.
	_, _ = io.CopyN(io.Discard, response.Body, maxReply+1)
	return Reply{Status: response.StatusCode, RetryAfter: c.retryAfter(response.Header.Get("Retry-After"))}, nil
}

// send makes a request. Its errors are those of [Client.Post].
func (c *Client) send(ctx context.Context, r Request) (*http.Response, error) {
	at, err := Parse(r.URL)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, r.Method, at.String(), bytes.NewReader(r.Body))
	if err != nil {
		return nil, errors.New("the address is not one that can be posted to")
	}
	request.Header = r.Header
	client := c.https
	if at.Scheme == "http" {
		client = c.plainHTTP
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, c.reason(err)
	}
	return response, nil
}

// Close lets go of the connections that are kept.
func (c *Client) Close() {
	c.https.CloseIdleConnections()
	c.plainHTTP.CloseIdleConnections()
}

// retryAfter reads the header: seconds, or a time (RFC 9110 section 10.2.3).
func (c *Client) retryAfter(text string) time.Duration {
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(c.now()))
	}
	return 0
}

// reason says why nothing was delivered. Errors of the network repeat addresses
// and names, and TLS errors what a receiver wrote, so that only their kind is told.
func (c *Client) reason(err error) error {
	var (
		resolve     *net.DNSError
		certificate *tls.CertificateVerificationError
		operation   *net.OpError
	)
	switch {
	case IsRefused(err):
		if errors.Is(err, errPlain) {
			return errPlain
		}
		return errPrivate
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("no answer within %v", c.timeout)
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.As(err, &resolve):
		return errors.New("the host name does not resolve")
	case errors.As(err, &certificate):
		return errors.New("the certificate of the receiver is not trusted")
	case errors.Is(err, syscall.ECONNREFUSED):
		return errors.New("the connection was refused")
	case errors.As(err, &operation) && operation.Op == "dial":
		return errors.New("no connection could be made")
	}
	return errors.New("the connection ended before an answer came")
}

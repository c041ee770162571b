package notify

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"text/template"
	"time"
)

// SMSConfig is how SMS are sent: one POST for each. The zero value sends none.
type SMSConfig struct {
	// URL is the gateway's. It must be https, except on this machine. Empty:
	// no SMS. It is not printed: some gateways want a token in it.
	URL Secret
	// Headers are sent with each request, such as Authorization.
	Headers map[string]Secret
	// ContentType is application/json when empty.
	ContentType string
	// Body is a text/template of the request's body over .To, .Text and .ID,
	// with the functions json (a quoted JSON string) and urlquery (one value
	// of a form). Empty: {"to":…,"text":…,"id":…}.
	Body string
	// CAFile is a PEM file of the authorities to trust instead of the system's.
	CAFile string
	// Timeout bounds the whole request. Zero: 30 seconds.
	Timeout time.Duration
}

// Enabled reports whether SMS are configured.
func (c SMSConfig) Enabled() bool { return c.URL != "" }

// Gateway sends SMS through a service with an HTTP interface.
type Gateway struct {
	config    SMSConfig
	host      string
	encrypted bool
	body      *template.Template
	client    *http.Client
	templates *Templates
}

// NewGateway checks the settings. It does not connect.
func NewGateway(c SMSConfig, t *Templates) (*Gateway, error) {
	if c.ContentType == "" {
		c.ContentType = jsonType
	}
	if c.Body == "" {
		c.Body = defaultBody
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	g := &Gateway{config: c, templates: t}
	roots, err := LoadRoots(c.CAFile)
	if err == nil {
		err = g.check()
	}
	if err != nil {
		return nil, fmt.Errorf("sms: %w", err)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	// net/http repeats a request by itself when a kept connection turns out to
	// be dead; whether to send again is decided in one place only.
	transport.DisableKeepAlives = true
	if !g.encrypted {
		dial := transport.DialContext
		transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dial(ctx, network, address)
			if err == nil && !onThisMachine(c) {
				return nil, errors.Join(errElsewhere, c.Close())
			}
			return c, err
		}
	}
	g.client = &http.Client{
		Transport: transport,
		Timeout:   c.Timeout,
		// The message is for the configured host alone.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return g, nil
}

func (g *Gateway) check() error {
	u, err := url.Parse(string(g.config.URL))
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return errors.New("the URL must be https:// with a host") // the reason would quote it
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return errors.New("the URL must be https, except for a gateway on this machine")
	case g.config.Timeout < 0:
		return errors.New("the timeout must be positive")
	case !headerValue(g.config.ContentType):
		return errors.New("the content type must be printable ASCII")
	}
	g.host, g.encrypted = u.Host, u.Scheme == "https"
	for name, value := range g.config.Headers {
		switch {
		case name == "" || strings.ContainsFunc(name, func(r rune) bool { return !alphanumeric(r) && r != '-' && r != '_' }):
			return errors.New("the name of a header must be letters, digits and hyphens")
		case slices.Contains(ownHeaders, http.CanonicalHeaderKey(name)):
			return fmt.Errorf("the header %s is not yours to set", name)
		case !headerValue(string(value)):
			return fmt.Errorf("the header %s must be printable ASCII", name)
		}
	}
	return g.checkBody()
}

// ownHeaders follow from other settings or from the message.
var ownHeaders = []string{"Content-Length", "Content-Type", "Host", "Idempotency-Key", "Transfer-Encoding"}

func headerValue(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// Format keeps the token out of everything that is printed.
func (g *Gateway) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "sms gateway at "+g.host) }

// Send posts the message to the gateway. No error repeats its answer, which may
// hold the text.
func (g *Gateway) Send(ctx context.Context, m *Message) error {
	if m.Kind != OTPSMS {
		return permanent("sms: a message of this kind does not go by SMS")
	}
	if err := m.Check(); err != nil {
		return fmt.Errorf("sms: %w", err)
	}
	c, err := g.templates.render(m)
	if err != nil {
		return fmt.Errorf("sms: %w", err)
	}
	body, err := g.render(sms{To: m.To, Text: c.text, ID: m.ID})
	if err != nil {
		return errors.New("sms: the template of the body failed on this message")
	}
	status, err := g.post(ctx, m.ID, body)
	switch {
	case err != nil:
		return fmt.Errorf("sms: %w", err)
	case status/100 == 2:
		return nil
	case final(status):
		return permanent("sms: the gateway at %s answered %d", g.host, status)
	}
	return fmt.Errorf("sms: the gateway at %s answered %d", g.host, status)
}

// final tells a refusal of this message from one of the moment (408, 429) or of
// the credentials (401, 407), which the operator can correct.
func final(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusProxyAuthRequired, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return false
	}
	return status/100 == 4
}

// maxAnswer is how much of an answer is read, only to end it in good order.
const maxAnswer = 64 << 10

func (g *Gateway) post(ctx context.Context, id string, body []byte) (status int, err error) {
	var sent atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }})
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, string(g.config.URL), bytes.NewReader(body))
	if err != nil {
		return 0, errors.New("the request cannot be made") // the reason would quote the URL
	}
	for name, value := range g.config.Headers {
		r.Header.Set(name, string(value))
	}
	r.Header.Set("Content-Type", g.config.ContentType)
	r.Header.Set("Idempotency-Key", id)
	answer, err := g.client.Do(r)
	if err != nil {
		var where *url.Error
		if errors.As(err, &where) { // it quotes the URL
			err = where.Err
		}
		err = fmt.Errorf("the gateway at %s: %w", g.host, err)
		if sent.Load() {
			err = fmt.Errorf("%w: %w", ErrUncertain, err)
		}
		return 0, err
	}
	_, _ = io.CopyN(io.Discard, answer.Body, maxAnswer)
	_ = answer.Body.Close()
	return answer.StatusCode, nil
}

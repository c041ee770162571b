// Package client speaks to a Latchkey server.
//
// The way in is a [Client]: read a key with [ParseKeyFile], and give its
// [PrivateKey.Stamper], the address of the server and an organization to a
// Client. Every operation of the interface is then a method with typed
// parameters and a typed result:
//
//	key, err := client.ParseKeyFile(text)
//	...
//	c := &client.Client{BaseURL: "https://keys.example.com", Stamper: key.Stamper(), OrganizationID: org}
//	tag, activity, err := c.CreateUserTag(ctx, client.CreateUserTagParameters{UserTagName: "admins"})
//
// The methods and their types are generated from the declarations that the
// server itself is made of. Older versions of an activity have no method; they
// are sent by [Client.Submit], and a body as it is by [Client.Post].
//
// # Outcomes
//
// An activity need not be done when the server answers. An error that is a
// [*PendingError], [*RejectedError] or [*FailedError] (see [errors.As]) tells
// the outcome; a request that the server refused, with any status but 200, is
// an [*Error].
//
// # Repeating a request
//
// A body is signed and sent byte by byte as it is: the package never retries a
// request and never follows a redirect, as both would send a signature where,
// or as often as, the caller did not mean to. What must be sent again after a
// failure is a [Prepared], whose bytes stay the same.
//
// # Secrets
//
// There are stampers for every kind of credential, and the client's side of
// import, export and login: see [SealImport], [Recipient] and [SealOTPCode].
// Bundles of the server are only believed after its signature was checked with
// a key that the caller knows ([Expect]). The package prints no secret and puts
// none in an error. Replies are read to a limit.
package client

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	defaultTimeout   = 30 * time.Second
	defaultUserAgent = "latchkey-go"
	maxReply         = 16 << 20
)

// Client posts requests to one server. It may be used concurrently.
type Client struct {
	// BaseURL is the server's address, such as https://keys.example.com.
	BaseURL string
	// Stamper signs each request. Without one, requests go out unsigned, which
	// the interface refuses.
	Stamper Stamper
	// HTTP sends the requests. By default, a client with a timeout of 30
	// seconds that does not follow redirects.
	HTTP *http.Client
	// UserAgent is sent with each request; latchkey-go by default.
	UserAgent string
	// OrganizationID is the organization that typed requests act in; see
	// [Client.In]. [Client.Post] does not look at it.
	OrganizationID string
	// Now is the time that activities carry; by default [time.Now].
	Now func() time.Time
}

// Error is a reply with a status other than 200.
type Error struct {
	Status  int    // of HTTP
	Code    int    // of gRPC, such as 16 for unauthenticated; 0 when the reply has none
	Message string // the server's, or the text of the status when the reply is not JSON
	Reason  string // finer than Code, such as SIGNATURE_INVALID; may be empty
	Details jsontext.Value
	Body    []byte // the reply as it came
}

// FieldProblem is what is wrong with one field of a request.
type FieldProblem struct {
	Path        string `json:"field"` // dotted, arrays by index: users.0.userName
	Description string `json:"description"`
}

// Fields lists every field that is wrong, for a request that is not valid.
func (e *Error) Fields() []FieldProblem {
	var details []struct {
		Violations []FieldProblem `json:"fieldViolations"`
	}
	if err := json.Unmarshal(e.Details, &details); err != nil {
		return nil // a reply of a proxy
	}
	var all []FieldProblem
	for _, d := range details {
		all = append(all, d.Violations...)
	}
	return all
}

func (e *Error) Error() string {
	if e.Reason != "" {
		return fmt.Sprintf("server replied %d (%s): %s", e.Status, e.Reason, e.Message)
	}
	return fmt.Sprintf("server replied %d: %s", e.Status, e.Message)
}

// Post stamps body as it is and posts it to path. It returns the body of a
// reply with status 200; for any other status the error is an [*Error].
func (c *Client) Post(ctx context.Context, path string, body []byte) ([]byte, error) {
	req, err := c.request(ctx, path, body)
	if err != nil {
		return nil, err
	}
	res, err := c.http().Do(req)
	if err != nil {
		return nil, fmt.Errorf("posting: %w", err)
	}
	defer res.Body.Close()
	reply, err := io.ReadAll(io.LimitReader(res.Body, maxReply+1))
	if err != nil {
		return nil, fmt.Errorf("reading reply: %w", err)
	}
	if len(reply) > maxReply {
		return nil, fmt.Errorf("reading reply: it is larger than %d bytes", maxReply)
	}
	if res.StatusCode != http.StatusOK {
		return nil, parseError(res.StatusCode, reply)
	}
	return reply, nil
}

// request makes a stamped request.
func (c *Client) request(ctx context.Context, path string, body []byte) (*http.Request, error) {
	url := strings.TrimRight(c.BaseURL, "/") + "/" + strings.TrimLeft(path, "/")
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("making request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", defaultUserAgent)
	if c.UserAgent != "" {
		req.Header.Set("User-Agent", c.UserAgent)
	}
	if c.Stamper != nil {
		header, value, err := c.Stamper.Stamp(body)
		if err != nil {
			return nil, err
		}
		req.Header.Set(header, value)
	}
	return req, nil
}

func (c *Client) http() *http.Client {
	if c.HTTP != nil {
		return c.HTTP
	}
	// Connections belong to the default transport, so this is cheap.
	return &http.Client{
		Timeout:       defaultTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// parseError makes the most of a reply, which may come from a proxy and be
// anything.
func parseError(status int, reply []byte) *Error {
	e := &Error{Status: status, Message: http.StatusText(status), Body: reply}
	var body struct {
		Code    int            `json:"code"`
		Message string         `json:"message"`
		Details jsontext.Value `json:"details"`
		Reason  string         `json:"turnkeyErrorCode"`
	}
	if err := json.Unmarshal(reply, &body); err != nil {
		return e
	}
	e.Code, e.Reason, e.Details = body.Code, body.Reason, body.Details
	if body.Message != "" {
		e.Message = body.Message
	}
	if e.Reason != "" {
		return e
	}
	var details []struct {
		Reason string `json:"turnkeyErrorCode"`
	}
	if err := json.Unmarshal(body.Details, &details); err == nil {
		for _, d := range details {
			if d.Reason != "" {
				e.Reason = d.Reason
				break
			}
		}
	}
	return e
}

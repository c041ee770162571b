// Package oauth2 asks providers of OAuth 2.0 who a user is: it gives a
// provider the code that the user brought (RFC 6749 section 4.1.3, with PKCE, RFC
// 7636), and with the token that it gets for it asks for the user's id.
//
// The operator chooses the providers, not a caller. Their answers are outside
// bytes all the same: it speaks https to public addresses, or to networks that the
// operator allows (judged on the address that is dialled), follows no redirect,
// and reads a bounded number of bytes in a bounded time.
//
// A code is good once, so that nothing is tried twice here. No error repeats what
// a provider wrote, nor the secret, the code or the token.
package oauth2

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/webhook/target"
)

// Provider is where a provider answers.
type Provider struct {
	TokenURL    string // to which codes are posted
	UserInfoURL string // at which it says whose a token is
	// SubjectField is where the user's id is in that answer: names of members, with
	// dots between them.
	SubjectField string
}

// Fetcher is what asks; see [target.Client].
type Fetcher interface {
	Fetch(ctx context.Context, r target.Request) (target.Answer, error)
}

// Client asks the providers. Make it with [New]. It is safe for concurrent use.
type Client struct {
	providers map[domain.OAuth2Provider]Provider
	fetch     Fetcher
	timeout   time.Duration
}

// New makes a client. The timeout is for all that is asked about one code.
func New(providers map[domain.OAuth2Provider]Provider, f Fetcher, timeout time.Duration) *Client {
	return &Client{providers: providers, fetch: f, timeout: timeout}
}

// maxAnswer is how many bytes of an answer are read. Those of providers have a
// few hundred.
const maxAnswer = 64 << 10

// Exchange asks whose code it is. Its errors are faults: Unavailable where nothing
// is known of the code, and the same request may be sent again.
func (c *Client) Exchange(ctx context.Context, code domain.OAuth2Code) (*domain.OAuth2Identity, error) {
	p, ok := c.providers[code.Provider]
	if !ok {
		return nil, fault.New(fault.InvalidArgument, fault.ReasonOAuth2Unconfigured, "this server has no configuration of %s (oauth2.providers)", code.Provider)
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	bearer, err := c.token(ctx, p, code)
	if err != nil {
		return nil, err
	}
	id, err := c.subject(ctx, p, code.Provider, bearer)
	if err != nil {
		return nil, err
	}
	return &domain.OAuth2Identity{Subject: code.Provider.Name() + ":" + id, Bearer: bearer}, nil
}

// token gives the code away for a token. The client proves itself by HTTP Basic,
// which every provider must take (RFC 6749 section 2.3.1).
func (c *Client) token(ctx context.Context, p Provider, code domain.OAuth2Code) (string, error) {
	form := url.Values{
		"grant_type": {"authorization_code"}, "code": {code.Code}, "redirect_uri": {code.RedirectURI},
		"code_verifier": {code.Verifier}, "client_id": {code.ClientID},
	}
	basic := url.QueryEscape(code.ClientID) + ":" + url.QueryEscape(string(code.ClientSecret))
	answer, err := c.fetch.Fetch(ctx, target.Request{
		Method: http.MethodPost, URL: p.TokenURL, Body: []byte(form.Encode()), Most: maxAnswer,
		Header: http.Header{
			"Content-Type":  {"application/x-www-form-urlencoded"},
			"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte(basic))},
			"Accept":        {"application/json"},
		},
	})
	if err != nil {
		return "", away(code.Provider, err)
	}
	if answer.Status != http.StatusOK {
		return "", refusal(code.Provider, answer)
	}
	var granted struct {
		AccessToken string `json:"access_token"`
		TokenType   string `json:"token_type"`
	}
	if err := read(answer, &granted); err != nil {
		return "", misbehaves(code.Provider, "the answer to a code", err)
	}
	if !isToken(granted.AccessToken) || !strings.EqualFold(granted.TokenType, "bearer") {
		return "", misbehaves(code.Provider, "the answer to a code", fmt.Errorf("it has no bearer token"))
	}
	return granted.AccessToken, nil
}

// subject asks whose the token is.
func (c *Client) subject(ctx context.Context, p Provider, name domain.OAuth2Provider, bearer string) (string, error) {
	answer, err := c.fetch.Fetch(ctx, target.Request{
		Method: http.MethodGet, URL: p.UserInfoURL, Most: maxAnswer,
		Header: http.Header{"Authorization": {"Bearer " + bearer}, "Accept": {"application/json"}},
	})
	if err != nil {
		return "", away(name, err)
	}
	switch status := answer.Status; {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return "", fault.New(fault.InvalidArgument, fault.ReasonOAuth2Provider,
			"%s does not say whose the code is (HTTP status %d): ask it for the scopes that its user information needs", name, status)
	case status != http.StatusOK:
		return "", unsound(name, "user information", status)
	}
	id, err := member(answer, p.SubjectField)
	if err != nil {
		return "", misbehaves(name, "the user information", err)
	}
	return id, nil
}

// known are the reasons of RFC 6749 section 5.2 for which a code is refused, and
// what can be done.
var known = map[string]string{
	"invalid_request":        "check authCode, redirectUri and codeVerifier",
	"invalid_client":         "its clientId or client secret is wrong; correct the credential with update_oauth2_credential",
	"invalid_grant":          "authCode is wrong, expired or was used before, or redirectUri or codeVerifier is not that of the login; log in again",
	"unauthorized_client":    "the client may not use codes; allow it at the provider",
	"unsupported_grant_type": "the provider does not take codes (oauth2.providers)",
	"invalid_scope":          "a scope of the login is not known to the provider",
}

// refusal says why the provider did not take a code.
func refusal(name domain.OAuth2Provider, answer target.Answer) error {
	var said struct {
		Error string `json:"error"`
	}
	if err := read(answer, &said); err != nil || known[said.Error] == "" || answer.Status >= 500 {
		return unsound(name, "code", answer.Status)
	}
	return fault.New(fault.InvalidArgument, fault.ReasonOAuth2Provider, "%s did not take the code (%s): %s", name, said.Error, known[said.Error])
}

// unsound is an answer with a status that says nothing about the code.
func unsound(name domain.OAuth2Provider, what string, status int) error {
	if status >= 500 || status == http.StatusTooManyRequests {
		return fault.New(fault.Unavailable, fault.ReasonUnspecified, "%s cannot answer now (HTTP status %d): log in again later", name, status)
	}
	return fault.New(fault.InvalidArgument, fault.ReasonOAuth2Provider,
		"%s answered a request for a %s with HTTP status %d; the operator can check oauth2.providers", name, what, status)
}

// away is a provider of which there is no whole answer.
func away(name domain.OAuth2Provider, err error) error {
	if target.IsTooLarge(err) {
		return misbehaves(name, "an answer", err)
	}
	return fault.New(fault.Unavailable, fault.ReasonUnspecified, "%s cannot be reached, or did not answer in time: log in again later", name).Because(err)
}

// misbehaves is an answer that is not one of OAuth 2.0.
func misbehaves(name domain.OAuth2Provider, what string, err error) error {
	return fault.New(fault.InvalidArgument, fault.ReasonOAuth2Provider,
		"%s of %s cannot be used: %v; the operator can check oauth2.providers", what, name, err)
}

// read reads an answer. What is wrong with it is not repeated: it would be what a
// provider wrote.
func read(answer target.Answer, to any) error {
	if json.Unmarshal(answer.Body, to) != nil {
		return fmt.Errorf("it is not the JSON that was expected")
	}
	return nil
}

// maxSubject is how many bytes the id of a user may have, and maxBearer how many a
// token.
const (
	maxSubject = 255
	maxBearer  = 4 << 10
)

// member finds the user's id: a text, or a whole number.
func member(answer target.Answer, path string) (string, error) {
	at := jsontext.Value(answer.Body)
	for name := range strings.SplitSeq(path, ".") {
		var object map[string]jsontext.Value
		if json.Unmarshal(at, &object) != nil {
			return "", fmt.Errorf("there is no %s in it", path)
		}
		at = object[name]
	}
	var id string
	switch kind := at.Kind(); {
	case len(at) == 0:
		return "", fmt.Errorf("there is no %s in it", path)
	case kind == '0':
		id = string(at)
		if strings.ContainsAny(id, ".eE-") {
			return "", fmt.Errorf("%s is not a whole number", path)
		}
	case kind != '"' || json.Unmarshal(at, &id) != nil:
		return "", fmt.Errorf("%s is neither a text nor a number", path)
	}
	if id == "" || len(id) > maxSubject || !isPrintable(id) {
		return "", fmt.Errorf("%s must have 1 to %d printable ASCII characters", path, maxSubject)
	}
	return id, nil
}

func isToken(text string) bool { return text != "" && len(text) <= maxBearer && isPrintable(text) }

func isPrintable(text string) bool {
	return !slices.ContainsFunc([]byte(text), func(b byte) bool { return b <= 0x20 || b > 0x7e })
}

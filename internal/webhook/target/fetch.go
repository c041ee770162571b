package target

import (
	"context"
	"errors"
	"io"
	"net/http"
)

// Request is something to ask of another server.
type Request struct {
	Method string
	URL    string
	Header http.Header
	Body   []byte
	Most   int64 // bytes of the answer that are taken
}

// Answer is what it answered, whole.
type Answer struct {
	Status int
	Body   []byte
}

var errTooLarge = errors.New("the answer is too large")

// IsTooLarge reports whether an error says that an answer had too many bytes.
func IsTooLarge(err error) bool { return errors.Is(err, errTooLarge) }

// Fetch asks, and reads the answer. Its errors are as safe as those of
// [Client.Post]; the answer is what the other server wrote.
func (c *Client) Fetch(ctx context.Context, r Request) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	response, err := c.send(ctx, r)
	if err != nil {
		return Answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, r.Most+1))
	switch {
	case err != nil:
		return Answer{}, c.reason(err)
	case int64(len(body)) > r.Most:
		return Answer{}, errTooLarge
	}
	return Answer{Status: response.StatusCode, Body: body}, nil
}

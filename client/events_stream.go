package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
)

// ErrStreamEnded says that a stream of events ended without a reason: the server
// shuts down, or the connection was cut. Open another one after the last cursor.
var ErrStreamEnded = errors.New("the stream of events ended")

// maxEventLine bounds one line of a stream.
const maxEventLine = maxReply

// StreamEvents gives events to each as they happen, from q.After on, until ctx ends
// or each returns an error, which is returned. It ends with an [*Error] when the
// server refuses the stream, or ends it because the credential no longer stands, and
// else with [ErrStreamEnded]: nothing is missed by who goes on after the cursor of
// the last event.
func (c *Client) StreamEvents(ctx context.Context, q EventsRequest, each func(*EventView) error) error {
	body, err := c.QueryBody(q)
	if err != nil {
		return err
	}
	req, err := c.request(ctx, "/latchkey/v1/events/stream", body)
	if err != nil {
		return err
	}
	patient := *c.http()
	patient.Timeout = 0 // a stream has no end
	res, err := patient.Do(req)
	if err != nil {
		return fmt.Errorf("posting: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		reply, err := io.ReadAll(io.LimitReader(res.Body, maxReply))
		if err != nil {
			return fmt.Errorf("reading reply: %w", err)
		}
		return parseError(res.StatusCode, reply)
	}
	return readEvents(ctx, res.Body, each)
}

// readEvents reads server-sent events, of which each has its data on one line.
func readEvents(ctx context.Context, from io.Reader, each func(*EventView) error) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 0, 64<<10), maxEventLine)
	name := ""
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ": ")
		switch {
		case lines.Text() == "":
			name = ""
		case field == "event":
			name = value
		case field == "data" && name == "error":
			return parseError(http.StatusOK, []byte(value)).ended()
		case field == "data":
			event := new(EventView)
			if err := json.Unmarshal([]byte(value), event); err != nil {
				return fmt.Errorf("reading an event: %w", err)
			}
			if err := each(event); err != nil {
				return err
			}
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrStreamEnded, err)
	}
	return ErrStreamEnded
}

// ended gives an error that came in a stream the status that a request would have
// been answered with.
func (e *Error) ended() *Error {
	e.Status = http.StatusInternalServerError
	for status, code := range map[int]int{http.StatusUnauthorized: 16, http.StatusForbidden: 7, http.StatusServiceUnavailable: 14} {
		if e.Code == code {
			e.Status = status
		}
	}
	return e
}

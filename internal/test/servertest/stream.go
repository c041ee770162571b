package servertest

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// Stream is a stream of server-sent events.
type Stream struct {
	t      testing.TB
	lines  *bufio.Reader
	body   io.Closer
	Events chan StreamEvent // closed when the stream has ended
}

// StreamEvent is one of them, or a comment.
type StreamEvent struct {
	ID, Name, Comment string
	Data              Value // of an event
}

// Open stamps what encodes to a body, posts it to a path of our own, and returns
// the stream that must be answered with. It is closed when the test ends.
func (c *Caller) Open(t testing.TB, path string, body any) *Stream {
	t.Helper()
	s, reply := c.TryOpen(t, path, body)
	if s == nil {
		t.Fatalf("HTTP %d: %s", reply.Status, reply.Body)
	}
	return s
}

// TryOpen is [Caller.Open] for what may be refused: then there is no stream.
func (c *Caller) TryOpen(t testing.TB, path string, body any) (*Stream, Reply) {
	t.Helper()
	text := encode(t, body)
	name, value, err := c.Stamper.Stamp(text)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+path, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set(name, value)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		read, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return nil, Reply{response.StatusCode, response.Header, read}
	}
	if got := response.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("Content-Type %q", got)
	}
	s := &Stream{t: t, lines: bufio.NewReader(response.Body), body: response.Body, Events: make(chan StreamEvent, 1000)}
	go s.read()
	return s, Reply{Status: response.StatusCode, Header: response.Header}
}

// Close ends the stream from this side.
func (s *Stream) Close() { _ = s.body.Close() }

// Next waits for the next event and passes over comments; false: the stream has
// ended.
func (s *Stream) Next() (StreamEvent, bool) {
	for e := range s.Events {
		if e.Comment == "" {
			return e, true
		}
	}
	return StreamEvent{}, false
}

func (s *Stream) read() {
	defer close(s.Events)
	var e StreamEvent
	for {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimSuffix(line, "\n")
		field, value, _ := strings.Cut(line, ": ")
		switch {
		case line == "":
			s.Events <- e
			e = StreamEvent{}
		case strings.HasPrefix(line, ":"):
			e.Comment = value
		case field == "id":
			e.ID = value
		case field == "event":
			e.Name = value
		case field == "data":
			var v any
			if err := json.Unmarshal([]byte(value), &v); err != nil {
				s.t.Errorf("data that is not JSON: %v", err)
			}
			e.Data = Value{s.t, v}
		}
	}
}

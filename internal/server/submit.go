package server

import (
	"context"
	"net/http"

	"github.com/go-json-experiment/json"

	"latchkey/internal/fault"
	"latchkey/internal/request/engine"
)

// Submit does an activity as a stamped request for it would, before the server
// listens to any. A refusal is a reply too.
// newID, if not nil, makes the ids of what it creates.
func (s *Server) Submit(ctx context.Context, operation string, header http.Header, body []byte, newID func() string) (reply []byte, err error) {
	answer, err := s.engine.Submit(ctx, s.api.Catalog.Endpoint(operation), engine.Request{
		Header: header, Body: body, NewID: newID, Event: new(engine.Event),
	})
	if refusal, ok := fault.As(err); ok {
		return json.Marshal(refusal.Body())
	}
	if err != nil {
		return nil, err
	}
	return answer.Body, nil
}

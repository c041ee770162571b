package api

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"latchkey/internal/fault"
	"latchkey/internal/request/engine"
	"latchkey/internal/schema"
)

// A stream is server-sent events, as the HTML standard has them (section 9.2): the
// id of each is its cursor. It is not bound by the time-out of requests, only by
// that of a single write.

// streamWrite bounds how long a client may take for what is sent at once.
const streamWrite = 30 * time.Second

// EndStreams ends all streams, and refuses further ones.
func (s *Server) EndStreams() { s.endOnce.Do(func() { close(s.ended) }) }

// stream sends events until the client goes, the server drains or the credential
// no longer stands.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, events *engine.Stream, about []slog.Attr) {
	defer events.Close()
	start, sent := time.Now(), 0
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	go func() {
		select {
		case <-s.ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // some proxies collect what is small otherwise
	to := &eventWriter{w: w, control: http.NewResponseController(w)}
	err := to.send([]byte(": events follow\n\n"))
	for err == nil {
		var event *engine.EventView
		event, err = events.Next(ctx)
		switch {
		case err != nil:
		case event == nil:
			err = to.send([]byte(": nothing new\n\n"))
		default:
			sent++
			err = to.event(event)
		}
	}
	if to.failed == nil && r.Context().Err() == nil {
		to.end(s.endOf(r, err))
	}
	s.Log.LogAttrs(r.Context(), slog.LevelInfo, "stream ended", append(about,
		slog.Int("events", sent), slog.String("outcome", outcome(err, engine.Event{})),
		slog.Float64("durationMs", float64(time.Since(start).Microseconds())/1000))...)
}

// endOf says to the client why the stream ends; empty: the server drains.
func (s *Server) endOf(r *http.Request, err error) []byte {
	select {
	case <-s.ended:
		return nil
	default:
		return s.refusal(r, err).Body
	}
}

// refuseStream refuses a stream that a server which drains would have to end.
func (s *Server) refuseStream() error {
	select {
	case <-s.ended:
		return fault.New(fault.Unavailable, fault.ReasonUnspecified, "the server is shutting down; ask another one")
	default:
		return nil
	}
}

// eventWriter writes server-sent events.
type eventWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	failed  error
}

func (e *eventWriter) send(text []byte) error {
	_ = e.control.SetWriteDeadline(time.Now().Add(streamWrite))
	if _, e.failed = e.w.Write(text); e.failed == nil {
		e.failed = e.control.Flush()
	}
	return e.failed
}

func (e *eventWriter) event(event *engine.EventView) error {
	body, err := schema.Encode(event) // JSON on one line
	if err != nil {
		return err
	}
	text := append([]byte("id: "+event.Cursor+"\ndata: "), body...)
	return e.send(append(text, '\n', '\n'))
}

func (e *eventWriter) end(why []byte) {
	if why == nil {
		_ = e.send([]byte(": the server is shutting down\n\n"))
		return
	}
	_ = e.send(append(append([]byte("event: error\ndata: "), why...), '\n', '\n'))
}

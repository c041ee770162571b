package api

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"latchkey/internal/fault"
)

// readBody reads the exact bytes that were sent: they are what was signed.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	most := s.maxBody.Load()
	tooLarge := func() error {
		return fault.Invalid("the body is larger than %d bytes, the most that is accepted", most).
			WithStatus(http.StatusRequestEntityTooLarge)
	}
	if r.ContentLength > most {
		w.Header().Set("Connection", "close")
		return nil, tooLarge()
	}
	body, err := readAll(w, r, most)
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, tooLarge()
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.Header().Set("Connection", "close")
		return nil, fault.New(fault.DeadlineExceeded, fault.ReasonRequestInvalid,
			"the body did not arrive in time").WithStatus(http.StatusRequestTimeout)
	case err != nil:
		return nil, fault.Invalid("the body could not be read to its end").Because(err)
	}
	// The deadline was for reading. Left in place it would also end the work
	// on a request that takes longer.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	return body, nil
}

// maxAnnounced bounds how much room is made for a body before it is there.
const maxAnnounced = 8 << 10

// readAll reads a body whose length was announced into room of that size.
func readAll(w http.ResponseWriter, r *http.Request, most int64) ([]byte, error) {
	if r.ContentLength <= 0 || r.ContentLength > min(most, maxAnnounced) {
		return io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	}
	body := make([]byte, r.ContentLength)
	_, err := io.ReadFull(r.Body, body)
	return body, err
}

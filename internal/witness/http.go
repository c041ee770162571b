package witness

import (
	"errors"
	"fmt"
	"io"
	"net/http"
)

// maxBody bounds a submission: a proof and a checkpoint with many signatures.
const maxBody = 512 << 10

// Handler serves the witness over HTTP, C2SP tlog-witness: add-checkpoint, and the
// newest cosigned checkpoint of each log.
func (w *Witness) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /add-checkpoint", w.serveAdd)
	mux.HandleFunc("GET /{hash}/checkpoint", w.serveLatest)
	mux.HandleFunc("GET /readyz", func(rw http.ResponseWriter, _ *http.Request) { answer(rw, http.StatusOK, "text/plain", "ready\n") })
	return mux
}

func (w *Witness) serveAdd(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, maxBody))
	if err != nil {
		answer(rw, http.StatusRequestEntityTooLarge, "text/plain", fmt.Sprintf("the body could not be read, or has more than %d bytes\n", maxBody))
		return
	}
	lines, err := w.AddCheckpoint(string(body))
	var refused *refusal
	switch {
	case err == nil:
		answer(rw, http.StatusOK, "text/plain; charset=utf-8", string(lines))
	case errors.As(err, &refused) && refused.status == http.StatusConflict:
		answer(rw, http.StatusConflict, "text/x.tlog.size", fmt.Sprintf("%d\n", refused.size))
	case errors.As(err, &refused):
		answer(rw, refused.status, "text/plain; charset=utf-8", refused.reason+"\n")
	default:
		w.log.Error("a checkpoint could not be cosigned", "error", err)
		answer(rw, http.StatusInternalServerError, "text/plain", "the witness failed; its log says why\n")
	}
}

func (w *Witness) serveLatest(rw http.ResponseWriter, r *http.Request) {
	latest := w.Latest(r.PathValue("hash"))
	if latest == nil {
		answer(rw, http.StatusNotFound, "text/plain", "no checkpoint of such a log was cosigned\n")
		return
	}
	answer(rw, http.StatusOK, "text/plain; charset=utf-8", string(latest))
}

func answer(rw http.ResponseWriter, status int, contentType, text string) {
	rw.Header().Set("Content-Type", contentType)
	rw.Header().Set("X-Content-Type-Options", "nosniff")
	rw.WriteHeader(status)
	_, _ = io.WriteString(rw, text) // a client that is gone is told nothing
}

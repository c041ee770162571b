package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
)

// The operator's socket takes commands for a server that runs: the user who runs it,
// and root, can use it, and nobody else.
const (
	operatorUnseal = "/unseal"
	operatorRotate = "/rotate"
	operatorSeal   = "/seal"
)

// listenOperator takes the socket over from a server that is gone.
func listenOperator(path string) (net.Listener, error) {
	if connection, err := net.Dial("unix", path); err == nil {
		_ = connection.Close()
		return nil, fmt.Errorf("another server uses %s", path)
	} else if errors.Is(err, syscall.ECONNREFUSED) { // nobody listens any more
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}

// operatorHandler answers on the socket when the server is open.
func (s *Server) operatorHandler(keys *KeyServices) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+operatorUnseal, func(w http.ResponseWriter, _ *http.Request) {
		operatorReply(w, Unsealing{}, errors.New("the server is not sealed"))
	})
	mux.HandleFunc("GET "+operatorRotate, func(w http.ResponseWriter, r *http.Request) {
		status, err := RotationStatus(r.Context(), s.store)
		operatorReply(w, status, err)
	})
	mux.HandleFunc("POST "+operatorRotate, func(w http.ResponseWriter, r *http.Request) {
		s.sealing.Lock()
		defer s.sealing.Unlock()
		status, err := s.rotate(r.Context(), keys)
		operatorReply(w, status, err)
	})
	mux.HandleFunc("POST "+operatorSeal, func(w http.ResponseWriter, r *http.Request) {
		if !s.sealing.TryLock() {
			operatorReply(w, SealTaken{}, errors.New("the data keys are being replaced: it takes the seal at the end of that"))
			return
		}
		defer s.sealing.Unlock()
		taken, err := s.takeSeal(r.Context(), keys)
		operatorReply(w, taken, err)
	})
	return mux
}

// rotate takes the newest seal first. At its end that has forgotten the master key
// before, and so do the servers.
func (s *Server) rotate(ctx context.Context, keys *KeyServices) (Rotation, error) {
	if keys.Seal == nil {
		return Rotate(ctx, s.store, keys, s.node)
	}
	if _, err := s.takeSeal(ctx, keys); err != nil {
		return Rotation{}, err
	}
	done, err := Rotate(ctx, s.store, keys, s.node)
	if err == nil {
		_, err = s.takeSeal(ctx, keys)
	}
	return done, err
}

// operatorReply writes a result, or why there is none.
func operatorReply(w http.ResponseWriter, result any, err error) {
	if err != nil {
		writeJSON(w, http.StatusConflict, map[string]string{"error": err.Error()})
		return
	}
	writeJSON(w, http.StatusOK, result)
}

// ErrNoOperator says that no server listens on the operator's socket.
var ErrNoOperator = errors.New("no server listens there; is it running?")

// askOperator sends a command to the server that listens on a socket.
func askOperator[T any](ctx context.Context, socket, method, path, body string) (result T, err error) {
	client := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, method, "http://operator"+path, strings.NewReader(body))
	if err != nil {
		return result, err
	}
	reply, err := client.Do(request)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return result, fmt.Errorf("%s: %w", socket, ErrNoOperator)
	}
	if err != nil {
		return result, err
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(io.LimitReader(reply.Body, 1<<20))
	if err != nil {
		return result, err
	}
	if reply.StatusCode != http.StatusOK {
		var refused struct {
			Error string `json:"error"`
		}
		if err := json.Unmarshal(text, &refused); err != nil || refused.Error == "" {
			return result, fmt.Errorf("%s: the server answered with status %d", socket, reply.StatusCode)
		}
		return result, errors.New(refused.Error)
	}
	return result, json.Unmarshal(text, &result)
}

// AskUnseal hands a share to the server that listens on a socket.
func AskUnseal(ctx context.Context, socket string, share []byte) (Unsealing, error) {
	return askOperator[Unsealing](ctx, socket, http.MethodPost, operatorUnseal, string(share))
}

// AskTakeSeal has the server that listens on a socket go on with what its seal has
// become.
func AskTakeSeal(ctx context.Context, socket string) (SealTaken, error) {
	return askOperator[SealTaken](ctx, socket, http.MethodPost, operatorSeal, "")
}

// AskRotate has the server that listens on a socket replace its data keys, and
// returns when it is done; with status it only tells how far it is.
func AskRotate(ctx context.Context, socket string, status bool) (Rotation, error) {
	method := http.MethodPost
	if status {
		method = http.MethodGet
	}
	return askOperator[Rotation](ctx, socket, method, operatorRotate, "")
}

// paused is a listener for a server that is to end while the listener goes on.
type paused struct{ net.Listener }

// Close ends Accept, and leaves the listener as it is.
func (p paused) Close() error { return p.deadline(time.Unix(1, 0)) }

// resume lets the listener accept again.
func (p paused) resume() error { return p.deadline(time.Time{}) }

func (p paused) deadline(at time.Time) error {
	return p.Listener.(interface{ SetDeadline(time.Time) error }).SetDeadline(at)
}

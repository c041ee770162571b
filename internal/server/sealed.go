package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"

	"latchkey/internal/console"
	"latchkey/internal/keys/vault/sealfile"
	"latchkey/internal/meter"
)

// Unsealing is how far the people are who open the seal.
type Unsealing struct {
	Sealed bool `json:"sealed"`
	sealfile.Progress
}

const (
	unsealPath = "/latchkey/v1/unseal"
	maxShare   = 1 << 10
)

// Unseal opens the seal of the master key; nil if it is in none. If no recipient
// opens it by itself, and a group of people is one, the server stays sealed: it
// answers, calls waiting, and waits until enough of them have handed in their shares.
func (b *Bound) Unseal(ctx context.Context, log *slog.Logger, waiting func()) (*sealfile.Opened, error) {
	if _, sealed := sealPath(b.config); !sealed {
		return nil, nil
	}
	seal, err := ReadSeal(b.config)
	if err != nil {
		return nil, fmt.Errorf("masterKey: %w", err)
	}
	opened, why := OpenSeal(seal, b.config.Seal.Secrets, log)
	if why == nil {
		return opened, nil
	}
	gathering, people := seal.Gather(time.Now)
	defer gathering.Close()
	if !people {
		return nil, fmt.Errorf("masterKey: %w", why)
	}
	log.Warn("the server is sealed: run latchkey unseal once for each share", "address", b.listeners[0].Addr().String(), "reason", why.Error(), "socket", b.config.Operator.Socket)
	waiting()
	return b.wait(ctx, &sealed{gathering: gathering, log: log, opened: make(chan *sealfile.Opened, 1)})
}

// wait serves on all listeners until the seal is open.
func (b *Bound) wait(ctx context.Context, s *sealed) (_ *sealfile.Opened, err error) {
	pages, err := newPages(b.config, b.shares(b.console))
	if err != nil {
		return nil, err
	}
	var serving []*http.Server
	var listening []paused
	ended := make(chan error, len(b.listeners)+1)
	serve := func(on net.Listener, encrypted bool, h http.Handler) {
		p := paused{on}
		server := httpServer(b.config, h, s.log)
		serving, listening = append(serving, server), append(listening, p)
		var with net.Listener = p
		if encrypted {
			with = tls.NewListener(p, &tls.Config{Certificates: []tls.Certificate{*b.certificate}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}})
		}
		go func() { ended <- server.Serve(with) }()
	}
	for _, on := range b.listeners {
		handler := s.handler(b.shares(on) == console.SharesTaken)
		if b.config.Console.Enabled && on == b.console {
			handler = pages.Before(handler)
		}
		serve(on, b.certificate != nil && on != b.metrics, handler)
	}
	if b.operator != nil {
		serve(b.operator, false, s.operator())
	}
	var opened *sealfile.Opened
	select {
	case opened = <-s.opened:
	case <-ctx.Done():
		err = errors.New("the server was stopped while it was sealed")
	case err = <-ended:
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), b.config.Timeouts.Drain)
	defer cancel()
	for i, server := range serving {
		// The last reply is still on its way.
		err = errors.Join(err, server.Shutdown(drain), listening[i].resume())
	}
	if err != nil && opened != nil {
		opened.Close()
		opened = nil
	}
	return opened, err
}

// shares says whether a listener takes the shares of people. They never travel in the
// clear.
func (b *Bound) shares(on net.Listener) console.Shares {
	switch {
	case !b.config.Seal.HTTP || on == b.metrics:
		return console.SharesOff
	case b.certificate == nil && !on.Addr().(*net.TCPAddr).IP.IsLoopback():
		return console.SharesInsecure
	}
	return console.SharesTaken
}

// sealed answers while the seal is closed.
type sealed struct {
	gathering *sealfile.Gathering
	log       *slog.Logger
	opened    chan *sealfile.Opened
}

// operator is for those who can reach the socket.
func (s *sealed) operator() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+operatorUnseal, func(w http.ResponseWriter, r *http.Request) {
		progress, err := s.take(r)
		if err != nil {
			err = fmt.Errorf("%s: %w", s.gathering.Path(), err)
		}
		operatorReply(w, progress, err)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		operatorReply(w, Unsealing{}, errors.New("the server is sealed: run latchkey unseal once for each share"))
	})
	return mux
}

// take adds the share in a request.
func (s *sealed) take(r *http.Request) (Unsealing, error) {
	share, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxShare))
	defer clear(share)
	if err != nil {
		return Unsealing{}, errors.New("a share has at most 1,024 bytes")
	}
	opened, progress, err := s.gathering.Add(share)
	if err != nil {
		s.log.Warn("a share was refused", "error", err.Error())
		return Unsealing{}, err
	}
	s.log.Info("a share was handed in", "recipient", progress.Recipient, "have", progress.Have, "need", progress.Need)
	if opened != nil {
		select {
		case s.opened <- opened:
		default: // two people were last at the same time
			opened.Close()
		}
	}
	return Unsealing{Sealed: opened == nil, Progress: progress}, nil
}

// handler is what everybody can reach.
func (s *sealed) handler(takesShares bool) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusServiceUnavailable, struct {
			Status string `json:"status"`
			sealfile.Progress
		}{"sealed", s.gathering.Progress()})
	})
	if takesShares {
		// Five tries a minute, by all together.
		tries := meter.New(time.Minute, time.Now)
		tries.SetMost(5)
		mux.HandleFunc("POST "+unsealPath, func(w http.ResponseWriter, r *http.Request) {
			if !tries.Take("all") {
				w.Header().Set("Retry-After", "12")
				refuse(w, http.StatusTooManyRequests, 8, "five shares a minute are taken; try again in a moment")
				return
			}
			progress, err := s.takeJSON(r)
			if err != nil {
				refuse(w, http.StatusBadRequest, 3, err.Error())
				return
			}
			writeJSON(w, http.StatusOK, struct {
				Unsealing
				Repeated bool `json:"repeated,omitzero"`
			}{progress, progress.Repeated})
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		p := s.gathering.Progress()
		refuse(w, http.StatusServiceUnavailable, 14, fmt.Sprintf("the server is sealed: %d of %d people of %s have handed in their shares", p.Have, p.Need, p.Recipient))
	})
	return mux
}

// takeJSON takes {"share": "…"}, as the console sends it.
func (s *sealed) takeJSON(r *http.Request) (Unsealing, error) {
	text, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, 2*maxShare))
	defer clear(text)
	var given struct {
		Share string `json:"share"`
	}
	if err != nil || json.Unmarshal(text, &given, json.RejectUnknownMembers(true)) != nil {
		return Unsealing{}, errors.New(`the body must be {"share": "…"}`)
	}
	r.Body = io.NopCloser(bytes.NewReader([]byte(given.Share)))
	return s.take(r)
}

func refuse(w http.ResponseWriter, status, code int, message string) {
	writeJSON(w, status, struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Details []any  `json:"details"`
	}{code, message, []any{}})
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // who asked may be gone
}

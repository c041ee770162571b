package server

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
)

// Answers asks the server for /healthz as a client would, by its own listener.
func (s *Server) Answers(ctx context.Context) error {
	transport := &http.Transport{
		// It is this process that answers, whatever its certificate says.
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
		DisableKeepAlives: true,
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.BaseURL()+"/healthz", nil)
	if err != nil {
		return err
	}
	reply, err := transport.RoundTrip(request)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return fmt.Errorf("/healthz answers %s", reply.Status)
	}
	return nil
}

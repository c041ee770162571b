package sealtest

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"latchkey/plugins/sealtest/transit"
)

// TestTransitOpens: a key of a service opens the seal; away, people do it.
func TestTransitOpens(t *testing.T) {
	s := newSite(t)
	s.shares()
	s.write("token", "bao-token-1\n")
	s.write("old.token", "bao-token-0\n")
	service := httptest.NewServer(transit.New("bao-token-1"))
	defer service.Close()
	at := "bao=" + service.URL + "/v1/transit/keys/latchkey"
	s.refused("answered with 403: the token is wrong", "seal", "init", "--seal", "seal.json", "--transit", at, "--secret", "bao=file:old.token")
	s.must("seal", "init", "--seal", "seal.json", "--transit", at, "--secret", "bao=file:token", "--people", "board=2/2", "--shares", "shares")
	s.configure("bao: file:token")
	organization := s.populate()
	server := s.serve("first.log")
	server.await(http.StatusOK, "")
	server.logged(`"recipient":"bao"`)
	before := s.request(organization, "whoami")
	service.Close()
	s.refused("the service cannot be reached", "seal", "test", "--config", "latchkey.yaml")
	if now := s.request(organization, "whoami"); now != before {
		t.Errorf("%s, before %s", now, before)
	}
	server.stop()
	server = s.serve("second.log")
	server.await(http.StatusServiceUnavailable, "sealed")
	server.logged("the service cannot be reached")
	s.unseal("board", 1, 2)
	server.await(http.StatusOK, "")
	s.noSecret("bao-token", "token")
}

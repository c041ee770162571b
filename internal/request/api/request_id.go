package api

import (
	"net/http"
	"net/netip"
	"regexp"

	"latchkey/internal/ids"
)

const requestIDHeader = "X-Request-Id"

// What is taken from a proxy: long enough for a trace id or a UUID, and nothing that
// could be mistaken for something else in a log.
var requestIDForm = regexp.MustCompile(`^[A-Za-z0-9._-]{8,64}$`)

// requestID is the id of a request, by which its line in the log is found, and which
// the reply has as a header; empty: they are switched off. A trusted proxy may have
// given it one. What others write there is not looked at.
func (s *Server) requestID(w http.ResponseWriter, r *http.Request) string {
	if !s.RequestIDs {
		return ""
	}
	id := ids.New()
	if s.fromProxy(r) {
		if given := r.Header.Get(requestIDHeader); requestIDForm.MatchString(given) {
			id = given
		}
	}
	w.Header().Set(requestIDHeader, id)
	w.Header().Set("Access-Control-Expose-Headers", requestIDHeader)
	return id
}

// fromProxy reports whether a request comes from a trusted proxy.
func (s *Server) fromProxy(r *http.Request) bool {
	if len(s.TrustedProxies) == 0 {
		return false
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && s.trusts(plain(peer.Addr()))
}

package api

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// clientIP is the address that a request came from, and whether that is certain:
// if not, it is the nearest one on the way.
//
// Each proxy adds the address that it was called from to X-Forwarded-For. What
// a proxy that is not trusted, or the client itself, has written there is not
// looked at. A trusted proxy that has written nothing is the client itself.
func (s *Server) clientIP(r *http.Request) (nearest netip.Addr, certain bool) {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}, false // no TCP
	}
	address := plain(peer.Addr())
	written := r.Header.Values("X-Forwarded-For")
	if len(written) == 0 {
		return address, true
	}
	for _, hop := range slices.Backward(strings.Split(strings.Join(written, ","), ",")) {
		if !s.trusts(address) {
			break
		}
		from, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			return address, false
		}
		address = plain(from)
	}
	return address, true
}

// plain is the address in the one form in which addresses are compared.
func plain(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

func (s *Server) trusts(peer netip.Addr) bool {
	return slices.ContainsFunc(s.TrustedProxies, func(n netip.Prefix) bool { return n.Contains(peer) })
}

package config

import (
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// collision says why two listeners cannot both be had, as far as their addresses
// tell; empty: they can, or only the system knows.
func collision(listen, metrics string) string {
	a, b := parseListener(listen), parseListener(metrics)
	switch {
	case a.port != b.port || a.port == 0: // each 0 is a port of its own
		return ""
	case a.same(b):
		return "metrics.listen is the address of listen: leave it empty to serve /metrics there"
	case a.every() || b.every():
		return "metrics.listen has the port of listen, and one of them is on every address of this machine: " +
			"give it another port, or leave it empty to serve /metrics on listen"
	}
	return ""
}

// listener is an address to listen on. It has an ip, or else a name.
type listener struct {
	ip   netip.Addr
	name string
	port uint64
}

func parseListener(address string) listener {
	host, port, _ := net.SplitHostPort(address) // the setting was checked
	number, _ := strconv.ParseUint(port, 10, 16)
	l := listener{name: strings.ToLower(strings.TrimSuffix(host, ".")), port: number}
	switch ip, err := netip.ParseAddr(host); {
	case err == nil:
		l.ip = ip.Unmap()
	case l.name == "":
		l.ip = netip.IPv6Unspecified()
	case l.name == "localhost":
		// Of the addresses of a name, package net listens on the first of IPv4.
		l.ip = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return l
}

func (l listener) same(other listener) bool {
	if l.ip.IsValid() || other.ip.IsValid() {
		return l.ip == other.ip || l.every() && other.every()
	}
	return l.name == other.name
}

// every reports whether it is on all addresses: package net makes no difference
// between 0.0.0.0 and [::].
func (l listener) every() bool { return l.ip.IsUnspecified() }

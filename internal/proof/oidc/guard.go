package oidc

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
)

// errPrivate refuses to connect to an address that is not public.
var errPrivate = errors.New("address is not public")

// notPublic lists the networks that no issuer may be in: the special-purpose
// registries of IANA (RFC 6890), and addresses at which clouds serve
// secrets to machines. IPv6 outside 2000::/3 is not listed, as public refuses all of
// it: unique local and link-local addresses, multicast, ::1, and the old forms
// of IPv4 within ::/96.
var notPublic = prefixes(
	"0.0.0.0/8",        // this network
	"10.0.0.0/8",       // private
	"100.64.0.0/10",    // behind a carrier's NAT; one cloud's metadata
	"127.0.0.0/8",      // loopback
	"168.63.129.16/32", // one cloud's metadata, although the address looks public
	"169.254.0.0/16",   // link-local; most clouds' metadata
	"172.16.0.0/12",    // private
	"192.0.0.0/24",     // protocol assignments; one cloud's metadata
	"192.0.2.0/24",     // documentation
	"192.88.99.0/24",   // relays of 6to4
	"192.168.0.0/16",   // private
	"198.18.0.0/15",    // benchmarks
	"198.51.100.0/24",  // documentation
	"203.0.113.0/24",   // documentation
	"224.0.0.0/4",      // multicast
	"240.0.0.0/4",      // reserved, broadcast

	"2001::/23",     // protocol assignments; Teredo, which embeds IPv4
	"2001:db8::/32", // documentation
	"2002::/16",     // 6to4, which embeds IPv4; retired by RFC 7526
	"3fff::/20",     // documentation
)

var (
	globalIPv6 = netip.MustParsePrefix("2000::/3")
	nat64      = netip.MustParsePrefix("64:ff9b::/96") // RFC 6052; 64:ff9b:1::/48 is for local use
)

func prefixes(texts ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		all[i] = netip.MustParsePrefix(text)
	}
	return all
}

// public reports whether an address belongs to the public internet.
func public(a netip.Addr) bool {
	a = a.Unmap()
	if nat64.Contains(a) {
		// A host without IPv4 reaches all of it through this prefix.
		b := a.As16()
		a = netip.AddrFrom4([4]byte(b[12:]))
	}
	if !a.IsValid() || a.Zone() != "" || a.Is6() && !globalIPv6.Contains(a) {
		return false
	}
	for _, p := range notPublic {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

// control decides about each connection when its address is known and nothing
// is sent yet. It serves as [net.Dialer.Control].
func control(loopback bool) func(network, address string, _ syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return fmt.Errorf("%w: %w", errPrivate, err)
		}
		if public(at.Addr()) || loopback && at.Addr().Unmap().IsLoopback() {
			return nil
		}
		return errPrivate
	}
}

// checkURL refuses an address that no issuer should have. what names it in the
// error.
func checkURL(what, text string, loopback, query bool) error {
	if len(text) > maxURL {
		return fmt.Errorf("%s has %d bytes: at most %d are allowed", what, len(text), maxURL)
	}
	want := "an https address without user, query and fragment"
	if query {
		want = "an https address without user and fragment"
	}
	u, err := url.Parse(text)
	switch {
	case err != nil,
		// The text is compared with that of the discovery document, so it must
		// not have a second spelling of what matters.
		!strings.HasPrefix(text, u.Scheme+"://"),
		u.Hostname() == "", u.User != nil, strings.Contains(text, "#"),
		!query && strings.Contains(text, "?"):
		return fmt.Errorf("%s is %s: it must be %s", what, quote(text), want)
	case u.Scheme == "https", u.Scheme == "http" && loopback && isLoopback(u.Hostname()):
		return nil
	case u.Scheme == "http" && loopback:
		return fmt.Errorf("%s is %s: it must be %s (plain http is allowed on loopback only)", what, quote(text), want)
	}
	return fmt.Errorf("%s is %s: it must be %s", what, quote(text), want)
}

// isLoopback reports whether a host of an address is this machine.
func isLoopback(host string) bool {
	a, err := netip.ParseAddr(host)
	if err != nil {
		return strings.EqualFold(host, "localhost")
	}
	return a.Unmap().IsLoopback()
}

// Package target decides to which addresses the server may post, and posts to
// them. It keeps callers from making the server reach into its own network.
//
// An address is judged twice: its text when an endpoint is made ([Guard.Check]),
// so that a mistake is told at once; and every IP address at the moment at which it
// is dialled, because a name may resolve to another one by then. Only the second
// counts.
package target

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"code.dny.dev/ssrf"
)

// Guard knows which addresses are allowed.
type Guard struct {
	allowed []netip.Prefix
	public  *ssrf.Guardian
}

// NewGuard makes a guard that allows public addresses by https, and the networks
// that are given by http too.
func NewGuard(allowed []netip.Prefix) *Guard {
	return &Guard{allowed: allowed, public: ssrf.New(ssrf.WithAnyPort())}
}

// Loopback is the networks of this machine.
func Loopback() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
}

// MaxURL is how many bytes the address of an endpoint has at most.
const MaxURL = 2048

var (
	name = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*\.?$`)
	// number is a last part of a host by which resolvers take the whole for an
	// IPv4 address in one of its older spellings, such as 127.1 or 0x7f000001.
	number = regexp.MustCompile(`(^|\.)(0x[0-9a-f]*|[0-9]+)\.?$`)
)

// Parse reads an address as far as it can be judged without knowing what this
// server allows. Its errors are safe to show, and do not repeat the address.
func Parse(text string) (*url.URL, error) {
	at, err := url.Parse(text)
	switch {
	case len(text) > MaxURL:
		return nil, fmt.Errorf("must have at most %d characters", MaxURL)
	case err != nil:
		return nil, errors.New("must be a URL, such as https://example.com/webhooks")
	case at.Scheme != "https" && at.Scheme != "http" || at.Opaque != "":
		return nil, errors.New("must begin with https://")
	case at.User != nil:
		return nil, errors.New("must not hold a user or a password; deliveries are signed, verify the signature instead")
	case at.Fragment != "" || strings.HasSuffix(text, "#"):
		return nil, errors.New("must not hold a fragment (#…), which is never sent")
	case !validPort(at):
		return nil, errors.New("must have a port from 1 to 65535 after the colon, or none")
	}
	host := strings.ToLower(at.Hostname())
	switch _, err := netip.ParseAddr(host); {
	case strings.HasPrefix(at.Host, "["):
		if err != nil || strings.Contains(host, "%") {
			return nil, errors.New("must have an IPv6 address without a zone between the brackets")
		}
	case err == nil:
	case number.MatchString(host):
		return nil, errors.New("must have an IPv4 address in its usual form, four decimal numbers without leading zeros, or a name that does not end in a number")
	case !name.MatchString(host) || len(host) > 253:
		return nil, errors.New("must have a host name of ASCII letters, digits, hyphens and dots (xn--… for others)")
	}
	return at, nil
}

// validPort reports whether there is no port, or one that can be dialled.
func validPort(at *url.URL) bool {
	if at.Port() == "" {
		return !strings.HasSuffix(at.Host, ":")
	}
	port, err := strconv.ParseUint(at.Port(), 10, 16)
	return err == nil && port > 0
}

// Check judges the text of an address: its scheme, and its host if that is an IP
// address or this machine. Other names are judged when they are dialled. Its errors
// are safe to show.
func (g *Guard) Check(text string) error {
	at, err := Parse(text)
	if err != nil {
		return err
	}
	host := strings.TrimSuffix(strings.ToLower(at.Hostname()), ".")
	var address netip.Addr
	switch parsed, err := netip.ParseAddr(host); {
	case err == nil:
		address = parsed
	case host == "localhost" || strings.HasSuffix(host, ".localhost"):
		address = netip.AddrFrom4([4]byte{127, 0, 0, 1}) // whatever a resolver says
	case at.Scheme == "http" && !g.beyond():
		return errPlain
	default:
		return nil
	}
	return g.judge(at.Scheme == "http", address)
}

// beyond reports whether a network is allowed that is not this machine, to which
// any name might lead.
func (g *Guard) beyond() bool {
	return slices.ContainsFunc(g.allowed, func(network netip.Prefix) bool { return !network.Addr().IsLoopback() })
}

var (
	errPlain   = errors.New("must begin with https://; this server posts by http only to networks that its operator allows (webhooks.allow)")
	errPrivate = errors.New("must not lead to this server's own network: the address is not a public one; the operator can allow its network (webhooks.allow)")
)

// judge decides on one address.
func (g *Guard) judge(plain bool, address netip.Addr) error {
	address = address.Unmap()
	for _, network := range g.allowed {
		if network.Contains(address) {
			return nil
		}
	}
	if g.public.SafeAddr(address) != nil {
		return errPrivate
	}
	if plain {
		return errPlain
	}
	return nil
}

// control is the last word on an address, between its resolution and the dial.
func (g *Guard) control(plain bool) func(network, address string, c syscall.RawConn) error {
	return func(network, address string, c syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil || network != "tcp4" && network != "tcp6" {
			return &net.AddrError{Err: "not an address that may be dialled", Addr: network}
		}
		return g.judge(plain, at.Addr())
	}
}

// IsRefused reports whether an error says that an address must not be dialled.
func IsRefused(err error) bool { return errors.Is(err, errPlain) || errors.Is(err, errPrivate) }

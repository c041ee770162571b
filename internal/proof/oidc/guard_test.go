package oidc

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
)

func TestPublic(t *testing.T) {
	tests := []struct {
		name, address string
		want          bool
	}{
		{"public IPv4", "8.8.8.8", true},
		{"public IPv4, first of a network", "11.0.0.0", true},
		{"just below CGNAT", "100.63.255.255", true},
		{"just above CGNAT", "100.128.0.0", true},
		{"just below 172.16/12", "172.15.255.255", true},
		{"just above 172.16/12", "172.32.0.0", true},
		{"public IPv6", "2606:4700:4700::1111", true},
		{"public IPv6 of a cloud", "2a00:1450:4001:80b::200e", true},
		{"public IPv4 mapped", "::ffff:8.8.8.8", true},
		{"public IPv4 through NAT64", "64:ff9b::8.8.8.8", true},

		{"unspecified", "0.0.0.0", false},
		{"this network", "0.1.2.3", false},
		{"private 10", "10.1.2.3", false},
		{"private 172", "172.16.0.1", false},
		{"private 172, last", "172.31.255.255", false},
		{"private 192", "192.168.1.1", false},
		{"CGNAT", "100.64.0.1", false},
		{"CGNAT, last", "100.127.255.255", false},
		{"metadata, Alibaba", "100.100.100.200", false},
		{"loopback", "127.0.0.1", false},
		{"loopback, last", "127.255.255.255", false},
		{"link-local", "169.254.1.1", false},
		{"metadata, most clouds", "169.254.169.254", false},
		{"metadata, Azure", "168.63.129.16", false},
		{"metadata, Oracle", "192.0.0.192", false},
		{"documentation 1", "192.0.2.1", false},
		{"documentation 2", "198.51.100.1", false},
		{"documentation 3", "203.0.113.1", false},
		{"6to4 relay", "192.88.99.1", false},
		{"benchmark", "198.18.0.1", false},
		{"multicast", "224.0.0.1", false},
		{"multicast, last", "239.255.255.255", false},
		{"reserved", "240.0.0.1", false},
		{"broadcast", "255.255.255.255", false},

		{"IPv6 unspecified", "::", false},
		{"IPv6 loopback", "::1", false},
		{"IPv6 link-local", "fe80::1", false},
		{"IPv6 link-local with zone", "fe80::1%eth0", false},
		{"public IPv6 with zone", "2606:4700::1%eth0", false},
		{"IPv6 site-local", "fec0::1", false},
		{"IPv6 ULA", "fd12:3456::1", false},
		{"IPv6 ULA, first half", "fc00::1", false},
		{"metadata, AWS IPv6", "fd00:ec2::254", false},
		{"IPv6 multicast", "ff02::1", false},
		{"IPv6 documentation", "2001:db8::1", false},
		{"IPv6 documentation, new", "3fff::1", false},
		{"IPv6 discard", "100::1", false},
		{"Teredo", "2001:0:4136:e378:8000:63bf:3fff:fdd2", false},
		{"6to4 of a private address", "2002:a00:1::1", false},
		{"6to4 of a public address", "2002:808:808::1", false},
		{"segment routing", "5f00::1", false},

		{"mapped loopback", "::ffff:127.0.0.1", false},
		{"mapped private", "::ffff:10.0.0.1", false},
		{"mapped metadata", "::ffff:169.254.169.254", false},
		{"mapped CGNAT", "::ffff:100.64.0.1", false},
		{"IPv4-compatible loopback", "::127.0.0.1", false},
		{"IPv4-translated loopback", "::ffff:0:127.0.0.1", false},
		{"NAT64 of loopback", "64:ff9b::127.0.0.1", false},
		{"NAT64 of private", "64:ff9b::10.0.0.1", false},
		{"NAT64 of metadata", "64:ff9b::169.254.169.254", false},
		{"NAT64 of CGNAT", "64:ff9b::100.64.0.1", false},
		{"local NAT64", "64:ff9b:1::8.8.8.8", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := netip.MustParseAddr(tt.address)
			if got := public(a); got != tt.want {
				t.Errorf("public(%s) = %v", a, got)
			}
			// The guard must agree, with and without the exception for loopback.
			at := netip.AddrPortFrom(a, 443).String()
			if err := control(false)("tcp", at, nil); (err == nil) != tt.want {
				t.Errorf("control says %v", err)
			}
			own := a.Unmap().IsLoopback()
			if err := control(true)("tcp", at, nil); (err == nil) != (tt.want || own) {
				t.Errorf("control with loopback says %v", err)
			}
		})
	}
	if public(netip.Addr{}) {
		t.Error("no address is public")
	}
	if err := control(true)("tcp", "issuer.example:443", nil); !errors.Is(err, errPrivate) {
		t.Errorf("a name instead of an address gives %v", err)
	}
}

func TestCheckURL(t *testing.T) {
	long := "https://issuer.example/" + strings.Repeat("a", maxURL)
	tests := []struct {
		name, url             string
		loopback, query, want bool
	}{
		{name: "https", url: "https://issuer.example", want: true},
		{name: "trailing slash", url: "https://issuer.example/", want: true},
		{name: "path and port", url: "https://issuer.example:8443/realms/a", want: true},
		{name: "http", url: "http://issuer.example"},
		{name: "http with loopback", url: "http://issuer.example", loopback: true},
		{name: "http on loopback, not allowed", url: "http://127.0.0.1:80"},
		{name: "http on 127.0.0.1", url: "http://127.0.0.1:80", loopback: true, want: true},
		{name: "http on 127.1.2.3", url: "http://127.1.2.3", loopback: true, want: true},
		{name: "http on ::1", url: "http://[::1]:80", loopback: true, want: true},
		{name: "http on localhost", url: "http://localhost:80/a", loopback: true, want: true},
		{name: "http on a private address", url: "http://10.0.0.1", loopback: true},
		{name: "http on a name that begins so", url: "http://localhost.example", loopback: true},
		{name: "empty", url: ""},
		{name: "no scheme", url: "accounts.example"},
		{name: "scheme only", url: "https:"},
		{name: "no host", url: "https:///a"},
		{name: "port only", url: "https://:443"},
		{name: "opaque", url: "https:issuer.example"},
		{name: "upper-case scheme", url: "HTTPS://issuer.example"},
		{name: "file", url: "file:///etc/passwd"},
		{name: "ftp", url: "ftp://issuer.example"},
		{name: "user", url: "https://user@issuer.example"},
		{name: "user and password", url: "https://user:password@issuer.example"},
		{name: "empty user", url: "https://@issuer.example"},
		{name: "query", url: "https://issuer.example?a=b"},
		{name: "empty query", url: "https://issuer.example?"},
		{name: "query allowed", url: "https://issuer.example/keys?p=a", query: true, want: true},
		{name: "fragment", url: "https://issuer.example#a", query: true},
		{name: "empty fragment", url: "https://issuer.example#", query: true},
		{name: "space", url: "https://issuer.example /", query: true},
		{name: "line end", url: "https://issuer.example/\r\nX: y", query: true},
		{name: "leading space", url: " https://issuer.example"},
		{name: "too long", url: long},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := checkURL("claim iss", tt.url, tt.loopback, tt.query)
			if (err == nil) != tt.want {
				t.Fatalf("got %v", err)
			}
			if err != nil && !strings.HasPrefix(err.Error(), "claim iss ") {
				t.Errorf("got %v", err)
			}
		})
	}
}

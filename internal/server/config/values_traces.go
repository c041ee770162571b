package config

import (
	"net"
	"net/url"
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// collector is where spans are posted. An address without a path gets the usual one.
func (p *parser) collector(to *string) func(string, *yaml.Node) {
	const want = "the address of a collector such as https://collector.example.com:4318, without a password"
	return func(path string, n *yaml.Node) {
		_, u, ok := p.web(path, n, want, to)
		switch {
		case !ok:
		case u.User != nil || u.RawQuery != "" || u.Fragment != "":
			p.Problemf(n, "%s must be %s", path, want)
		default:
			if u.Path == "" || u.Path == "/" {
				u.Path = "/v1/traces"
			}
			*to = u.String()
		}
	}
}

var shareForm = regexp.MustCompile(`^(0|1|0?\.[0-9]{1,9}|1\.0{1,9})$`)

// share is a part of a whole.
func (p *parser) share(to *float64) func(string, *yaml.Node) {
	const want = "a number from 0 to 1, such as 0.05"
	return func(path string, n *yaml.Node) {
		if tag := n.ShortTag(); n.Kind != yaml.ScalarNode || tag != "!!int" && tag != "!!float" {
			p.Problemf(n, "%s must be %s, not %s", path, want, kind(n))
			return
		}
		v, err := strconv.ParseFloat(n.Value, 64)
		if err != nil || !shareForm.MatchString(n.Value) {
			p.Problemf(n, "%s must be %s, not %s", path, want, show(n.Value))
			return
		}
		*to = v
	}
}

// wholeTraces looks at the section as a whole.
func (p *parser) wholeTraces(n *yaml.Node, t *Traces) {
	u, err := url.Parse(t.Endpoint)
	switch {
	case t.Endpoint == "" && (len(t.Headers) > 0 || t.CA != ""):
		p.Problemf(n, "traces.endpoint is missing: without it there are no traces, whatever else is set")
	case err == nil && u.Scheme == "http" && len(t.Headers) > 0 && !thisMachine(u.Hostname()):
		p.Problemf(n, "traces.headers are not sent in clear to another machine: traces.endpoint must begin with https://")
	}
}

// thisMachine reports whether a host is this very machine by its name.
func thisMachine(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

package config

import (
	"net"
	"net/mail"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"latchkey/internal/strictyaml"
)

// This file holds how the settings of mail and SMS are checked. Whether they
// fit together in every respect is known to the package that sends.

var hostName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$`)

func (p *parser) host(to *string) func(string, *yaml.Node) {
	const want = "a host name or an IP address, without a port"
	return func(path string, n *yaml.Node) {
		v, ok := p.text(path, n, want)
		switch {
		case !ok:
		case v == "", net.ParseIP(v) != nil, hostName.MatchString(v) && len(v) <= 253:
			*to = v
		default:
			p.Problemf(n, "%s must be %s, not %s", path, want, show(v))
		}
	}
}

func (p *parser) port(to *int) func(string, *yaml.Node) {
	const want = "a port from 1 to 65535 (0 = the usual one)"
	return func(path string, n *yaml.Node) {
		if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" {
			p.Problemf(n, "%s must be %s, not %s", path, want, kind(n))
			return
		}
		v, err := strconv.ParseUint(n.Value, 10, 16)
		if err != nil || !wholeNumber.MatchString(n.Value) {
			p.Problemf(n, "%s must be %s, not %s", path, want, show(n.Value))
			return
		}
		*to = int(v)
	}
}

// line is a text without control characters, which could end a header.
func (p *parser) line(to *string) func(string, *yaml.Node) {
	return func(path string, n *yaml.Node) {
		v, ok := p.text(path, n, "text")
		switch {
		case !ok:
		case strings.ContainsFunc(v, unicode.IsControl):
			p.Problemf(n, "%s must be one line without control characters", path)
		default:
			*to = v
		}
	}
}

func (p *parser) template(to *string) func(string, *yaml.Node) {
	return func(path string, n *yaml.Node) {
		if v, ok := p.text(path, n, "text"); ok {
			*to = v
		}
	}
}

const wantEmail = "an e-mail address such as login@example.com"

func (p *parser) email(to *string) func(string, *yaml.Node) {
	return func(path string, n *yaml.Node) {
		v, ok := p.text(path, n, wantEmail)
		switch {
		case !ok:
		case v == "" || isEmail(v):
			*to = v
		default:
			p.Problemf(n, "%s must be %s, and nothing else", path, wantEmail)
		}
	}
}

func isEmail(v string) bool {
	a, err := mail.ParseAddress(v)
	return err == nil && a.Address == v && !strings.ContainsFunc(v, unicode.IsControl)
}

// senders is a list of addresses and domains.
func (p *parser) senders(to *[]string) func(string, *yaml.Node) {
	return func(path string, n *yaml.Node) {
		if n.Kind != yaml.SequenceNode {
			p.Problemf(n, "%s must be a list of e-mail addresses and domains, not %s", path, kind(n))
			return
		}
		var all []string
		for i, element := range p.Elements(n) {
			place := path + "[" + strconv.Itoa(i) + "]"
			v, ok := p.text(place, element, wantEmail+", or a domain")
			if ok && !isEmail(v) && !hostName.MatchString(v) {
				p.Problemf(element, "%s must be %s, or a domain", place, wantEmail)
			}
			all = append(all, v)
		}
		*to = all
	}
}

var headerName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)

// headers are secrets by name.
func (p *parser) headers(to *map[string]Secret) func(string, *yaml.Node) {
	return func(path string, n *yaml.Node) {
		if n.Kind != yaml.MappingNode {
			p.Problemf(n, "%s must hold headers (name: value), not %s", path, kind(n))
			return
		}
		all, seen := map[string]Secret{}, map[string]int{}
		for key, value := range p.Members(path, n) {
			if !headerName.MatchString(key.Value) {
				p.Problemf(key, "%s: the name of a header must be letters, digits and hyphens", path)
				continue
			}
			place, name := strictyaml.Join(path, key.Value), strings.ToLower(key.Value)
			if before, ok := seen[name]; ok {
				p.Problemf(key, "%s is given twice: first on line %d", place, before)
				continue
			}
			seen[name] = key.Line
			if s, ok := p.readSecret(place, value, "text, file:PATH or env:NAME"); ok {
				all[key.Value] = s
			}
		}
		if len(all) > 0 {
			*to = all
		}
	}
}

// wholeMail looks at the section as a whole.
func (p *parser) wholeMail(n *yaml.Node, m *Mail) {
	rest := m.CA + m.Username + string(m.Password) + m.From + m.FromName + strings.Join(m.AllowFrom, "") + m.Hello
	switch {
	case m.Host == "" && rest != "":
		p.Problemf(n, "mail.host is missing: without it no mail is sent, whatever else is set")
	case m.Host != "" && m.From == "":
		p.Problemf(n, "mail.from is missing: mail needs an address to come from")
	case m.Username != "" && m.Password == "":
		p.Problemf(n, "mail.username is set without mail.password: set both or neither")
	case m.Username == "" && m.Password != "":
		p.Problemf(n, "mail.password is set without mail.username: set both or neither")
	}
}

// wholeSMS looks at the section as a whole.
func (p *parser) wholeSMS(n *yaml.Node, s *SMS) {
	if s.URL == "" && (len(s.Headers) > 0 || s.Body != "" || s.CA != "") {
		p.Problemf(n, "sms.url is missing: without it no SMS is sent, whatever else is set")
	}
}

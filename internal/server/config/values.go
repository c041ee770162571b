package config

import (
	"math"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"latchkey/internal/strictyaml"
)

// This file holds how the value of a setting is checked, by its kind.

// text returns a scalar that YAML reads as text; for anything else it reports
// what was wanted.
func (p *parser) text(path string, n *yaml.Node, want string) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		p.Problemf(n, "%s must be %s, not %s", path, want, kind(n))
		return "", false
	}
	return n.Value, true
}

func (p *parser) oneOf(to *string, allowed ...string) func(string, *yaml.Node) {
	want := strings.Join(allowed[:len(allowed)-1], ", ") + " or " + allowed[len(allowed)-1]
	return func(path string, n *yaml.Node) {
		v, ok := p.text(path, n, want)
		switch {
		case !ok:
		case slices.Contains(allowed, v):
			*to = v
		default:
			p.Problemf(n, "%s must be %s, not %s", path, want, show(v))
		}
	}
}

// oneOfOrEmpty is oneOf for a setting that may be left open.
func (p *parser) oneOfOrEmpty(to *string, allowed ...string) func(string, *yaml.Node) {
	set := p.oneOf(to, allowed...)
	return func(path string, n *yaml.Node) {
		if n.ShortTag() == "!!str" && n.Value == "" {
			*to = ""
			return
		}
		set(path, n)
	}
}

func (p *parser) address(to *string, optional bool) func(string, *yaml.Node) {
	const want = "an address such as 127.0.0.1:8080"
	return func(path string, n *yaml.Node) {
		v, ok := p.text(path, n, want)
		if !ok {
			return
		}
		if v == "" && optional {
			*to = ""
			return
		}
		_, port, err := net.SplitHostPort(v)
		if err != nil {
			p.Problemf(n, "%s must be %s, not %s", path, want, show(v))
			return
		}
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			p.Problemf(n, "%s must end in a port from 0 to 65535, not %s", path, show(port))
			return
		}
		*to = v
	}
}

func (p *parser) path(to *string, of string) func(string, *yaml.Node) {
	return func(path string, n *yaml.Node) {
		v, ok := p.text(path, n, "the path of "+of)
		switch {
		case !ok:
		case strings.ContainsRune(v, 0):
			p.Problemf(n, "%s must be the path of %s: it holds a zero byte", path, of)
		case v == "":
			*to = ""
		default:
			*to = p.resolve(v)
		}
	}
}

// keySource is where a master key comes from. What follows the colon is not
// repeated in a message: an operator may put the key itself there.
func (p *parser) keySource(to *string) func(string, *yaml.Node) {
	const want = "file:PATH, passphrase:PATH, seal:PATH, env:NAME, fd:NUMBER or credential:NAME"
	return func(path string, n *yaml.Node) {
		v, ok := p.text(path, n, want)
		switch kind, _, _ := strings.Cut(v, ":"); {
		case !ok:
		case v == "":
			*to = ""
		case namesSource(v) || namesFile(v) && (kind == "passphrase" || kind == "seal"):
			*to = v // Parse resolves the path
		default:
			p.Problemf(n, "%s must be %s", path, want)
		}
	}
}

// namesSource reports whether a text says where a secret is, and is not one itself.
func namesSource(v string) bool {
	kind, rest, _ := strings.Cut(v, ":")
	_, notNumber := strconv.ParseUint(rest, 10, 16)
	switch kind {
	case "file", "env":
		return namesFile(v)
	case "fd":
		return notNumber == nil
	case "credential":
		return namesFile(v) && filepath.IsLocal(rest)
	}
	return false
}

// namesFile reports whether a text has something after its colon.
func namesFile(v string) bool {
	_, rest, _ := strings.Cut(v, ":")
	return rest != "" && !strings.ContainsRune(rest, 0)
}

// sealSecrets never repeats any part of a value: it may be the secret itself.
func (p *parser) sealSecrets(to *map[string]string) func(string, *yaml.Node) {
	const want = "file:PATH, env:NAME, fd:NUMBER or credential:NAME"
	return func(path string, n *yaml.Node) {
		if n.Kind != yaml.MappingNode {
			p.Problemf(n, "%s must hold recipients of the seal and where their secrets are (NAME: SOURCE), not %s", path, kind(n))
			return
		}
		all := map[string]string{}
		for key, value := range p.Members(path, n) {
			place := strictyaml.Join(path, key.Value)
			v, ok := p.text(place, value, want)
			switch {
			case !ok:
			case !namesSource(v):
				p.Problemf(value, "%s must be %s; a secret itself does not belong here", place, want)
			case strings.HasPrefix(v, inFile):
				all[key.Value] = inFile + p.resolve(strings.TrimPrefix(v, inFile))
			default:
				all[key.Value] = v
			}
		}
		if len(all) > 0 {
			*to = all
		}
	}
}

func (p *parser) resolve(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(p.dir, path)
}

// store never repeats any part of the value, nor the reason of url.Parse, which
// quotes it.
func (p *parser) store(to *string) func(string, *yaml.Node) {
	return func(path string, n *yaml.Node) {
		v, ok := p.text(path, n, wantStore)
		if !ok {
			return
		}
		if elsewhere(v) {
			if s, ok := p.readSecret(path, n, wantStore); ok {
				*to = string(s)
			}
			return
		}
		if wrong := checkStore(v); wrong != "" {
			p.Problemf(n, "%s %s", path, wrong)
			return
		}
		*to = v // Parse resolves the path
	}
}

const wantStore = "sqlite:PATH, postgres://…, env:NAME or file:PATH"

// checkStore says what is wrong with a store; empty: nothing is.
func checkStore(v string) string {
	if file, ok := strings.CutPrefix(v, "sqlite:"); ok {
		switch {
		case file == "" || strings.ContainsRune(file, 0):
			return "must name a file after sqlite:"
		case file == ":memory:":
			return "cannot be in memory: a server would forget everything; name a file after sqlite:"
		case strings.HasPrefix(file, "//") && !strings.HasPrefix(file, "///"):
			return "must be sqlite:PATH without //, which would make the path's first part a host"
		case strings.ContainsAny(file, "?#"):
			return "takes no options after the path of the file"
		}
		return ""
	}
	switch u, err := parseStoreURL(v); {
	case err != nil:
		return "is not a valid postgres:// URL (characters of a password such as : / ? # @ % must be percent-encoded)"
	case u == nil:
		return "must be " + wantStore
	}
	return ""
}

// parseStoreURL is the URL of a PostgreSQL store, nil for what is none.
func parseStoreURL(v string) (*url.URL, error) {
	if !strings.HasPrefix(v, "postgres://") && !strings.HasPrefix(v, "postgresql://") {
		return nil, nil
	}
	return url.Parse(v)
}

// maxDuration catches a wrong unit; nothing here waits for a day.
const maxDuration = 24 * time.Hour

func (p *parser) duration(to *time.Duration) func(string, *yaml.Node) {
	const want = "a duration such as 5s or 2m"
	return func(path string, n *yaml.Node) {
		v, ok := p.text(path, n, want)
		if !ok {
			return
		}
		d, err := time.ParseDuration(v)
		switch {
		case err != nil:
			p.Problemf(n, "%s must be %s, not %s", path, want, show(v))
		case d <= 0 || d > maxDuration:
			p.Problemf(n, "%s must be more than 0 and at most 24h, not %s", path, show(v))
		default:
			*to = d
		}
	}
}

// durationOrZero is duration for a setting that 0 switches off.
func (p *parser) durationOrZero(to *time.Duration) func(string, *yaml.Node) {
	return func(path string, n *yaml.Node) {
		if n.Kind == yaml.ScalarNode && (n.Value == "0" || n.Value == "0s") {
			*to = 0
			return
		}
		p.duration(to)(path, n)
	}
}

var (
	wholeNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)
	byteSize    = regexp.MustCompile(`^(0|[1-9][0-9]*)(KiB|MiB)?$`)
)

func (p *parser) size(to *int64, least, most int64) func(string, *yaml.Node) {
	const want = "a size such as 512KiB, 1MiB or a number of bytes"
	return func(path string, n *yaml.Node) {
		tag := n.ShortTag()
		if n.Kind != yaml.ScalarNode || tag != "!!str" && tag != "!!int" {
			p.Problemf(n, "%s must be %s, not %s", path, want, kind(n))
			return
		}
		m := byteSize.FindStringSubmatch(n.Value)
		if m == nil && !wholeNumber.MatchString(n.Value) {
			p.Problemf(n, "%s must be %s, not %s", path, want, show(n.Value))
			return
		}
		var v int64
		if m != nil {
			unit := map[string]int64{"": 1, "KiB": 1 << 10, "MiB": 1 << 20}[m[2]]
			count, err := strconv.ParseInt(m[1], 10, 64)
			if err != nil || count > math.MaxInt64/unit {
				count, unit = math.MaxInt64, 1
			}
			v = count * unit
		}
		if v < least || v > most {
			p.Problemf(n, "%s must be from %s to %s, not %s", path, sizeText(least), sizeText(most), show(n.Value))
			return
		}
		*to = v
	}
}

func sizeText(v int64) string {
	if v >= 1<<20 {
		return strconv.FormatInt(v>>20, 10) + "MiB"
	}
	return strconv.FormatInt(v>>10, 10) + "KiB"
}

func (p *parser) count(to *int) func(string, *yaml.Node) {
	const want = "a whole number (0 = unlimited)"
	return func(path string, n *yaml.Node) {
		if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" {
			p.Problemf(n, "%s must be %s, not %s", path, want, kind(n))
			return
		}
		// YAML also reads 0x10, 1_000 and octal 010; a limit is written plainly.
		if !wholeNumber.MatchString(n.Value) {
			p.Problemf(n, "%s must be %s, not %s", path, want, show(n.Value))
			return
		}
		v, err := strconv.ParseInt(n.Value, 10, 32)
		if err != nil || v < 0 {
			p.Problemf(n, "%s must be from 0 to %d, not %s", path, math.MaxInt32, show(n.Value))
			return
		}
		*to = int(v)
	}
}

func (p *parser) yesNo(to *bool) func(string, *yaml.Node) {
	return func(path string, n *yaml.Node) {
		if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" {
			p.Problemf(n, "%s must be true or false, not %s", path, kind(n))
			return
		}
		*to = strings.EqualFold(n.Value, "true")
	}
}

// web reads an http or https URL. ok is false if it is none, which is said, or is
// not given, for which to is emptied.
func (p *parser) web(path string, n *yaml.Node, want string, to *string) (v string, u *url.URL, ok bool) {
	v, ok = p.text(path, n, want)
	if !ok || v == "" {
		if ok {
			*to = ""
		}
		return "", nil, false
	}
	u, err := url.Parse(v)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" {
		p.Problemf(n, "%s must be %s", path, want)
		return "", nil, false
	}
	return v, u, true
}

// isOrigin reports whether an address is a scheme, a host and perhaps a port, in small
// letters, and nothing else.
func isOrigin(v string, u *url.URL) bool {
	return v == u.Scheme+"://"+u.Host && v == strings.ToLower(v)
}

// origin is the scheme, the host and perhaps the port of a page.
func (p *parser) origin(to *string) func(string, *yaml.Node) {
	const want = "an origin such as https://keys.example.com, without a path"
	return func(path string, n *yaml.Node) {
		v, u, ok := p.web(path, n, want, to)
		switch {
		case !ok:
		case !isOrigin(v, u):
			p.Problemf(n, "%s must be %s", path, want)
		case u.Scheme == "http" && u.Hostname() != "localhost":
			p.Problemf(n, "%s must begin with https://: browsers have no passkeys on other pages, except on http://localhost", path)
		default:
			*to = v
		}
	}
}

// networks is a list of addresses and of networks in CIDR form.
func (p *parser) networks(to *[]netip.Prefix) func(string, *yaml.Node) {
	const want = "an IP address, or a network such as 10.0.0.0/8"
	return func(path string, n *yaml.Node) {
		if n.Kind != yaml.SequenceNode {
			p.Problemf(n, "%s must be a list of IP addresses and networks, not %s", path, kind(n))
			return
		}
		var all []netip.Prefix
		for i, element := range p.Elements(n) {
			place := path + "[" + strconv.Itoa(i) + "]"
			v, ok := p.text(place, element, want)
			if !ok {
				continue
			}
			network, err := netip.ParsePrefix(v)
			if address, notAddress := netip.ParseAddr(v); notAddress == nil {
				network, err = address.WithZone("").Unmap().Prefix(address.Unmap().BitLen())
			}
			if err != nil || network != network.Masked() {
				p.Problemf(element, "%s must be %s, not %s", place, want, show(v))
				continue
			}
			all = append(all, network)
		}
		*to = all
	}
}

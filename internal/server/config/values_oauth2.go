package config

import (
	"regexp"

	"go.yaml.in/yaml/v3"

	"latchkey/internal/webhook/target"
)

// oauth2Provider is where a provider answers.
func (p *parser) oauth2Provider(to *OAuth2Provider) setting {
	return setting{below: map[string]setting{
		"tokenUrl":     {set: p.providerURL(&to.TokenURL)},
		"userInfoUrl":  {set: p.providerURL(&to.UserInfoURL)},
		"subjectField": {set: p.memberPath(&to.SubjectField)},
	}}
}

// providerURL is an address. Whether it may be http is judged when it is dialled.
func (p *parser) providerURL(to *string) func(string, *yaml.Node) {
	const want = "an address such as https://provider.example.com/oauth2/token"
	return func(path string, n *yaml.Node) {
		v, ok := p.text(path, n, want)
		if !ok {
			return
		}
		if _, err := target.Parse(v); err != nil {
			p.Problemf(n, "%s must be %s", path, want)
			return
		}
		*to = v
	}
}

// memberPath is names of members with dots between them.
func (p *parser) memberPath(to *string) func(string, *yaml.Node) {
	const want = "the place of the user's id in the user information, such as data.id"
	return func(path string, n *yaml.Node) {
		v, ok := p.text(path, n, want)
		switch {
		case !ok:
		case !members.MatchString(v):
			p.Problemf(n, "%s must be %s", path, want)
		default:
			*to = v
		}
	}
}

var members = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)

// issuer is an address without a query and without a slash at its end: tokens have
// it letter by letter, and what is served is at the root of it.
func (p *parser) issuer(to *string) func(string, *yaml.Node) {
	const want = "the address of this server such as https://keys.example.com, without a path"
	return func(path string, n *yaml.Node) {
		v, u, ok := p.web(path, n, want, to)
		switch {
		case !ok:
		case u.Scheme != "https" || !isOrigin(v, u):
			p.Problemf(n, "%s must be %s", path, want)
		default:
			*to = v
		}
	}
}

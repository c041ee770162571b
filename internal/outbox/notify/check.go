package notify

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// This file holds what a client may ask for in a message. The texts are never
// executed: a placeholder is replaced, and that is all.

const (
	linkPlaceholder = "%s"
	codePlaceholder = "{{.OtpCode}}"

	maxLink      = 2000
	maxVariables = 16 << 10
	// maxSMS is three to four parts of a plain text; every part costs money.
	maxSMS = 480
)

// urlCharacters are those of RFC 3986 that are no letters or digits.
const urlCharacters = "-._~:/?#[]@!$&'()*+,;=%"

// badEscape is a % that two hexadecimal digits do not follow. url.Parse does
// not look for it in a query.
var badEscape = regexp.MustCompile(`%(.?$|[^0-9A-Fa-f]|.[^0-9A-Fa-f])`)

// scriptSchemes run or reveal something where a link should open an app.
var scriptSchemes = []string{"about", "blob", "data", "file", "filesystem", "javascript", "vbscript", "view-source"}

// CheckMagicLinkTemplate accepts a URL of http, https or an app's own scheme
// with %s at the one place where the secret goes.
func CheckMagicLinkTemplate(text string) error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("invalid magic link template: "+format, args...)
	}
	if len(text) > maxLink {
		return wrong("it must have at most %d characters", maxLink)
	}
	if strings.Count(text, linkPlaceholder) != 1 {
		return wrong("it must be a URL with %%s exactly once, such as https://app.example.com/login?bundle=%%s")
	}
	if strings.ContainsFunc(text, func(r rune) bool { return !alphanumeric(r) && !strings.ContainsRune(urlCharacters, r) }) {
		return wrong("it must have only the characters of a URL; percent-encode the others")
	}
	// The secret is no part of an escape such as %4%s, hence a letter that is
	// no hexadecimal digit.
	filled := fillLink(text, "z")
	u, err := url.Parse(filled)
	if err != nil || badEscape.MatchString(filled) {
		return wrong("it must be a valid URL when %%s is replaced") // the reason would quote it
	}
	_, rest, found := strings.Cut(text, "://")
	authority := rest
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority = rest[:i]
	}
	web := u.Scheme == "http" || u.Scheme == "https"
	switch {
	case u.Scheme == "" || !found || !strings.HasPrefix(text[len(u.Scheme):], "://"):
		return wrong("it must begin with https://, http:// or the scheme of an app, such as myapp://")
	case slices.Contains(scriptSchemes, u.Scheme):
		return wrong("the scheme %s is not one that opens an app or a web page", u.Scheme)
	case u.User != nil:
		return wrong("it must have no user name or password before the host")
	case strings.ContainsFunc(fillLink(authority, "z"), func(r rune) bool { return !alphanumeric(r) && !strings.ContainsRune("-._~:[]", r) }):
		return wrong("it must name a plain host after %s://", u.Scheme)
	case web && u.Hostname() == "":
		return wrong("it must name a host after %s://", u.Scheme)
	case web && strings.Contains(authority, linkPlaceholder):
		// The name would be asked of name servers, in clear.
		return wrong("%%s must come after the host, in the path, the query or the fragment")
	}
	return nil
}

// fillLink puts the secret into a checked template.
func fillLink(template, secret string) string {
	return strings.Replace(template, linkPlaceholder, secret, 1)
}

// CheckLogoURL accepts a URL of http or https.
func CheckLogoURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || len(text) > maxLink || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil ||
		strings.ContainsFunc(text, func(r rune) bool { return !alphanumeric(r) && !strings.ContainsRune(urlCharacters, r) }) {
		return fmt.Errorf("invalid logo URL: it must be https:// or http:// with a host, without a user name, in at most %d characters", maxLink)
	}
	return nil
}

// CheckTemplateVariables accepts a JSON object whose values are strings.
func CheckTemplateVariables(text string) error {
	_, err := parseVariables(text)
	return err
}

func parseVariables(text string) (map[string]string, error) {
	if len(text) > maxVariables {
		return nil, fmt.Errorf("failed to unmarshal template variables: they must have at most %d bytes", maxVariables)
	}
	var all map[string]string
	// The reason may quote a value, which may be anything.
	if err := json.Unmarshal([]byte(text), &all); err != nil || all == nil {
		return nil, errors.New(`failed to unmarshal template variables: they must be one JSON object whose values are strings, such as {"greeting":"Hello"}`)
	}
	return all, nil
}

// CheckSMSTemplate accepts a text with {{.OtpCode}} at the places where the
// code goes, and no other placeholder.
func CheckSMSTemplate(text string) error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("invalid SMS template: "+format, args...)
	}
	switch {
	case !utf8.ValidString(text) || strings.ContainsFunc(text, notText):
		return wrong("it must be UTF-8 without control characters")
	case utf8.RuneCountInString(text) > maxSMS:
		return wrong("it must have at most %d characters", maxSMS)
	case !strings.Contains(text, codePlaceholder):
		return wrong("it must hold %s, where the code goes", codePlaceholder)
	case strings.Contains(strings.ReplaceAll(text, codePlaceholder, "0"), "{{"):
		return wrong("its only placeholder is %s, written exactly so", codePlaceholder)
	}
	return nil
}

// fillSMS puts the code into a checked template.
func fillSMS(template, code string) string {
	return strings.ReplaceAll(template, codePlaceholder, code)
}

func notText(r rune) bool { return unicode.IsControl(r) && r != '\n' }

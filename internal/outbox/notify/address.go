package notify

import (
	"errors"
	"net/mail"
	"strings"
	"unicode"
	"unicode/utf8"
)

// checkAddress accepts the addresses that mean the same in a header and in an
// SMTP command: a local part without quotes, and a host name in ASCII. The
// local part may be UTF-8 (RFC 6531).
func checkAddress(s string) error {
	wrong := errors.New("must be an email address such as name@example.com")
	if len(s) > 254 || !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
		return wrong
	}
	a, err := mail.ParseAddress(s)
	// What is rendered differently had a display name, a comment or quotes.
	if err != nil || a.Address != s || a.Name != "" {
		return wrong
	}
	local, domain := splitAddress(s)
	if len(local) > 64 || !hostName(domain) {
		return wrong
	}
	return nil
}

func splitAddress(s string) (local, domain string) {
	at := strings.LastIndexByte(s, '@')
	return s[:at], s[at+1:]
}

// sameAddress compares addresses or host names. Only letters of ASCII are the
// same in both cases: others may look alike and belong to another mailbox.
func sameAddress(a, b string) bool {
	return a == b || ascii(a) && ascii(b) && strings.EqualFold(a, b)
}

func hostName(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		if strings.ContainsFunc(label, func(r rune) bool { return !alphanumeric(r) && r != '-' }) {
			return false
		}
	}
	return len(s) <= 253
}

// checkPhone accepts the form of ITU-T E.164.
func checkPhone(s string) error {
	if len(s) < 8 || len(s) > 16 || s[0] != '+' || s[1] == '0' || strings.ContainsFunc(s[1:], func(r rune) bool { return r < '0' || r > '9' }) {
		return errors.New("the recipient must be a phone number as + and 7 to 15 digits, country code first")
	}
	return nil
}

func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

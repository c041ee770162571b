package schema

import (
	"fmt"
	"net/mail"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"latchkey/internal/ids"
)

// checkString applies the rules of n to s. It returns s in normal form, and
// what is wrong with it or "".
func (n *node) checkString(s string) (normal, problem string) {
	if s == "" {
		switch {
		case n.allowEmpty:
			return s, ""
		case n.required, n.element && n.formed():
			return s, "must not be empty"
		case n.formed():
			return s, "must not be empty: leave the field out or give a value"
		case !n.element:
			return s, "" // the same as absent
		}
	}
	// Bytes are never fewer than characters, so most strings need no count.
	if n.hasMax && len(s) > n.max && utf8.RuneCountInString(s) > n.max {
		return s, "must have at most " + plural(n.max, "character")
	}
	if n.hasMin && utf8.RuneCountInString(s) < n.min {
		return s, "must have at least " + plural(n.min, "character")
	}
	if n.enum != nil && !slices.Contains(n.enum, s) {
		return s, "must be one of " + strings.Join(n.enum, ", ")
	}
	switch n.format {
	case "uuid":
		normal, ok := ids.Normal(s)
		if !ok {
			return s, "must be a UUID (8-4-4-4-12 hexadecimal digits)"
		}
		return normal, ""
	case "label":
		return s, labelProblem(s)
	case "hex":
		return s, hexProblem(s)
	case "email":
		return s, emailProblem(s)
	case "e164":
		return s, phoneProblem(s)
	}
	// Every format refuses it anyway. PostgreSQL cannot keep it in a text.
	if strings.IndexByte(s, 0) >= 0 {
		return s, "must not contain the character U+0000"
	}
	return s, ""
}

// EmailProblem says what is wrong with an e-mail address, in the words of the
// rule email; empty: nothing is.
func EmailProblem(s string) string { return emailProblem(s) }

// PhoneProblem says what is wrong with a phone number, in the words of the rule
// e164; empty: nothing is.
func PhoneProblem(s string) string { return phoneProblem(s) }

func labelProblem(s string) string {
	if strings.ContainsFunc(s, unicode.IsControl) {
		return "must not contain control characters"
	}
	if strings.TrimSpace(s) != s {
		return "must not begin or end with white space"
	}
	return ""
}

func hexProblem(s string) string {
	for i := range len(s) {
		if !digit(s[i]) && (s[i]|0x20 < 'a' || s[i]|0x20 > 'f') {
			return "must be hexadecimal digits only"
		}
	}
	if len(s)%2 != 0 {
		return "must be an even number of hexadecimal digits"
	}
	return ""
}

// emailMax is the longest address that fits into an SMTP path (RFC 5321,
// section 4.5.3.1.3).
const emailMax = 254

func emailProblem(s string) string {
	const wrong = "must be an email address such as name@example.com"
	if len(s) > emailMax {
		return fmt.Sprintf("must have at most %d bytes", emailMax)
	}
	a, err := mail.ParseAddress(s)
	// An address that is rendered differently had a display name, brackets,
	// a comment or quotes.
	if err != nil || a.Address != s {
		return wrong
	}
	labels := strings.Split(s[strings.LastIndexByte(s, '@')+1:], ".")
	if len(labels) < 2 {
		return "must be an email address whose domain has a dot, such as name@example.com"
	}
	for _, l := range labels {
		if l == "" || len(l) > 63 || l[0] == '-' || l[len(l)-1] == '-' || strings.ContainsFunc(l, notHost) {
			return wrong
		}
	}
	return ""
}

func notHost(r rune) bool {
	return r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}

// phoneProblem checks the form of ITU-T E.164: country code and number, at
// most 15 digits. The lower limit of 7 keeps out short codes.
func phoneProblem(s string) string {
	const wrong = "must be a phone number as + and 7 to 15 digits, country code first"
	if len(s) < 8 || len(s) > 16 || s[0] != '+' || s[1] == '0' {
		return wrong
	}
	for i := 1; i < len(s); i++ {
		if !digit(s[i]) {
			return wrong
		}
	}
	return ""
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

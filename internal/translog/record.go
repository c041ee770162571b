package translog

import (
	"strconv"
	"unicode/utf8"
)

// Record is what an entry of the log says: that an activity came to a status, or,
// where Kind is set, that something happened to the installation. Exactly one of
// ActivityID and Kind is set.
type Record struct {
	OrganizationID string
	Sequence       int64 // in the organization, from 1
	ActivityID     string
	Kind           string // in place of ActivityID
	Status         string
	TimeMs         int64
	// Digests are SHA-256 in lower-case hex, "" where there is nothing.
	RequestDigest  string
	VotesDigest    string
	DecisionDigest string
	ResultDigest   string
	StateDigest    string // opaque
}

// Names of the members, with what comes before each in the text.
const (
	memberOrganization = `{"v":1,"organizationId":`
	memberSequence     = `,"sequence":`
	memberActivity     = `,"activityId":`
	memberKind         = `,"kind":`
	memberStatus       = `,"status":`
	memberTime         = `,"timeMs":`
	memberRequest      = `,"requestDigest":`
	memberVotes        = `,"votesDigest":`
	memberDecision     = `,"decisionDigest":`
	memberResult       = `,"resultDigest":`
	memberState        = `,"stateDigest":`
)

// AppendText appends the one text of the record: JSON without white space, members
// in a fixed order, and only the escapes that JSON requires. Bytes that are not
// UTF-8 become U+FFFD.
func (r *Record) AppendText(dst []byte) []byte {
	dst = appendString(append(dst, memberOrganization...), r.OrganizationID)
	dst = strconv.AppendInt(append(dst, memberSequence...), r.Sequence, 10)
	if r.Kind != "" {
		dst = appendString(append(dst, memberKind...), r.Kind)
	} else {
		dst = appendString(append(dst, memberActivity...), r.ActivityID)
	}
	dst = appendString(append(dst, memberStatus...), r.Status)
	dst = strconv.AppendInt(append(dst, memberTime...), r.TimeMs, 10)
	dst = appendString(append(dst, memberRequest...), r.RequestDigest)
	dst = appendString(append(dst, memberVotes...), r.VotesDigest)
	dst = appendString(append(dst, memberDecision...), r.DecisionDigest)
	dst = appendString(append(dst, memberResult...), r.ResultDigest)
	dst = appendString(append(dst, memberState...), r.StateDigest)
	return append(dst, '}')
}

// appendString appends a JSON string as RFC 8785 section 3.2.2.2 writes it.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c < ' ' || c == '"' || c == '\\' {
				dst = appendEscape(append(dst, s[start:i]...), c)
				start = i + 1
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			dst = append(append(dst, s[start:i]...), "\uFFFD"...)
			start = i + 1
		}
		i += size
	}
	return append(append(dst, s[start:]...), '"')
}

func appendEscape(dst []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, `\b`...)
	case '\t':
		return append(dst, `\t`...)
	case '\n':
		return append(dst, `\n`...)
	case '\f':
		return append(dst, `\f`...)
	case '\r':
		return append(dst, `\r`...)
	}
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}

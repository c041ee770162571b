package translog

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ParseRecord reads the text of a record. It accepts exactly what
// [Record.AppendText] writes: the text is what was hashed, so there is one for each
// record.
func ParseRecord(text string) (Record, error) {
	p := recordParser{text: text}
	var r Record
	p.want(memberOrganization)
	r.OrganizationID = p.string("organizationId")
	p.want(memberSequence)
	r.Sequence = p.number("sequence")
	if strings.HasPrefix(p.rest(), memberKind) {
		p.want(memberKind)
		r.Kind = p.name("kind")
	} else {
		p.want(memberActivity)
		r.ActivityID = p.name("activityId")
	}
	p.want(memberStatus)
	r.Status = p.string("status")
	p.want(memberTime)
	r.TimeMs = p.number("timeMs")
	p.want(memberRequest)
	r.RequestDigest = p.digest("requestDigest")
	p.want(memberVotes)
	r.VotesDigest = p.digest("votesDigest")
	p.want(memberDecision)
	r.DecisionDigest = p.digest("decisionDigest")
	p.want(memberResult)
	r.ResultDigest = p.digest("resultDigest")
	p.want(memberState)
	r.StateDigest = p.string("stateDigest")
	p.want("}")
	if p.err == nil && p.rest() != "" {
		p.fail("there is more after the end of the record")
	}
	if p.err != nil {
		return Record{}, p.err
	}
	if again := r.AppendText(nil); string(again) != text {
		return Record{}, fmt.Errorf("record: the text is not in its canonical form, which is %.300q", again)
	}
	return r, nil
}

// recordParser reads a text from the left and keeps the first mistake.
type recordParser struct {
	text string
	at   int
	err  error
}

func (p *recordParser) rest() string { return p.text[p.at:] }

func (p *recordParser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("record: at byte %d: "+format, append([]any{p.at}, args...)...)
	}
}

// want reads the name of the next member, with what comes before it.
func (p *recordParser) want(literal string) {
	if p.err != nil {
		return
	}
	if !strings.HasPrefix(p.rest(), literal) {
		p.fail("expected %s, found %.40q", literal, p.rest())
		return
	}
	p.at += len(literal)
}

func (p *recordParser) string(member string) string {
	if p.err != nil {
		return ""
	}
	end, err := stringEnd(p.rest())
	if err != nil {
		p.fail("%s: %w", member, err)
		return ""
	}
	if plain := p.rest()[1 : end-1]; !strings.ContainsFunc(plain, func(r rune) bool { return r == '\\' || r < ' ' }) {
		p.at += end // what is not UTF-8 is not rendered again as it is
		return plain
	}
	var s string
	if err := json.Unmarshal([]byte(p.rest()[:end]), &s); err != nil {
		p.fail("%s is not a JSON string: %w", member, err)
		return ""
	}
	p.at += end
	return s
}

// stringEnd is the number of bytes of the JSON string at the start of a text.
func stringEnd(text string) (int, error) {
	if !strings.HasPrefix(text, `"`) {
		return 0, fmt.Errorf("expected a string, found %.40q", text)
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1, nil
		}
	}
	return 0, errors.New("the string has no end")
}

// name reads a string that must not be empty.
func (p *recordParser) name(member string) string {
	s := p.string(member)
	if s == "" {
		p.fail("%s is empty", member)
	}
	return s
}

func (p *recordParser) digest(member string) string {
	s := p.string(member)
	if s != "" && (len(s) != 64 || strings.Trim(s, "0123456789abcdef") != "") {
		p.fail("%s is not 64 digits of lower-case hex, nor empty", member)
	}
	return s
}

func (p *recordParser) number(member string) int64 {
	if p.err != nil {
		return 0
	}
	digits := p.rest()
	if end := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
		digits = digits[:end]
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		p.fail("%s is not an integer from 0 to 2^63-1", member)
		return 0
	}
	p.at += len(digits)
	return n
}

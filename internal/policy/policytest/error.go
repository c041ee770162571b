package policytest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Mistake is one thing wrong in a file.
type Mistake struct {
	Line    int    `json:"line"` // from 1
	Policy  string `json:"policyName,omitzero"`
	Place   string `json:"place,omitzero"` // the expression: condition, consensus or time
	Offset  int    `json:"offset,omitzero"`
	Message string `json:"message"`
	Fix     string `json:"fix,omitzero"`
	excerpt excerpt
}

// Error is all that is wrong in one file, in the order of the file.
type Error struct {
	File     string
	Mistakes []Mistake
}

func (e *Error) Error() string {
	texts := make([]string, len(e.Mistakes))
	for i := range e.Mistakes {
		texts[i] = e.Mistakes[i].text(e.File)
	}
	return strings.Join(texts, "\n")
}

func (m *Mistake) text(file string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d: %s%s", file, m.Line, policyPrefix(m.Policy, m.Place), m.Message)
	b.WriteString(m.excerpt.text())
	if m.Fix != "" {
		b.WriteString("\n    " + m.Fix)
	}
	return b.String()
}

// policyPrefix names the expression that a message is about.
func policyPrefix(policy, place string) string {
	if policy == "" {
		return ""
	}
	if place == "" {
		return "policy " + policy + ": "
	}
	return "policy " + policy + ": " + place + ": "
}

func sorted(all []Mistake) []Mistake {
	slices.SortStableFunc(all, func(a, b Mistake) int { return cmp.Compare(a.Line, b.Line) })
	return slices.Compact(all)
}

// excerpt is a line of an expression with a part of it marked. The zero value
// shows nothing.
type excerpt struct {
	line     string
	from, to int // bytes of line
}

// excerptMargin is how much of a long line is shown on either side of the mark.
const excerptMargin = 60

// excerptOf cuts the line out of text in which from is. The mark ends with the
// line.
func excerptOf(text string, from, to int) excerpt {
	start := strings.LastIndexByte(text[:from], '\n') + 1
	line := text[start:]
	if end := strings.IndexByte(line, '\n'); end >= 0 {
		line = line[:end]
	}
	from -= start
	to = max(from, min(to-start, len(line)))
	return excerpt{line, from, to}.narrow()
}

// narrow leaves out what is far from the mark.
func (e excerpt) narrow() excerpt {
	if last := e.from + 2*excerptMargin; e.to > last {
		e.to = runeStart(e.line, last)
	}
	if len(e.line) > e.to+excerptMargin {
		e.line = e.line[:runeStart(e.line, e.to+excerptMargin)] + "…"
	}
	if first := e.from - excerptMargin; first > 0 {
		cut := runeStart(e.line, first)
		shift := len("…") - cut
		e.line, e.from, e.to = "…"+e.line[cut:], e.from+shift, e.to+shift
	}
	return e
}

// runeStart is the first byte of the character that at is in.
func runeStart(text string, at int) int {
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

func (e excerpt) text() string {
	if e.line == "" {
		return ""
	}
	var pad strings.Builder
	for _, r := range e.line[:e.from] {
		if r != '\t' { // a tab stays one, or the mark would miss
			r = ' '
		}
		pad.WriteRune(r)
	}
	marks := max(1, utf8.RuneCountInString(e.line[e.from:e.to]))
	return "\n    " + e.line + "\n    " + pad.String() + strings.Repeat("^", marks)
}

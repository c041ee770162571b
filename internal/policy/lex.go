package policy

import (
	"strings"
	"unicode/utf8"
)

type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenName
	tokenNumber
	tokenText
	tokenSign // operators and brackets
	tokenBad  // what cannot be a token
)

type token struct {
	kind     tokenKind
	text     string // without the quotes of a string
	pos, end int
	bad      *Error // of a bad one: why
}

// unexpected is the error that the token does not belong where it is.
func (t token) unexpected(message, fix string) *Error {
	if t.bad != nil {
		return t.bad
	}
	return &Error{Offset: t.pos, End: t.end, Message: message, Fix: fix}
}

// describe says what the token is, for an error.
func (t token) describe() string {
	switch t.kind {
	case tokenEnd:
		return "the end of the expression"
	case tokenText:
		return "the string '" + t.text + "'"
	default:
		return t.text
	}
}

// signs are in the order in which they are tried: the longer ones first.
var signs = []string{"==", "!=", "<=", ">=", "&&", "||", "..", "<", ">", "!", ".", ",", "(", ")", "[", "]"}

// foreignSigns are signs of other languages, with what is wrong and what is
// right here.
var foreignSigns = []struct{ sign, message, fix string }{
	{`"`, "double quotes do not make a string", "write strings in single quotes"},
	{"“", "these quotes do not make a string", "write strings in plain single quotes"},
	{"”", "these quotes do not make a string", "write strings in plain single quotes"},
	{"‘", "these quotes do not make a string", "write strings in plain single quotes"},
	{"’", "these quotes do not make a string", "write strings in plain single quotes"},
	{"`", "backquotes do not make a string", "write strings in single quotes"},
	{"//", "there are no comments", "use the notes of the policy"},
	{"/*", "there are no comments", "use the notes of the policy"},
	{"#", "there are no comments", "use the notes of the policy"},
	{"=", "= does not compare", "write =="},
	{"&", "& is not an operator", "write &&"},
	{"|", "| is not an operator", "write ||"},
	{"?", "there is no conditional operator", "write it with && and ||"},
	{"{", "structs and maps cannot be written as literals", "compare their fields"},
	{"+", "there is no arithmetic", "write the result as a number"},
	{"-", "there is no arithmetic", "write the result as a number"},
	{"*", "there is no arithmetic", "write the result as a number"},
	{"/", "there is no arithmetic", "write the result as a number"},
	{"%", "there is no arithmetic", "write the result as a number"},
}

// lex cuts the source into tokens, of which the last is the end, or a bad one:
// problems before it are reported first.
func lex(source string) ([]token, *Error) {
	if len(source) > maxSource {
		return nil, &Error{Offset: maxSource, End: len(source), Message: "the expression is too long", Fix: "use at most 20000 bytes"}
	}
	if !utf8.ValidString(source) {
		return nil, &Error{Message: "the expression is not valid UTF-8", Fix: "encode it as UTF-8"}
	}
	var tokens []token
	for pos := 0; ; {
		for pos < len(source) && strings.IndexByte(" \t\r\n", source[pos]) >= 0 {
			pos++
		}
		if pos == len(source) {
			return append(tokens, token{kind: tokenEnd, pos: pos, end: pos}), nil
		}
		t, err := next(source, pos)
		if err != nil {
			return append(tokens, token{kind: tokenBad, pos: err.Offset, end: err.End, bad: err}), nil
		}
		tokens = append(tokens, t)
		pos = t.end
	}
}

// next reads the token that begins at pos.
func next(source string, pos int) (token, *Error) {
	rest := source[pos:]
	switch c := rest[0]; {
	case c == '\'':
		length := strings.IndexByte(rest[1:], '\'')
		if length < 0 {
			return token{}, &Error{Offset: pos, End: len(source), Message: "the string has no end", Fix: "close it with a single quote"}
		}
		return token{kind: tokenText, text: rest[1 : 1+length], pos: pos, end: pos + length + 2}, nil
	case isLetter(c):
		end := pos + 1
		for end < len(source) && (isLetter(source[end]) || isDigit(source[end])) {
			end++
		}
		return token{kind: tokenName, text: source[pos:end], pos: pos, end: end}, nil
	case isDigit(c) || c == '-' && len(rest) > 1 && isDigit(rest[1]):
		return nextNumber(source, pos)
	}
	for _, sign := range signs {
		if strings.HasPrefix(rest, sign) {
			return token{kind: tokenSign, text: sign, pos: pos, end: pos + len(sign)}, nil
		}
	}
	for _, m := range foreignSigns {
		if strings.HasPrefix(rest, m.sign) {
			return token{}, &Error{Offset: pos, End: pos + len(m.sign), Message: m.message, Fix: m.fix}
		}
	}
	_, size := utf8.DecodeRuneInString(rest)
	return token{}, &Error{Offset: pos, End: pos + size, Message: "unexpected character " + rest[:size], Fix: "remove it, or write text in single quotes"}
}

func nextNumber(source string, pos int) (token, *Error) {
	end := pos + 1
	for end < len(source) && isDigit(source[end]) {
		end++
	}
	wrong := func(from int, message, fix string) *Error {
		for from < len(source) && (isLetter(source[from]) || isDigit(source[from])) {
			from++
		}
		return &Error{Offset: pos, End: from, Message: message, Fix: fix}
	}
	switch {
	case end < len(source) && (source[end] == 'x' || source[end] == 'X'):
		return token{}, wrong(end, "there are no hexadecimal numbers", "write a number in decimal, or text in single quotes")
	case end < len(source) && isLetter(source[end]):
		return token{}, wrong(end, "a number has digits only", "write a number in decimal, or text in single quotes")
	case end+1 < len(source) && source[end] == '.' && isDigit(source[end+1]):
		return token{}, wrong(end+1, "there are no decimal fractions", "write a whole number, in the smallest unit of the amount")
	}
	return token{kind: tokenNumber, text: source[pos:end], pos: pos, end: end}, nil
}

func isLetter(c byte) bool { return c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

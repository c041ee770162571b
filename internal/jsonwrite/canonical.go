package jsonwrite

import "bytes"

// maxNested bounds how deep isCanonical looks.
const maxNested = 64

// isCanonical reports whether a valid text is certainly in the form of RFC 8785. Of
// one that is simple it can say so much faster than the form is made: names and texts
// in ASCII that need no escape, small integers, members in order.
func isCanonical(text []byte) bool {
	rest, ok := simple(text, maxNested)
	return ok && len(rest) == 0
}

// simple reads one value; ok says that it is canonical.
func simple(text []byte, nested int) (rest []byte, ok bool) {
	if len(text) == 0 || nested == 0 {
		return nil, false
	}
	switch c := text[0]; {
	case c == '"':
		_, rest, ok = simpleText(text)
		return rest, ok
	case c == '{':
		return simpleObject(text[1:], nested-1)
	case c == '[':
		return simpleArray(text[1:], nested-1)
	case c == '0':
		return text[1:], len(text) == 1 || !partOfNumber(text[1])
	case c >= '1' && c <= '9':
		return simpleInteger(text)
	}
	for _, word := range []string{"true", "false", "null"} {
		if rest, ok := bytes.CutPrefix(text, []byte(word)); ok {
			return rest, true
		}
	}
	return nil, false
}

// simpleText reads a text, with its quotes.
func simpleText(text []byte) (read, rest []byte, ok bool) {
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return text[:i+1], text[i+1:], true
		case c < ' ' || c == '\\' || c > '~':
			return nil, nil, false
		}
	}
	return nil, nil, false
}

// simpleInteger reads digits of a number that floating point holds exactly.
func simpleInteger(text []byte) (rest []byte, ok bool) {
	const maxDigits = 15
	n := 0
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	return text[n:], n <= maxDigits && (n == len(text) || !partOfNumber(text[n]))
}

func partOfNumber(c byte) bool { return bytes.IndexByte([]byte("0123456789.eE+-"), c) >= 0 }

func simpleObject(text []byte, nested int) (rest []byte, ok bool) {
	if len(text) > 0 && text[0] == '}' {
		return text[1:], true
	}
	var last []byte
	for {
		if len(text) == 0 || text[0] != '"' {
			return nil, false
		}
		name, after, ok := simpleText(text)
		if !ok || len(after) == 0 || after[0] != ':' || last != nil && bytes.Compare(last[1:len(last)-1], name[1:len(name)-1]) >= 0 {
			return nil, false
		}
		last = name
		if text, ok = simple(after[1:], nested); !ok || len(text) == 0 {
			return nil, false
		}
		switch text[0] {
		case ',':
			text = text[1:]
		case '}':
			return text[1:], true
		default:
			return nil, false
		}
	}
}

func simpleArray(text []byte, nested int) (rest []byte, ok bool) {
	if len(text) > 0 && text[0] == ']' {
		return text[1:], true
	}
	for {
		if text, ok = simple(text, nested); !ok || len(text) == 0 {
			return nil, false
		}
		switch text[0] {
		case ',':
			text = text[1:]
		case ']':
			return text[1:], true
		default:
			return nil, false
		}
	}
}

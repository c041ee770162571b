package abi

import (
	"unicode/utf8"

	"latchkey/internal/policy/fact"
)

// decoder reads values from the data of a call, after the selector. It needs
// no budget: every value takes at least one word of its own, because empty
// tuples and empty arrays of a fixed length are no types.
type decoder struct {
	data []byte
}

// sequence reads adjacent values, heads first, as the members of a
// tuple do. Offsets count from its start, and each must be the smallest that
// does not overlap what came before (the specification's "strict mode"), so
// the end of one tail is where the next begins.
func (d *decoder) sequence(types []*typ, start int) (values []fact.Value, end int, ok bool) {
	heads := 0
	for _, t := range types {
		heads += t.head
	}
	return d.walk(len(types), func(i int) *typ { return types[i] }, heads, start)
}

// elements is sequence for an array.
func (d *decoder) elements(t *typ, n, start int) (values []fact.Value, end int, ok bool) {
	return d.walk(n, func(int) *typ { return t }, n*t.head, start)
}

func (d *decoder) walk(n int, typeOf func(int) *typ, heads, start int) (values []fact.Value, end int, ok bool) {
	if heads > len(d.data)-start {
		return nil, 0, false
	}
	values = make([]fact.Value, n)
	at, end := start, start+heads
	for i := range values {
		t := typeOf(i)
		from := at
		if t.dynamic {
			if offset, ok := d.length(at); !ok || offset != end-start {
				return nil, 0, false
			}
			from = end
		}
		v, after, ok := d.value(t, from)
		if !ok {
			return nil, 0, false
		}
		values[i] = v
		at += t.head
		if t.dynamic {
			end = after
		}
	}
	return values, end, true
}

// value reads one value and says where it ends.
func (d *decoder) value(t *typ, at int) (v fact.Value, end int, ok bool) {
	switch t.kind {
	case kindArray:
		n := t.length
		if n == dynamicLength {
			if n, ok = d.length(at); !ok || n > len(d.data)/t.element.head {
				return fact.Value{}, 0, false
			}
			at += word
		}
		v.Kind = fact.List
		v.List, end, ok = d.elements(t.element, n, at)
		return v, end, ok
	case kindTuple:
		v.Kind = fact.List
		v.List, end, ok = d.sequence(t.fields, at)
		return v, end, ok
	case kindBytes, kindString:
		return d.bytes(t, at)
	}
	if len(d.data)-at < word {
		return fact.Value{}, 0, false
	}
	v, ok = atom(t, [word]byte(d.data[at:]))
	return v, at + word, ok
}

// length reads an offset or a length, which cannot be larger than the data.
func (d *decoder) length(at int) (int, bool) {
	if len(d.data)-at < word {
		return 0, false
	}
	w := d.data[at : at+word]
	if !zero(w[:word-4]) {
		return 0, false
	}
	n := int(w[28])<<24 | int(w[29])<<16 | int(w[30])<<8 | int(w[31])
	return n, n <= len(d.data)
}

// bytes reads bytes or a string: its length, and then it, padded to whole
// words.
func (d *decoder) bytes(t *typ, at int) (v fact.Value, end int, ok bool) {
	n, ok := d.length(at)
	if !ok {
		return fact.Value{}, 0, false
	}
	at += word
	end = at + (n+word-1)/word*word
	if end > len(d.data) || !zero(d.data[at+n:end]) {
		return fact.Value{}, 0, false
	}
	b := d.data[at : at+n]
	switch {
	case t.kind == kindBytes:
		v = fact.Bytes(b)
	case !utf8.Valid(b):
		v = fact.Value{Kind: fact.Unreadable, Text: "the string is not valid UTF-8"}
	default:
		v = fact.String(string(b))
		v.Fold = isAddress(v.Text)
	}
	return v, end, true
}

// atom reads a value of one word.
func atom(t *typ, w [word]byte) (fact.Value, bool) {
	switch t.kind {
	case kindAddress:
		return fact.Bytes(w[12:]), zero(w[:12])
	case kindBool:
		return fact.Value{Kind: fact.Bool, Bool: w[31] == 1}, zero(w[:31]) && w[31] <= 1
	case kindFixedBytes:
		return fact.Bytes(w[:t.size]), zero(w[t.size:])
	case kindUint:
		var n fact.Number
		n.Magnitude.SetBytes32(w[:])
		return fact.Unsigned(n), zero(w[:word-t.size/8])
	case kindInt:
		var n fact.Number
		n.Magnitude.SetBytes32(w[:])
		if n.Negative = w[0]&0x80 != 0; n.Negative {
			n.Magnitude.Neg(&n.Magnitude)
		}
		return fact.Signed(n), extended(w, t.size)
	default: // kindFixed; value has read the others
		ok := zero(w[:word-t.size/8])
		if t.name[0] != 'u' {
			ok = extended(w, t.size)
		}
		return fact.Value{Kind: fact.Unreadable, Text: "a fixed-point number cannot be compared"}, ok
	}
}

// extended is whether the bits above the type repeat its sign.
func extended(w [word]byte, bits int) bool {
	above := word - bits/8
	if w[above]&0x80 == 0 {
		return zero(w[:above])
	}
	return only(0xff, w[:above])
}

func zero(b []byte) bool { return only(0, b) }

func only(want byte, b []byte) bool {
	for _, c := range b {
		if c != want {
			return false
		}
	}
	return true
}

// isAddress is whether a text looks like an Ethereum address: policies compare
// such texts without case, whatever their type is.
func isAddress(text string) bool {
	if len(text) != 42 || text[:2] != "0x" {
		return false
	}
	for _, c := range []byte(text[2:]) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return false
		}
	}
	return true
}

package abi

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// kind is the kind of a type.
type kind uint8

const (
	kindAddress kind = iota
	kindBool
	kindUint
	kindInt
	kindFixed      // a fixed-point number, which no policy can compare
	kindFixedBytes // bytes1 to bytes32, and function
	kindBytes
	kindString
	kindArray
	kindTuple
)

// typ is a type with all that decoding needs.
type typ struct {
	kind    kind
	name    string // as in a signature
	size    int    // bits of an integer, or bytes of a fixedBytes
	length  int    // of an array, or dynamicLength
	element *typ   // of an array
	fields  []*typ // of a tuple
	dynamic bool   // encoded in the tail, with an offset in the head
	head    int    // bytes in the head
}

// word is what everything is padded to.
const word = 32

const dynamicLength = -1

const (
	maxDepth = 32
	// maxHead is more than a whole transaction holds: it could not be called.
	maxHead = 1 << 20
)

// readAll makes the types of the parameters at a JSON pointer.
func readAll(all []parameter, at string, depth int) ([]*typ, error) {
	types := make([]*typ, len(all))
	for i := range all {
		var err error
		if types[i], err = all[i].read(fmt.Sprintf("%s/%d", at, i), depth); err != nil {
			return nil, err
		}
	}
	return types, nil
}

func (p *parameter) read(at string, depth int) (*typ, error) {
	switch {
	case depth > maxDepth:
		return nil, fmt.Errorf("%s: it is nested deeper than %d levels", at, maxDepth)
	case p.Name == nil:
		return nil, fmt.Errorf("%s: name is missing; every parameter needs one, which may be empty", at)
	case p.Type == nil:
		return nil, fmt.Errorf("%s: type is missing", at)
	}
	base, _, _ := strings.Cut(*p.Type, "[")
	t := elementary(base)
	switch isTuple := base == "tuple"; {
	case isTuple && len(p.Components) == 0:
		return nil, fmt.Errorf("%s: a tuple needs components", at)
	case isTuple:
		fields, err := readAll(p.Components, at+"/components", depth+1)
		if err != nil {
			return nil, err
		}
		t = tuple(fields)
	case len(p.Components) > 0:
		return nil, fmt.Errorf("%s: only a tuple has components, not %.40q", at, *p.Type)
	case t == nil:
		return nil, fmt.Errorf("%s: unknown type %.40q", at, *p.Type)
	}
	t, err := t.arrays(strings.TrimPrefix(*p.Type, base))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	return t, nil
}

var dimensionText = regexp.MustCompile(`^\[([1-9][0-9]{0,5})?\]`)

// arrays wraps the type into the dimensions that its name ends with.
func (t *typ) arrays(rest string) (*typ, error) {
	for depth := 0; rest != ""; depth++ {
		m := dimensionText.FindStringSubmatch(rest)
		if m == nil {
			return nil, fmt.Errorf("%.40q does not end a type; an array is written [] or, with its length, [3]", rest)
		}
		length := dynamicLength
		if m[1] != "" {
			length, _ = strconv.Atoi(m[1]) // six digits
		}
		if depth >= maxDepth || length > maxHead/t.head {
			return nil, errors.New("the array has too many dimensions or is larger than a transaction")
		}
		t = t.array(length)
		rest = rest[len(m[0]):]
	}
	return t, nil
}

func (t *typ) array(length int) *typ {
	a := &typ{kind: kindArray, element: t, length: length, head: word}
	if length == dynamicLength {
		a.name, a.dynamic = t.name+"[]", true
		return a
	}
	a.name, a.dynamic = fmt.Sprintf("%s[%d]", t.name, length), t.dynamic
	if !t.dynamic {
		a.head = length * t.head
	}
	return a
}

func tuple(fields []*typ) *typ {
	t := &typ{kind: kindTuple, fields: fields}
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
		t.dynamic = t.dynamic || f.dynamic
		t.head += f.head
	}
	if t.dynamic {
		t.head = word
	}
	t.name = "(" + strings.Join(names, ",") + ")"
	return t
}

var (
	integerText = regexp.MustCompile(`^(u?int)([1-9][0-9]{0,2})$`)
	bytesText   = regexp.MustCompile(`^bytes([1-9][0-9]?)$`)
	fixedText   = regexp.MustCompile(`^u?fixed([1-9][0-9]{0,2})x([1-9][0-9]?)$`)
)

// elementary makes a type that is neither array nor tuple; nil if there is none
// of this name.
func elementary(name string) *typ {
	switch name {
	case "int", "uint":
		name += "256" // the specification's synonyms
	case "fixed", "ufixed":
		name += "128x18"
	}
	t := &typ{name: name, head: word}
	switch name {
	case "address":
		t.kind = kindAddress
		return t
	case "bool":
		t.kind = kindBool
		return t
	case "bytes":
		t.kind, t.dynamic = kindBytes, true
		return t
	case "string":
		t.kind, t.dynamic = kindString, true
		return t
	case "function": // an address and a selector, as bytes24
		t.kind, t.size = kindFixedBytes, 24
		return t
	}
	if m := integerText.FindStringSubmatch(name); m != nil {
		t.kind = kindUint
		if m[1] == "int" {
			t.kind = kindInt
		}
		t.size, _ = strconv.Atoi(m[2])
		if t.size%8 == 0 && t.size <= 256 {
			return t
		}
	}
	if m := bytesText.FindStringSubmatch(name); m != nil {
		t.kind = kindFixedBytes
		t.size, _ = strconv.Atoi(m[1])
		if t.size <= 32 {
			return t
		}
	}
	if m := fixedText.FindStringSubmatch(name); m != nil {
		t.kind = kindFixed
		t.size, _ = strconv.Atoi(m[1])
		if digits, _ := strconv.Atoi(m[2]); t.size%8 == 0 && t.size <= 256 && digits <= 80 {
			return t
		}
	}
	return nil
}

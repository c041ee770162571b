package schema

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Example returns a small valid document: the required members only, arrays as
// short as they may be. It is the same every time.
//
// Members obey their tags. That the whole also passes a Check method is up to
// the struct, which steers the choice of optional members by sampled.
func (s *Schema) Example() []byte { return s.root.sample(nil, false) }

// ExampleFull returns a valid document with the optional members too, and at
// least one element in each array.
func (s *Schema) ExampleFull() []byte { return s.root.sample(nil, true) }

func (o *object) sample(b []byte, full bool) []byte {
	b = append(b, '{')
	first := true
	for i := range o.fields {
		f := &o.fields[i]
		if full && f.unsampled || !full && !f.required && !f.sampled {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = quote(b, f.name)
		b = append(b, ':')
		b = f.sample(b, full, 0)
	}
	return append(b, '}')
}

// sample appends an example of n, the i-th of its array.
func (n *node) sample(b []byte, full bool, i int) []byte {
	switch n.kind {
	case kindArray:
		b = append(b, '[')
		for i := range n.sampleCount(full) {
			if i > 0 {
				b = append(b, ',')
			}
			b = n.elem.sample(b, full, i)
		}
		return append(b, ']')
	case kindObject:
		return n.obj.sample(b, full)
	case kindString, kindUint64:
		return quote(b, n.sampleText(i))
	default:
		return append(b, n.sampleText(i)...)
	}
}

func (n *node) sampleCount(full bool) int {
	switch {
	case n.hasMin && n.min > 0:
		return n.min
	case full && (!n.hasMax || n.max > 0):
		return 1
	default:
		return 0
	}
}

func (n *node) sampleText(i int) string {
	if n.example != "" {
		return n.example
	}
	switch n.kind {
	case kindBool:
		return "true"
	case kindInt, kindUint64:
		return strconv.Itoa(n.sampleNumber())
	case kindRaw:
		return "{}"
	default:
		return n.sampleString(i)
	}
}

func (n *node) sampleNumber() int {
	switch {
	case n.oneof != nil:
		return n.oneof[0]
	case n.hasMin && n.min > 1:
		return n.min
	case n.hasMax && n.max < 1:
		return n.max
	default:
		return 1
	}
}

func (n *node) sampleString(i int) string {
	switch n.format {
	case "uuid":
		return fmt.Sprintf("01900000-0000-7000-8000-%012x", i+1)
	case "email":
		return fmt.Sprintf("user%d@example.com", i+1)
	case "e164":
		return fmt.Sprintf("+1555%07d", i+1)
	case "hex":
		return fmt.Sprintf("%0*x", max(n.min+n.min%2, 4), 0x0a01+i)
	}
	if n.enum != nil {
		return n.enum[i%len(n.enum)]
	}
	s := "example"
	if i > 0 {
		s += strconv.Itoa(i + 1)
	}
	if n.hasMax && n.max < len(s) {
		s = s[:n.max]
	}
	if n.hasMin && len(s) < n.min {
		s += strings.Repeat("x", n.min-len(s))
	}
	return s
}

// setExample takes the example tag, and refuses it, or the lack of it, when
// the example would not be valid.
func (n *node) setExample(tag string) error {
	holder := n
	if n.kind == kindArray {
		holder = n.elem
	}
	if holder.kind == kindObject {
		if tag != "" {
			return fmt.Errorf("an object takes its example from its members")
		}
		return nil
	}
	holder.example = tag
	st := newState()
	st.start(n.sample(nil, true, 0))
	err := st.member(n, reflect.New(n.typ).Elem())
	if err == nil && st.next(space) != len(st.input) {
		err = fmt.Errorf("not one JSON value")
	}
	if err != nil {
		return fmt.Errorf("bad example: %w", err)
	}
	if p := st.problems(); p != nil {
		return fmt.Errorf("bad example (give another by an example tag): %s", p[0].Description)
	}
	return nil
}

// quote appends s as a JSON string. Tags and generated text are valid UTF-8.
func quote(b []byte, s string) []byte {
	b, err := jsontext.AppendQuote(b, s)
	if err != nil {
		panic(fmt.Sprintf("schema: quoting an example: %v", err))
	}
	return b
}

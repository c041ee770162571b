package servertest

import (
	"fmt"
	"testing"
)

// Value is a decoded JSON value that tests walk through.
type Value struct {
	t   testing.TB
	Any any
}

// Get walks down: strings are members, numbers are indexes.
func (v Value) Get(path ...any) Value {
	v.t.Helper()
	at := v.Any
	for _, step := range path {
		switch step := step.(type) {
		case string:
			members, ok := at.(map[string]any)
			if !ok {
				v.t.Fatalf("no member %q in %v", step, at)
			}
			if at, ok = members[step]; !ok {
				v.t.Fatalf("no member %q in %v", step, members)
			}
		case int:
			elements, ok := at.([]any)
			if !ok || step >= len(elements) {
				v.t.Fatalf("no element %d in %v", step, at)
			}
			at = elements[step]
		}
	}
	return Value{v.t, at}
}

// Has reports whether there is such a member.
func (v Value) Has(name string) bool {
	members, _ := v.Any.(map[string]any)
	_, ok := members[name]
	return ok
}

// Text is the value as a string.
func (v Value) Text() string {
	v.t.Helper()
	text, ok := v.Any.(string)
	if !ok {
		v.t.Fatalf("not a string: %v", v.Any)
	}
	return text
}

// Number is the value as a number.
func (v Value) Number() float64 {
	v.t.Helper()
	number, ok := v.Any.(float64)
	if !ok {
		v.t.Fatalf("not a number: %v", v.Any)
	}
	return number
}

// List is the value as a list.
func (v Value) List() []Value {
	v.t.Helper()
	elements, ok := v.Any.([]any)
	if !ok {
		v.t.Fatalf("not a list: %v", v.Any)
	}
	list := make([]Value, len(elements))
	for i, e := range elements {
		list[i] = Value{v.t, e}
	}
	return list
}

// String shows the value in messages.
func (v Value) String() string { return fmt.Sprint(v.Any) }

package schema

import (
	"fmt"
	"reflect"
	"sync"
)

// Schema is the compiled form of a struct type. It may be used by many
// goroutines at once.
type Schema struct {
	typ  reflect.Type
	root *object
	pool sync.Pool // of *state: a decoder's tables are reused
}

// Of compiles the schema of T, a struct. It panics on a bad tag, so that the
// mistake is found at start-up.
func Of[T any]() *Schema {
	s, err := compile(reflect.TypeFor[T]())
	if err != nil {
		panic(fmt.Sprintf("schema: %v", err))
	}
	return s
}

// Type returns the struct type that the schema describes.
func (s *Schema) Type() reflect.Type { return s.typ }

// object is a compiled struct.
type object struct {
	typ    reflect.Type
	fields []field
	byName map[string]int // index into fields
	checks bool           // *typ is a checker
	// secrets: a member is secret, or holds one that is.
	secrets bool
}

// field is one wire member of an object.
type field struct {
	name  string
	index []int // of the Go field, through embedded structs
	doc   string
	tag   reflect.StructTag
	*node
}

// node is what is known about one value: a member or an array's element.
type node struct {
	kind kind
	typ  reflect.Type
	rules
	example  string // tag; "" means that one is made up
	element  bool   // stands in an array
	pointer  bool   // the object, boolean or string is behind a pointer
	omitzero bool
	elem     *node   // of an array
	obj      *object // of an object
}

type kind uint8

const (
	kindString kind = iota
	kindBool
	kindInt
	kindUint64
	kindArray
	kindObject
	kindRaw
)

func (k kind) String() string {
	return [...]string{"string", "boolean", "integer", "int64", "array", "object", "raw"}[k]
}

// must reports whether absence is a problem.
func (n *node) must() bool { return n.required && !n.lenient }

// formed reports whether only some strings are values of n, and never "".
func (n *node) formed() bool { return n.format != "" || n.enum != nil }

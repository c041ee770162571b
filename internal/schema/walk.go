package schema

import (
	"reflect"
	"slices"
)

// Property is what is known about one value inside a document: a member, or an
// element of an array. Tests derive refusals from it.
type Property struct {
	Path   string // with 0 for any element: users.0.apiKeys.0.publicKey
	Parent string // path of the object or array around it
	Name   string // of the member; "0" for an element
	Type   string // string, integer, int64, boolean, array, object, raw

	Required   bool // absence is a problem; false for an element
	Lenient    bool // a required array whose absence is forgiven
	Element    bool
	AllowEmpty bool // "" passes whatever the other rules say
	Unique     bool // no element twice
	ObjectOnly bool // raw that must be an object
	Secret     bool // see [Schema.Redact]

	Enum           []string
	OneOf          []int
	Format         string // label, uuid, hex, email, e164
	Min, Max       int
	HasMin, HasMax bool

	Doc string            // of the member
	Tag reflect.StructTag // whole tag of the member, for tags of other packages
}

// Walk visits every property in declaration order, outer ones first.
func (s *Schema) Walk(fn func(Property)) { s.root.walk("", fn) }

func (o *object) walk(path string, fn func(Property)) {
	for i := range o.fields {
		f := &o.fields[i]
		f.walk(path, f.name, f.doc, f.tag, fn)
	}
}

func (n *node) walk(parent, name, doc string, tag reflect.StructTag, fn func(Property)) {
	path := join(parent, name)
	fn(Property{
		Path: path, Parent: parent, Name: name, Type: n.kind.String(),
		Required: n.must() && !n.element, Lenient: n.lenient, Element: n.element, AllowEmpty: n.allowEmpty,
		Unique: n.unique, ObjectOnly: n.objectOnly, Secret: n.secret,
		Enum: slices.Clone(n.enum), OneOf: slices.Clone(n.oneof), Format: n.format,
		Min: n.min, Max: n.max, HasMin: n.hasMin, HasMax: n.hasMax,
		Doc: doc, Tag: tag,
	})
	switch n.kind {
	case kindArray:
		n.elem.walk(path, "0", "", "", fn)
	case kindObject:
		n.obj.walk(path, fn)
	}
}

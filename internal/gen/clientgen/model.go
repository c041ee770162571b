package clientgen

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"latchkey/internal/schema"
)

// model is what the client will declare.
type model struct {
	shared map[string]*object // by Go name in the client
	enums  map[string]*enum
	roots  map[string]reflect.Type // parameters, results, requests and replies
}

// object is a struct of the client.
type object struct {
	name, doc string
	typ       reflect.Type // of the server
	fields    []field
}

// field is a member of an object.
type field struct {
	name, wire, doc string
	typ             string // in Go
	options         string // of the json tag
}

// enum is a string type with known values.
type enum struct {
	name   string
	values []string
}

func newModel() *model {
	return &model{shared: map[string]*object{}, enums: map[string]*enum{}, roots: map[string]reflect.Type{}}
}

// described is a schema opened up: its properties by path.
type described struct {
	properties map[string]schema.Property
	where      string
}

func open(s *schema.Schema, where string) described {
	d := described{properties: map[string]schema.Property{}, where: where}
	s.Walk(func(p schema.Property) { d.properties[p.Path] = p })
	return d
}

// schema declares everything inside a schema as shared types.
func (m *model) schema(s *schema.Schema, where string) ([]field, error) {
	return m.fields(open(s, where), s.Type(), "", nil)
}

// root makes the struct of an operation's own: its name is given, and it is
// declared beside the operation. Members in filled are written by the client.
func (m *model) root(name string, s *schema.Schema, where string, filled []string) (*object, error) {
	if t, taken := m.roots[name]; taken {
		return nil, fmt.Errorf("%s: %s would be declared twice, the first time for %v", where, name, t)
	}
	if o := m.shared[name]; o != nil {
		// A nested struct was met first; it is the same one, declared here.
		if o.typ != s.Type() || filled != nil {
			return nil, fmt.Errorf("%s: %s would be both %v and %v; add a name to the table of names", where, name, o.typ, s.Type())
		}
		delete(m.shared, name)
	}
	m.roots[name] = s.Type()
	fields, err := m.fields(open(s, where), s.Type(), "", filled)
	return &object{name: name, typ: s.Type(), fields: fields}, err
}

// fields lists the members of a struct that stands at path.
func (m *model) fields(d described, t reflect.Type, path string, filled []string) ([]field, error) {
	var all []field
	for i := range t.NumField() {
		sf := t.Field(i)
		wire, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
		if sf.Anonymous && wire == "" {
			embedded, err := m.fields(d, sf.Type, path, filled)
			if err != nil {
				return nil, err
			}
			all = append(all, embedded...)
			continue
		}
		p, known := d.properties[join(path, wire)]
		if wire == "" || wire == "-" || !known || slices.Contains(filled, wire) {
			continue
		}
		f := field{name: pascal(wire), wire: wire, doc: p.Doc}
		var err error
		if f.typ, err = m.typeOf(d, t, sf.Type, p); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", d.where, p.Path, err)
		}
		if !p.Required {
			f.options = ",omitzero"
			f.doc += " Optional."
		}
		if p.Type == "int64" {
			f.options += ",string"
		}
		all = append(all, f)
	}
	return all, nil
}

// typeOf is the Go type of a value, and declares the types that it needs. in is
// the struct that has the value as a member.
func (m *model) typeOf(d described, in, t reflect.Type, p schema.Property) (string, error) {
	switch p.Type {
	case "string":
		switch {
		case t.Kind() == reflect.Pointer: // absent is not ""
			return "*string", nil
		case p.Enum == nil:
			return "string", nil
		}
		return m.enum(in, t, p)
	case "boolean":
		if t.Kind() == reflect.Pointer { // absent is not false
			return "*bool", nil
		}
		return "bool", nil
	case "integer":
		if t.Kind() == reflect.Pointer { // absent is not 0
			return "*int32", nil
		}
		return "int32", nil
	case "int64":
		if p.Element {
			return "", fmt.Errorf("an array of 64-bit numbers has no Go type that writes strings")
		}
		return "uint64", nil
	case "raw":
		return "jsontext.Value", nil
	case "array":
		element := d.properties[join(p.Path, "0")]
		if element.Name == "" {
			return "", fmt.Errorf("an array without elements")
		}
		if element.Type == "string" && element.Enum != nil {
			element.Name = p.Name // an element has none of its own
		}
		of, err := m.typeOf(d, in, t.Elem(), element)
		return "[]" + of, err
	case "object":
		pointer := ""
		if t.Kind() == reflect.Pointer {
			t, pointer = t.Elem(), "*"
		} else if !p.Required && !p.Element {
			pointer = "*" // a struct that may be absent
		}
		name, err := m.object(d, in, t, p)
		return pointer + name, err
	}
	return "", fmt.Errorf("type %s has no form in Go", p.Type)
}

// object declares a nested struct.
func (m *model) object(d described, in, t reflect.Type, p schema.Property) (string, error) {
	name := typeName(t)
	if t.Name() == "" {
		name = typeName(in) + pascal(p.Name)
	}
	if root, declared := m.roots[name]; declared {
		if root != t {
			return "", fmt.Errorf("%s would be both %v and %v; add a name to the table of names", name, root, t)
		}
		return name, nil
	}
	if known := m.shared[name]; known != nil {
		if known.typ != t {
			return "", fmt.Errorf("%s would be both %v and %v; add a name to the table of names", name, known.typ, t)
		}
		return name, nil
	}
	o := &object{name: name, typ: t}
	m.shared[name] = o
	var err error
	o.fields, err = m.fields(d, t, p.Path, nil)
	return name, err
}

// enum declares the values of a string.
func (m *model) enum(in, t reflect.Type, p schema.Property) (string, error) {
	name := enumName(in, t, p)
	if known := m.enums[name]; known != nil {
		if !slices.Equal(known.values, p.Enum) {
			return "", fmt.Errorf("%s would have the values %v and %v; add a name to the table of names", name, known.values, p.Enum)
		}
		return name, nil
	}
	m.enums[name] = &enum{name: name, values: p.Enum}
	return name, nil
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

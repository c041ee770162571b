package schema

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxFields bounds a struct, so that the members seen while decoding fit into
// a small fixed set.
const maxFields = 256

var (
	checkerType = reflect.TypeFor[checker]()
	enumType    = reflect.TypeFor[interface{ Enum() []string }]()
	uint64Type  = reflect.TypeFor[Uint64]()
	rawType     = reflect.TypeFor[jsontext.Value]()
)

type compiler struct {
	open []reflect.Type           // structs being compiled, to find recursion
	done map[reflect.Type]*object // structs compiled
}

func compile(t reflect.Type) (*Schema, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%v is not a struct", t)
	}
	c := compiler{done: map[reflect.Type]*object{}}
	root, err := c.object(t)
	if err != nil {
		return nil, err
	}
	s := &Schema{typ: t, root: root}
	s.pool.New = func() any { return newState() }
	return s, nil
}

func (c *compiler) object(t reflect.Type) (*object, error) {
	if o := c.done[t]; o != nil {
		return o, nil
	}
	if slices.Contains(c.open, t) {
		return nil, fmt.Errorf("%v contains itself; recursive types are not supported", t)
	}
	c.open = append(c.open, t)
	defer func() { c.open = c.open[:len(c.open)-1] }()

	o := &object{typ: t, byName: map[string]int{}, checks: reflect.PointerTo(t).Implements(checkerType)}
	if err := c.members(o, t, nil); err != nil {
		return nil, err
	}
	if len(o.fields) > maxFields {
		return nil, fmt.Errorf("%v has more than %d members", t, maxFields)
	}
	o.secrets = slices.ContainsFunc(o.fields, func(f field) bool { return f.holdsSecret() })
	c.done[t] = o
	return o, nil
}

// members adds the members of t, which stands at a place within the object. The
// members of an embedded struct are the object's own.
func (c *compiler) members(o *object, t reflect.Type, at []int) error {
	for i := range t.NumField() {
		sf := t.Field(i)
		if sf.Tag.Get("json") == "-" || !sf.IsExported() && sf.Tag.Get("json") == "" && !sf.Anonymous {
			continue
		}
		index := append(slices.Clone(at), i)
		if sf.Anonymous {
			if err := c.embedded(o, sf, index); err != nil {
				return fmt.Errorf("%v.%s: %w", t, sf.Name, err)
			}
			continue
		}
		f, err := c.field(sf)
		if err != nil {
			return fmt.Errorf("%v.%s: %w", t, sf.Name, err)
		}
		if _, taken := o.byName[f.name]; taken {
			return fmt.Errorf("%v.%s: json name %q is used twice", t, sf.Name, f.name)
		}
		f.index = index
		o.byName[f.name] = len(o.fields)
		o.fields = append(o.fields, f)
	}
	return nil
}

// embedded adds the members of an embedded struct. Such a struct cannot have a
// Check of its own: Go would promote it, or drop it when two structs have one.
func (c *compiler) embedded(o *object, sf reflect.StructField, index []int) error {
	switch {
	case sf.Type.Kind() != reflect.Struct || !sf.IsExported() || sf.Tag.Get("json") != "":
		return fmt.Errorf("only exported structs without a json tag can be embedded")
	case reflect.PointerTo(sf.Type).Implements(checkerType):
		return fmt.Errorf("an embedded struct cannot have a Check method; call its rules from the Check of the struct around it")
	}
	return c.members(o, sf.Type, index)
}

func (c *compiler) field(sf reflect.StructField) (field, error) {
	if !sf.IsExported() {
		return field{}, fmt.Errorf("a field with a json tag must be exported")
	}
	name, options, _ := strings.Cut(sf.Tag.Get("json"), ",")
	if !wireName(name) {
		return field{}, fmt.Errorf("bad or missing json name %q", name)
	}
	if options != "" && options != "omitzero" {
		return field{}, fmt.Errorf("json option %q is not supported; omitzero is the only one", options)
	}
	doc := sf.Tag.Get("doc")
	if doc == "" {
		return field{}, fmt.Errorf("no doc tag")
	}
	r, err := parseRules(sf.Tag.Get("check"))
	if err != nil {
		return field{}, err
	}
	n, err := c.node(sf.Type, r, false)
	if err != nil {
		return field{}, err
	}
	n.omitzero = options == "omitzero"
	if err := n.setExample(sf.Tag.Get("example")); err != nil {
		return field{}, err
	}
	if n.omitzero && n.must() {
		return field{}, fmt.Errorf("required and omitzero contradict each other")
	}
	if !n.omitzero && !n.must() && n.zeroRefused() {
		return field{}, fmt.Errorf("optional, but its zero value breaks its own rules: mark it omitzero or required")
	}
	return field{name: name, doc: doc, tag: sf.Tag, node: n}, nil
}

func (c *compiler) node(t reflect.Type, r rules, element bool) (*node, error) {
	n := &node{typ: t, rules: r, element: element}
	var err error
	switch {
	case t == rawType:
		n.kind = kindRaw
	case t == uint64Type:
		n.kind = kindUint64
	case ownForm(t):
		err = fmt.Errorf("%v has a JSON form of its own, which the schema cannot know", t)
	case t.Kind() == reflect.String:
		n.kind = kindString
		err = n.typeEnum(t)
	case t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.String && !element: // where absent is not ""
		n.kind, n.pointer = kindString, true
	case t.Kind() == reflect.Bool:
		n.kind = kindBool
	case t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Bool: // where absent is not false
		n.kind, n.pointer = kindBool, true
	case t.Kind() == reflect.Int32:
		n.kind = kindInt
	case t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Int32 && !element: // where absent is not 0
		n.kind, n.pointer = kindInt, true
	case t.Kind() == reflect.Struct:
		n.kind = kindObject
		n.obj, err = c.object(t)
	case t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct:
		n.kind, n.pointer = kindObject, true
		n.obj, err = c.object(t.Elem())
	case t.Kind() == reflect.Slice && !element:
		n.kind = kindArray
		var each rules
		if r.each != nil {
			each = *r.each
		}
		n.elem, err = c.node(t.Elem(), each, true)
		if err == nil && r.unique && n.elem.kind != kindString {
			err = fmt.Errorf("rule unique is for arrays of strings")
		}
	default:
		err = fmt.Errorf("type %v is not supported", t)
	}
	if err != nil {
		return nil, err
	}
	return n, n.suit(n.kind)
}

// ownForm reports whether Encode would leave the form of t to a method of t.
func ownForm(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Marshaler]()) || p.Implements(reflect.TypeFor[json.MarshalerTo]()) ||
		p.Implements(reflect.TypeFor[encoding.TextMarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextAppender]())
}

// typeEnum takes the allowed values from the type, if it lists them.
func (n *node) typeEnum(t reflect.Type) error {
	if !t.Implements(enumType) {
		return nil
	}
	values := reflect.Zero(t).Interface().(interface{ Enum() []string }).Enum()
	if n.enum != nil || n.format != "" || len(values) == 0 {
		return fmt.Errorf("%v lists its values; it needs some, and neither an enum rule nor a format beside", t)
	}
	n.enum = slices.Clone(values)
	return noneTwice(n.enum)
}

// zeroRefused reports whether Decode would refuse what Encode writes for the
// zero value.
func (n *node) zeroRefused() bool {
	switch n.kind {
	case kindString:
		return !n.pointer && n.formed() && !n.allowEmpty
	case kindInt, kindUint64:
		return n.hasMin && n.min > 0 || n.hasMax && n.max < 0 || n.oneof != nil && !slices.Contains(n.oneof, 0)
	case kindArray:
		return n.hasMin && n.min > 0
	case kindObject:
		return !n.pointer && (n.obj.checks || slices.ContainsFunc(n.obj.fields, func(f field) bool {
			return f.must() && (f.kind == kindString && !f.allowEmpty || f.kind == kindRaw || f.pointer || f.zeroRefused())
		}))
	default:
		return false
	}
}

// wireName keeps dots out of names, which would make paths ambiguous.
func wireName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '@')
	})
}

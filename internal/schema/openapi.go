package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// OpenAPI returns the schema as an object of JSON Schema 2020-12, the dialect
// of OpenAPI 3.1. Named structs inside it are added to components by name and
// referenced as #/components/schemas/NAME. It panics when two different
// structs have one name.
//
// That null means absent is true of every member and therefore left unsaid.
func (s *Schema) OpenAPI(components map[string]any) any { return s.root.openAPI(components) }

func (o *object) openAPI(components map[string]any) map[string]any {
	properties := map[string]any{}
	required := []string{}
	for i := range o.fields {
		f := &o.fields[i]
		p := f.openAPI(components)
		p["description"] = f.doc
		properties[f.name] = p
		if f.must() {
			required = append(required, f.name)
		}
	}
	m := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		m["required"] = required
	}
	return m
}

// reference puts a named struct into components, and describes an unnamed one
// in place.
func (o *object) reference(components map[string]any) map[string]any {
	if o.typ.Name() == "" {
		return o.openAPI(components)
	}
	name := componentName(o.typ)
	m := o.openAPI(components)
	if known, taken := components[name]; taken && !reflect.DeepEqual(known, m) {
		panic(fmt.Sprintf("schema: two different structs would be the component %s; the second is %v of %s", name, o.typ, o.typ.PkgPath()))
	}
	components[name] = m
	return map[string]any{"$ref": "#/components/schemas/" + name}
}

// componentName keeps to the characters that OpenAPI allows; the name of a
// generic type's instance has others.
func componentName(t reflect.Type) string {
	name := t.Name()
	if base, args, generic := strings.Cut(strings.TrimSuffix(name, "]"), "["); generic {
		name = base
		for arg := range strings.SplitSeq(args, ",") {
			name += "_" + arg[strings.LastIndexAny(arg, "./")+1:]
		}
	}
	return strings.Map(func(r rune) rune {
		if wireName(string(r)) && r != '@' {
			return r
		}
		return -1
	}, name)
}

func (n *node) openAPI(components map[string]any) map[string]any {
	m := map[string]any{}
	switch n.kind {
	case kindString:
		n.openAPIString(m)
	case kindBool:
		m["type"] = "boolean"
	case kindInt:
		m["type"], m["format"] = "integer", "int32"
		n.limits(m, "minimum", "maximum")
		if n.oneof != nil {
			m["enum"] = n.oneof
		}
	case kindUint64:
		m["type"], m["format"], m["pattern"] = "string", "uint64", "^[0-9]+$"
		n.limits(m, "x-minimum", "x-maximum") // the standard words mean nothing for strings
	case kindArray:
		m["type"], m["items"] = "array", n.elem.openAPI(components)
		n.limits(m, "minItems", "maxItems")
		if n.unique {
			m["uniqueItems"] = true
		}
	case kindObject:
		m = n.obj.reference(components)
	case kindRaw:
		if n.objectOnly {
			m["type"] = "object"
		}
	}
	n.openAPIExample(m)
	return m
}

func (n *node) openAPIString(m map[string]any) {
	m["type"] = "string"
	if n.enum != nil {
		m["enum"] = n.enum
		if n.allowEmpty {
			m["enum"] = append(slices.Clone(n.enum), "")
		}
		return
	}
	n.limits(m, "minLength", "maxLength")
	if n.required && !n.allowEmpty && !n.hasMin {
		m["minLength"] = 1
	}
	switch n.format {
	case "uuid":
		m["format"] = "uuid"
	case "email":
		m["format"] = "email"
		if !n.hasMax {
			m["maxLength"] = emailMax
		}
	case "hex":
		m["pattern"] = "^([0-9a-fA-F]{2})+$"
	case "e164":
		m["pattern"] = `^\+[1-9][0-9]{6,14}$`
	}
	if n.allowEmpty && (n.format != "" || n.hasMin) {
		rules := map[string]any{}
		for k, v := range m {
			if k != "type" {
				rules[k] = v
				delete(m, k)
			}
		}
		m["anyOf"] = []any{map[string]any{"const": ""}, rules}
	}
}

func (n *node) limits(m map[string]any, least, most string) {
	if n.hasMin {
		m[least] = n.min
	}
	if n.hasMax {
		m[most] = n.max
	}
}

func (n *node) openAPIExample(m map[string]any) {
	if n.example == "" {
		return
	}
	var v any
	if err := json.Unmarshal(n.sample(nil, false, 0), &v); err != nil {
		panic(fmt.Sprintf("schema: example that was valid when compiled: %v", err))
	}
	m["examples"] = []any{v}
}

package idl

import (
	"fmt"
	"strconv"
	"strings"
)

// readTypes reads the definitions. Their names come first, because any may use
// any other.
func (p *parser) readTypes(root map[string]any) error {
	list, err := array(root, "types", "")
	if err != nil {
		return err
	}
	all := make([]*definition, len(list))
	for i, v := range list {
		at := fmt.Sprintf("/types/%d", i)
		o, err := object(v, at)
		if err != nil {
			return err
		}
		all[i] = &definition{}
		if all[i].name, err = name(o, at); err != nil {
			return err
		}
		if p.definitions[all[i].name] != nil {
			return fmt.Errorf("%s: another type has the name %.40q", at, all[i].name)
		}
		p.definitions[all[i].name] = all[i]
	}
	for i, v := range list {
		at := fmt.Sprintf("/types/%d/type", i)
		o, err := object(v.(map[string]any)["type"], at)
		if err != nil {
			return err
		}
		if err := p.define(all[i], o, at); err != nil {
			return err
		}
		if generics, ok := v.(map[string]any)["generics"].([]any); ok && len(generics) > 0 {
			all[i].reason = fmt.Sprintf("the type %.40q is generic, which is not supported", all[i].name)
		}
	}
	for i, d := range all {
		if err := d.check(0); err != nil {
			return fmt.Errorf("/types/%d: %w", i, err)
		}
	}
	return nil
}

// define reads {"kind": ...}. Anchor has two spellings of an alias.
func (p *parser) define(d *definition, o map[string]any, at string) (err error) {
	switch o["kind"] {
	case "struct":
		d.kind = kindStruct
		d.members, err = p.members(o, at)
	case "enum":
		d.kind = kindEnum
		d.variants, err = p.variants(o, at)
	case "alias":
		d.kind = kindAlias
		d.alias, err = p.typ(o["value"], at+"/value", 0)
	case "type":
		d.kind = kindAlias
		d.alias, err = p.typ(o["alias"], at+"/alias", 0)
	default:
		err = fmt.Errorf("%s/kind: expected struct, enum, alias or type", at)
	}
	return err
}

func (p *parser) variants(o map[string]any, at string) ([]variant, error) {
	list, err := array(o, "variants", at)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	all := make([]variant, len(list))
	for i, v := range list {
		at := fmt.Sprintf("%s/variants/%d", at, i)
		o, err := object(v, at)
		if err != nil {
			return nil, err
		}
		if all[i].name, err = name(o, at); err != nil {
			return nil, err
		}
		if seen[all[i].name] {
			return nil, fmt.Errorf("%s: another variant has the name %.40q", at, all[i].name)
		}
		seen[all[i].name] = true
		if all[i].members, err = p.members(o, at); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// members reads the fields of a struct or a variant: named ones, or the types
// of a tuple, or none at all.
func (p *parser) members(o map[string]any, at string) (members, error) {
	if o["fields"] == nil {
		return members{}, nil
	}
	list, err := array(o, "fields", at)
	if err != nil || len(list) == 0 {
		return members{}, err
	}
	at += "/fields"
	if first, ok := list[0].(map[string]any); ok {
		if _, ok := first["name"]; ok {
			return p.named(list, at)
		}
	}
	tuple := members{types: make([]*typ, len(list))}
	for i, v := range list {
		if tuple.types[i], err = p.typ(v, fmt.Sprintf("%s/%d", at, i), 0); err != nil {
			return members{}, err
		}
	}
	return tuple, nil
}

// named reads [{"name": ..., "type": ...}, ...].
func (p *parser) named(list []any, at string) (members, error) {
	m := members{names: make([]string, len(list)), types: make([]*typ, len(list))}
	seen := map[string]bool{}
	for i, v := range list {
		at := fmt.Sprintf("%s/%d", at, i)
		o, err := object(v, at)
		if err != nil {
			return members{}, err
		}
		if m.names[i], err = name(o, at); err != nil {
			return members{}, err
		}
		if seen[m.names[i]] {
			return members{}, fmt.Errorf("%s: another one has the name %.40q", at, m.names[i])
		}
		seen[m.names[i]] = true
		if m.types[i], err = p.typ(o["type"], at+"/type", 0); err != nil {
			return members{}, err
		}
	}
	return m, nil
}

// primitive makes a type from its name; nil if there is none.
func primitive(name string) *typ {
	switch name {
	case "bool":
		return &typ{kind: kindBool}
	case "string":
		return &typ{kind: kindString}
	case "bytes":
		return &typ{kind: kindBytes}
	case "publicKey", "pubkey":
		return &typ{kind: kindPublicKey}
	case "f32":
		return &typ{kind: kindFloat, size: 4}
	case "f64":
		return &typ{kind: kindFloat, size: 8}
	}
	bits, unsigned := strings.CutPrefix(name, "u")
	t := &typ{kind: kindUnsigned}
	if !unsigned {
		t.kind = kindSigned
		var signed bool
		if bits, signed = strings.CutPrefix(name, "i"); !signed {
			return nil
		}
	}
	switch bits {
	case "8", "16", "32", "64", "128", "256":
		n, _ := strconv.Atoi(bits)
		t.size = n / 8
		return t
	}
	return nil
}

// typ reads a type: a name, or an object with one member.
func (p *parser) typ(v any, at string, depth int) (*typ, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("%s: it is nested deeper than %d levels", at, maxDepth)
	}
	if text, ok := v.(string); ok {
		if t := primitive(text); t != nil {
			return t, nil
		}
		return nil, fmt.Errorf("%s: unknown type %.40q", at, text)
	}
	o, ok := v.(map[string]any)
	if !ok || len(o) != 1 {
		return nil, fmt.Errorf("%s: expected a type: a name, or an object with one member", at)
	}
	for shape, inner := range o {
		t, err := p.shape(shape, inner, at+"/"+shape, depth)
		return t, err
	}
	return nil, nil // not reached: o has a member
}

func (p *parser) shape(shape string, v any, at string, depth int) (t *typ, err error) {
	switch shape {
	case "option":
		t = &typ{kind: kindOption}
		t.element, err = p.typ(v, at, depth+1)
		return t, err
	case "vec":
		t = &typ{kind: kindVec}
		t.element, err = p.typ(v, at, depth+1)
		return t, err
	case "array":
		return p.fixedArray(v, at, depth)
	case "defined":
		return p.reference(v, at)
	case "generic", "coption", "tuple", "hashMap", "hashSet", "bTreeMap", "bTreeSet":
		return &typ{kind: kindUnsupported, reason: shape + " is not supported"}, nil
	}
	return nil, fmt.Errorf("%s: unknown type %.40q", at, shape)
}

// maxLength is more elements than a transaction has bytes.
const maxLength = 1 << 16

func (p *parser) fixedArray(v any, at string, depth int) (t *typ, err error) {
	pair, ok := v.([]any)
	if !ok || len(pair) != 2 {
		return nil, fmt.Errorf("%s: expected a type and a length", at)
	}
	t = &typ{kind: kindArray}
	if t.element, err = p.typ(pair[0], at+"/0", depth+1); err != nil {
		return nil, err
	}
	if _, generic := pair[1].(map[string]any); generic {
		return &typ{kind: kindUnsupported, reason: "an array of generic length is not supported"}, nil
	}
	if t.length, ok = whole(pair[1], maxLength); !ok {
		return nil, fmt.Errorf("%s/1: expected a length up to %d", at, maxLength)
	}
	return t, nil
}

// reference reads the use of a definition, by its name or, since Anchor 0.30,
// by an object with it.
func (p *parser) reference(v any, at string) (*typ, error) {
	o, ok := v.(map[string]any)
	if !ok {
		o = map[string]any{"name": v}
	}
	used, err := name(o, at)
	if err != nil {
		return nil, err
	}
	if generics, ok := o["generics"].([]any); ok && len(generics) > 0 {
		return &typ{kind: kindUnsupported, reason: "generics are not supported"}, nil
	}
	d := p.definitions[used]
	if d == nil {
		return &typ{kind: kindUnsupported, reason: fmt.Sprintf("the type %.40q is not defined", used)}, nil
	}
	return &typ{kind: kindDefined, defined: d}, nil
}

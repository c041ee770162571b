package idl

import "fmt"

// kind is the kind of a type.
type kind uint8

const (
	kindBool kind = iota
	kindUnsigned
	kindSigned
	kindFloat
	kindString
	kindBytes
	kindPublicKey
	kindOption
	kindVec
	kindArray
	kindDefined
	kindUnsupported
)

// typ is a type where it is used.
type typ struct {
	kind    kind
	size    int         // bytes of a number
	length  int         // of an array
	element *typ        // of option, vec and array
	defined *definition // of kindDefined
	reason  string      // of kindUnsupported
}

// definition is a type that the interface defines.
type definition struct {
	name     string
	kind     definitionKind
	members  members   // of a struct
	variants []variant // of an enum
	alias    *typ

	state  byte   // of check
	depth  int    // levels below, with its own
	reason string // why its values cannot be decoded; empty if they can
}

type definitionKind uint8

const (
	kindStruct definitionKind = iota
	kindEnum
	kindAlias
)

// members are those of a struct or a variant, or the arguments of an
// instruction. A tuple has no names.
type members struct {
	names []string
	types []*typ
}

type variant struct {
	name    string
	members members
}

// maxDepth bounds the nesting of types.
const maxDepth = 32

// The states of a definition.
const (
	unseen byte = iota
	open
	checked
)

// check follows the definition to all that it contains, and refuses cycles. It
// says how deep the types go and finds what cannot be decoded. A definition is
// followed once, however often it is used.
func (d *definition) check(level int) error {
	switch {
	case d.state == checked:
		return nil
	case d.state == open:
		return fmt.Errorf("the type %.40q contains itself", d.name)
	case level > maxDepth:
		return fmt.Errorf("the type %.40q is nested deeper than %d levels", d.name, maxDepth)
	}
	d.state = open
	for _, t := range d.parts() {
		depth, reason, err := t.check(level + 1)
		if err != nil {
			return err
		}
		d.depth = max(d.depth, depth)
		if d.reason == "" {
			d.reason = reason
		}
	}
	if d.depth++; d.depth > maxDepth {
		return fmt.Errorf("the type %.40q is nested deeper than %d levels", d.name, maxDepth)
	}
	d.state = checked
	return nil
}

// parts lists the types that the definition is made of.
func (d *definition) parts() []*typ {
	all := d.members.types
	for _, v := range d.variants {
		all = append(all[:len(all):len(all)], v.members.types...)
	}
	if d.alias != nil {
		all = append(all, d.alias)
	}
	return all
}

func (t *typ) check(level int) (depth int, reason string, err error) {
	switch t.kind {
	case kindOption, kindVec, kindArray:
		depth, reason, err = t.element.check(level + 1)
		return depth + 1, reason, err
	case kindDefined:
		err = t.defined.check(level)
		return t.defined.depth, t.defined.reason, err
	case kindUnsupported:
		return 1, t.reason, nil
	}
	return 1, "", nil
}

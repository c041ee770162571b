package policy

import "latchkey/internal/policy/fact"

type kind uint8

const (
	kindBool kind = iota
	kindInt
	kindText
	kindTime
	kindList
	kindStruct
	kindMap
	kindArgument  // what decoding a call yields; its kind is known only when it is read
	kindNamespace // the first part of a root such as eth.tx; no value
	kindControls  // velocity controls, of which an organization has its own
)

// typ is the type of an expression. Equal types are the same pointer, except
// lists and maps, which are compared by their elements.
type typ struct {
	kind   kind
	name   string
	fold   bool  // kindText: compared without case
	form   *form // kindText: how each of its values is written; nil: in any way
	elem   *typ  // kindList, kindMap
	fields []field
	// How the elements of a list of this struct are read.
	size func(list any) int
	at   func(list any, i int) any
}

var (
	boolType     = &typ{kind: kindBool, name: "bool"}
	intType      = &typ{kind: kindInt, name: "int"}
	uintType     = &typ{kind: kindInt, name: "uint"}
	textType     = &typ{kind: kindText, name: "string"}
	foldType     = &typ{kind: kindText, name: "case-insensitive string", fold: true}
	timeType     = &typ{kind: kindTime, name: "timestamp"}
	argumentType = &typ{kind: kindArgument, name: "argument value"}
	arguments    = &typ{kind: kindMap, name: "map<string, argument value>", elem: argumentType}
	controlsType = &typ{kind: kindControls, name: "map<identifier, bool>"}
	texts        = &typ{kind: kindMap, name: "map<string, string>", elem: textType}
)

func listOf(elem *typ) *typ { return &typ{kind: kindList, name: "list<" + elem.name + ">", elem: elem} }

// field is one field of a struct: how it is called and how it is read from a
// pointer to the struct. Of the readers the one for its type is set; nil is
// what the request does not have.
type field struct {
	name   string
	typ    *typ
	values []string // all that the field can be, if they are few
	absent string   // what does not have it, where it is not only its root that may be absent
	text   func(any) *string
	others func(any) func() []string // what the text is equal to as well; nil: itself alone
	number func(any) *fact.Number
	flag   func(any) *bool
	ref    func(any) any // structs, lists and maps: a pointer
	// untold says why the request has the field and yet does not tell what it
	// is; empty: it tells. nil: it always does.
	untold func(any) string
}

// structOf is the type of a struct that is kept as T.
func structOf[T any](name string, fields ...field) *typ {
	return &typ{
		kind: kindStruct, name: name, fields: fields,
		size: func(list any) int {
			if many, ok := list.(*[]T); ok {
				return len(*many)
			}
			return 1
		},
		// A list is a *[]T or, where there is exactly one, that *T.
		at: func(list any, i int) any {
			if many, ok := list.(*[]T); ok {
				return &(*many)[i]
			}
			return list
		},
	}
}

func (t *typ) field(name string) *field {
	for i := range t.fields {
		if t.fields[i].name == name {
			return &t.fields[i]
		}
	}
	return nil
}

func text[T any](name string, get func(*T) *string) field {
	return field{name: name, typ: textType, text: func(ref any) *string { return get(ref.(*T)) }}
}

// caseInsensitive is a text that is compared without case.
func caseInsensitive[T any](name string, get func(*T) *string) field {
	f := text(name, get)
	f.typ = foldType
	return f
}

// aliased is a text of T that has other names: it is equal to each of them.
func aliased[T any](f field, others func(*T) func() []string) field {
	f.others = func(ref any) func() []string { return others(ref.(*T)) }
	return f
}

// written is a text, or a list or map of texts, of a type that says how they are
// written.
func (f field) written(t *typ) field {
	f.typ = t
	return f
}

// unlessIn is a field that some requests do not have, though they have its root.
func (f field) unlessIn(what string) field {
	f.absent = what
	return f
}

// oneOf is a text that can be one of few.
func (f field) oneOf(values ...string) field {
	f.values = values
	return f
}

func amount[T any](name string, get func(*T) *fact.Number) field {
	return field{name: name, typ: intType, number: func(ref any) *fact.Number { return get(ref.(*T)) }}
}

// unsigned is an amount that is documented as a uint; the two do not differ in
// what they compare with.
func unsigned[T any](name string, get func(*T) *fact.Number) field {
	f := amount(name, get)
	f.typ = uintType
	return f
}

func flag[T any](name string, get func(*T) *bool) field {
	return field{name: name, typ: boolType, flag: func(ref any) *bool { return get(ref.(*T)) }}
}

// nested is a struct, a list or a map inside T. E is what get points to.
func nested[T, E any](name string, t *typ, get func(*T) *E) field {
	return field{name: name, typ: t, ref: func(ref any) any {
		if p := get(ref.(*T)); p != nil {
			return p
		}
		return nil
	}}
}

// told is the field f of T, which some requests do not tell; why says the
// reason, and is empty where they do. Reading it then is an error and not an
// absence: a DENY that reads it denies.
func told[T any](f field, why func(*T) string) field {
	f.untold = func(ref any) string { return why(ref.(*T)) }
	if get := f.number; get != nil {
		f.number = func(ref any) *fact.Number {
			if f.untold(ref) != "" {
				return nil
			}
			return get(ref)
		}
	}
	if get := f.ref; get != nil {
		f.ref = func(ref any) any {
			if f.untold(ref) != "" {
				return nil
			}
			return get(ref)
		}
	}
	return f
}

// exposed is the pointer, or nil if the list is: a list that is not exposed, as
// against one that is empty.
func exposed[E any](list *[]E) *[]E {
	if *list == nil {
		return nil
	}
	return list
}

package policy

import (
	"cmp"

	"latchkey/internal/policy/fact"
)

// value is what a node yields, whatever its type. kind is set always, so that
// one check serves values whose type was known and those of arguments.
type value struct {
	kind   fact.Kind
	flag   bool
	text   textValue
	number number
	// Structs: a pointer. Lists: a pointer to the slice, or the node of a
	// literal list; of its elements those from (inclusive) to to.
	ref      any
	from, to int32
}

// textValue is a string and how it compares.
type textValue struct {
	s      string
	fold   bool            // without case
	lower  bool            // as if it were written in lower case
	others func() []string // what it is equal to as well; nil: nothing
}

// equal compares byte by byte, with all names that the texts have; only ASCII
// letters have a case.
func (a textValue) equal(b textValue) bool {
	if a.same(b) {
		return true
	}
	if a.others == nil {
		a, b = b, a
	}
	if a.others == nil {
		return false
	}
	for _, s := range a.others() {
		if b.equal(textValue{s: s, fold: a.fold, lower: a.lower}) {
			return true
		}
	}
	return false
}

func (a textValue) same(b textValue) bool {
	switch {
	case len(a.s) != len(b.s):
		return false
	case a.fold || b.fold:
		for i := range len(a.s) {
			if a.s[i] != b.s[i] && lower(a.s[i]) != lower(b.s[i]) {
				return false
			}
		}
		return true
	case a.lower || b.lower:
		for i := range len(a.s) {
			x, y := a.s[i], b.s[i]
			if a.lower {
				x = lower(x)
			}
			if b.lower {
				y = lower(y)
			}
			if x != y {
				return false
			}
		}
		return true
	default:
		return a.s == b.s
	}
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c | 0x20
	}
	return c
}

// compare is -1, 0 or 1.
func (a number) compare(b number) int {
	switch {
	case a.big == nil && b.big == nil:
		return cmp.Compare(a.small, b.small)
	case b.big == nil && b.small >= 0 && !a.big.Negative: // an amount with a literal
		if !a.big.Magnitude.IsUint64() {
			return 1
		}
		return cmp.Compare(a.big.Magnitude.Uint64(), uint64(b.small))
	}
	x, y := a.wide(), b.wide()
	return x.Cmp(&y)
}

func (a number) wide() fact.Number {
	if a.big != nil {
		return *a.big
	}
	return fact.Int(a.small)
}

// position is the number as an index: negative numbers become -1, and those
// that no list is long enough for become the longest length.
func (a number) position() int32 {
	const longest = 1 << 30
	w := a.wide()
	switch {
	case w.Negative:
		return -1
	case !w.Magnitude.IsUint64() || w.Magnitude.Uint64() > longest:
		return longest
	default:
		return int32(w.Magnitude.Uint64())
	}
}

// argumentOf is an argument value as a value.
func argumentOf(a *fact.Value) value {
	v := value{kind: a.Kind, flag: a.Bool, text: textValue{s: a.Text, fold: a.Fold}, number: number{big: &a.Number}}
	switch a.Kind {
	case fact.List:
		v.ref, v.to = &a.List, int32(len(a.List))
	case fact.Struct:
		v.ref = &a.Fields
	}
	return v
}

// text evaluates a node that is a string.
func (m *machine) text(n *node) (textValue, bool) {
	switch n.op {
	case opText:
		return textValue{s: n.text}, true
	case opField:
		ref, ok := m.parent(n)
		if !ok {
			return textValue{}, false
		}
		if p := n.field.text(ref); p != nil {
			v := textValue{s: *p, fold: n.typ.fold}
			if n.field.others != nil {
				v.others = n.field.others(ref)
			}
			return v, true
		}
		return textValue{}, m.lacks(n, ref)
	case opLower:
		l, ok := m.text(n.x)
		l.lower = true
		return l, ok
	case opVariable:
		if n.typ.kind == kindText {
			return m.variables[n.slot].text, true
		}
	}
	v, ok := m.value(n)
	return v.text, ok && m.requireKind(n, &v, fact.Text)
}

// number evaluates a node that is an integer.
func (m *machine) number(n *node) (number, bool) {
	switch n.op {
	case opNumber:
		return n.number, true
	case opField:
		ref, ok := m.parent(n)
		if !ok {
			return number{}, false
		}
		if p := n.field.number(ref); p != nil {
			return number{big: p}, true
		}
		return number{}, m.lacks(n, ref)
	case opCount:
		var count int64
		ok := m.each(n.x, scratch, func() bool {
			count++
			return true
		})
		return number{small: count}, ok
	}
	v, ok := m.value(n)
	return v.number, ok && m.requireKind(n, &v, fact.Num)
}

// parent is the struct that a field is read from.
func (m *machine) parent(n *node) (any, bool) {
	if n.root != nil && m.request != nil {
		if ref := n.root.get(m.request); ref != nil {
			return ref, true
		}
	}
	return m.ref(n.x)
}

// ref evaluates a node that is a struct, a list or a map of the vocabulary, and
// returns the pointer to it.
func (m *machine) ref(n *node) (any, bool) {
	var ref any
	switch n.op {
	case opRoot:
		if m.request != nil {
			ref = n.root.get(m.request)
		}
	case opApprovers:
		ref = m.approvers
	case opCredentials:
		ref = m.credentials
	case opField:
		parent, ok := m.parent(n)
		if !ok {
			return nil, false
		}
		if ref = n.field.ref(parent); ref == nil {
			return nil, m.lacks(n, parent)
		}
		return ref, true
	case opVariable:
		return m.variables[n.slot].ref, true
	case opIndex:
		v, ok := m.index(n)
		return v.ref, ok
	}
	if ref == nil {
		return nil, m.fail(n, absentRoot)
	}
	return ref, true
}

// value evaluates any node.
func (m *machine) value(n *node) (value, bool) {
	switch n.op {
	case opVariable:
		return m.variables[n.slot], true
	case opIndex:
		return m.index(n)
	case opSlice:
		return m.slice(n)
	case opKey:
		return m.key(n)
	case opList:
		return value{kind: fact.List, ref: n, to: int32(len(n.args))}, true
	}
	switch n.typ.kind {
	case kindText:
		l, ok := m.text(n)
		return value{kind: fact.Text, text: l}, ok
	case kindInt:
		i, ok := m.number(n)
		return value{kind: fact.Num, number: i}, ok
	case kindBool:
		b, ok := m.boolean(n)
		return value{kind: fact.Bool, flag: b}, ok
	default: // a struct or a map; lists are for each
		ref, ok := m.ref(n)
		return value{kind: fact.Struct, ref: ref}, ok
	}
}

package schema

import (
	"bytes"
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/fault"
)

// Decode reads raw, which must be one JSON object, into dst (*T), and returns
// every problem found (at most 50): first those of the members that are there,
// in document order, then the missing members, in declaration order. dst is
// only meaningful when there are none.
//
// A problem of syntax (broken JSON, duplicate name, invalid UTF-8, data after
// the object, not an object, nesting deeper than 32) is returned alone, with
// the path reached and the byte offset in its description.
func (s *Schema) Decode(raw []byte, dst any) []fault.Field {
	_, problems := s.decode(raw, dst)
	return problems
}

// decode also reports whether a member that Encode leaves out when it is zero
// was given so.
func (s *Schema) decode(raw []byte, dst any) (zeros bool, problems []fault.Field) {
	v := reflect.ValueOf(dst)
	if v.Type() != reflect.PointerTo(s.typ) || v.IsNil() {
		panic(fmt.Sprintf("schema: Decode wants a *%v, not %T", s.typ, dst))
	}
	v = v.Elem()
	v.SetZero()

	st := s.pool.Get().(*state)
	defer s.pool.Put(st)
	defer st.clear() // so that the pool keeps no request, with its secrets, alive
	st.start(raw)
	if err := st.document(s.root, v); err != nil {
		return false, []fault.Field{st.syntax(err)}
	}
	return st.zeros, st.problems()
}

// document reads the only value of the input.
func (st *state) document(o *object, v reflect.Value) error {
	switch k := st.d.PeekKind(); k {
	case '{':
	case jsontext.KindInvalid:
		_, err := st.d.ReadToken()
		return err
	default:
		return &refusal{text: "must be an object, not " + kindName(k), at: st.next(space)}
	}
	if err := st.object(o, v, true); err != nil {
		return err
	}
	if at := st.next(space); at < len(st.input) {
		return &refusal{text: "data after the end of the object", at: at}
	}
	return nil
}

// appProofs is a member that published clients add to any request. It asks for
// something that this service does not make, so it is ignored.
const appProofs = "generateAppProofs"

func (st *state) object(o *object, v reflect.Value, top bool) error {
	before := st.count()
	if err := st.token(); err != nil { // {
		return err
	}
	var seen [maxFields / 64]uint64
	for st.d.PeekKind() != '}' {
		quoted, err := st.d.ReadValue()
		if err != nil {
			return err
		}
		i, known := o.find(quoted)
		if !known {
			if err := st.unknown(o, unquote(quoted), top); err != nil {
				return err
			}
			continue
		}
		f := &o.fields[i]
		seen[i/64] |= 1 << (i % 64)
		given := st.d.PeekKind() != 'n'
		member := v.FieldByIndex(f.index)
		st.push(f.name, i)
		err = st.member(f.node, member)
		st.pop()
		if err != nil {
			return err
		}
		st.zeros = st.zeros || given && f.omitzero && member.IsZero()
	}
	if err := st.token(); err != nil { // }
		return err
	}
	for i := range o.fields {
		if f := &o.fields[i]; f.must() && seen[i/64]&(1<<(i%64)) == 0 {
			st.push(f.name, i)
			st.miss("is required")
			st.pop()
		}
	}
	if o.checks && st.count() == before {
		var p Problems
		v.Addr().Interface().(checker).Check(&p)
		st.adopt(p.list)
	}
	return nil
}

// find looks a quoted name up without making a string of it.
func (o *object) find(quoted []byte) (int, bool) {
	if bytes.IndexByte(quoted, '\\') < 0 {
		i, ok := o.byName[string(quoted[1:len(quoted)-1])]
		return i, ok
	}
	i, ok := o.byName[unquote(quoted)]
	return i, ok
}

func (st *state) unknown(o *object, name string, top bool) error {
	st.push(name, -1) // no place of its own: the empty name is no index
	defer st.pop()
	if top && name == appProofs {
		if k := st.d.PeekKind(); k != 't' && k != 'f' && k != 'n' {
			return st.mismatch("a boolean", k)
		}
		return st.skip()
	}
	if near := o.nearest(name); near != "" {
		st.problem("unknown field; did you mean %q?", near)
	} else {
		st.problem("unknown field")
	}
	return st.skip()
}

// member binds the value of a member, for which null means absence.
func (st *state) member(n *node, v reflect.Value) error {
	if st.d.PeekKind() != 'n' {
		return st.value(n, v)
	}
	switch {
	case n.kind == kindArray: // null is the empty array
		if n.must() && n.hasMin && n.min > 0 {
			st.problem("must have at least %s", plural(n.min, "element"))
		}
	case n.must():
		st.problem("is required; null counts as absent")
	}
	return st.token()
}

func (st *state) value(n *node, v reflect.Value) error {
	if st.full() {
		return st.skip() // of the rest only the syntax is checked
	}
	if n.pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	switch n.kind {
	case kindString:
		return st.str(n, v)
	case kindBool:
		return st.boolean(v)
	case kindInt:
		return st.integer(n, v)
	case kindUint64:
		return st.uint64(n, v)
	case kindRaw:
		return st.raw(n, v)
	case kindArray:
		return st.array(n, v)
	default:
		if k := st.d.PeekKind(); k != '{' {
			return st.mismatch("an object", k)
		}
		return st.object(n.obj, v, false)
	}
}

package policy

import "latchkey/internal/policy/fact"

// size is the length of a list of elem; that of nil is 0.
func size(list any, elem *typ) int32 {
	switch l := list.(type) {
	case nil:
		return 0
	case *[]string:
		return int32(len(*l))
	case *[]fact.Number:
		return int32(len(*l))
	case *[]bool:
		return int32(len(*l))
	default:
		return int32(elem.size(list))
	}
}

// element puts element i of a list of elem into v.
func (m *machine) element(list *value, elem *typ, i int32, v *value) bool {
	switch l := list.ref.(type) {
	case *[]string:
		v.kind, v.text = fact.Text, textValue{s: (*l)[i]}
	case *[]fact.Number:
		v.kind, v.number = fact.Num, number{big: &(*l)[i]}
	case *[]bool:
		v.kind, v.flag = fact.Bool, (*l)[i]
	case *[]fact.Value:
		*v = argumentOf(&(*l)[i])
	case *node:
		m.work += int(l.args[i].weight)
		e, ok := m.value(l.args[i])
		*v = e
		return ok
	default:
		v.kind, v.ref = fact.Struct, elem.at(list.ref, int(i))
	}
	return true
}

// each calls f for every element of the list that n is, with the element in
// the slot, and reports whether all were evaluated and f returned true for each.
// A filtered list is never built: its elements pass through the filters one by
// one.
func (m *machine) each(n *node, slot uint8, f func() bool) bool {
	switch {
	case n.op == opFilter:
		return m.each(n.x, n.slot, func() bool {
			m.work += int(n.y.weight)
			keep, fine := m.boolean(n.y)
			if !fine || !keep {
				return fine
			}
			if slot != n.slot {
				m.variables[slot] = m.variables[n.slot]
			}
			return f()
		})
	case n.op == opSlice && n.typ.kind == kindList:
		from, to, fine := m.bounds(n)
		i := int32(-1)
		ok := m.each(n.x, slot, func() bool {
			i++
			return i < from || i >= to || f() // without bounds both are 0
		})
		return ok && fine
	}
	var list value
	var ok bool
	if n.typ.kind == kindList && n.op != opList {
		list.ref, ok = m.ref(n)
		list.to = size(list.ref, n.typ.elem)
	} else if list, ok = m.value(n); ok {
		ok = m.requireKind(n, &list, fact.List)
	}
	if !ok {
		return false
	}
	for i := list.from; i < list.to; i++ {
		if !m.spend(n, 1) {
			return false
		}
		ok = m.element(&list, n.typ.elem, i, &m.variables[slot]) && f() && ok
	}
	return ok
}

// index evaluates x[i] of a list or a string.
func (m *machine) index(n *node) (value, bool) {
	i, ok := m.number(n.y)
	at := i.position()
	if n.x.typ.kind == kindList {
		var found value
		count := int32(0)
		fine := m.each(n.x, scratch, func() bool {
			if count == at {
				found = m.variables[scratch]
			}
			count++
			return true
		})
		if !ok || !fine {
			return value{}, false
		}
		if at < 0 || at >= count {
			return value{}, m.fail(n, badIndex)
		}
		return found, true
	}
	x, fine := m.value(n.x)
	switch {
	case !ok || !fine:
		return value{}, false
	case x.kind == fact.List:
		if at < 0 || at >= x.to-x.from {
			return value{}, m.fail(n, badIndex)
		}
		var e value
		ok = m.element(&x, argumentType, x.from+at, &e)
		return e, ok
	case !m.requireKind(n, &x, fact.Text):
		return value{}, false
	case at < 0 || int(at) >= len(x.text.s):
		return value{}, m.fail(n, badIndex)
	}
	x.text.s, x.text.others = x.text.s[at:at+1], nil
	return x, true
}

// slice evaluates x[a..b] of a string or an argument value; each handles lists.
// What is beyond the end is empty.
func (m *machine) slice(n *node) (value, bool) {
	x, ok := m.value(n.x)
	from, to, fine := m.bounds(n)
	switch {
	case !ok || !fine:
		return value{}, false
	case x.kind == fact.List:
		length := x.to - x.from
		x.from, x.to = x.from+min(from, length), x.from+min(to, length)
		return x, true
	case !m.requireKind(n, &x, fact.Text):
		return value{}, false
	}
	length := int32(len(x.text.s))
	x.text.s, x.text.others = x.text.s[min(from, length):min(to, length)], nil
	return x, true
}

func (m *machine) bounds(n *node) (from, to int32, ok bool) {
	a, ok1 := m.number(n.y)
	b, ok2 := m.number(n.z)
	if !ok1 || !ok2 {
		return 0, 0, false
	}
	from, to = a.position(), b.position()
	if from < 0 || a.compare(b) > 0 {
		return 0, 0, m.fail(n, badSlice)
	}
	return from, to, true
}

// key evaluates x['name'] of a map or an argument value.
func (m *machine) key(n *node) (value, bool) {
	x, ok := m.value(n.x)
	if !ok || !m.requireKind(n, &x, fact.Struct) {
		return value{}, false
	}
	entries := x.ref.(*fact.Map)
	m.work += len(*entries) >> 2
	found := entries.Get(n.y.text)
	if found == nil {
		return value{}, m.fail(n, absentKey)
	}
	v := argumentOf(found)
	if n.typ.kind == kindText && !m.requireKind(n, &v, fact.Text) {
		return value{}, false
	}
	return v, true
}

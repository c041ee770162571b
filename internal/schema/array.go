package schema

import "reflect"

func (st *state) array(n *node, v reflect.Value) error {
	if k := st.d.PeekKind(); k != '[' {
		return st.mismatch("an array", k)
	}
	if err := st.token(); err != nil {
		return err
	}
	var u uniqueness
	i := 0
	for ; st.d.PeekKind() != ']'; i++ {
		// Elements past a limit are not stored: a small body must not
		// make a large slice of structs.
		if n.hasMax && i >= n.max || st.full() {
			if err := st.skip(); err != nil {
				return err
			}
			continue
		}
		v.Grow(1)
		v.SetLen(i + 1)
		st.push("", i)
		err := st.elem(n, v.Index(i), &u)
		st.pop()
		if err != nil {
			return err
		}
	}
	switch {
	case n.hasMax && i > n.max:
		st.problem("must have at most %s", plural(n.max, "element"))
	case n.hasMin && i < n.min:
		st.problem("must have at least %s", plural(n.min, "element"))
	case i == 0 && n.omitzero:
		v.Set(reflect.MakeSlice(n.typ, 0, 0))
	}
	return st.token() // ]
}

func (st *state) elem(n *node, v reflect.Value, u *uniqueness) error {
	if st.d.PeekKind() == 'n' {
		st.problem("must not be null")
		return st.token()
	}
	before := st.count()
	if err := st.value(n.elem, v); err != nil {
		return err
	}
	if n.unique && st.count() == before && u.again(v.String()) {
		st.problem("appears more than once")
	}
	return nil
}

// uniqueness remembers the strings of one array.
type uniqueness struct {
	few  []string
	many map[string]struct{}
}

// again reports whether s is repeated.
func (u *uniqueness) again(s string) bool {
	const few = 16
	if u.many == nil {
		for _, t := range u.few {
			if s == t {
				return true
			}
		}
		if u.few = append(u.few, s); len(u.few) > few {
			u.many = make(map[string]struct{}, 4*few)
			for _, t := range u.few {
				u.many[t] = struct{}{}
			}
		}
		return false
	}
	_, found := u.many[s]
	u.many[s] = struct{}{}
	return found
}

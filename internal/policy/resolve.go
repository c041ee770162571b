package policy

import (
	"fmt"
	"slices"
	"strings"

	"latchkey/internal/suggest"
)

func (c *checker) nameOf(n *node) *Error {
	for slot, v := range c.variables {
		if v.name == n.name {
			n.op, n.typ, n.slot = opVariable, v.typ, uint8(slot)
			return nil
		}
	}
	if c.rootOf(n) {
		return nil
	}
	fix := c.readableElsewhere(n.name)
	if fix == "" {
		fix = suggestedFix(n.name, c.firstNames())
	}
	return refuse(n, fix, "unknown name %s", n.name)
}

// rootOf makes n the root, or the namespace, that its name says.
func (c *checker) rootOf(n *node) bool {
	for i := range c.roots {
		switch r := &c.roots[i]; {
		case r.name == n.name:
			n.op, n.typ, n.root = r.op, r.typ, r
			return true
		case strings.HasPrefix(r.name, n.name+"."):
			n.typ = &typ{kind: kindNamespace, name: n.name}
			return true
		}
	}
	return false
}

// firstNames lists what an expression can begin with.
func (c *checker) firstNames() []string {
	var names []string
	for _, v := range c.variables {
		names = append(names, v.name)
	}
	for _, r := range c.roots {
		first, _, _ := strings.Cut(r.name, ".")
		names = append(names, first)
	}
	return names
}

// readableElsewhere says in which other place a root can be read.
func (c *checker) readableElsewhere(name string) string {
	for _, p := range []Place{Condition, Consensus, Time} {
		other := checker{roots: rootsOf(p)}
		if p != c.place && other.rootOf(&node{name: name}) {
			return fmt.Sprintf("%s can be read in the %s of a policy, not in its %s", name, p, c.place)
		}
	}
	return ""
}

func (c *checker) fieldOf(n *node) *Error {
	if err := c.operand(n.x); err != nil {
		return err
	}
	names := func(t *typ) (all []string) {
		for _, f := range t.fields {
			all = append(all, f.name)
		}
		return all
	}
	at := &node{pos: n.end - len(n.name), end: n.end}
	switch n.x.typ.kind {
	case kindStruct:
		if n.field = n.x.typ.field(n.name); n.field == nil {
			return refuse(at, suggestedFix(n.name, names(n.x.typ)), "field does not exist: %s", n.name)
		}
		n.typ = n.field.typ
		if n.x.op == opRoot {
			n.root = n.x.root
		}
	case kindNamespace:
		namespace := n.x.typ.name
		whole := &node{name: namespace + "." + n.name}
		if !c.rootOf(whole) {
			var all []string
			for _, r := range c.roots {
				if rest, found := strings.CutPrefix(r.name, namespace+"."); found {
					all = append(all, rest)
				}
			}
			return refuse(at, suggestedFix(n.name, all), "field does not exist: %s", n.name)
		}
		n.op, n.typ, n.root, n.name, n.x = whole.op, whole.typ, whole.root, whole.name, nil
	case kindControls:
		n.op, n.typ, n.root = opControl, boolType, n.x.root
		n.text, n.name, n.x = n.name, n.x.name+"."+n.name, nil
	case kindList, kindArgument:
		if n.name == "count" {
			n.op, n.typ = opCount, intType
			return nil
		}
		if n.x.typ.kind == kindArgument {
			return refuse(at, "write ['"+n.name+"']", "the fields of an argument value are not read with a dot")
		}
		return refuse(at, "use an index or a method: all, any, contains, count, filter", "a list has no field %s", n.name)
	default:
		return refuse(at, "", "%s has no fields", withArticle(n.x.typ))
	}
	return nil
}

// operand checks what a dot follows: only here a namespace is allowed.
func (c *checker) operand(n *node) *Error {
	if n.op == opName {
		return c.nameOf(n)
	}
	return c.check(n)
}

// suggestedFix names the known name that was probably meant, or all of them.
func suggestedFix(name string, known []string) string {
	for _, k := range known {
		if strings.ReplaceAll(k, "_", "") == strings.ToLower(strings.ReplaceAll(name, "_", "")) {
			return "write " + k
		}
	}
	if k := suggest.Name(name, min(2, len(name)/2), known); k != "" {
		return "did you mean " + k + "?"
	}
	return "known are " + strings.Join(slices.Compact(known), ", ") // firstNames repeats namespaces
}

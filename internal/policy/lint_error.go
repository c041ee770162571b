package policy

import "slices"

// errors finds limits that some requests have no value for, where that leads to
// what their author probably did not mean (docs/decisions/0016). An ALLOW that has
// no value allows nothing, which is what a limit is for; so of an ALLOW only the
// parts of || are looked at.
func (l *linter) errors(p *Policy) {
	if p.Condition == nil {
		return
	}
	l.expr = p.Condition
	said := map[string]bool{}
	once := func(n *node, format string, args ...any) {
		key := n.String()
		if !said[key] {
			l.add(n, LimitCanErr, format, args...)
		}
		said[key] = true
		if n.op == opKey { // of the map itself there is nothing more to say
			said[n.x.String()] = true
		}
	}
	top := p.Condition.top
	top.visit(func(n *node) {
		if n.op == opOr {
			if fact := lopsided(top, n); fact != nil {
				once(fact, "a request may have no %s, and then this policy does not apply, whatever the other parts of || are; "+
					"write one policy for each part", l.source(fact))
			}
		}
		if !p.Deny {
			return
		}
		switch what := missing(n); {
		case what != "":
			once(n, "%s has no %s, and this DENY does not apply to it; deny more, or allow only what is known", what, l.source(n))
		case n.op == opField && n.field.untold != nil:
			once(n, "%s cannot be told of every transaction, and this DENY denies those of which it cannot", l.source(n))
		case n.op == opIndex && n.x.typ.kind == kindList:
			once(n, "a shorter list has no %s, and this DENY denies it; any(…) or all(…) looks at every element", l.source(n))
		}
	})
}

// missing is what does not have the value that n reads, though it has its root;
// empty: everything has it.
func missing(n *node) string {
	switch {
	case n.op == opKey:
		return "a call that no stored interface describes, or a message without that name,"
	case n.op == opField:
		return n.field.absent
	}
	return ""
}

// lopsided finds what one part of an || reads and another does not, if a request
// can be without it: nothing is short-circuited, so that the whole policy has no
// value then. What is read outside of the || is needed in any case.
func lopsided(top, or *node) (first *node) {
	outside := optionalReads(top, or)
	parts := slices.DeleteFunc(slices.Clone(or.args), constant)
	for _, part := range parts {
		for name, n := range optionalReads(part, nil) {
			everywhere := !slices.ContainsFunc(parts, func(c *node) bool { return optionalReads(c, nil)[name] == nil })
			if outside[name] == nil && !everywhere && (first == nil || n.pos < first.pos) {
				first = n
			}
		}
	}
	return first
}

// optionalReads are the reads below n, but for those below without, of what a
// request may not have.
func optionalReads(n, without *node) map[string]*node {
	all := map[string]*node{}
	var walk func(*node)
	walk = func(c *node) {
		if c == nil || c == without {
			return
		}
		isRoot := c.op == opRoot && c.typ != activityType
		isParameter := c.op == opField && c.x.typ == paramsType
		if name := c.String(); (isRoot || isParameter || missing(c) != "") && all[name] == nil {
			all[name] = c
		}
		c.children(walk)
	}
	walk(n)
	return all
}

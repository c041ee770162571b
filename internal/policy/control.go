package policy

import "slices"

// control evaluates whether a velocity control holds. One that is missing is an
// error, not an absence: it was deleted by mistake, and a DENY that reads it must
// not be passed for that.
func (m *machine) control(n *node) (result, ok bool) {
	if m.request == nil {
		return false, m.fail(n, noControl)
	}
	for i := range m.request.Controls {
		c := &m.request.Controls[i]
		if c.Identifier != n.text {
			continue
		}
		if c.Unreadable != "" {
			return false, m.record(failure{node: n, why: untold, more: c.Unreadable})
		}
		return c.Holds, true
	}
	return false, m.fail(n, noControl)
}

// Controls are the identifiers of the velocity controls that the expression
// reads, each once.
func (e *Expr) Controls() (identifiers []string) {
	if e == nil {
		return nil
	}
	e.top.visit(func(n *node) {
		if n.op == opControl {
			identifiers = append(identifiers, n.text)
		}
	})
	slices.Sort(identifiers)
	return slices.Compact(identifiers)
}

// IsIdentifier reports whether a text can be the name of a velocity control.
func IsIdentifier(text string) bool {
	for i := range len(text) {
		c := lower(text[i])
		if c != '_' && (c < 'a' || c > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return text != "" && text != "true" && text != "false" && text != "in"
}

package policy

import (
	"slices"

	"latchkey/internal/policy/fact"
)

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

// reportExport finds an ALLOW by which a user may export a key who is under a
// limit over time by another: the holder of a key is under none.
func (l *linter) reportExport(export, limited *Policy) bool {
	exports := func(a KnownActivity) bool { return a.Action == "EXPORT" && a.may(export) }
	if len(limited.Condition.Controls()) == 0 || len(export.Condition.Controls()) > 0 ||
		!slices.ContainsFunc(l.context.Activities, exports) || !l.sameUser(export, limited) {
		return false
	}
	top := l.reportOn(export)
	if top != nil {
		l.add(top, ExportPasses, "a user whom %s limits may export keys by this policy, and an exported key passes every limit", limited.label())
	}
	return top != nil
}

// sameUser reports whether one user may have a part in both policies.
func (l *linter) sameUser(a, b *Policy) bool {
	if a.Consensus == nil || b.Consensus == nil || a.Consensus == b.Consensus {
		return true
	}
	return slices.ContainsFunc(l.context.Users, func(u fact.User) bool {
		voter := &Voter{User: u}
		for _, c := range l.context.Credentials {
			if c.UserID == u.ID {
				voter.Credentials = append(voter.Credentials, c)
			}
		}
		return a.Consensus.Names(voter, nil) && b.Consensus.Names(voter, nil)
	})
}

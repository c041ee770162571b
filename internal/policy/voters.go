package policy

import "latchkey/internal/policy/fact"

// Voter is a user who voted or might vote, with all credentials that they hold
// and could vote with.
type Voter struct {
	User        fact.User
	Credentials []fact.Credential
}

// Names reports whether a consensus expression counts on the voter: whether one
// of its atoms is true of the user or of a credential that they hold. An atom is
// the predicate of any, all or filter on approvers or credentials, a chain of
// filters being one atom; a bare count of them counts on every user.
//
// While an atom is evaluated, the voter is the only approver and their
// credentials are the only ones: votes of others do not name this voter.
//
// With a budget that is used up it counts on no one.
func (e *Expr) Names(v *Voter, b *Budget) bool {
	m := machine{approvers: &v.User, credentials: &v.Credentials, budget: b}
	if !m.begin(e.top) {
		return false
	}
	found := m.names(e.top)
	m.end(e.top)
	return found && !b.Exhausted()
}

func (m *machine) names(n *node) bool {
	if n.op == opCount && isVoteList(n.x) {
		return m.anyPasses(n.x, nil)
	}
	if n.quantifier() {
		if isVoteList(n.x) {
			return m.anyPasses(n.x, n)
		}
		// A list of something else: an atom may be inside, for each element.
		found := false
		m.each(n.x, n.slot, func() bool {
			m.work += int(n.y.weight)
			found = m.names(n.y) || found
			return true
		})
		return found
	}
	found := false
	n.children(func(c *node) { found = found || m.names(c) })
	return found
}

// isVoteList reports whether the list is made of approvers or credentials.
func isVoteList(n *node) bool {
	for n.op == opFilter || n.op == opSlice {
		n = n.x
	}
	return n.op == opApprovers || n.op == opCredentials
}

// anyPasses reports whether an element of the list passes its filters, and then
// the predicate of last, if any. What cannot be evaluated does not pass. Slices
// are ignored: which part of the voters a user will be in depends on the others.
func (m *machine) anyPasses(list, last *node) bool {
	var chain [maxDepth]*node
	length := 0
	for n := list; ; n = n.x {
		if n.op == opFilter {
			chain[length] = n
			length++
		}
		if n.op != opFilter && n.op != opSlice {
			list = n
			break
		}
	}
	found := false
	m.each(list, scratch, func() bool {
		v := m.variables[scratch]
		passes := true
		for i := length - 1; i >= 0; i-- {
			passes = passes && m.predicateHolds(chain[i], v)
		}
		found = found || passes && (last == nil || m.predicateHolds(last, v))
		return true
	})
	return found
}

// predicateHolds reports whether the predicate of the quantifier is true of v.
func (m *machine) predicateHolds(quantifier *node, v value) bool {
	m.work += int(quantifier.y.weight)
	m.variables[quantifier.slot] = v
	result, ok := m.boolean(quantifier.y)
	return result && ok
}

// monotonic reports whether more votes can make the expression true but never
// false. Such an expression can become true only if it is with all votes.
func monotonic(n *node) bool {
	if !readsVotes(n) {
		return true
	}
	switch n.op {
	case opAnd, opOr:
		for _, c := range n.args {
			if !monotonic(c) {
				return false
			}
		}
		return true
	case opAny:
		return monotonicList(n.x) && monotonic(n.y)
	case opGreater, opGreaterEqual:
		return n.x.op == opCount && monotonicList(n.x.x) && !readsVotes(n.y)
	case opLess, opLessEqual:
		return n.y.op == opCount && monotonicList(n.y.x) && !readsVotes(n.x)
	default:
		return false
	}
}

// monotonicList reports whether more votes only add to the list.
func monotonicList(n *node) bool {
	switch n.op {
	case opApprovers, opCredentials:
		return true
	case opFilter:
		return monotonicList(n.x) && monotonic(n.y)
	default:
		return !readsVotes(n)
	}
}

func readsVotes(n *node) bool {
	found := false
	n.visit(func(c *node) { found = found || c.op == opApprovers || c.op == opCredentials })
	return found
}

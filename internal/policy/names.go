package policy

import "latchkey/internal/policy/fact"

// Voter is somebody who voted or might vote, with all credentials that he holds
// and could vote with.
type Voter struct {
	User        fact.User
	Credentials []fact.Credential
}

// Names says whether a consensus expression counts on the voter: whether one of
// its atoms is true of him or of a credential that he holds. An atom is what
// approvers or credentials are asked in any, all or filter, a chain of filters
// being one atom; a bare count of them counts on everybody.
//
// While an atom is evaluated, the voter is the only approver and his
// credentials are the only ones: that others voted does not make it his vote.
func (e *Expr) Names(v *Voter) bool {
	m := machine{approvers: &v.User, credentials: &v.Credentials}
	return m.names(e.top)
}

func (m *machine) names(n *node) bool {
	if n.op == opCount && votes(n.x) {
		return m.some(n.x, nil)
	}
	if n.quantifier() {
		if votes(n.x) {
			return m.some(n.x, n)
		}
		// A list of something else: an atom may be inside, for each element.
		found := false
		m.each(n.x, n.slot, func() bool {
			found = m.names(n.y) || found
			return true
		})
		return found
	}
	found := false
	n.children(func(c *node) { found = found || m.names(c) })
	return found
}

// votes says whether the list is made of approvers or credentials.
func votes(n *node) bool {
	for n.op == opFilter || n.op == opSlice {
		n = n.x
	}
	return n.op == opApprovers || n.op == opCredentials
}

// some says whether an element of the list passes the filters on the way, and
// then the predicate of last, if any. Whatever cannot be evaluated does not.
// Slices on the way are passed over: which part of the voters somebody will be
// in depends on the others.
func (m *machine) some(list, last *node) bool {
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
			passes = passes && m.holds(chain[i], v)
		}
		found = found || passes && (last == nil || m.holds(last, v))
		return true
	})
	return found
}

// holds says whether the predicate of the quantifier is true of v.
func (m *machine) holds(quantifier *node, v value) bool {
	m.variables[quantifier.slot] = v
	result, ok := m.boolean(quantifier.y)
	return result && ok
}

// grows says that more votes can make the expression true but never false. Of
// such an expression the vote of everybody tells whether it can become true.
func grows(n *node) bool {
	if !readsVotes(n) {
		return true
	}
	switch n.op {
	case opAnd, opOr:
		for _, c := range n.args {
			if !grows(c) {
				return false
			}
		}
		return true
	case opAny:
		return growing(n.x) && grows(n.y)
	case opGreater, opGreaterEqual:
		return n.x.op == opCount && growing(n.x.x) && !readsVotes(n.y)
	case opLess, opLessEqual:
		return n.y.op == opCount && growing(n.y.x) && !readsVotes(n.x)
	default:
		return false
	}
}

// growing says that more votes only add to the list.
func growing(n *node) bool {
	switch n.op {
	case opApprovers, opCredentials:
		return true
	case opFilter:
		return growing(n.x) && grows(n.y)
	default:
		return !readsVotes(n)
	}
}

func readsVotes(n *node) bool {
	found := false
	n.every(func(c *node) { found = found || c.op == opApprovers || c.op == opCredentials })
	return found
}

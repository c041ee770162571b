package policy

import (
	"slices"
	"strings"
)

// interactions looks for policies that cancel or undermine each other.
func (l *linter) interactions() {
	for i := range l.policies {
		p := &l.policies[i]
		if p.Deny {
			continue
		}
		// One finding of a kind is enough for a policy.
		var shadowed, open, exports bool
		for j := range l.policies {
			switch other := &l.policies[j]; {
			case other.Deny:
				shadowed = shadowed || l.reportShadowed(p, other)
			case i != j:
				open = open || l.reportRawPayloadHole(other, p)
				exports = exports || l.reportExport(p, other)
			}
		}
	}
}

// reportOn makes p the policy of the next finding, and returns the first of its
// expressions.
func (l *linter) reportOn(p *Policy) *node {
	l.policy = p
	for _, e := range []*Expr{p.Condition, p.Consensus, p.Time} {
		if e != nil {
			l.expr = e
			return e.top
		}
	}
	return nil
}

// reportShadowed finds a DENY that matches whenever the ALLOW does: it has no consensus
// and no time, and each of its clauses is a clause of the ALLOW.
func (l *linter) reportShadowed(allow, deny *Policy) bool {
	if !alwaysDenies(deny, allow, nil) {
		return false
	}
	top := l.reportOn(allow)
	if top != nil {
		l.add(top, ShadowedByDeny, "the DENY policy %s refuses everything that this policy allows", deny.label())
	}
	return top != nil
}

func (p *Policy) label() string {
	if p.Name != "" {
		return "'" + p.Name + "'"
	}
	return p.ID
}

// alwaysDenies reports whether the DENY matches whenever the ALLOW does, given
// what is known of the activity.
func alwaysDenies(deny, allow *Policy, known map[string]string) bool {
	if deny.Consensus != nil || deny.Time != nil {
		return false
	}
	for _, c := range deny.Condition.clauses() {
		same := slices.ContainsFunc(allow.Condition.clauses(), func(other *node) bool { return other.String() == c.String() })
		if !same && partialTruth(c, known) != yes {
			return false
		}
	}
	return true
}

// clauses are the operands of the topmost &&.
func (e *Expr) clauses() []*node {
	switch {
	case e == nil:
		return nil
	case e.top.op == opAnd:
		return e.top.args
	default:
		return []*node{e.top}
	}
}

// chainRoots are what a transaction, or typed data, says.
var chainRoots = []string{"eth.tx", "eth.eip_712", "eth.eip_7702_authorization", "solana.tx", "tron.tx", "bitcoin.tx", "tempo.tx"}

// reads reports whether the expression has a node of which f is true.
func (e *Expr) reads(f func(*node) bool) bool {
	found := false
	if e != nil {
		e.top.visit(func(n *node) { found = found || f(n) })
	}
	return found
}

func isTransactionRoot(n *node) bool {
	return n.op == opRoot && slices.Contains(chainRoots, n.root.name)
}

// absentFromRawPayload reports whether the activities that sign any bytes lack
// what the node reads.
func absentFromRawPayload(n *node) bool {
	param := n.op == opField && n.x.typ == paramsType && n.name != "hash_function" && n.name != "encoding"
	return param || isTransactionRoot(n)
}

// rawSigning is what is known of the activities that sign any bytes.
var rawSigning = []map[string]string{
	signingActivity("ACTIVITY_TYPE_SIGN_RAW_PAYLOAD", "SIGN_RAW_PAYLOAD"),
	signingActivity("ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", "SIGN_RAW_PAYLOAD"),
	signingActivity("ACTIVITY_TYPE_SIGN_RAW_PAYLOADS", "SIGN_RAW_PAYLOADS"),
}

// signingActivity is what is known of an activity that signs; an empty text is
// unknown.
func signingActivity(typ, kind string) map[string]string {
	return map[string]string{"activity.type": typ, "activity.kind": kind, "activity.resource": "PRIVATE_KEY", "activity.action": "SIGN"}
}

// reportRawPayloadHole finds an ALLOW, open, by which users whom limited allows
// to sign only some transactions can sign any bytes with the same key: the bytes
// may be a transaction that limited does not allow.
func (l *linter) reportRawPayloadHole(limited, open *Policy) bool {
	if !limited.Condition.reads(isTransactionRoot) || partialTruth(limited.Condition.top, signingActivity("", "")) == no ||
		open.Condition.reads(absentFromRawPayload) || haveDifferentKeys(limited, open) || !l.shareSigner(limited, open) {
		return false
	}
	raw := slices.ContainsFunc(rawSigning, func(known map[string]string) bool {
		denied := slices.ContainsFunc(l.policies, func(p Policy) bool { return p.Deny && alwaysDenies(&p, open, known) })
		return !denied && (open.Condition == nil || partialTruth(open.Condition.top, known) != no)
	})
	top := l.reportOn(open)
	if !raw || top == nil {
		return false
	}
	l.add(top, RawPayloadHole,
		"this policy also allows ACTIVITY_TYPE_SIGN_RAW_PAYLOAD, with which a transaction can be signed that %s does not allow; restrict activity.type, or deny raw payloads",
		limited.label())
	return true
}

type tristate uint8

const (
	unknown tristate = iota
	yes
	no
)

// partialTruth evaluates n as far as the known texts allow.
func partialTruth(n *node, known map[string]string) tristate {
	switch n.op {
	case opBool:
		return tristateOf(n.flag)
	case opNot:
		return [...]tristate{unknown, no, yes}[partialTruth(n.x, known)]
	case opAnd, opOr:
		decisive, rest := no, yes
		if n.op == opOr {
			decisive, rest = yes, no
		}
		for _, c := range n.args {
			switch partialTruth(c, known) {
			case decisive:
				return decisive
			case unknown:
				rest = unknown
			}
		}
		return rest
	}
	result := unknown
	literalPairs(n, func(subject, literal *node) {
		text := known[subject.String()]
		switch {
		case text == "" || result == yes:
		case n.op == opNotEqual:
			result = tristateOf(text != literal.text)
		default:
			result = tristateOf(text == literal.text)
		}
	})
	return result
}

func tristateOf(b bool) tristate {
	if b {
		return yes
	}
	return no
}

// haveDifferentKeys reports whether the conditions are about different keys:
// what they require of the wallet, the account or the private key contradicts.
func haveDifferentKeys(a, b *Policy) bool {
	var about []*node
	for _, e := range []*Expr{a.Condition, b.Condition} {
		for _, c := range e.clauses() {
			if r, ok := rangeOf(c); ok && !strings.HasPrefix(r.subject, "activity.") {
				about = append(about, c)
			}
		}
	}
	ofWallet := func(n *node) bool { return n.op == opRoot && strings.HasPrefix(n.root.name, "wallet") }
	ofKey := func(n *node) bool { return n.op == opRoot && n.root.name == "private_key" }
	wallet := a.Condition.reads(ofWallet) || b.Condition.reads(ofWallet)
	key := a.Condition.reads(ofKey) || b.Condition.reads(ofKey)
	return wallet && key || contradiction(&node{op: opAnd, args: about}, true) != nil
}

// shareSigner reports whether a user whom a allows to act alone is also allowed
// by b to act alone, or both require the same consensus.
func (l *linter) shareSigner(a, b *Policy) bool {
	if b.Consensus == nil || a.Consensus != nil && a.Consensus.String() == b.Consensus.String() {
		return true
	}
	return slices.ContainsFunc(l.voters, func(v Voter) bool { return v.satisfiesAlone(a) && v.satisfiesAlone(b) })
}

// satisfiesAlone reports whether the vote of v is all that the policy requires.
func (v *Voter) satisfiesAlone(p *Policy) bool {
	m := machine{approvers: &v.User, credentials: &v.Credentials}
	return p.Consensus == nil || m.run(p.Consensus)
}

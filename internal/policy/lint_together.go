package policy

import (
	"slices"
	"strings"
)

// together looks at what policies do to each other.
func (l *linter) together() {
	for i := range l.policies {
		p := &l.policies[i]
		if p.Deny {
			continue
		}
		// One finding of a kind is enough for a policy.
		var shadowed, open bool
		for j := range l.policies {
			switch other := &l.policies[j]; {
			case other.Deny:
				shadowed = shadowed || l.shadow(p, other)
			case i != j:
				open = open || l.hole(other, p)
			}
		}
	}
}

// about begins a finding on the condition of p, or its consensus.
func (l *linter) about(p *Policy) *node {
	l.policy = p
	for _, e := range []*Expr{p.Condition, p.Consensus, p.Time} {
		if e != nil {
			l.expr = e
			return e.top
		}
	}
	return nil
}

// shadow finds a DENY that matches whenever the ALLOW does: it has no consensus
// and no time, and each of its clauses is a clause of the ALLOW.
func (l *linter) shadow(allow, deny *Policy) bool {
	if !covers(deny, allow, nil) {
		return false
	}
	top := l.about(allow)
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

// covers says that the DENY matches whenever the ALLOW does, given what is known
// of the activity.
func covers(deny, allow *Policy, known map[string]string) bool {
	if deny.Consensus != nil || deny.Time != nil {
		return false
	}
	for _, c := range deny.Condition.clauses() {
		same := slices.ContainsFunc(allow.Condition.clauses(), func(other *node) bool { return other.String() == c.String() })
		if !same && truth(c, known) != yes {
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

// reads says whether the condition reads a node of which f is true.
func (e *Expr) reads(f func(*node) bool) bool {
	found := false
	if e != nil {
		e.top.every(func(n *node) { found = found || f(n) })
	}
	return found
}

func ofChain(n *node) bool { return n.op == opRoot && slices.Contains(chainRoots, n.root.name) }

// notOfRaw says that the activities that sign any bytes do not have it.
func notOfRaw(n *node) bool {
	param := n.op == opField && n.x.typ == paramsType && n.name != "hash_function" && n.name != "encoding"
	return param || ofChain(n)
}

// rawSigning is what is known of the activities that sign any bytes.
var rawSigning = []map[string]string{
	signing("ACTIVITY_TYPE_SIGN_RAW_PAYLOAD", "SIGN_RAW_PAYLOAD"),
	signing("ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", "SIGN_RAW_PAYLOAD"),
	signing("ACTIVITY_TYPE_SIGN_RAW_PAYLOADS", "SIGN_RAW_PAYLOADS"),
}

// signing is what is known of an activity that signs; an empty text is not.
func signing(typ, kind string) map[string]string {
	return map[string]string{"activity.type": typ, "activity.kind": kind, "activity.resource": "PRIVATE_KEY", "activity.action": "SIGN"}
}

// hole finds an ALLOW, open, that lets those whom limited lets sign only some
// transactions sign any bytes with the same key: the bytes may be the very
// transaction that limited does not allow.
func (l *linter) hole(limited, open *Policy) bool {
	if !limited.Condition.reads(ofChain) || truth(limited.Condition.top, signing("", "")) == no ||
		open.Condition.reads(notOfRaw) || apart(limited, open) || !l.sameSigner(limited, open) {
		return false
	}
	raw := slices.ContainsFunc(rawSigning, func(known map[string]string) bool {
		denied := slices.ContainsFunc(l.policies, func(p Policy) bool { return p.Deny && covers(&p, open, known) })
		return !denied && (open.Condition == nil || truth(open.Condition.top, known) != no)
	})
	top := l.about(open)
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

// truth evaluates n as far as the texts that are known go.
func truth(n *node, known map[string]string) tristate {
	switch n.op {
	case opBool:
		return settled(n.flag)
	case opNot:
		return [...]tristate{unknown, no, yes}[truth(n.x, known)]
	case opAnd, opOr:
		decisive, rest := no, yes
		if n.op == opOr {
			decisive, rest = yes, no
		}
		for _, c := range n.args {
			switch truth(c, known) {
			case decisive:
				return decisive
			case unknown:
				rest = unknown
			}
		}
		return rest
	}
	result := unknown
	pairs(n, func(subject, literal *node) {
		text := known[subject.String()]
		switch {
		case text == "" || result == yes:
		case n.op == opNotEqual:
			result = settled(text != literal.text)
		default:
			result = settled(text == literal.text)
		}
	})
	return result
}

func settled(b bool) tristate {
	if b {
		return yes
	}
	return no
}

// apart says that the conditions speak of different keys: what they say of the
// wallet, the account or the private key excludes each other.
func apart(a, b *Policy) bool {
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
	return wallet && key || contradiction(&node{op: opAnd, args: about}) != nil
}

// sameSigner says that somebody whom a allows to act alone is also allowed by b
// to act alone, or that both ask for the same.
func (l *linter) sameSigner(a, b *Policy) bool {
	if b.Consensus == nil || a.Consensus != nil && a.Consensus.String() == b.Consensus.String() {
		return true
	}
	return slices.ContainsFunc(l.voters, func(v Voter) bool { return v.alone(a) && v.alone(b) })
}

// alone says that his vote is all that the policy asks for.
func (v *Voter) alone(p *Policy) bool {
	m := machine{approvers: &v.User, credentials: &v.Credentials}
	return p.Consensus == nil || m.run(p.Consensus)
}

package policy

import (
	"fmt"
	"slices"
	"strings"

	"latchkey/internal/policy/fact"
	"latchkey/internal/suggest"
)

// Finding is advice on a policy that compiles but is probably not what its
// author meant. It never refuses anything.
type Finding struct {
	PolicyID, PolicyName string
	Place                Place
	Offset               int
	Code                 Code
	Message              string
}

// Code says what kind of finding it is.
type Code string

// The codes.
const (
	NeverTrue        Code = "never_true"         // no request fulfils it
	AlwaysTrue       Code = "always_true"        // a consensus that needs no vote
	ShadowedByDeny   Code = "shadowed_by_deny"   // a DENY refuses whatever it allows
	TooManyApprovals Code = "too_many_approvals" // more than users could give
	UnknownUser      Code = "unknown_user"
	UnknownTag       Code = "unknown_tag"
	RawPayloadHole   Code = "raw_payload_hole" // a limit on transactions that raw signatures go around
	BadChecksum      Code = "bad_checksum"     // of an Ethereum address: probably a typo
	WrongCase        Code = "wrong_case"       // never equal, only because of its case
	UnknownValue     Code = "unknown_value"    // a field is never that
	SingleVersion    Code = "single_version"   // one of several activities that do the same
	AllowsEverything Code = "allows_everything"
	BadAddress       Code = "bad_address"   // no address of the chain is written like that
	ExportPasses     Code = "export_passes" // a limit over time that an exported key passes
	LimitCanErr      Code = "limit_can_err"
)

// LintContext is what the organization has. A nil list or map is not known, and
// checks that need it are left out.
type LintContext struct {
	Users       []fact.User
	Credentials []fact.Credential
	UserTags    map[string]string // names by id
	KeyTags     map[string]string
	Activities  []KnownActivity     // those of a kind together, oldest version first
	Values      map[string][]string // all that a field can be, by "Struct.field"
}

// Lint checks policies alone and together.
func Lint(policies []Policy, context LintContext) []Finding {
	l := linter{context: context, policies: policies, voters: context.voters()}
	for i := range policies {
		l.policy = &policies[i]
		for _, e := range []*Expr{l.policy.Condition, l.policy.Consensus, l.policy.Time} {
			if e != nil {
				l.expression(e)
			}
		}
		l.everything(l.policy)
		l.errors(l.policy)
		l.siblings(l.policy)
	}
	l.interactions()
	return l.findings
}

// voters are the users with the credentials that they hold.
func (c *LintContext) voters() []Voter {
	var all []Voter
	for _, u := range c.Users {
		v := Voter{User: u}
		for _, credential := range c.Credentials {
			if credential.UserID == u.ID {
				v.Credentials = append(v.Credentials, credential)
			}
		}
		all = append(all, v)
	}
	return all
}

type linter struct {
	context  LintContext
	policies []Policy
	voters   []Voter
	policy   *Policy
	expr     *Expr
	findings []Finding
}

func (l *linter) add(n *node, code Code, format string, args ...any) {
	l.findings = append(l.findings, Finding{
		PolicyID: l.policy.ID, PolicyName: l.policy.Name, Place: l.expr.place, Offset: n.pos,
		Code: code, Message: fmt.Sprintf(format, args...),
	})
}

func (l *linter) source(n *node) string { return piece(l.expr.source, n.pos, n.end) }

func (l *linter) expression(e *Expr) {
	l.expr = e
	if n := unsatisfiablePart(e.top); n != nil {
		l.add(n, NeverTrue, "%s can never be true here, so this policy never applies", l.source(n))
	} else if e.place == Consensus && alwaysTrue(e.top) {
		l.add(e.top, AlwaysTrue, "%s is true without any vote, so this consensus requires none", l.source(e.top))
	}
	e.top.visit(func(n *node) {
		if n.op == opText {
			l.checksum(n)
		}
		literalPairs(n, l.literal)
	})
	if e.place == Consensus && l.context.Users != nil {
		l.approvals(e.top)
	}
}

// literalPairs calls f with both sides of every comparison of n for equality in which
// one side is a string literal.
func literalPairs(n *node, f func(subject, literal *node)) {
	try := func(subject, literal *node) {
		if literal.op == opText {
			f(subject, literal)
		}
	}
	switch n.op {
	case opEqual, opNotEqual:
		try(n.x, n.y)
		try(n.y, n.x)
	case opIn:
		try(n.y, n.x)
		for _, e := range n.y.args {
			try(n.x, e)
		}
	case opContains:
		try(n.x, n.y)
		for _, e := range n.x.args {
			try(n.y, e)
		}
	}
}

// literal checks a literal that a subject is compared with.
func (l *linter) literal(subject, literal *node) {
	text := literal.text
	if subject.op == opLower && strings.ToLower(text) != text {
		l.add(literal, WrongCase, "CaseInsensitiveString(…) is lower case and never equals '%s'; put that into CaseInsensitiveString too", text)
	}
	if f := formOf(subject); f != nil && text != "" {
		if problem := f.problem(text); problem != "" {
			l.add(literal, BadAddress, "%s is never '%s': %s", l.source(subject), text, problem)
		}
	}
	data := subject
	for data.op == opSlice || data.op == opIndex {
		data = data.x
	}
	if data.op == opField && data.root != nil && data.root.name == "eth.tx" && data.name == "data" && strings.ToLower(text) != text {
		l.add(literal, WrongCase, "eth.tx.data is in lower case and never equals '%s'", text)
	}
	if subject.op != opField {
		return
	}
	owner := subject.x.typ
	switch {
	case owner == walletAccountType && subject.name == "address":
		if isAddress(text) && checksummed(text) != text && !mixed(text) {
			l.add(literal, WrongCase, "wallet_account.address is compared exactly and is stored as %s", checksummed(text))
		}
	case owner == userType && subject.name == "id", owner == credentialType && subject.name == "user_id":
		if l.context.Users != nil && !slices.ContainsFunc(l.context.Users, func(u fact.User) bool { return u.ID == text }) {
			l.add(literal, UnknownUser, "there is no user with the id '%s'", text)
		}
	case owner == userType && subject.name == "tags":
		l.tag(literal, l.context.UserTags, "user")
	case owner == privateKeyType && subject.name == "tags":
		l.tag(literal, l.context.KeyTags, "private key")
	case owner == paramsType && (subject.name == "tags_given" || subject.name == "tags_taken"):
		if _, found := l.context.KeyTags[text]; !found && l.context.KeyTags != nil {
			l.tag(literal, l.context.UserTags, "user")
		}
	default:
		values := subject.field.values
		if values == nil {
			values = l.context.Values[owner.name+"."+subject.name]
		}
		if values != nil {
			l.value(literal, subject, values)
		}
	}
}

// value checks a literal against the few values of a field.
func (l *linter) value(literal, subject *node, values []string) {
	equal := func(v string) bool {
		return v == literal.text || subject.typ.fold && strings.EqualFold(v, literal.text)
	}
	if slices.ContainsFunc(values, equal) {
		return
	}
	hint := ""
	// A kind is easily written as a type, and a type as a kind.
	const prefix = "ACTIVITY_TYPE_"
	for _, text := range []string{literal.text, prefix + literal.text, strings.TrimPrefix(literal.text, prefix)} {
		if near := suggest.Name(text, min(max(2, len(text)/6), len(text)/2), values); near != "" {
			hint = "; did you mean '" + near + "'?"
			break
		}
	}
	l.add(literal, UnknownValue, "%s is never '%s'%s", l.source(subject), literal.text, hint)
}

func (l *linter) tag(literal *node, known map[string]string, whose string) {
	if _, found := known[literal.text]; found || known == nil {
		return
	}
	for id, name := range known {
		if name == literal.text {
			l.add(literal, UnknownTag, "'%s' is the name of a %s tag; write its id, '%s'", name, whose, id)
			return
		}
	}
	l.add(literal, UnknownTag, "there is no %s tag with the id '%s'", whose, literal.text)
}

// approvals checks the numbers of votes that are required: whether there are
// as many users, or credentials, that could give them.
func (l *linter) approvals(n *node) {
	list, least, ok := minimumCount(n)
	if n.op == opAny {
		list, least, ok = n.x, 1, true
	}
	if n.op == opAnd || n.op == opOr {
		for _, c := range n.args {
			l.approvals(c)
		}
	}
	if !ok || !isVoteList(list) {
		return
	}
	last := n
	if n.op != opAny {
		last = nil
	}
	var able int64
	for i := range l.voters {
		able += l.voters[i].countPassing(list, last)
	}
	if able < least {
		l.add(n, TooManyApprovals, "%s asks for %d, but at most %d can ever be counted", l.source(n), least, able)
	}
}

// countPassing counts the voter, or those of their credentials, that pass.
func (v *Voter) countPassing(list, last *node) int64 {
	base := list
	for base.op != opApprovers && base.op != opCredentials {
		base = base.x
	}
	if base.op == opApprovers {
		m := machine{approvers: &v.User, credentials: &v.Credentials}
		if m.anyPasses(list, last) {
			return 1
		}
		return 0
	}
	var count int64
	for _, c := range v.Credentials {
		m := machine{approvers: &v.User, credentials: &[]fact.Credential{c}}
		if m.anyPasses(list, last) {
			count++
		}
	}
	return count
}

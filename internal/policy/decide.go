package policy

import "latchkey/internal/policy/fact"

// Outcome is the result of one policy, or of all together.
type Outcome string

// The outcomes, as the interface spells them.
const (
	Allow             Outcome = "OUTCOME_ALLOW"
	DenyExplicit      Outcome = "OUTCOME_DENY_EXPLICIT"
	DenyImplicit      Outcome = "OUTCOME_DENY_IMPLICIT"
	RequiresConsensus Outcome = "OUTCOME_REQUIRES_CONSENSUS"
	Failed            Outcome = "OUTCOME_ERROR"
	TimeInactive      Outcome = "OUTCOME_TIME_INACTIVE"
)

// Policy is a compiled policy. A nil expression is absent, which is true.
type Policy struct {
	ID, Name                   string
	Deny                       bool // the effect; else it allows
	Condition, Consensus, Time *Expr
}

// Boundless reports whether the policy allows everything to every user. Such a
// policy must not be stored; if one is read, it does not allow.
func (p *Policy) Boundless() bool { return !p.Deny && p.Condition == nil && p.Consensus == nil }

// Evaluation is the outcome of one policy.
type Evaluation struct {
	Policy  *Policy
	Outcome Outcome
	failed  failure
	place   *Expr // in which it failed
}

// Err says why the outcome is [Failed]; else it is nil.
func (e *Evaluation) Err() *EvalError {
	if e.Outcome != Failed {
		return nil
	}
	return e.place.explain(&e.failed)
}

// Denies reports whether the policy refuses the request: a DENY that matches, or
// that failed for another reason than reading what the request does not have.
func (e *Evaluation) Denies() bool {
	return e.Outcome == DenyExplicit || e.Outcome == Failed && e.Policy.Deny && !e.failed.absent()
}

// Evaluate evaluates one policy. The voters are those whose approvals count, as
// in env.Consensus, with the credentials that they hold.
func (p *Policy) Evaluate(env *Env, voters []Voter) Evaluation {
	var m machine
	m.load(env)
	return m.evaluate(p, voters)
}

func (m *machine) evaluate(p *Policy, voters []Voter) Evaluation {
	result := Evaluation{Policy: p}
	condition := m.evaluateExpr(p.Condition, &result)
	consensus := m.evaluateExpr(p.Consensus, &result)
	active := m.evaluateExpr(p.Time, &result)
	switch {
	case result.place != nil:
		result.Outcome = Failed
	case !condition, p.Boundless():
		result.Outcome = DenyImplicit
	case !active && consensus:
		result.Outcome = TimeInactive
	case !active:
		result.Outcome = DenyImplicit
	case consensus && p.Deny:
		result.Outcome = DenyExplicit
	case consensus:
		result.Outcome = Allow
	case !p.Deny && m.namesAll(p.Consensus, voters):
		result.Outcome = RequiresConsensus
	default:
		result.Outcome = DenyImplicit
	}
	return result
}

// evaluateExpr evaluates one of the expressions; an absent one is true. Of several
// failures the first counts, but one of absence before any other.
func (m *machine) evaluateExpr(e *Expr, result *Evaluation) bool {
	if e == nil {
		return true
	}
	holds := m.run(e)
	if m.failed.node != nil && (result.place == nil || m.failed.absent() && !result.failed.absent()) {
		result.failed, result.place = m.failed, e
	}
	return holds
}

func (m *machine) namesAll(consensus *Expr, voters []Voter) bool {
	for i := range voters {
		if !consensus.Names(&voters[i], m.budget) {
			return false
		}
	}
	return true
}

// Decision is the outcome of all policies together: [Allow], [DenyExplicit],
// [RequiresConsensus] or [DenyImplicit].
type Decision struct {
	Outcome     Outcome
	Evaluations []Evaluation // one for each policy, in their order
}

// Decide evaluates every policy, whatever the others say, and combines the
// outcomes: a refusal wins over everything, then an allowance, then a policy
// that waits for more votes; what no policy allows is refused.
//
// allVoters returns all users of the organization and their credentials, or nil.
// It is called at most once, and only when the answer would be to wait: a policy
// that not even all votes together could satisfy is not waited for. If the budget
// of env does not suffice, every policy fails. Decide appends to buffer, and does not allocate if that has room.
func Decide(policies []Policy, env *Env, voters []Voter, allVoters func() *fact.Consensus, buffer []Evaluation) Decision {
	var m machine
	m.load(env)
	start := len(buffer)
	for i := range policies {
		buffer = append(buffer, m.evaluate(&policies[i], voters))
	}
	d := Decision{Evaluations: buffer[start:]}
	d.Outcome = combine(d.Evaluations)
	if d.Outcome == RequiresConsensus && allVoters != nil {
		if all := allVoters(); all != nil {
			m.dropUnsatisfiable(d.Evaluations, all)
			d.Outcome = combine(d.Evaluations)
		}
	}
	if m.budget.Exhausted() {
		failAll(d.Evaluations)
		d.Outcome = combine(d.Evaluations)
	}
	return d
}

// failAll makes every policy one that takes too long: which of them came too late
// for the budget depends on their order, which must not change an outcome.
func failAll(evaluations []Evaluation) {
	for i := range evaluations {
		e := &evaluations[i]
		for _, expr := range [...]*Expr{e.Policy.Condition, e.Policy.Consensus, e.Policy.Time} {
			if expr != nil {
				e.Outcome, e.place, e.failed = Failed, expr, failure{node: expr.top, why: tooMuch}
				break
			}
		}
	}
}

func combine(all []Evaluation) Outcome {
	var denied, allowed, waits bool
	for i := range all {
		denied = denied || all[i].Denies()
		allowed = allowed || all[i].Outcome == Allow
		waits = waits || all[i].Outcome == RequiresConsensus
	}
	switch {
	case denied:
		return DenyExplicit
	case allowed:
		return Allow
	case waits:
		return RequiresConsensus
	default:
		return DenyImplicit
	}
}

// dropUnsatisfiable makes policies that wait for votes that cannot come not
// apply. An expression that more votes can also make false (an exact count, for
// example) still waits.
func (m *machine) dropUnsatisfiable(evaluations []Evaluation, all *fact.Consensus) {
	m.approvers, m.credentials = &all.Approvers, &all.Credentials
	for i := range evaluations {
		e := &evaluations[i]
		if e.Outcome != RequiresConsensus || !monotonic(e.Policy.Consensus.top) {
			continue
		}
		if !m.run(e.Policy.Consensus) {
			e.Outcome = DenyImplicit
		}
	}
}

// Stricter is the outcome of two decisions on parts of one request, which is
// allowed only if both are.
func Stricter(a, b Outcome) Outcome {
	for _, o := range [...]Outcome{DenyExplicit, DenyImplicit, RequiresConsensus} {
		if a == o || b == o {
			return o
		}
	}
	return Allow
}

package policy

import "latchkey/internal/policy/fact"

// Outcome is what became of one policy, or of all together.
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

// Boundless says that the policy allows everything to everybody. Such a policy
// must not be written; should one be read, it does not allow.
func (p *Policy) Boundless() bool { return !p.Deny && p.Condition == nil && p.Consensus == nil }

// Evaluation is the outcome of one policy.
type Evaluation struct {
	Policy  *Policy
	Outcome Outcome
	failed  failure
	place   *Expr // in which it failed
}

// Err says why the outcome is Failed; else it is nil.
func (e *Evaluation) Err() *EvalError {
	if e.Outcome != Failed {
		return nil
	}
	return e.place.explain(&e.failed)
}

// Denies says that the policy refuses the request: a DENY that matches, and one
// of which it cannot be told, unless it reads what the request does not have.
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
	condition := m.judge(p.Condition, &result)
	consensus := m.judge(p.Consensus, &result)
	active := m.judge(p.Time, &result)
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
	case !p.Deny && namesAll(p.Consensus, voters):
		result.Outcome = RequiresConsensus
	default:
		result.Outcome = DenyImplicit
	}
	return result
}

// judge evaluates one of the expressions; an absent one is true. Of several
// failures the first counts, but one of absence before any other.
func (m *machine) judge(e *Expr, result *Evaluation) bool {
	if e == nil {
		return true
	}
	holds := m.run(e)
	if m.failed.node != nil && (result.place == nil || m.failed.absent() && !result.failed.absent()) {
		result.failed, result.place = m.failed, e
	}
	return holds
}

func namesAll(consensus *Expr, voters []Voter) bool {
	for i := range voters {
		if !consensus.Names(&voters[i]) {
			return false
		}
	}
	return true
}

// Decision is the outcome of all policies together: Allow, DenyExplicit,
// RequiresConsensus or DenyImplicit.
type Decision struct {
	Outcome     Outcome
	Evaluations []Evaluation // one for each policy, in their order
}

// Decide evaluates every policy, whatever the others say, and folds the
// outcomes: a refusal wins over everything, then an allowance, then a policy
// that waits for more votes; what no policy speaks for is refused.
//
// everyone returns all users of the organization and their credentials, or nil.
// It is asked at most once, and only when the answer would be to wait: a policy
// that not even all votes together could satisfy is not waited for. Decide
// appends to buffer, and does not allocate if that has room.
func Decide(policies []Policy, env *Env, voters []Voter, everyone func() *fact.Consensus, buffer []Evaluation) Decision {
	var m machine
	m.load(env)
	start := len(buffer)
	for i := range policies {
		buffer = append(buffer, m.evaluate(&policies[i], voters))
	}
	d := Decision{Evaluations: buffer[start:]}
	d.Outcome = fold(d.Evaluations)
	if d.Outcome == RequiresConsensus && everyone != nil {
		if all := everyone(); all != nil {
			m.dropHopeless(d.Evaluations, all)
			d.Outcome = fold(d.Evaluations)
		}
	}
	return d
}

func fold(all []Evaluation) Outcome {
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

// dropHopeless turns the policies that wait for what can never be into ones
// that do not apply. An expression that more votes can also make false (an
// exact count, say) is given the benefit of the doubt.
func (m *machine) dropHopeless(evaluations []Evaluation, all *fact.Consensus) {
	m.approvers, m.credentials = &all.Approvers, &all.Credentials
	for i := range evaluations {
		e := &evaluations[i]
		if e.Outcome != RequiresConsensus || !grows(e.Policy.Consensus.top) {
			continue
		}
		if !m.run(e.Policy.Consensus) {
			e.Outcome = DenyImplicit
		}
	}
}

// Stricter is the outcome of two decisions on parts of one request: it happens
// only if both are allowed.
func Stricter(a, b Outcome) Outcome {
	for _, o := range [...]Outcome{DenyExplicit, DenyImplicit, RequiresConsensus} {
		if a == o || b == o {
			return o
		}
	}
	return Allow
}

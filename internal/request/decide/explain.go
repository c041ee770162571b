package decide

import (
	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/policy"
)

// Explanation is a decision with everything that led to it.
type Explanation struct {
	*Decision
	// RootApprovals are the members of the root quorum whose approval counts.
	RootApprovals []string
	// Asked says that the policies were asked. They are explained in any case.
	Asked    bool
	Policies []Explained
	// CanApprove are those whose vote would still count.
	CanApprove []*domain.User
}

// Explained is one policy with the value of every part of its expressions.
type Explained struct {
	Policy     *policy.Policy
	Evaluation domain.Evaluation
	Condition  []policy.Step
	Consensus  []policy.Step
	Time       []policy.Step
}

// Explain decides as Decide does, and says why. What takes more than the budget
// is refused.
func (in *Input) Explain() (*Explanation, error) {
	decision, err := in.Decide()
	if err != nil {
		return nil, err
	}
	e := &Explanation{Decision: decision, Asked: decision.Evaluations != nil}
	for _, id := range in.approvers() {
		if in.Organization.RootQuorum.Has(id) {
			e.RootApprovals = append(e.RootApprovals, id)
		}
	}
	if e.Policies, err = in.explained(); err != nil {
		return nil, err
	}
	if err := in.withinBudget(); err != nil {
		return nil, err
	}
	if decision.Outcome != Pending {
		return e, nil
	}
	users, err := in.Users()
	if err != nil {
		return nil, err
	}
	for _, u := range users {
		if in.Counts(u.ID) {
			continue
		}
		may, err := in.MayVote(u)
		if err != nil {
			return nil, err
		}
		if err := in.withinBudget(); err != nil {
			return nil, err
		}
		if may {
			e.CanApprove = append(e.CanApprove, u)
		}
	}
	return e, nil
}

// withinBudget refuses what can be explained in part only.
func (in *Input) withinBudget() error {
	if !in.Budget.Exhausted() {
		return nil
	}
	if err := in.Budget.Err(); err != nil {
		return err
	}
	return fault.Invalid("the policies take too much work to be explained for this request; " +
		"ask with fewer or simpler policies, fewer approvers or shorter lists in the parameters")
}

func (in *Input) explained() ([]Explained, error) {
	d, err := in.decision()
	if err != nil || d == nil {
		return nil, err
	}
	trace := func(e *policy.Expr) []policy.Step {
		if e == nil {
			return nil
		}
		if steps := e.Trace(d.env); len(steps) > 0 {
			return steps
		}
		// A bare literal, of which there is nothing to trace.
		return []policy.Step{{End: len(e.Source()), Source: e.Source(), Value: e.String()}}
	}
	var all []Explained
	for i := range d.Evaluations {
		if in.Budget.Exhausted() {
			break
		}
		p := d.Evaluations[i].Policy
		all = append(all, Explained{
			Policy: p, Evaluation: recorded(&d.Evaluations[i]),
			Condition: trace(p.Condition), Consensus: trace(p.Consensus), Time: trace(p.Time),
		})
	}
	for _, b := range in.Rules.broken {
		all = append(all, Explained{Policy: &policy.Policy{ID: b.PolicyID}, Evaluation: b})
	}
	return all, nil
}

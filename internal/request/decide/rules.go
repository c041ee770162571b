package decide

import (
	"encoding/base64"
	"fmt"
	"slices"

	"latchkey/internal/domain"
	"latchkey/internal/policy"
	"latchkey/internal/policy/fact"
	"latchkey/internal/store"
)

// Rules are an organization's policies, compiled, and the people that they
// speak of. They are made anew when either was changed.
type Rules struct {
	policies []policy.Policy
	// broken are policies that this build cannot read, which an older or newer
	// one wrote: they never allow, and those that deny, deny everything.
	broken   []domain.Evaluation
	people   map[string]*policy.Voter
	everyone fact.Consensus
}

// RulesOf returns the rules of the transaction's organization.
func RulesOf(tx *store.Tx) (*Rules, error) {
	return store.Derived(tx, "rules", func() (*Rules, error) {
		policies, err := tx.Policies().All()
		if err != nil {
			return nil, err
		}
		users, err := tx.Users().List("", 0)
		if err != nil {
			return nil, err
		}
		return NewRules(policies, users), nil
	})
}

// NewRules compiles policies.
func NewRules(policies []*domain.Policy, users []*domain.User) *Rules {
	r := &Rules{people: make(map[string]*policy.Voter, len(users))}
	for _, p := range policies {
		compiled, err := Compile(p)
		if err != nil {
			r.broken = append(r.broken, domain.Evaluation{
				PolicyID: p.ID, Outcome: string(policy.Failed), Reason: err.Error(), Denies: p.Effect == domain.EffectDeny,
			})
			continue
		}
		r.policies = append(r.policies, *compiled)
	}
	for _, u := range users {
		voter := VoterOf(u)
		r.people[u.ID] = voter
		r.everyone.Approvers = append(r.everyone.Approvers, voter.User)
		r.everyone.Credentials = append(r.everyone.Credentials, voter.Credentials...)
	}
	return r
}

// Compile compiles a policy. The error is a *CompileError.
func Compile(p *domain.Policy) (*policy.Policy, error) {
	compiled := &policy.Policy{ID: p.ID, Name: p.Name, Deny: p.Effect == domain.EffectDeny}
	for _, part := range []struct {
		place  policy.Place
		source string
		to     **policy.Expr
	}{
		{policy.Condition, p.Condition, &compiled.Condition},
		{policy.Consensus, p.Consensus, &compiled.Consensus},
		{policy.Time, p.Time, &compiled.Time},
	} {
		if part.source == "" {
			continue
		}
		var err error
		if *part.to, err = policy.Compile(part.place, part.source); err != nil {
			return nil, &CompileError{Place: part.place, Err: err}
		}
	}
	return compiled, nil
}

// CompileError says which expression of a policy is no good, and why.
type CompileError struct {
	Place policy.Place
	Err   error
}

func (e *CompileError) Error() string { return fmt.Sprintf("invalid policy %s: %v", e.Place, e.Err) }

func (e *CompileError) Unwrap() error { return e.Err }

// verdict is what the policies say together.
type verdict uint8

const (
	silent verdict = iota
	allowed
	waiting
	denied
)

// ask asks the policies, all of them.
func (c *Case) ask() (verdict, []domain.Evaluation, error) {
	decision, err := c.decision()
	if err != nil || decision == nil {
		return silent, nil, err
	}
	evaluations := make([]domain.Evaluation, 0, len(decision.Evaluations)+len(c.Rules.broken))
	for i := range decision.Evaluations {
		evaluations = append(evaluations, recorded(&decision.Evaluations[i]))
	}
	evaluations = append(evaluations, c.Rules.broken...)
	if slices.ContainsFunc(c.Rules.broken, denies) {
		return denied, evaluations, nil
	}
	switch decision.Outcome {
	case policy.Allow:
		return allowed, evaluations, nil
	case policy.RequiresConsensus:
		return waiting, evaluations, nil
	case policy.DenyExplicit:
		return denied, evaluations, nil
	}
	return silent, evaluations, nil
}

func recorded(e *policy.Evaluation) domain.Evaluation {
	r := domain.Evaluation{PolicyID: e.Policy.ID, Outcome: string(e.Outcome)}
	if err := e.Err(); err != nil {
		r.Reason = err.Error()
		r.Denies = e.Denies()
	}
	return r
}

// denies reports whether an evaluation refuses the request.
func denies(e domain.Evaluation) bool {
	return e.Outcome == string(policy.DenyExplicit) || e.Denies
}

// decision evaluates the policies; nil when there are none.
func (c *Case) decision() (*policy.Decision, error) {
	if c.Rules == nil {
		var err error
		if c.Rules, err = c.Load(); err != nil {
			return nil, err
		}
	}
	if len(c.Rules.policies) == 0 && len(c.Rules.broken) == 0 {
		return nil, nil
	}
	env, err := c.env()
	if err != nil {
		return nil, err
	}
	d := policy.Decide(c.Rules.policies, env, c.mustBeNamed(), func() *fact.Consensus { return &c.Rules.everyone },
		make([]policy.Evaluation, 0, len(c.Rules.policies)))
	return &d, nil
}

// env is what the policies look at.
func (c *Case) env() (*policy.Env, error) {
	if c.facts == nil {
		facts, err := c.Facts()
		if err != nil {
			return nil, err
		}
		c.facts = facts
	}
	consensus := &fact.Consensus{}
	for _, v := range c.voters {
		consensus.Approvers = append(consensus.Approvers, c.Rules.voter(v.user).User)
		consensus.Credentials = append(consensus.Credentials, v.credential)
	}
	return &policy.Env{Request: c.facts, Consensus: consensus, Now: c.Now}, nil
}

// mustBeNamed are the voters who must all have a part in a consensus for it to
// be waited for. A member of the root quorum may add his vote to what somebody
// else submitted without being one of them.
func (c *Case) mustBeNamed() []policy.Voter {
	submitter := c.Activity.Submitter().UserID
	var all []policy.Voter
	for _, v := range c.voters {
		if v.user.ID == submitter || !c.Organization.RootQuorum.Has(v.user.ID) {
			all = append(all, *c.Rules.voter(v.user))
		}
	}
	return all
}

// named reports whether a policy that the activity waits for counts on the
// user.
func (c *Case) named(u *domain.User) (bool, error) {
	d, err := c.decision()
	if err != nil || d == nil {
		return false, err
	}
	for i := range d.Evaluations {
		e := &d.Evaluations[i]
		if e.Outcome == policy.RequiresConsensus && e.Policy.Consensus.Names(c.Rules.voter(u)) {
			return true, nil
		}
	}
	return false, nil
}

func (r *Rules) voter(u *domain.User) *policy.Voter {
	if v := r.people[u.ID]; v != nil {
		return v
	}
	return VoterOf(u)
}

// VoterOf is a user as policies see him.
func VoterOf(u *domain.User) *policy.Voter {
	return &policy.Voter{
		User:        fact.User{ID: u.ID, Email: u.Email, Alias: u.Name, Tags: u.TagIDs},
		Credentials: credentials(u),
	}
}

// credentials lists what a user can vote with.
func credentials(u *domain.User) []fact.Credential {
	all := make([]fact.Credential, 0, len(u.APIKeys)+len(u.Authenticators))
	for _, k := range u.APIKeys {
		all = append(all, fact.Credential{ID: k.ID, UserID: u.ID, Type: string(k.Type), PublicKey: k.PublicKey})
	}
	for _, a := range u.Authenticators {
		all = append(all, fact.Credential{
			ID: a.ID, UserID: u.ID, Type: string(domain.CredentialAuthenticator), CredentialID: a.CredentialID,
			PublicKey: base64.RawURLEncoding.EncodeToString(a.COSEKey),
		})
	}
	return all
}

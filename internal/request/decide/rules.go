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
	controls []string // the identifiers of the velocity controls that policies read
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
		r.controls = append(r.controls, compiled.Condition.Controls()...)
	}
	for _, u := range users {
		voter := VoterOf(u)
		r.people[u.ID] = voter
		r.everyone.Approvers = append(r.everyone.Approvers, voter.User)
		r.everyone.Credentials = append(r.everyone.Credentials, voter.Credentials...)
	}
	return r
}

// Controls are the identifiers of the velocity controls that the policies read.
func (r *Rules) Controls() []string { return r.controls }

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
func (in *Input) ask() (verdict, []domain.Evaluation, error) {
	decision, err := in.decision()
	if err != nil || decision == nil {
		return silent, nil, err
	}
	evaluations := make([]domain.Evaluation, 0, len(decision.Evaluations)+len(in.Rules.broken))
	for i := range decision.Evaluations {
		evaluations = append(evaluations, recorded(&decision.Evaluations[i]))
	}
	evaluations = append(evaluations, in.Rules.broken...)
	if slices.ContainsFunc(in.Rules.broken, denies) {
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

// judged is a part of the request, and what the policies say on it.
type judged struct {
	policy.Decision
	env *policy.Env
}

// decision is what the policies say on the part of the request that they are
// strictest about, the first of several: that settles the whole. nil when there
// are no policies.
func (in *Input) decision() (*judged, error) {
	parts, err := in.judge()
	if err != nil || len(parts) == 0 {
		return nil, err
	}
	strictest := &parts[0]
	for i := range parts {
		if o := parts[i].Outcome; o != strictest.Outcome && policy.Stricter(o, strictest.Outcome) == o {
			strictest = &parts[i]
		}
	}
	return strictest, nil
}

// judge evaluates the policies on each part of the request, once.
func (in *Input) judge() ([]judged, error) {
	if in.decided != nil {
		return in.decided, nil
	}
	if in.Rules == nil {
		var err error
		if in.Rules, err = in.Load(); err != nil {
			return nil, err
		}
	}
	if len(in.Rules.policies) == 0 && len(in.Rules.broken) == 0 {
		return nil, nil
	}
	env, err := in.env()
	if err != nil {
		return nil, err
	}
	everyone := func() *fact.Consensus { return &in.Rules.everyone }
	if err := in.readControls(env); err != nil {
		return nil, err
	}
	var parts []judged
	for _, request := range env.Request.Parts() {
		part := *env
		part.Request = request
		d := policy.Decide(in.Rules.policies, &part, in.mustBeNamed(), everyone, make([]policy.Evaluation, 0, len(in.Rules.policies)))
		parts = append(parts, judged{d, &part})
	}
	// A request that was given up has not been decided on.
	if err := in.Budget.Err(); err != nil {
		return nil, err
	}
	in.decided = parts
	return in.decided, nil
}

// readControls adds the velocity controls to what the policies look at, if one of
// them reads any.
func (in *Input) readControls(env *policy.Env) error {
	if len(in.Rules.controls) == 0 || in.Controls == nil {
		return nil
	}
	states, err := in.Controls()
	if err != nil {
		return err
	}
	if in.free {
		for i := range states {
			states[i].Holds = states[i].HoldsFree
		}
	}
	request := *env.Request
	request.Controls = states
	env.Request = &request
	return nil
}

// ReadsControls lists the velocity controls that policies read, where the policies
// were asked.
func (in *Input) ReadsControls() []string {
	if in.Rules == nil {
		return nil
	}
	return in.Rules.controls
}

// env is what the policies look at.
func (in *Input) env() (*policy.Env, error) {
	facts, err := in.request()
	if err != nil {
		return nil, err
	}
	consensus := &fact.Consensus{}
	for _, v := range in.voters {
		consensus.Approvers = append(consensus.Approvers, in.Rules.voter(v.user).User)
		consensus.Credentials = append(consensus.Credentials, v.credential)
	}
	return &policy.Env{Request: facts, Consensus: consensus, Now: in.Now, Budget: in.Budget}, nil
}

// mustBeNamed are the voters who must all have a part in a consensus for it to
// be waited for. A member of the root quorum may add a vote to what another
// user submitted without being one of them.
func (in *Input) mustBeNamed() []policy.Voter {
	submitter := in.Activity.Submitter().UserID
	var all []policy.Voter
	for _, v := range in.voters {
		if v.user.ID == submitter || !in.Organization.RootQuorum.Has(v.user.ID) {
			all = append(all, *in.Rules.voter(v.user))
		}
	}
	return all
}

// named reports whether a policy that the activity waits for counts on the
// user.
func (in *Input) named(u *domain.User) (bool, error) {
	parts, err := in.judge()
	if err != nil {
		return false, err
	}
	for _, part := range parts {
		for i := range part.Evaluations {
			e := &part.Evaluations[i]
			if waitsFor(e) && e.Policy.Consensus.Names(in.Rules.voter(u), in.Budget) {
				return true, nil
			}
		}
	}
	return false, nil
}

// waitsFor reports whether an activity may wait for the policy: for votes, or with
// all of them for a velocity control.
func waitsFor(e *policy.Evaluation) bool {
	return e.Outcome == policy.RequiresConsensus ||
		e.Outcome == policy.Allow && e.Policy.Consensus != nil && len(e.Policy.Condition.Controls()) > 0
}

func (r *Rules) voter(u *domain.User) *policy.Voter {
	if v := r.people[u.ID]; v != nil {
		return v
	}
	return VoterOf(u)
}

// VoterOf is a user as policies see them.
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

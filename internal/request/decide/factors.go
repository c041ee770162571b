package decide

import (
	"slices"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/policy"
	"latchkey/internal/policy/fact"
)

// This file is multi-factor authentication: the approval of a user counts once the
// policy that the user has for such an activity is met, by stamps of that user on
// that activity. It holds for members of the root quorum too, and no one else's
// vote makes up for it.

// FactorsOf lists what a user has proved on an activity, oldest first, with
// credentials that the user still has.
func FactorsOf(u *domain.User, a *domain.Activity, now time.Time) (all []domain.Factor) {
	for i := range a.Votes {
		v := &a.Votes[i]
		if v.UserID != u.ID || v.Selection != domain.VoteApproved || v.Method == nil || v.Stale(now) {
			continue
		}
		f := domain.Factor{AuthenticationMethod: *v.Method, Credential: v.CredentialID, At: v.CreatedAt}
		var holds bool
		switch f.Type {
		case domain.AuthEmailOTP, domain.AuthSMSOTP:
			f.Credential = string(f.Type)
			holds = v.VerifiedBy != nil && u.HasContact(v.VerifiedBy.Type, v.VerifiedBy.Contact)
		case domain.AuthOAuth:
			f.Credential = f.ID
			holds = slices.ContainsFunc(u.OAuthProviders, func(p domain.OAuthProvider) bool { return p.ID == f.ID })
		case domain.AuthAPIKey, domain.AuthPasskey, domain.AuthSession:
			holds = v.CredentialID != "" && HasCredential(u, v.CredentialID)
		}
		if holds {
			all = append(all, f)
		}
	}
	return all
}

// Demanded is the multi-factor policy that a user must meet for the activity: the
// first whose condition holds for a part of it, or cannot be evaluated. nil: there
// is none.
func (in *Input) Demanded(u *domain.User) (*domain.MFAPolicy, error) {
	if len(u.MFAPolicies) == 0 {
		return nil, nil
	}
	facts, err := in.request()
	if err != nil {
		return nil, err
	}
	policies := slices.Clone(u.MFAPolicies)
	domain.SortMFAPolicies(policies)
	for i := range policies {
		expr, err := policy.Compile(policy.Condition, policies[i].Condition)
		if err != nil {
			return &policies[i], nil // another version wrote it: it demands what it demands
		}
		for _, part := range facts.Parts() {
			holds, err := expr.Eval(&policy.Env{Request: part, Now: in.Now, Budget: in.Budget})
			if given := in.Budget.Err(); given != nil {
				return nil, given // the request was given up
			}
			if err != nil || holds {
				return &policies[i], nil
			}
		}
	}
	return nil, nil
}

// Demand says whether the user has met a policy.
func (in *Input) Demand(u *domain.User, p *domain.MFAPolicy) domain.MFADemand {
	_, met := p.Met(FactorsOf(u, in.Activity, in.Now))
	return domain.MFADemand{UserID: u.ID, PolicyID: p.ID, Missing: !met}
}

// request is what policies may know about the activity.
func (in *Input) request() (*fact.Request, error) {
	if in.facts == nil {
		facts, err := in.Facts()
		if err != nil {
			return nil, err
		}
		in.facts = facts
	}
	return in.facts, nil
}

// proven reports whether the user has met the policy that applies, and remembers
// that it was demanded.
func (in *Input) proven(u *domain.User) (bool, error) {
	if len(u.MFAPolicies) == 0 {
		return true, nil
	}
	if i := slices.IndexFunc(in.demands, func(d domain.MFADemand) bool { return d.UserID == u.ID }); i >= 0 {
		return !in.demands[i].Missing, nil
	}
	p, err := in.Demanded(u)
	if err != nil || p == nil {
		return err == nil, err
	}
	demand := in.Demand(u, p)
	in.demands = append(in.demands, demand)
	return !demand.Missing, nil
}

// SubmitterProven reports whether the user who submitted the activity has met the
// policy that applies: before that no other user's vote counts.
func (in *Input) SubmitterProven() (bool, error) {
	u, err := in.User(in.Activity.Submitter().UserID)
	if err != nil || u == nil {
		return err == nil, err
	}
	return in.proven(u)
}

// decideProven decides where factors may be missing: an activity that would be
// refused with all of them is refused at once; one that is allowed without them is
// allowed; any other waits for them.
func (in *Input) decideProven() (*Decision, error) {
	if in.MFAMet {
		return in.weigh()
	}
	submitter, err := in.SubmitterProven()
	if err != nil {
		return nil, err
	}
	var d *Decision
	if submitter {
		if d, err = in.weigh(); err != nil || !in.lacksFactors() || d.Outcome == Allow {
			return d, err
		}
	}
	met := *in
	met.MFAMet, met.voters, met.decided = true, nil, nil
	if err := met.count(); err != nil {
		return nil, err
	}
	supposed, err := met.weigh()
	if err != nil {
		return nil, err
	}
	in.Rules = met.Rules
	if supposed.Outcome == Deny && d != nil {
		return d, nil // a vote that does not count yet spoils nothing
	}
	if supposed.Outcome != Deny {
		supposed.Outcome = Unproven
	}
	return supposed, nil
}

func (in *Input) lacksFactors() bool {
	return slices.ContainsFunc(in.demands, func(d domain.MFADemand) bool { return d.Missing })
}

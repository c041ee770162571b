package engine

import (
	"slices"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/decide"
	"latchkey/internal/store"
)

// This file is what multi-factor policies need of the spine, beside what decisions
// rest on: users to whom an activity gives access, and further stamps.

// missingFactors says that what was executed must not be kept yet: users whom it
// gives access have not met their multi-factor policies.
type missingFactors struct{}

func (*missingFactors) Error() string { return "factors are missing" }

// proveAccess looks at what the execution of an activity has changed. Whoever is
// given a credential, a session or a contact must meet the own multi-factor policy
// for such an activity, whoever signed it. And users who take part in a change of
// their own policies must meet those that it weakens, whatever their conditions
// say: else one factor would be enough to be rid of the others.
//
// It judges changes and not operations, so that none can be forgotten.
func (t *attempt) proveAccess(a *domain.Activity, input *decide.Input) error {
	missing := false
	for _, user := range t.tx.Users().Edited() {
		before := user.Before
		if len(before.MFAPolicies) == 0 {
			continue
		}
		var demanded []domain.MFAPolicy
		if user.After.GainsAccess(before) {
			p, err := input.Demanded(before)
			if err != nil {
				return err
			}
			if p != nil {
				demanded = append(demanded, *p)
			}
			demanded = append(demanded, replaceable(before, user.After)...)
		}
		if takesPart(a, before.ID) {
			demanded = append(demanded, domain.WeakenedMFA(before.MFAPolicies, user.After.MFAPolicies)...)
		}
		for i := range demanded {
			d := input.Demand(before, &demanded[i])
			if missing = missing || d.Missing; !slices.Contains(a.Demands, d) {
				a.Demands = append(a.Demands, d)
			}
		}
	}
	if missing {
		return &missingFactors{}
	}
	return nil
}

// replaceable lists the policies for which a user gets a further credential that
// would meet a step, beside one that the user has: whoever holds the other factors
// could else add the missing one. A first one of its kind must be added some time,
// and sessions are what logins make.
func replaceable(before, after *domain.User) (all []domain.MFAPolicy) {
	had, has := lasting(before), lasting(after)
	isNew := func(m domain.AuthenticationMethod) bool { return !slices.Contains(had, m) }
	for _, p := range before.MFAPolicies {
		if slices.ContainsFunc(p.Steps, func(s domain.MFAStep) bool {
			meets := func(m domain.AuthenticationMethod) bool {
				return slices.ContainsFunc(s.Any, func(asked domain.AuthenticationMethod) bool { return asked.Accepts(m) })
			}
			return slices.ContainsFunc(had, meets) && slices.ContainsFunc(has, func(m domain.AuthenticationMethod) bool { return isNew(m) && meets(m) })
		}) {
			all = append(all, p)
		}
	}
	return all
}

// lasting lists what a user can prove, but for sessions. Contacts stand for codes,
// with the contact in the place of an id.
func lasting(u *domain.User) (all []domain.AuthenticationMethod) {
	for _, k := range u.APIKeys {
		if m := k.Method(); m != nil && m.Type == domain.AuthAPIKey {
			all = append(all, *m)
		}
	}
	for _, a := range u.Authenticators {
		all = append(all, *a.Method())
	}
	for _, p := range u.OAuthProviders {
		all = append(all, domain.AuthenticationMethod{Type: domain.AuthOAuth, ID: p.ID})
	}
	for _, t := range []domain.OTPType{domain.OTPEmail, domain.OTPSMS} {
		if contact := u.Contact(t); contact != "" {
			all = append(all, domain.AuthenticationMethod{Type: t.Method().Type, ID: contact})
		}
	}
	return all
}

// takesPart reports whether the user decides on the activity.
func takesPart(a *domain.Activity, userID string) bool {
	return slices.ContainsFunc(a.Votes, func(v domain.Vote) bool {
		return v.UserID == userID && v.Selection == domain.VoteApproved && !v.Powerless
	})
}

// addFactor takes a further stamp of a user from whom an activity waits for one.
// It proves who the user is, and is no vote of its own.
func (t *attempt) addFactor(a *domain.Activity, intent *activity.Intent, message string, now time.Time) (*Reply, error) {
	again := *a
	again.Votes, again.UpdatedAt = slices.Clone(a.Votes), now
	stamp := t.submission.vote(t.who, domain.VoteApproved, now)
	stamp.Message, stamp.Powerless = message, true
	// The same credential once more proves nothing new, until its proof ends.
	adds := !t.hasFactor(a, &stamp, now)
	if adds {
		again.Votes = append(again.Votes, stamp)
	}
	t.factor = true
	if err := t.settleAsDecider(&again, intent, now); err != nil {
		return nil, err
	}
	if !adds && again.Status == a.Status {
		t.tx.Discard()
		return t.outcome(a)
	}
	if v := t.who.verifiedBy; adds && v != nil {
		first, err := t.tx.UseToken(&domain.TokenUse{TokenID: v.TokenID, ExpiresAt: v.ExpiresAt, Kind: domain.UseFactor})
		if err != nil {
			return nil, err
		}
		if !first {
			return nil, fault.Invalid("invalid verification token: it was used for a %s already, and serves for one; verify a new code", domain.UseFactor)
		}
	}
	if err := t.replace(&again); err != nil {
		return nil, err
	}
	return t.outcome(&again)
}

// hasFactor reports whether what the stamp proves is proved already, by a stamp
// that still counts beside new ones.
func (t *attempt) hasFactor(a *domain.Activity, stamp *domain.Vote, now time.Time) bool {
	with := *a
	with.Votes = append(slices.Clone(a.Votes), *stamp)
	factors := decide.FactorsOf(t.who.user, &with, now)
	if len(factors) == 0 || stamp.Method == nil {
		return false
	}
	given := factors[len(factors)-1]
	return slices.ContainsFunc(factors[:len(factors)-1], func(f domain.Factor) bool {
		return f.Credential == given.Credential && f.Counts(now)
	})
}

// settleAsDecider settles an activity by what the organization says that decides
// on it, also where a user of the one in which it happens has given a factor.
func (t *attempt) settleAsDecider(a *domain.Activity, intent *activity.Intent, now time.Time) error {
	if a.DecidedBy == "" || a.DecidedBy == t.home.Org() {
		return t.settle(a, intent, now)
	}
	return t.Store.View(t.ctx, a.DecidedBy, func(home *store.Tx) error {
		deciding := *t
		deciding.home = home
		return deciding.settle(a, intent, now)
	})
}

// submittedWith is the credential with which an activity was submitted; empty for a
// login by a token.
func (t *attempt) submittedWith(a *domain.Activity) (kind domain.CredentialType, key string, err error) {
	org, err := t.home.Organization()
	if err != nil {
		return "", "", err
	}
	v := a.Submitter()
	if org.AuthProxyUser(v.UserID) != nil {
		return domain.CredentialAuthProxy, domain.APIKeyCredential(v.PublicKey), nil
	}
	user, err := t.home.Users().Get(v.UserID)
	if err != nil {
		return "", "", err
	}
	for _, k := range user.APIKeys {
		if k.ID == v.CredentialID {
			return k.Type, domain.APIKeyCredential(k.PublicKey), nil
		}
	}
	for _, p := range user.Authenticators {
		if p.ID == v.CredentialID {
			return domain.CredentialAuthenticator, domain.PasskeyCredential(p.CredentialID), nil
		}
	}
	return "", "", nil
}

// methodOf is what a stamp with a credential of the user proves.
func methodOf(u *domain.User, credentialID string) *domain.AuthenticationMethod {
	for _, k := range u.APIKeys {
		if k.ID == credentialID {
			return k.Method()
		}
	}
	for _, p := range u.Authenticators {
		if p.ID == credentialID {
			return p.Method()
		}
	}
	return nil
}

// Package decide says whether an activity may happen. It changes nothing.
package decide

import (
	"slices"
	"strings"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/policy/fact"
)

// Case is everything that a decision rests on.
type Case struct {
	// Organization is the one whose quorum and policies decide.
	Organization *domain.Organization
	// Load returns the organization's rules. It is called once, and only when
	// the root quorum does not decide by itself. Rules are what it returned, or
	// what is supposed in their place.
	Load     func() (*Rules, error)
	Rules    *Rules
	Activity *domain.Activity
	Now      time.Time
	// RootOnly: the root quorum alone decides, and policies are not asked.
	RootOnly bool
	// OwnUser is the user whose credentials the activity manages, if any.
	OwnUser string
	// User finds a user of the organization, nil when there is none.
	User func(id string) (*domain.User, error)
	// Users lists all of them.
	Users func() ([]*domain.User, error)
	// Facts are what policies may know. They are asked for only when policies
	// are.
	Facts func() (*fact.Request, error)

	voters []voter
	facts  *fact.Request
}

// voter is somebody whose approval counts, and the credential that it was
// signed with.
type voter struct {
	user       *domain.User
	credential fact.Credential
}

// Outcome is what comes of a case.
type Outcome uint8

// The outcomes. The zero value refuses.
const (
	Deny Outcome = iota
	Allow
	Pending
)

// Decision is an outcome and what led to it.
type Decision struct {
	Outcome     Outcome
	Evaluations []domain.Evaluation
}

// Decide weighs the votes that count now.
//
// The root quorum comes first: when enough of its members agree, nothing else
// is asked. Then the policies. Whoever manages his own credentials is allowed
// to unless a policy says otherwise. A vote of a root member that is not enough
// keeps the activity waiting for the others, even against a policy that denies
// it: policies do not bind the root quorum.
func (c *Case) Decide() (*Decision, error) {
	if err := c.count(); err != nil {
		return nil, err
	}
	quorum := c.Organization.RootQuorum
	if quorum.Reached(c.approvers()...) {
		return &Decision{Outcome: Allow}, nil
	}
	rootWaits := slices.ContainsFunc(c.voters, func(v voter) bool { return quorum.Has(v.user.ID) })
	if c.RootOnly {
		if rootWaits {
			return &Decision{Outcome: Pending}, nil
		}
		return &Decision{Outcome: Deny}, nil
	}
	verdict, evaluations, err := c.ask()
	if err != nil {
		return nil, err
	}
	d := &Decision{Evaluations: evaluations}
	switch {
	case verdict == allowed:
		d.Outcome = Allow
	case verdict == waiting:
		d.Outcome = Pending
	case verdict == silent && c.ownsIt():
		d.Outcome = Allow
	case rootWaits:
		d.Outcome = Pending
	}
	return d, nil
}

// ownsIt reports whether the submitter manages his own credentials, by a vote
// that still counts: whoever's key was taken from him manages nothing any more.
func (c *Case) ownsIt() bool {
	submitter := c.Activity.Submitter().UserID
	return c.OwnUser != "" && c.OwnUser == submitter && slices.Contains(c.approvers(), submitter)
}

// MayVote reports whether a user may vote on the activity as it waits now: a
// member of the root quorum, or somebody whom the consensus of a policy that it
// waits for names.
func (c *Case) MayVote(u *domain.User) (bool, error) {
	if c.Organization.RootQuorum.Has(u.ID) {
		return true, nil
	}
	if c.RootOnly {
		return false, nil
	}
	if err := c.count(); err != nil {
		return false, err
	}
	return c.named(u)
}

// Counts reports whether the user has an approval that counts.
func (c *Case) Counts(userID string) bool {
	return c.count() == nil && slices.Contains(c.approvers(), userID)
}

// count finds the approvals that count now: not too old, by a user who exists,
// with a credential that he still has, and of each user the newest.
func (c *Case) count() error {
	if c.voters != nil {
		return nil
	}
	c.voters = []voter{}
	for i := len(c.Activity.Votes) - 1; i >= 0; i-- {
		vote := &c.Activity.Votes[i]
		if vote.Selection != domain.VoteApproved || vote.Powerless || vote.Stale(c.Now) ||
			slices.Contains(c.approvers(), vote.UserID) {
			continue
		}
		user, err := c.User(vote.UserID)
		if err != nil {
			return err
		}
		if user == nil {
			continue
		}
		credential, ok := credentialOf(user, vote)
		if !ok {
			continue
		}
		c.voters = append(c.voters, voter{user, credential})
	}
	slices.Reverse(c.voters)
	return nil
}

// credentialOf finds what a vote was signed with among what the user has now.
// A vote without a credential was made by a login, which leaves none.
func credentialOf(u *domain.User, v *domain.Vote) (fact.Credential, bool) {
	if v.CredentialID == "" {
		return fact.Credential{UserID: u.ID, PublicKey: v.PublicKey}, true
	}
	for _, c := range credentials(u) {
		if c.ID == v.CredentialID {
			return c, true
		}
	}
	return fact.Credential{}, false
}

func (c *Case) approvers() []string {
	ids := make([]string, len(c.voters))
	for i, v := range c.voters {
		ids[i] = v.user.ID
	}
	return ids
}

// Refusal is the error that a denied activity fails with.
func (d *Decision) Refusal() *fault.Error {
	var denying []string
	evaluations := make([]evaluation, 0, len(d.Evaluations))
	for _, e := range d.Evaluations {
		evaluations = append(evaluations, evaluation{PolicyID: e.PolicyID, Outcome: e.Outcome})
		if denies(e) {
			denying = append(denying, e.PolicyID)
		}
	}
	message := "You don't have sufficient permissions to take this action. " +
		"Ask a root user of the organization to do it, or to allow it by a policy."
	detail := "No policies evaluated to outcome: Allow"
	if len(denying) > 0 {
		message = "policy engine denied request explicitly"
		detail = "The following policies denied this action: " + strings.Join(denying, ", ")
	}
	return fault.New(fault.PermissionDenied, fault.ReasonForbidden, "%s", message).With(permissionDetail{
		Type:    "type.googleapis.com/errors.v1.PolicyEnginePermissionError",
		Message: detail, Evaluations: evaluations,
	})
}

type permissionDetail struct {
	Type        string       `json:"@type"`
	Message     string       `json:"message"`
	Evaluations []evaluation `json:"policyEvaluations"`
}

type evaluation struct {
	PolicyID string `json:"policyId"`
	Outcome  string `json:"outcome"`
}

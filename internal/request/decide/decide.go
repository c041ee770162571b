// Package decide says whether an activity may happen: the root quorum, the
// policies, and the users' rights over their own credentials. It changes
// nothing.
//
// An [Input] is decided by [Input.Decide]; that is an opinion. A [Ruling], which
// [Decider.Rule] makes of it, is an authorization: it opens one vault session,
// for the organization, the activity and the intent that were decided on.
package decide

import (
	"slices"
	"strings"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/policy"
	"latchkey/internal/policy/fact"
)

// Input is everything that a decision rests on.
type Input struct {
	// Organization is the one whose quorum and policies decide.
	Organization *domain.Organization
	// Load returns the organization's rules. It is called once, and only when
	// the root quorum does not decide by itself. Rules are what it returned, or
	// what is supposed in their place.
	Load     func() (*Rules, error)
	Rules    *Rules
	Activity *domain.Activity
	// Intent is the digest of what the activity would do.
	Intent [32]byte
	Now    time.Time
	// By says who decides.
	By Governor
	// OwnUser is the user whose credentials the activity manages, if any.
	OwnUser string
	// ByAuthProxy says that the auth proxy submitted it, and that it may.
	ByAuthProxy bool
	// Adds are the credentials that the activity adds. Where SessionsLocked says
	// so, no session may add one that outlives it; it is asked only if one would.
	Adds           Added
	SessionsLocked func() (bool, error)
	// User finds a user of the organization, nil when there is none.
	User func(id string) (*domain.User, error)
	// Users lists all of them.
	Users func() ([]*domain.User, error)
	// Facts are what policies may know. They are asked for only when policies
	// are.
	Facts func() (*fact.Request, error)
	// Budget is what the policies may do; nil: as much as they like.
	Budget *policy.Budget
	// Controls are the velocity controls that policies may read. They are asked for
	// only when one reads them; nil: there are none.
	Controls func() ([]fact.ControlState, error)
	// MFAMet supposes that all multi-factor policies are met.
	MFAMet bool

	voters   []voter
	demands  []domain.MFADemand // the multi-factor policies of those who decide
	outlived bool               // what the activity adds would outlive the submitter's session
	facts    *fact.Request
	decided  []judged // by the policies; nil: not yet
	free     bool     // as if the windows of the controls held nothing
}

// voter is a user whose approval counts, and the credential that it was signed
// with.
type voter struct {
	user       *domain.User
	credential fact.Credential
}

// Outcome is what was decided.
type Outcome uint8

// The outcomes. The zero value refuses.
const (
	Deny Outcome = iota
	Allow
	Pending
	// Unproven: it waits for further factors of a user who has approved it.
	Unproven
)

// Decision is an outcome and what led to it.
type Decision struct {
	Outcome     Outcome
	Evaluations []domain.Evaluation
	// Demands are the multi-factor policies of those who approved it.
	Demands  []domain.MFADemand
	by       Governor
	outlived bool
}

// Decide weighs the votes that count now.
//
// The root quorum comes first: when enough of its members agree, nothing else
// is asked. Then the policies. Users may manage their own credentials unless a
// policy says otherwise, and so may the auth proxy do what it is for. A vote of a root member that is not enough
// keeps the activity waiting for the others, even against a policy that denies
// it: policies do not bind the root quorum. But an approval counts only once the
// multi-factor policies of its user are met, whoever that is.
func (in *Input) Decide() (*Decision, error) {
	if err := in.count(); err != nil {
		return nil, err
	}
	d, err := in.decideProven()
	if err != nil {
		return nil, err
	}
	d.Demands = in.demands
	return d, nil
}

// weigh decides by the votes that were counted.
func (in *Input) weigh() (*Decision, error) {
	d := &Decision{by: in.By, outlived: in.outlived}
	quorum := in.Organization.RootQuorum
	rootWaits := slices.ContainsFunc(in.voters, func(v voter) bool { return quorum.Has(v.user.ID) })
	switch {
	case in.By == Vote, in.outlived:
	case in.By == Self:
		if in.isOwnUser() {
			d.Outcome = Allow
		}
	case quorum.Reached(in.approvers()...):
		d.Outcome = Allow
	case in.By == RootQuorum:
		if rootWaits {
			d.Outcome = Pending
		}
	default:
		return d, in.askPolicies(d, rootWaits)
	}
	return d, nil
}

// askPolicies decides what the root quorum alone did not.
func (in *Input) askPolicies(d *Decision, rootWaits bool) error {
	verdict, evaluations, err := in.ask()
	if err != nil {
		return err
	}
	d.Evaluations = evaluations
	switch {
	case verdict == allowed:
		d.Outcome = Allow
	case verdict == waiting:
		d.Outcome = Pending
	case verdict == silent && (in.isOwnUser() || in.isAuthProxy()):
		d.Outcome = Allow
	case rootWaits:
		d.Outcome = Pending
	case in.Activity.Status.Waits():
		waits, err := in.waitsForControls()
		if waits {
			d.Outcome = Pending
		}
		return err
	}
	return nil
}

// waitsForControls reports whether only what the velocity controls have counted
// stands against the activity: then it keeps its votes until their windows are
// free again.
func (in *Input) waitsForControls() (bool, error) {
	if len(in.Rules.controls) == 0 {
		return false, nil
	}
	verdict, _, err := in.whenFree().ask()
	return verdict == allowed || verdict == waiting, err
}

// whenFree is the same input, as if the windows of the controls held nothing.
func (in *Input) whenFree() *Input {
	free := *in
	free.free, free.decided = true, nil
	return &free
}

// isOwnUser reports whether submitters manage their own credentials, by a vote
// that still counts: a key that was taken away manages nothing any more.
func (in *Input) isOwnUser() bool {
	submitter := in.Activity.Submitter().UserID
	return in.OwnUser != "" && in.OwnUser == submitter && slices.Contains(in.approvers(), submitter)
}

// isAuthProxy reports whether the auth proxy does what it is for, by a vote that
// still counts: one that was disabled does nothing any more.
func (in *Input) isAuthProxy() bool {
	return in.ByAuthProxy && slices.Contains(in.approvers(), in.Activity.Submitter().UserID)
}

// MayVote reports whether a user may vote on the activity as it waits now: a
// member of the root quorum, or a user whom the consensus of a policy that it
// waits for names.
func (in *Input) MayVote(u *domain.User) (bool, error) {
	if in.Organization.RootQuorum.Has(u.ID) {
		return true, nil
	}
	if in.By != Policies {
		return false, nil
	}
	if err := in.count(); err != nil {
		return false, err
	}
	if named, err := in.named(u); named || err != nil || len(in.Rules.controls) == 0 {
		return named, err
	}
	return in.whenFree().named(u)
}

// Counts reports whether the user has an approval that counts.
func (in *Input) Counts(userID string) bool {
	return in.count() == nil && slices.Contains(in.approvers(), userID)
}

// count finds the approvals that count now: not too old, by a user who exists,
// with a credential that the user still has, who has proved what the multi-factor
// policies ask for, and of each user the newest.
func (in *Input) count() error {
	if in.voters != nil {
		return nil
	}
	in.voters = []voter{}
	for i := len(in.Activity.Votes) - 1; i >= 0; i-- {
		vote := &in.Activity.Votes[i]
		if vote.Selection != domain.VoteApproved || vote.Powerless || vote.Stale(in.Now) ||
			slices.Contains(in.approvers(), vote.UserID) {
			continue
		}
		user, err := in.User(vote.UserID)
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
		outlived, err := in.outlives(user, credential.ID)
		if err != nil {
			return err
		}
		if outlived {
			in.outlived = in.outlived || vote == in.Activity.Submitter()
			continue
		}
		proven, err := in.proven(user)
		if err != nil {
			return err
		}
		if !proven && !in.MFAMet {
			continue
		}
		in.voters = append(in.voters, voter{user, credential})
	}
	slices.Reverse(in.voters)
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

// HasCredential reports whether a vote with this credential would count: the user
// has it, or the vote has none.
func HasCredential(u *domain.User, credentialID string) bool {
	_, ok := credentialOf(u, &domain.Vote{CredentialID: credentialID})
	return ok
}

func (in *Input) approvers() []string {
	ids := make([]string, len(in.voters))
	for i, v := range in.voters {
		ids[i] = v.user.ID
	}
	return ids
}

// Refusal is the error that a denied activity fails with.
func (d *Decision) Refusal() *fault.Error {
	if d.outlived {
		return outlivesSession()
	}
	if d.by == Self {
		return fault.New(fault.PermissionDenied, fault.ReasonForbidden,
			"You don't have sufficient permissions to take this action. Users can do this for themselves only.")
	}
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

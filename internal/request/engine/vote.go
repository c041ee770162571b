package engine

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/policy"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/decide"
)

// vote handles a request that votes on an activity.
func (t *attempt) vote() (*Reply, error) {
	if err := t.withinScope(t.submission.intent); err != nil {
		return nil, err
	}
	ballot := t.submission.intent.Ballot
	known, err := t.tx.Waiting().Lookup(strings.TrimPrefix(ballot.Fingerprint, "sha256:"))
	if err != nil {
		return nil, err
	}
	if known == nil {
		if err := t.submission.checkFresh(t.Now()); err != nil {
			return nil, err
		}
		return nil, fault.Missing("No activity found with fingerprint. Consensus activities must target an existing activity by fingerprint: " +
			"use the fingerprint of an activity of this organization that waits for votes")
	}
	a, err := t.tx.Activity(known.ActivityID)
	if err != nil {
		return nil, err
	}
	// The same vote once more is answered as it was, however old it is. The same
	// bytes from another user are another vote: a back end may prepare one body
	// for several approvers.
	message := string(t.submission.body)
	if slices.ContainsFunc(a.Votes, func(v domain.Vote) bool { return v.Message == message && v.UserID == t.who.user.ID }) {
		return t.outcome(a)
	}
	if err := t.submission.checkFresh(t.Now()); err != nil {
		return nil, err
	}
	return t.addVote(a, ballot.Selection, message)
}

// voted reports whether the user is among the voters of an activity.
func voted(a *domain.Activity, userID string) bool {
	return slices.ContainsFunc(a.Votes, func(v domain.Vote) bool { return v.UserID == userID })
}

// addVote adds a vote to an activity and settles it anew, with what holds now: the
// policies, the users and their credentials, the time.
func (t *attempt) addVote(a *domain.Activity, selection domain.Selection, message string) (*Reply, error) {
	if !a.Status.Waits() {
		return nil, fault.Invalid("the activity is already %s; only an activity that waits for votes can be voted on",
			a.Status.Word())
	}
	awaited := selection == domain.VoteApproved && a.Awaits(t.who.user.ID)
	if decider := a.DecidedBy; !awaited && (decider != "" && decider != t.submission.caller.home || decider == "" && t.home != t.tx) {
		return nil, noVote()
	}
	intent, err := t.reopen(a)
	if err != nil {
		return nil, err
	}
	// A vote is a part in what it is on.
	if err := t.withinScope(intent); err != nil {
		return nil, err
	}
	now := t.Now()
	if awaited {
		return t.addFactor(a, intent, message, now)
	}
	if t.who.attestedKey != "" {
		return nil, fault.New(fault.PermissionDenied, fault.ReasonForbidden,
			"request not authorized: a token proves a further factor, where the activity waits for one of this user, and is no vote; "+
				"vote with an API key, a passkey or a session")
	}
	input, err := t.decisionInput(policy.NewBudget(t.ctx), a, intent, now)
	if err != nil {
		return nil, err
	}
	may, err := input.MayVote(t.who.user)
	if err != nil {
		return nil, err
	}
	if !may {
		return nil, noVote()
	}
	if proven, err := input.SubmitterProven(); err != nil || !proven && selection == domain.VoteApproved {
		return nil, cmp.Or(err, error(fault.Invalid("the activity waits for further factors of the user who submitted it; votes on it count after that")))
	}
	if selection == domain.VoteApproved && input.Counts(t.who.user.ID) {
		return t.decideAgain(a, intent, input, now) // one vote is enough
	}
	if selection == domain.VoteApproved {
		if err := input.CheckApproval(t.who.user, t.who.credentialID); err != nil {
			return nil, err
		}
	}
	voted := *a
	vote := t.submission.vote(t.who, selection, now)
	vote.Message = message
	voted.Votes = append(slices.Clone(a.Votes), vote)
	voted.UpdatedAt = now
	if selection == domain.VoteRejected {
		voted.Status = domain.StatusRejected
	} else if err := t.settle(&voted, intent, now); err != nil {
		return nil, err
	}
	if err := t.replace(&voted); err != nil {
		return nil, err
	}
	return t.outcome(&voted)
}

// decideAgain settles an activity anew with the votes that it has, where velocity
// controls may have let it wait: their windows may be free by now. Otherwise it is
// answered as it is.
func (t *attempt) decideAgain(a *domain.Activity, intent *activity.Intent, input *decide.Input, now time.Time) (*Reply, error) {
	if len(input.ReadsControls()) == 0 {
		return t.outcome(a)
	}
	again := *a
	again.Votes, again.UpdatedAt = slices.Clone(a.Votes), now
	if err := t.settle(&again, intent, now); err != nil {
		return nil, err
	}
	if again.Status.Waits() || again.Refused {
		return t.outcome(a)
	}
	if err := t.replace(&again); err != nil {
		return nil, err
	}
	return t.outcome(&again)
}

func noVote() error {
	return fault.New(fault.PermissionDenied, fault.ReasonForbidden,
		"You don't have sufficient permissions to take this action. "+
			"Only members of the root quorum, and users whom the consensus of a policy that the activity waits for names, may vote on it.")
}

// reopen parses the intent of a recorded activity from the bytes that were
// signed, so that what was approved is what runs.
func (t *attempt) reopen(a *domain.Activity) (*activity.Intent, error) {
	envelope := new(Envelope)
	if err := json.Unmarshal([]byte(a.Body), envelope); err != nil {
		return nil, err
	}
	declared := t.Catalog.Op(a.Type)
	if declared == nil {
		return nil, fault.New(fault.Unavailable, fault.ReasonUnspecified,
			"this node does not know activities of type %s; send the request again, to another node", a.Type)
	}
	return t.Catalog.Endpoint(declared.Name).Parse(declared, envelope.Parameters)
}

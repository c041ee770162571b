package engine

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/request/activity"
)

// ballot deals with a request that votes on an activity.
func (s *attempt) ballot(event *Event) (*Reply, error) {
	ballot := s.claim.intent.Ballot
	known, err := s.tx.Waiting().Lookup(strings.TrimPrefix(ballot.Fingerprint, "sha256:"))
	if err != nil {
		return nil, err
	}
	if known == nil {
		if err := s.claim.checkFresh(s.Now()); err != nil {
			return nil, err
		}
		return nil, fault.Missing("No activity found with fingerprint. Consensus activities must target an existing activity by fingerprint: " +
			"use the fingerprint of an activity of this organization that waits for votes")
	}
	a, err := s.tx.Activity(known.ActivityID)
	if err != nil {
		return nil, err
	}
	// The same vote once more is answered as it was, however old it is.
	message := string(s.claim.body)
	if slices.ContainsFunc(a.Votes, func(v domain.Vote) bool { return v.Message == message }) {
		return s.outcome(event, a)
	}
	if err := s.claim.checkFresh(s.Now()); err != nil {
		return nil, err
	}
	return s.addVote(event, a, ballot.Selection, message)
}

// voted reports whether the user is among the voters of an activity.
func voted(a *domain.Activity, userID string) bool {
	return slices.ContainsFunc(a.Votes, func(v domain.Vote) bool { return v.UserID == userID })
}

// addVote adds a vote to an activity and settles it anew, with what holds now: the
// policies, the users and their credentials, the time.
func (s *attempt) addVote(event *Event, a *domain.Activity, selection domain.Selection, message string) (*Reply, error) {
	if a.Status != domain.StatusConsensusNeeded {
		return nil, fault.Invalid("the activity is already %s; only an activity that waits for votes can be voted on",
			strings.ToLower(strings.TrimPrefix(string(a.Status), "ACTIVITY_STATUS_")))
	}
	if decider := a.DecidedBy; decider != "" && decider != s.claim.caller.home || decider == "" && s.home != s.tx {
		return nil, noVote()
	}
	intent, err := s.reopen(a)
	if err != nil {
		return nil, err
	}
	now := s.Now()
	c, err := s.decisionInput(a, intent, now)
	if err != nil {
		return nil, err
	}
	may, err := c.MayVote(s.who.user)
	if err != nil {
		return nil, err
	}
	if !may {
		return nil, noVote()
	}
	if selection == domain.VoteApproved && c.Counts(s.who.user.ID) {
		return s.outcome(event, a) // once is enough
	}
	voted := *a
	vote := s.claim.vote(s.who, selection, now)
	vote.Message = message
	voted.Votes = append(slices.Clone(a.Votes), vote)
	voted.UpdatedAt = now
	if selection == domain.VoteRejected {
		voted.Status = domain.StatusRejected
	} else if err := s.settle(&voted, intent, now); err != nil {
		return nil, err
	}
	if err := s.tx.Replace(&voted); err != nil {
		return nil, err
	}
	return s.outcome(event, &voted)
}

func noVote() error {
	return fault.New(fault.PermissionDenied, fault.ReasonForbidden,
		"You don't have sufficient permissions to take this action. "+
			"Only members of the root quorum, and users whom the consensus of a policy that the activity waits for names, may vote on it.")
}

// reopen reads the intent of a recorded activity out of the bytes that were
// signed, so that what was approved is what runs.
func (s *attempt) reopen(a *domain.Activity) (*activity.Intent, error) {
	envelope := new(Envelope)
	if err := json.Unmarshal([]byte(a.Body), envelope); err != nil {
		return nil, err
	}
	declared := s.Catalog.Op(a.Type)
	if declared == nil {
		return nil, fault.New(fault.Unavailable, fault.ReasonUnspecified,
			"this node does not know activities of type %s; send the request again, to another node", a.Type)
	}
	return s.Catalog.Endpoint(declared.Name).Parse(declared, envelope.Parameters)
}

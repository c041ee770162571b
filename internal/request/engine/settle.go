package engine

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/ids"
	"latchkey/internal/policy/fact"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/decide"
	"latchkey/internal/store"
)

// attempt is one attempt to deal with one request, in one transaction.
type attempt struct {
	*Engine
	ctx      context.Context
	home, tx *store.Tx
	claim    *submission
	who      *principal
}

// submitOrReplay deals with a request to do something: it is answered if it is
// known, joined if it waits for votes, and else done.
func (s *attempt) submitOrReplay(event *Event, look bool) (*Reply, error) {
	if look {
		recorded, err := s.tx.Recorded(s.claim.timestampMs, s.claim.fingerprint)
		if err != nil {
			return nil, err
		}
		if recorded != nil {
			return s.replay(event, recorded)
		}
	}
	now := s.Now()
	if err := s.claim.checkFresh(now); err != nil {
		return nil, err
	}
	if s.claim.tokenErr != nil {
		return nil, s.claim.tokenErr
	}
	record := s.claim.record(s.claim.vote(s.who, domain.VoteApproved, now))
	if err := s.settle(record, s.claim.intent, now); err != nil {
		return nil, err
	}
	if err := s.tx.Record(record); err != nil {
		return nil, err
	}
	return s.answer(event, record)
}

// replay deals with bytes that are recorded already. From somebody else they
// are an approval, if the activity waits for one, and a request of his own, if
// whoever sent them first had no say.
func (s *attempt) replay(event *Event, recorded *domain.Activity) (*Reply, error) {
	if voted(recorded, s.who.user.ID) {
		return s.answer(event, recorded)
	}
	switch {
	case recorded.Status == domain.StatusConsensusNeeded:
		return s.addVote(event, recorded, domain.VoteApproved, "")
	case recorded.Refused:
		if s.claim.checkFresh(s.Now()) != nil || s.claim.tokenErr != nil {
			return s.answer(event, recorded)
		}
		return s.takeOver(event, recorded)
	}
	return s.answer(event, recorded)
}

// takeOver lets somebody with a say do what was refused to others. Without it
// a member could spoil a request of somebody else by sending it first.
func (s *attempt) takeOver(event *Event, recorded *domain.Activity) (*Reply, error) {
	now := s.Now()
	taken := *recorded
	taken.Votes = append([]domain.Vote(nil), recorded.Votes...)
	for i := range taken.Votes {
		taken.Votes[i].Powerless = true
	}
	taken.Votes = append(taken.Votes, s.claim.vote(s.who, domain.VoteApproved, now))
	taken.Failure, taken.Refused, taken.Claims, taken.UpdatedAt = nil, false, s.claim.claims, now
	if err := s.settle(&taken, s.claim.intent, now); err != nil {
		return nil, err
	}
	if taken.Refused {
		return s.answer(event, recorded) // as it was
	}
	if err := s.tx.Replace(&taken); err != nil {
		return nil, err
	}
	return s.answer(event, &taken)
}

// settle decides on the activity with the votes that it has, and executes it
// if it is allowed. A refusal, by the decision or by the executor, makes it
// FAILED; any other error is returned, and nothing is recorded.
func (s *attempt) settle(a *domain.Activity, intent *activity.Intent, now time.Time) error {
	decision, err := s.decide(a, intent, now)
	if err != nil {
		if refusal, ok := refused(err); ok {
			return fail(a, refusal)
		}
		return err
	}
	last := &a.Votes[len(a.Votes)-1]
	last.Evaluations = decision.Evaluations
	switch decision.Outcome {
	case decide.Pending:
		return s.wait(a)
	case decide.Deny:
		a.Refused = true
		return fail(a, decision.Refusal())
	}
	a.Result, err = s.execute(a, intent, now)
	if err == nil {
		a.Status = domain.StatusCompleted
		return nil
	}
	refusal, ok := refused(err)
	if !ok {
		return err
	}
	s.tx.Discard()
	var kept *activity.RefusalWithWrites
	if errors.As(err, &kept) {
		if err := kept.Keep(s.tx); err != nil {
			return err
		}
	}
	return fail(a, refusal)
}

// refused tells a refusal from a failure of the machine.
func refused(err error) (*fault.Error, bool) {
	refusal, ok := fault.As(err)
	return refusal, ok && refusal.Code != fault.Unavailable
}

func fail(a *domain.Activity, refusal *fault.Error) (err error) {
	a.Status = domain.StatusFailed
	a.Failure, err = json.Marshal(refusal.Body())
	return err
}

// wait leaves the activity to votes.
func (s *attempt) wait(a *domain.Activity) error {
	a.Status = domain.StatusConsensusNeeded
	fingerprint := hex.EncodeToString(a.Fingerprint[:])
	known, err := s.tx.Waiting().Lookup(fingerprint)
	if err != nil || known != nil {
		return err
	}
	return s.tx.Waiting().Insert(&domain.Waiting{Fingerprint: fingerprint, ActivityID: a.ID})
}

// decide asks quorum and policies of the deciding organization.
func (s *attempt) decide(a *domain.Activity, intent *activity.Intent, now time.Time) (*decide.Decision, error) {
	if intent.Op.Govern.By == activity.Self {
		return &decide.Decision{Outcome: decide.Allow}, nil // the operation looks whom it is about
	}
	c, err := s.decisionInput(a, intent, now)
	if err != nil {
		return nil, err
	}
	return c.Decide()
}

// decisionInput is what a decision on the activity rests on.
func (s *attempt) decisionInput(a *domain.Activity, intent *activity.Intent, now time.Time) (*decide.Case, error) {
	org, err := s.home.Organization()
	if err != nil {
		return nil, err
	}
	govern := intent.Op.Govern
	return &decide.Case{
		Organization: org, Activity: a, Now: now,
		Load:     func() (*decide.Rules, error) { return decide.RulesOf(s.home) },
		RootOnly: govern.By == activity.RootQuorum,
		OwnUser:  ownUser(a, intent),
		User:     s.home.Users().Lookup,
		Users:    func() ([]*domain.User, error) { return s.home.Users().List("", 0) },
		Facts: func() (*fact.Request, error) {
			f := &fact.Request{Activity: fact.Activity{
				Type: intent.Op.Type, Kind: intent.Op.Kind(),
				Resource: string(govern.Resource), Action: string(govern.Action),
			}}
			known := &contracts{tx: s.tx}
			err := intent.Facts(activity.Facts{Tx: s.tx, Contracts: known, Request: f})
			return f, cmp.Or(known.err, err)
		},
	}, nil
}

func ownUser(a *domain.Activity, intent *activity.Intent) string {
	if intent.OwnUser == activity.Submitter {
		return a.Submitter().UserID
	}
	return intent.OwnUser
}

// execute runs the operation, with a warrant for the keys that it may use.
func (s *attempt) execute(a *domain.Activity, intent *activity.Intent, now time.Time) (jsontext.Value, error) {
	if s.claim.warrant == nil { // the same one for all attempts
		s.claim.warrant = s.Keys.Clerk.Warrant(a.OrganizationID, a.ID, a.Fingerprint)
	}
	session, err := s.Keys.Vault.Begin(s.claim.warrant, s.tx.Ciphertexts())
	if err != nil {
		return nil, err
	}
	origins, err := s.origins()
	if err != nil {
		return nil, err
	}
	env := activity.Env{
		Tx: s.tx, Vault: session, ServerKeys: s.Keys.ServerKeys,
		UserID: a.Submitter().UserID, CredentialType: s.who.credentialType, Credential: s.who.credentialKey, Home: a.DecidedBy,
		Now: now, NewID: ids.New, Limits: s.Limits, Claims: a.Claims, Origins: origins, Outbox: s.Outbox,
	}
	env.CreateChild = func(org string) (activity.Env, error) { return s.createChild(env, a, org) }
	return intent.Exec(s.ctx, env)
}

// createChild opens what an operation can reach in an organization that it founds.
// The warrant for its keys is of the same activity; it dies with the sitting.
func (s *attempt) createChild(env activity.Env, a *domain.Activity, org string) (activity.Env, error) {
	child := s.tx.CreateOrganization(org)
	session, err := s.Keys.Vault.Begin(s.Keys.Clerk.Warrant(org, a.ID, a.Fingerprint), child.Ciphertexts())
	if err != nil {
		return activity.Env{}, err
	}
	env.Tx, env.Vault, env.CreateChild = child, session, nil
	return env, nil
}

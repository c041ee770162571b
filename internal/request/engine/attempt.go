package engine

import (
	"context"
	"encoding/hex"
	"errors"
	"math/big"
	"net/netip"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/policy"
	"latchkey/internal/policy/fact"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/decide"
	"latchkey/internal/store"
	"latchkey/internal/tracing"
	"latchkey/internal/velocity"
)

// attempt is one attempt at one request, in one transaction.
type attempt struct {
	*Engine
	ctx        context.Context
	event      *Event
	trace      *tracing.Request
	address    netip.Addr
	newID      func() string // nil: as always
	home, tx   *store.Tx     // of the caller's organization, and of the one that is acted in
	submission *submission
	who        *principal
	// supposedUse is what velocity controls are supposed to have used; nil: what
	// they have.
	supposedUse func(c *velocity.Control, group string) *big.Int
	// factor says that the request only proves more of what was submitted before.
	factor bool
}

// submitOrReplay handles a request to do something. One that is recorded is
// answered, or joined if it waits for votes; a new one is decided on and done.
func (t *attempt) submitOrReplay(look bool) (*Reply, error) {
	if look {
		recorded, err := t.tx.Recorded(t.submission.timestampMs, t.submission.fingerprint)
		if err != nil {
			return nil, err
		}
		if recorded != nil {
			return t.replay(recorded)
		}
	}
	now := t.Now()
	if err := t.submission.checkFresh(now); err != nil {
		return nil, err
	}
	if t.submission.tokenErr != nil {
		return nil, t.submission.tokenErr
	}
	record := t.submission.record(t.submission.vote(t.who, domain.VoteApproved, now))
	if err := t.settleWithinScope(record, now); err != nil {
		return nil, err
	}
	if err := t.omitRefused(record, now); err != nil {
		return nil, err
	}
	digests, err := t.Catalog.LogDigests(record)
	if err != nil {
		return nil, err
	}
	if err := t.tx.Record(record, digests); err != nil {
		return nil, err
	}
	return t.answer(record)
}

// settleWithinScope settles a new activity, unless the session of its submitter is
// too narrow for it.
func (t *attempt) settleWithinScope(a *domain.Activity, now time.Time) error {
	err := t.withinScope(t.submission.intent)
	if err == nil {
		return t.settle(a, t.submission.intent, now)
	}
	refusal, ok := refused(err)
	if !ok {
		return err
	}
	a.Refused = true
	return fail(a, refusal)
}

// replay handles bytes that are recorded already. From another user they are an
// approval, if the activity waits for one, and a request of that user's own, if
// the user who sent them first had no right to.
func (t *attempt) replay(recorded *domain.Activity) (*Reply, error) {
	if voted(recorded, t.who.user.ID) {
		return t.answer(recorded)
	}
	switch {
	case recorded.Status == domain.StatusConsensusNeeded:
		return t.addVote(recorded, domain.VoteApproved, "")
	case recorded.Refused:
		if t.submission.checkFresh(t.Now()) != nil || t.submission.tokenErr != nil {
			return t.answer(recorded)
		}
		return t.takeOver(recorded)
	case t.submission.intent.OwnUser == activity.Submitter:
		// The reply would be another user's session or login.
		return nil, fault.Taken("another user has submitted the same bytes, and what they ask for is about its submitter alone; " +
			"sign a request with another timestampMs")
	}
	return t.answer(recorded)
}

// takeOver lets a user who has the right to do what was refused to others.
// Without it a member could spoil another user's request by sending it first.
func (t *attempt) takeOver(recorded *domain.Activity) (*Reply, error) {
	now := t.Now()
	taken := *recorded
	taken.Votes = append([]domain.Vote(nil), recorded.Votes...)
	for i := range taken.Votes {
		taken.Votes[i].Powerless = true
	}
	taken.Votes = append(taken.Votes, t.submission.vote(t.who, domain.VoteApproved, now))
	taken.Overruled = &domain.OverruledRefusal{Failure: recorded.Failure, Omitted: recorded.Omitted}
	taken.Failure, taken.Refused, taken.Claims, taken.UpdatedAt = nil, false, t.submission.claims, now
	taken.Body, taken.Intent, taken.Omitted = string(t.submission.body), t.submission.intent.JSON, 0
	if err := t.settleWithinScope(&taken, now); err != nil {
		return nil, err
	}
	if taken.Refused {
		return t.answer(recorded) // as it was
	}
	if err := t.replace(&taken); err != nil {
		return nil, err
	}
	return t.answer(&taken)
}

// replace records what became of an activity.
func (t *attempt) replace(a *domain.Activity) error {
	digests, err := t.Catalog.LogDigests(a)
	if err != nil {
		return err
	}
	return t.tx.Replace(a, digests)
}

// settle decides on the activity with the votes that it has, and executes it
// if it is allowed. A refusal, by the decision or by the executor, makes it
// FAILED; any other error is returned, and nothing is recorded.
func (t *attempt) settle(a *domain.Activity, intent *activity.Intent, now time.Time) error {
	t.trace.Enter("decide")
	defer t.trace.Leave()
	ruling, meter, err := t.rule(a, intent, now)
	if err != nil {
		if refusal, ok := refused(err); ok {
			meter.Release()
			return fail(a, refusal)
		}
		return err
	}
	last := &a.Votes[len(a.Votes)-1]
	last.Evaluations = ruling.Evaluations()
	a.Demands = ruling.Demands()
	last.Controls = meter.Recorded()
	switch ruling.Outcome() {
	case decide.Pending:
		meter.Release()
		return t.wait(a, domain.StatusConsensusNeeded)
	case decide.Unproven:
		meter.Release()
		return t.wait(a, domain.StatusAuthenticatorsNeeded)
	case decide.Deny:
		meter.Release()
		a.Refused = true
		return fail(a, ruling.Refusal())
	case decide.Allow:
	}
	t.trace.Enter("execute")
	a.Result, err = t.countAndExecute(a, intent, ruling, meter, now)
	if err == nil {
		err = t.proveAccess(a, meter.input)
	}
	var missing *missingFactors
	switch {
	case err == nil:
		a.Status = domain.StatusCompleted
		return nil
	case errors.As(err, &missing):
		t.tx.Discard()
		a.Result, last.Controls = nil, meter.Recorded()
		return t.wait(a, domain.StatusAuthenticatorsNeeded)
	}
	a.Result = nil
	refusal, ok := refused(err)
	if !ok {
		return err
	}
	t.tx.Discard()
	last.Controls = meter.Recorded()
	var kept *activity.RefusalWithWrites
	if errors.As(err, &kept) {
		if err := kept.Keep(t.tx); err != nil {
			return err
		}
	}
	return fail(a, refusal)
}

// A user without any right can make the server keep what it refuses. So the
// bodies that are kept of a user's refused requests have a bound for each day, in
// UTC; those so small that the rest of the record is as large are not counted.
const (
	maxRefusedBytes = 4 << 20
	minRefusedBytes = 4 << 10
)

// omitRefused leaves the body out of an activity that failed, if its user has
// had too many. Its fingerprint stays: the same bytes still find it, and the user
// who has them can show that they are what was refused.
func (t *attempt) omitRefused(a *domain.Activity, now time.Time) error {
	size := len(a.Body)
	if a.Status != domain.StatusFailed || size < minRefusedBytes {
		return nil
	}
	keep, err := t.tx.KeepRefused(t.who.user.ID, now.UTC().Format(time.DateOnly), a.ID, size, maxRefusedBytes)
	if err != nil || keep {
		return err
	}
	a.Body, a.Intent, a.Claims, a.Omitted = "", jsontext.Value("{}"), nil, size
	return nil
}

// rule decides on the activity, and measures it by the velocity controls.
func (t *attempt) rule(a *domain.Activity, intent *activity.Intent, now time.Time) (*decide.Ruling, *controlMeters, error) {
	input, err := t.decisionInput(policy.NewBudget(t.ctx), a, intent, now)
	if err != nil {
		return nil, &controlMeters{}, err
	}
	m := t.meterControls(a, input)
	ruling, err := t.Decider.Rule(input)
	return ruling, m, err
}

// refused tells a refusal from a failure of the machine.
func refused(err error) (*fault.Error, bool) {
	refusal, ok := fault.As(err)
	return refusal, ok && refusal.Code != fault.Unavailable && refusal.Code != fault.DataLoss
}

func fail(a *domain.Activity, refusal *fault.Error) (err error) {
	a.Status = domain.StatusFailed
	a.Failure, err = json.Marshal(refusal.Body())
	return err
}

// wait leaves the activity to votes, or to further factors.
func (t *attempt) wait(a *domain.Activity, status domain.ActivityStatus) error {
	a.Status = status
	fingerprint := hex.EncodeToString(a.Fingerprint[:])
	known, err := t.tx.Waiting().Lookup(fingerprint)
	if err != nil || known != nil {
		return err
	}
	return t.tx.Waiting().Insert(&domain.Waiting{Fingerprint: fingerprint, ActivityID: a.ID})
}

// decisionInput is what a decision on the activity rests on: the quorum and the
// policies of the deciding organization. A decision that counts has a budget of
// its own, so that nothing that was asked before can change it.
func (t *attempt) decisionInput(budget *policy.Budget, a *domain.Activity, intent *activity.Intent, now time.Time) (*decide.Input, error) {
	org, err := t.home.Organization()
	if err != nil {
		return nil, err
	}
	own, err := t.ownUser(a, intent)
	if err != nil {
		return nil, err
	}
	facts := sync.OnceValues(func() (*fact.Request, error) { return intent.Describe(t.tx) })
	return &decide.Input{
		Organization: org, Activity: a, Intent: intent.Digest(), Now: now, By: intent.Op.Govern.By,
		Load:    func() (*decide.Rules, error) { return decide.RulesOf(t.home) },
		OwnUser: own, Adds: intent.Adds,
		ByAuthProxy:    intent.Op.AuthProxy != activity.NotByAuthProxy && org.AuthProxyUser(a.Submitter().UserID) != nil,
		SessionsLocked: t.sessionsLocked,
		User: func(id string) (*domain.User, error) {
			if proxy := org.AuthProxyUser(id); proxy != nil {
				return proxy, nil
			}
			return t.home.Users().Lookup(id)
		},
		Users:    func() ([]*domain.User, error) { return t.home.Users().List("", 0) },
		Facts:    facts,
		Budget:   budget,
		Controls: t.askingMeter(a, facts, time.Time{}).Measure,
	}, nil
}

func (t *attempt) ownUser(a *domain.Activity, intent *activity.Intent) (string, error) {
	own, err := intent.Owner(t.tx)
	if own == activity.Submitter {
		own = a.Submitter().UserID
	}
	return own, err
}

// execute runs the operation that the ruling allows.
func (t *attempt) execute(a *domain.Activity, intent *activity.Intent, ruling *decide.Ruling, now time.Time) (jsontext.Value, error) {
	if intent.Once && t.tx.AtHand() {
		return nil, store.ErrNotAtHand // what it uses up outside is for a decision that counts
	}
	kind, credential := t.who.credentialType, t.who.credentialKey
	if t.factor {
		var err error
		if kind, credential, err = t.submittedWith(a); err != nil {
			return nil, err
		}
	}
	newID := t.tx.NewID
	if t.newID != nil {
		newID = t.newID
	}
	return intent.Exec(t.ctx, ruling, activity.Env{
		Tx: t.tx, ServerKeys: t.ServerKeys, ActivityID: a.ID,
		UserID: a.Submitter().UserID, VerifiedBy: a.Submitter().VerifiedBy, CredentialType: kind, Credential: credential, Home: a.DecidedBy,
		Address: t.address,
		Now:     now, NewID: newID, Limits: *t.limits.Load(), Claims: a.Claims, Outbox: t.Outbox, Webhooks: t.Webhooks, ConsoleURL: t.ConsoleURL, Catalog: t.Catalog,
		OAuth2: t.oauth2(a, intent),
		Origins: func() ([]string, error) {
			org, err := t.tx.Organization()
			if err != nil {
				return nil, err
			}
			return t.origins(t.ctx, org)
		},
	})
}

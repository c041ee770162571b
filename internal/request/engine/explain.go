package engine

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/policy"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/decide"
	"latchkey/internal/schema"
	"latchkey/internal/store"
)

// Explain says what would become of an activity. It executes and records
// nothing. Every user who may read the organization may ask.
func (e *Engine) Explain(ctx context.Context, r Request) (*Reply, error) {
	asked, err := explainRequest.read(r.Body)
	if err != nil {
		return nil, err
	}
	org, err := organizationID(asked.OrganizationID)
	if err != nil {
		return nil, err
	}
	now, err := e.supposedTime(asked.Time)
	if err != nil {
		return nil, err
	}
	var op *activity.CompiledOp
	var access activity.Access
	if asked.ActivityID == "" {
		if op, err = e.supposedOperation(asked.Type); err != nil {
			return nil, err
		}
		access = op.Access
	}
	var reply *ExplainReply
	err = e.readAs(ctx, r, org, access, func(t *attempt) (err error) {
		if op == nil {
			reply, err = t.explainRecorded(asked, now)
			return err
		}
		intent, err := e.Catalog.Endpoint(op.Name).Parse(op, asked.Parameters)
		if err != nil {
			return err
		}
		reply, err = t.explainSupposed(asked, intent, now)
		return err
	})
	if err != nil {
		return nil, err
	}
	body, err := schema.Encode(reply)
	return &Reply{Status: http.StatusOK, Body: body}, err
}

// readAs runs fn on a view of an organization, as the user who proves to have
// sent the request. access is what the proof must be good for.
func (e *Engine) readAs(ctx context.Context, r Request, org string, access activity.Access, fn func(*attempt) error) error {
	r.Event.OrganizationID = org
	access.ByRecovery = false // such a key may not read
	caller, err := e.reader(ctx, r, org, access)
	if err != nil {
		return err
	}
	return caller.hideOrganization(viewWithHome(ctx, e.Store, caller, func(home, tx *store.Tx) error {
		who, err := caller.identify(home)
		if err != nil {
			return err
		}
		r.Event.UserID = who.user.ID
		return fn(&attempt{Engine: e, ctx: ctx, home: home, tx: tx, who: who})
	}))
}

// supposedOperation finds the operation that is asked about.
func (e *Engine) supposedOperation(activityType string) (*activity.CompiledOp, error) {
	op := e.Catalog.Op(activityType)
	if op != nil && op.Govern.By == decide.Vote {
		return nil, fault.Fields("", []fault.Field{{
			Path: "type", Description: "is a vote, which no policy decides; explain the activity that it approves or rejects",
		}})
	}
	if op == nil {
		return nil, fault.Fields("", []fault.Field{{Path: "type", Description: "is not the type of an activity that can be submitted"}})
	}
	return op, nil
}

// supposedTime is the time that is given, or now.
func (e *Engine) supposedTime(given string) (time.Time, error) {
	if given == "" {
		return e.Now(), nil
	}
	now, err := time.Parse(time.RFC3339, given)
	if err != nil {
		return now, fault.Fields("", []fault.Field{{Path: "time", Description: "must be a time as in RFC 3339, such as 2026-11-15T12:00:00Z"}})
	}
	return now, nil
}

// explainRecorded explains an activity that waits, with the votes that it has.
func (t *attempt) explainRecorded(asked *ExplainRequest, now time.Time) (*ExplainReply, error) {
	a, err := t.tx.Activity(asked.ActivityID)
	switch {
	case err != nil:
		return nil, err
	case a == nil:
		return nil, fault.Missing("no activity with id %s in this organization", asked.ActivityID)
	case !a.Status.Waits():
		return nil, fault.Invalid("the activity is already %s; only an activity that waits for votes can be explained, "+
			"and get_policy_evaluations tells what was decided on others", a.Status.Word())
	case a.DecidedBy != "" && a.DecidedBy != t.home.Org():
		return nil, fault.Invalid("organization %s decides on this activity; ask as one of its users", a.DecidedBy)
	case a.DecidedBy == "":
		t.home = t.tx // its own policies decide, also when a user of the parent asks
	}
	intent, err := t.reopen(a)
	if err != nil {
		return nil, err
	}
	return t.explain(asked, a, intent, now)
}

// explainSupposed explains what would become of an intent.
func (t *attempt) explainSupposed(asked *ExplainRequest, intent *activity.Intent, now time.Time) (*ExplainReply, error) {
	supposed, err := t.suppose(asked.Approvers, now)
	if err != nil {
		return nil, err
	}
	if asked.Approvers == nil {
		if err := t.withinScope(intent); err != nil {
			refusal, ok := refused(err)
			if !ok {
				return nil, err
			}
			return &ExplainReply{Outcome: "DENY", Reason: refusal.Message, Policies: []ExplainedPolicy{}, CanApprove: []ExplainedVoter{}}, nil
		}
	}
	return t.explain(asked, supposed, intent, now)
}

// explain decides on an activity and says why, by the policies of the
// organization, or by others in their place.
func (t *attempt) explain(asked *ExplainRequest, a *domain.Activity, intent *activity.Intent, now time.Time) (*ExplainReply, error) {
	input, err := t.decisionInput(policy.NewBudget(t.ctx), a, intent, now)
	if err != nil {
		return nil, err
	}
	if input.By == decide.Self {
		return explainSelf(input)
	}
	if asked.Policies != nil {
		if input.Rules, err = t.supposedRules(asked.Policies); err != nil {
			return nil, err
		}
	}
	var supposedNow time.Time
	if asked.Time != "" {
		supposedNow = now
	}
	meter := t.askingMeter(a, input.Facts, supposedNow)
	input.Controls = meter.Measure
	explanation, err := input.Explain()
	if err != nil {
		return nil, err
	}
	reply := renderExplanation(input, explanation, asked.Policies == nil)
	if _, err := meter.Measure(); err != nil {
		return nil, err
	}
	reply.Controls = activity.ControlEvaluations(meter.Recorded(input.ReadsControls()))
	return reply, nil
}

// supposedRules compiles policies that need not exist.
func (t *attempt) supposedRules(given []SupposedPolicy) (*decide.Rules, error) {
	policies := make([]*domain.Policy, len(given))
	for i := range given {
		policies[i] = given[i].policy("supposed " + strconv.Itoa(i))
	}
	users, err := t.home.Users().List("", 0)
	if err != nil {
		return nil, err
	}
	return decide.NewRules(policies, users), nil
}

func explainSelf(input *decide.Input) (*ExplainReply, error) {
	decision, err := input.Decide()
	if err != nil {
		return nil, err
	}
	reply := &ExplainReply{
		Outcome: "ALLOW", Reason: "users may do this for themselves; neither the root quorum nor policies are asked",
		Policies: []ExplainedPolicy{}, CanApprove: []ExplainedVoter{},
	}
	switch decision.Outcome {
	case decide.Allow:
	case decide.Unproven:
		reply.Outcome, reply.Reason = "PENDING", unproven
	case decide.Deny, decide.Pending:
		reply.Outcome, reply.Reason = "DENY", decision.Refusal().Message
	}
	return reply, nil
}

// suppose is the activity as if these users had approved it.
func (t *attempt) suppose(approvers []string, now time.Time) (*domain.Activity, error) {
	a := &domain.Activity{OrganizationID: t.tx.Org()}
	if approvers == nil {
		approvers = []string{t.who.user.ID}
	}
	for _, id := range approvers {
		user, err := t.home.Users().Get(id)
		if err != nil {
			return nil, err
		}
		vote := domain.Vote{UserID: user.ID, Selection: domain.VoteApproved, CreatedAt: now}
		for _, c := range decide.VoterOf(user).Credentials {
			key, _ := user.APIKey(c.PublicKey)
			if vote.CredentialID == "" || !key.Expires() { // a lasting one, if there is any
				vote.CredentialID, vote.PublicKey = c.ID, c.PublicKey
			}
		}
		if user.ID == t.who.user.ID && t.who.credentialID != "" {
			vote.CredentialID = t.who.credentialID
		}
		vote.Method = methodOf(user, vote.CredentialID)
		a.Votes = append(a.Votes, vote)
	}
	if len(a.Votes) == 0 {
		return nil, fault.Fields("", []fault.Field{{Path: "approvers", Description: "must name the submitter at least"}})
	}
	return a, nil
}

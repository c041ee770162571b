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
	r.Event.OrganizationID = org
	op, now, err := e.supposed(asked)
	if err != nil {
		return nil, err
	}
	access := op.Access
	access.ByRecovery = false // it shows policies and users: who may not read them may not ask
	caller, err := e.reader(ctx, r, org, access)
	if err != nil {
		return nil, err
	}
	intent, err := e.Catalog.Endpoint(op.Name).Parse(op, asked.Parameters)
	if err != nil {
		return nil, err
	}
	var reply *ExplainReply
	err = e.viewWithHome(ctx, caller, func(home, tx *store.Tx) error {
		who, err := caller.identify(home)
		if err != nil {
			return err
		}
		r.Event.UserID = who.user.ID
		t := &attempt{Engine: e, ctx: ctx, home: home, tx: tx, who: who}
		reply, err = t.explain(asked, intent, now)
		return err
	})
	if err != nil {
		return nil, caller.hideOrganization(err)
	}
	body, err := schema.Encode(reply)
	return &Reply{Status: http.StatusOK, Body: body}, err
}

// supposed finds the operation that is asked about, and the time to suppose.
func (e *Engine) supposed(asked *ExplainRequest) (op *activity.CompiledOp, now time.Time, err error) {
	op, now = e.Catalog.Op(asked.Type), e.Now()
	if op != nil && op.Govern.By == decide.Vote {
		return nil, now, fault.Fields("", []fault.Field{{
			Path: "type", Description: "is a vote, which no policy decides; explain the activity that it approves or rejects",
		}})
	}
	if op == nil {
		return nil, now, fault.Fields("", []fault.Field{{Path: "type", Description: "is not the type of an activity that can be submitted"}})
	}
	if asked.Time != "" {
		if now, err = time.Parse(time.RFC3339, asked.Time); err != nil {
			return nil, now, fault.Fields("", []fault.Field{{Path: "time", Description: "must be a time as in RFC 3339, such as 2026-11-15T12:00:00Z"}})
		}
	}
	return op, now, nil
}

func (t *attempt) explain(asked *ExplainRequest, intent *activity.Intent, now time.Time) (*ExplainReply, error) {
	supposed, err := t.suppose(asked.Approvers, now)
	if err != nil {
		return nil, err
	}
	input, err := t.decisionInput(policy.NewBudget(t.ctx), supposed, intent, now)
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
	if input.By == decide.Self {
		return explainSelf(input)
	}
	if asked.Policies != nil {
		policies := make([]*domain.Policy, len(asked.Policies))
		for i := range asked.Policies {
			policies[i] = asked.Policies[i].policy("supposed " + strconv.Itoa(i))
		}
		users, err := t.home.Users().List("", 0)
		if err != nil {
			return nil, err
		}
		input.Rules = decide.NewRules(policies, users)
	}
	var supposedNow time.Time
	if asked.Time != "" {
		supposedNow = now
	}
	meter := t.readMeter(supposed, input.Facts, supposedNow)
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

func explainSelf(input *decide.Input) (*ExplainReply, error) {
	decision, err := input.Decide()
	if err != nil {
		return nil, err
	}
	reply := &ExplainReply{
		Outcome: "ALLOW", Reason: "users may do this for themselves; neither the root quorum nor policies are asked",
		Policies: []ExplainedPolicy{}, CanApprove: []ExplainedVoter{},
	}
	if decision.Outcome != decide.Allow {
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
		a.Votes = append(a.Votes, vote)
	}
	if len(a.Votes) == 0 {
		return nil, fault.Fields("", []fault.Field{{Path: "approvers", Description: "must name the submitter at least"}})
	}
	return a, nil
}

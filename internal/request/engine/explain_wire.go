package engine

import (
	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/domain"
	"latchkey/internal/policy"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/decide"
	"latchkey/internal/schema"
)

// ExplainRequest asks what would become of an activity. It is the body of a
// submit request, or names an activity that waits, with what may be supposed
// beside.
type ExplainRequest struct {
	Type           string         `json:"type,omitzero" check:"sampled" doc:"Activity type, of any submit path; required without activityId." example:"ACTIVITY_TYPE_CREATE_WALLET"`
	TimestampMs    string         `json:"timestampMs,omitzero" check:"max=16" doc:"As in a submit request; not looked at."`
	OrganizationID string         `json:"organizationId" check:"required" doc:"Organization to act in."`
	Parameters     jsontext.Value `json:"parameters,omitzero" check:"object,sampled" doc:"Parameters of the operation; required without activityId." example:"{}"`
	ActivityID     string         `json:"activityId,omitzero" check:"uuid,unsampled" doc:"An activity that waits for votes, in the place of type and parameters; it is explained with the votes that it has."`
	// Policies is nil when absent: the organization's own are asked.
	Policies  []SupposedPolicy `json:"policies,omitzero" check:"max=1000" doc:"Policies to suppose in the place of the organization's own."`
	Approvers []string         `json:"approvers,omitzero" check:"max=1000,unique,each=uuid" doc:"Users to suppose as voters, the submitter first; the asker when absent."`
	Time      string           `json:"time,omitzero" check:"max=64" doc:"Time to suppose, RFC 3339; now when absent." example:"2026-11-15T12:00:00Z"`
}

var explainRequest = formOf[ExplainRequest]()

// Check refuses what is neither a request nor a recorded activity, or both.
func (q *ExplainRequest) Check(problems *schema.Problems) {
	for _, member := range []struct {
		name  string
		given bool
	}{{"type", q.Type != ""}, {"parameters", q.Parameters != nil}} {
		switch {
		case q.ActivityID == "" && !member.given:
			problems.Add(member.name, "is required, unless activityId names an activity that waits")
		case q.ActivityID != "" && member.given:
			problems.Add(member.name, "is that of the activity which activityId names; leave it out")
		}
	}
	if q.ActivityID != "" && q.Approvers != nil {
		problems.Add("approvers", "are those of the activity which activityId names; leave them out")
	}
}

// SupposedPolicy is a policy that need not exist.
type SupposedPolicy struct {
	PolicyName string        `json:"policyName" check:"required,label" doc:"Name of the policy."`
	Effect     domain.Effect `json:"effect" check:"required" doc:"What the policy does when it applies."`
	Condition  string        `json:"condition,omitzero" check:"max=20000" doc:"Expression over the request."`
	Consensus  string        `json:"consensus,omitzero" check:"max=20000" doc:"Expression over the approvers."`
	Time       string        `json:"time,omitzero" check:"max=20000" doc:"Expression over the time."`
	Notes      string        `json:"notes,omitzero" check:"max=10000" doc:"Human-readable notes."`
}

// Check compiles the expressions.
func (p *SupposedPolicy) Check(problems *schema.Problems) {
	if _, err := decide.Compile(p.policy("")); err != nil {
		problems.Add("", "%v", err)
	}
}

func (p *SupposedPolicy) policy(id string) *domain.Policy {
	return &domain.Policy{ID: id, Name: p.PolicyName, Effect: p.Effect, Condition: p.Condition, Consensus: p.Consensus, Time: p.Time}
}

// ExplainReply says what would become of an activity, and why.
type ExplainReply struct {
	Outcome    string            `json:"outcome" check:"required,enum=ALLOW|DENY|PENDING" doc:"What would become of it."`
	Reason     string            `json:"reason" check:"required" doc:"In one sentence."`
	RootQuorum ExplainedQuorum   `json:"rootQuorum" check:"required" doc:"How far the root quorum is."`
	Policies   []ExplainedPolicy `json:"policies" check:"required" doc:"Every policy, in the order of creation."`
	CanApprove []ExplainedVoter  `json:"canApprove" check:"required" doc:"Whose vote would still count, where it would wait."`
	// Controls is absent in organizations without velocity controls.
	Controls []activity.ControlEvaluation `json:"controls,omitzero" doc:"Velocity controls that policies read, or that would count the activity."`
}

// ExplainedQuorum is how far the root quorum is.
type ExplainedQuorum struct {
	Threshold int32    `json:"threshold" check:"required" doc:"How many must agree."`
	UserIDs   []string `json:"userIds" check:"required" doc:"Its members."`
	Approved  []string `json:"approved" check:"required" doc:"Members who would have approved."`
}

// ExplainedPolicy is what one policy says.
type ExplainedPolicy struct {
	PolicyID   string          `json:"policyId,omitzero" doc:"The policy; absent when it is supposed."`
	PolicyName string          `json:"policyName" check:"required,allowempty" doc:"Name of the policy."`
	Effect     domain.Effect   `json:"effect" check:"required" doc:"What the policy does when it applies."`
	Outcome    string          `json:"outcome" check:"required" doc:"What it says."`
	Reason     string          `json:"reason,omitzero" doc:"Why it could not be evaluated."`
	Denies     bool            `json:"denies,omitzero" doc:"Whether it refuses the request: a DENY that applies, or one that could not be evaluated."`
	Condition  []ExplainedStep `json:"condition" check:"required" doc:"The value of every part of the condition, the whole first."`
	Consensus  []ExplainedStep `json:"consensus" check:"required" doc:"The value of every part of the consensus."`
	Time       []ExplainedStep `json:"time" check:"required" doc:"The value of every part of the time."`
}

// ExplainedStep is the value of one part of an expression.
type ExplainedStep struct {
	Source string `json:"source" check:"required" doc:"The part."`
	Offset int32  `json:"offset" check:"required" doc:"Where it begins, in bytes."`
	Bound  string `json:"bound,omitzero" doc:"Inside a quantifier: the element that it is about."`
	Value  string `json:"value,omitzero" doc:"Its value."`
	Error  string `json:"error,omitzero" doc:"Why it has none."`
}

// ExplainedVoter is a user who could vote.
type ExplainedVoter struct {
	UserID   string `json:"userId" check:"required,uuid" doc:"The user."`
	UserName string `json:"userName" check:"required" doc:"Name of the user."`
}

const unproven = "it would wait for further factors: the multi-factor policy of a user who approves it is not met"

func renderExplanation(in *decide.Input, e *decide.Explanation, stored bool) *ExplainReply {
	quorum := in.Organization.RootQuorum
	reply := &ExplainReply{
		RootQuorum: ExplainedQuorum{Threshold: quorum.Threshold, UserIDs: append([]string{}, quorum.UserIDs...), Approved: append([]string{}, e.RootApprovals...)},
		Policies:   []ExplainedPolicy{}, CanApprove: []ExplainedVoter{},
	}
	switch {
	case e.Outcome == decide.Allow && !e.Asked && len(e.RootApprovals) >= int(quorum.Threshold):
		reply.Outcome, reply.Reason = "ALLOW", "enough members of the root quorum agree; policies do not bind it"
	case e.Outcome == decide.Allow:
		reply.Outcome, reply.Reason = "ALLOW", "a policy allows it, or users manage their own credentials, and no policy denies it"
	case e.Outcome == decide.Pending:
		reply.Outcome, reply.Reason = "PENDING", "it would wait for further votes"
	case e.Outcome == decide.Unproven:
		reply.Outcome, reply.Reason = "PENDING", unproven
	default:
		reply.Outcome, reply.Reason = "DENY", e.Refusal().Message
	}
	for _, p := range e.Policies {
		effect := domain.EffectAllow
		if p.Policy.Deny {
			effect = domain.EffectDeny
		}
		shown := ExplainedPolicy{
			PolicyName: p.Policy.Name, Effect: effect, Outcome: p.Evaluation.Outcome, Reason: p.Evaluation.Reason,
			Denies:    p.Evaluation.Denies || p.Evaluation.Outcome == string(policy.DenyExplicit),
			Condition: steps(p.Condition), Consensus: steps(p.Consensus), Time: steps(p.Time),
		}
		if stored {
			shown.PolicyID = p.Policy.ID
		}
		reply.Policies = append(reply.Policies, shown)
	}
	for _, u := range e.CanApprove {
		reply.CanApprove = append(reply.CanApprove, ExplainedVoter{UserID: u.ID, UserName: u.Name})
	}
	return reply
}

func steps(trace []policy.Step) []ExplainedStep {
	all := make([]ExplainedStep, len(trace))
	for i, s := range trace {
		all[i] = ExplainedStep{Source: s.Source, Offset: int32(s.Offset), Bound: s.Bound, Value: s.Value}
		if s.Err != nil {
			all[i].Error = s.Err.Reason
		}
	}
	return all
}

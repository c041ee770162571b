package ops

import (
	"context"

	"latchkey/internal/request/activity"
)

// GetPolicyEvaluations reads what the policies said on each vote.
var GetPolicyEvaluations = activity.Query[GetActivityParams, GetPolicyEvaluationsReply]{
	Name:    "get_policy_evaluations",
	Summary: "Read what every policy said when each vote on an activity was cast.",
	Read:    getPolicyEvaluations,
}

// GetPolicyEvaluationsReply is the reply of get_policy_evaluations.
type GetPolicyEvaluationsReply struct {
	PolicyEvaluations []activity.VoteEvaluation `json:"policyEvaluations" check:"required" doc:"One entry for each vote."`
}

func getPolicyEvaluations(_ context.Context, r activity.Reader, p *GetActivityParams) (GetPolicyEvaluationsReply, error) {
	found, err := findActivity(r, p.ActivityID)
	if err != nil {
		return GetPolicyEvaluationsReply{}, err
	}
	return GetPolicyEvaluationsReply{PolicyEvaluations: activity.Evaluations(found)}, nil
}

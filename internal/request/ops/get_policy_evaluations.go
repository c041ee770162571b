package ops

import (
	"context"

	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
)

// GetPolicyEvaluations reads what the policies said on each vote.
var GetPolicyEvaluations = activity.Query[GetActivityParams, GetPolicyEvaluationsReply]{
	Name:    "get_policy_evaluations",
	Summary: "Read what every policy said when each vote on an activity was cast.",
	Read:    getPolicyEvaluations,
}

// GetPolicyEvaluationsReply is the reply of get_policy_evaluations.
type GetPolicyEvaluationsReply struct {
	PolicyEvaluations []VoteEvaluation `json:"policyEvaluations" check:"required" doc:"One entry for each vote."`
}

// VoteEvaluation is what the policies said when a vote was cast.
type VoteEvaluation struct {
	ID                string             `json:"id" check:"required,uuid" doc:"Id of the entry; that of the vote."`
	ActivityID        string             `json:"activityId" check:"required,uuid" doc:"The activity."`
	OrganizationID    string             `json:"organizationId" check:"required,uuid" doc:"Its organization."`
	VoteID            string             `json:"voteId" check:"required,uuid" doc:"The vote."`
	PolicyEvaluations []PolicyEvaluation `json:"policyEvaluations" check:"required" doc:"Each policy, in the order of creation; empty when the policies were not asked."`
	CreatedAt         record.Timestamp   `json:"createdAt" check:"required" doc:"When the vote was cast."`
}

// PolicyEvaluation is what one policy said.
type PolicyEvaluation struct {
	PolicyID string `json:"policyId" check:"required,uuid" doc:"The policy."`
	Outcome  string `json:"outcome" check:"required" doc:"What it said."`
	Reason   string `json:"reason,omitzero" doc:"Why it could not be evaluated."`
}

func getPolicyEvaluations(_ context.Context, r activity.Reader, p *GetActivityParams) (GetPolicyEvaluationsReply, error) {
	found, err := findActivity(r, p.ActivityID)
	if err != nil {
		return GetPolicyEvaluationsReply{}, err
	}
	reply := GetPolicyEvaluationsReply{PolicyEvaluations: []VoteEvaluation{}}
	for _, v := range found.Votes {
		entry := VoteEvaluation{
			ID: v.ID, ActivityID: found.ID, OrganizationID: found.OrganizationID, VoteID: v.ID,
			PolicyEvaluations: []PolicyEvaluation{}, CreatedAt: record.Time(v.CreatedAt),
		}
		for _, e := range v.Evaluations {
			entry.PolicyEvaluations = append(entry.PolicyEvaluations, PolicyEvaluation{PolicyID: e.PolicyID, Outcome: e.Outcome, Reason: e.Reason})
		}
		reply.PolicyEvaluations = append(reply.PolicyEvaluations, entry)
	}
	return reply, nil
}

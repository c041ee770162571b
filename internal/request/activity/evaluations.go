package activity

import (
	"latchkey/internal/domain"
	"latchkey/internal/request/record"
)

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

// Evaluations are what the policies said on each vote of an activity.
func Evaluations(a *domain.Activity) []VoteEvaluation {
	all := make([]VoteEvaluation, len(a.Votes))
	for i := range a.Votes {
		v := &a.Votes[i]
		said := make([]PolicyEvaluation, len(v.Evaluations))
		for k, e := range v.Evaluations {
			said[k] = PolicyEvaluation{PolicyID: e.PolicyID, Outcome: e.Outcome, Reason: e.Reason}
		}
		all[i] = VoteEvaluation{
			ID: v.ID, ActivityID: a.ID, OrganizationID: a.OrganizationID, VoteID: v.ID,
			PolicyEvaluations: said, CreatedAt: record.Time(v.CreatedAt),
		}
	}
	return all
}

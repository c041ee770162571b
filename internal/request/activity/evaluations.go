package activity

import (
	"strconv"

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
	// Controls is absent in organizations without velocity controls.
	Controls []ControlEvaluation `json:"controls,omitzero" doc:"Velocity controls that policies read, or that count the activity."`
}

// ControlEvaluation is what a velocity control had before the activity, and would
// have after it.
type ControlEvaluation struct {
	VelocityControlID string `json:"velocityControlId" check:"required,uuid" doc:"The control."`
	Identifier        string `json:"identifier" check:"required" doc:"Its identifier."`
	GroupID           string `json:"groupId,omitzero" doc:"Group in which the activity counts: the organization, a user, a wallet or a key; absent: none."`
	Used              string `json:"used,omitzero" doc:"What it had, as a decimal number."`
	After             string `json:"after,omitzero" doc:"What it would have with the activity."`
	Left              string `json:"left,omitzero" doc:"What an upper bound left before the activity."`
	Holds             bool   `json:"holds" check:"required" doc:"Whether its comparison holds with the activity."`
	Unreadable        string `json:"unreadable,omitzero" doc:"Why the activity could not be counted."`
	Number            string `json:"number,omitzero" doc:"Number of the entry that counts the activity; absent if it was not completed then."`
}

// ControlEvaluations renders what velocity controls had.
func ControlEvaluations(stored []domain.ControlEvaluation) (all []ControlEvaluation) {
	for _, c := range stored {
		shown := ControlEvaluation{
			VelocityControlID: c.ControlID, Identifier: c.Identifier, GroupID: c.GroupID, Used: c.Used, After: c.After, Left: c.Left,
			Holds: c.Holds, Unreadable: c.Unreadable,
		}
		if c.Entry > 0 {
			shown.Number = strconv.FormatInt(c.Entry, 10)
		}
		all = append(all, shown)
	}
	return all
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
			PolicyEvaluations: said, CreatedAt: record.Time(v.CreatedAt), Controls: ControlEvaluations(v.Controls),
		}
	}
	return all
}

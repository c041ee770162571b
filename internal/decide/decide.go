// Package decide says whether an activity may happen. It changes nothing.
package decide

import (
	"latchkey/internal/domain"
	"latchkey/internal/fault"
)

// Case is everything that a decision rests on.
type Case struct {
	Organization *domain.Organization
	SubmitterID  string
	// OwnUser is the user whose credentials the activity manages, if any.
	OwnUser string
}

// Decide returns nil when the activity is allowed, and the refusal otherwise.
//
// There are no stored policies yet. The root quorum may do anything, where its
// threshold is one; everybody manages his own credentials; all else is refused.
func Decide(c Case) *fault.Error {
	if c.Organization.RootQuorum.Reached(c.SubmitterID) {
		return nil
	}
	if c.OwnUser != "" && c.OwnUser == c.SubmitterID {
		return nil
	}
	return fault.New(fault.PermissionDenied, fault.ReasonForbidden,
		"You don't have sufficient permissions to take this action. "+
			"Ask a root user of the organization to do it.",
	).With(permissionDetail{
		Type:        "type.googleapis.com/errors.v1.PolicyEnginePermissionError",
		Message:     "No policies evaluated to outcome: Allow",
		Evaluations: []evaluation{},
	})
}

type permissionDetail struct {
	Type        string       `json:"@type"`
	Message     string       `json:"message"`
	Evaluations []evaluation `json:"policyEvaluations"`
}

type evaluation struct {
	PolicyID string `json:"policyId"`
	Outcome  string `json:"outcome"`
}

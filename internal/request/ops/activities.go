package ops

import (
	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/request/activity"
)

// This file holds what several operations say about activities.

// GetActivityParams are the parameters of get_activity and
// get_policy_evaluations.
type GetActivityParams struct {
	OrganizationID string `json:"organizationId" check:"required" doc:"Organization to read."`
	ActivityID     string `json:"activityId" check:"required,uuid" doc:"Activity to read."`
}

// findActivity reads an activity that must exist.
func findActivity(r activity.Reader, id string) (*domain.Activity, error) {
	found, err := r.Tx.Activity(id)
	hidden := r.AttestedKey != "" && found != nil && found.Submitter().PublicKey != r.AttestedKey
	if err == nil && (found == nil || hidden) {
		err = fault.Missing("no activity with id %s in this organization", id)
	}
	return found, err
}

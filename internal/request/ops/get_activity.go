package ops

import (
	"context"

	"latchkey/internal/fault"
	"latchkey/internal/request/activity"
)

// GetActivity reads one activity.
var GetActivity = activity.Query[GetActivityParams, activity.Reply]{
	Name:    "get_activity",
	Summary: "Read one activity with its votes and its result.",
	Read:    getActivity,
}

// GetActivityParams are the parameters of get_activity.
type GetActivityParams struct {
	OrganizationID string `json:"organizationId" check:"required" doc:"Organization to read."`
	ActivityID     string `json:"activityId" check:"required,uuid" doc:"Activity to read."`
}

func getActivity(_ context.Context, r activity.Reader, p *GetActivityParams) (activity.Reply, error) {
	found, err := r.Tx.Activity(p.ActivityID)
	if err != nil {
		return activity.Reply{}, err
	}
	if found == nil {
		return activity.Reply{}, fault.Missing("no activity with id %s in this organization", p.ActivityID)
	}
	view, err := r.Activity(found)
	return activity.Reply{Activity: view}, err
}

package ops

import (
	"context"
	"slices"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/store"
)

// ListActivities reads activities, newest first.
var ListActivities = activity.Query[ListActivitiesParams, ListActivitiesReply]{
	Name:    "list_activities",
	Summary: "Read activities, newest first, a page at a time.",
	Read:    listActivities,
}

// ListActivitiesParams are the parameters of list_activities.
type ListActivitiesParams struct {
	OrganizationID    string                  `json:"organizationId" check:"required" doc:"Organization to read."`
	FilterByStatus    []domain.ActivityStatus `json:"filterByStatus,omitzero" check:"max=10" doc:"Only activities with one of these statuses."`
	FilterByType      []string                `json:"filterByType,omitzero" check:"max=200" doc:"Only activities of one of these types."`
	PaginationOptions Pagination              `json:"paginationOptions,omitzero" doc:"Which page."`
}

// ListActivitiesReply is the reply of list_activities.
type ListActivitiesReply struct {
	Activities []activity.View `json:"activities" check:"required" doc:"Activities, newest first."`
}

func listActivities(_ context.Context, r activity.Reader, p *ListActivitiesParams) (ListActivitiesReply, error) {
	q := store.ActivityQuery{
		Types: p.FilterByType, Before: p.PaginationOptions.Before, After: p.PaginationOptions.After,
		Limit: p.PaginationOptions.size(), MaxBytes: maxPageBytes,
	}
	for _, status := range p.FilterByStatus {
		q.Statuses = append(q.Statuses, string(status))
	}
	found, err := r.Tx.Activities(q)
	if err != nil {
		return ListActivitiesReply{}, err
	}
	// The page begins at its cursor, on whichever side of it that is: what is
	// too much is left out at the other end.
	if q.Backwards() {
		slices.Reverse(found)
	}
	var reply ListActivitiesReply
	size := 0
	for _, a := range found {
		view, err := r.ListedActivity(a)
		if err != nil {
			return ListActivitiesReply{}, err
		}
		if size += view.Size(); (size > maxPageBytes || r.Exhausted()) && len(reply.Activities) > 0 {
			break
		}
		reply.Activities = append(reply.Activities, view)
	}
	if q.Backwards() {
		slices.Reverse(reply.Activities)
	}
	return reply, nil
}

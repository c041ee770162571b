package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
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

// Pagination selects a page of a list. Both cursors are ids of the page at
// hand: after its last for the next page, before its first for the previous.
type Pagination struct {
	Limit  schema.Uint64 `json:"limit,omitzero" check:"min=1,max=100" doc:"Most records to return; 10 when absent."`
	Before string        `json:"before,omitzero" check:"uuid" doc:"Return the records that stand before this id in the list."`
	After  string        `json:"after,omitzero" check:"uuid" doc:"Return the records that stand after this id in the list."`
}

const defaultPage = 10

// size is the number of records on the page.
func (p Pagination) size() int {
	if p.Limit == 0 {
		return defaultPage
	}
	return int(p.Limit)
}

// ListActivitiesReply is the reply of list_activities.
type ListActivitiesReply struct {
	Activities []activity.View `json:"activities" check:"required" doc:"Activities, newest first."`
}

func listActivities(_ context.Context, r activity.Reader, p *ListActivitiesParams) (ListActivitiesReply, error) {
	q := store.ActivityQuery{
		Types: p.FilterByType, Before: p.PaginationOptions.Before, After: p.PaginationOptions.After,
		Limit: p.PaginationOptions.size(),
	}
	for _, status := range p.FilterByStatus {
		q.Statuses = append(q.Statuses, string(status))
	}
	found, err := r.Tx.Activities(q)
	if err != nil {
		return ListActivitiesReply{}, err
	}
	var reply ListActivitiesReply
	for _, a := range found {
		view, err := r.Activity(a)
		if err != nil {
			return ListActivitiesReply{}, err
		}
		reply.Activities = append(reply.Activities, view)
	}
	return reply, nil
}

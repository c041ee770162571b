package ops

import (
	"context"
	"sort"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
)

// ListVelocityControls reads the limits over time.
var ListVelocityControls = activity.Query[ListVelocityControlsParams, ListVelocityControlsReply]{
	Name:    "list_velocity_controls",
	Summary: "Read the limits over time of the organization, a page at a time.",
	Read:    listVelocityControls,
}

// ListVelocityControlsParams are the parameters of list_velocity_controls.
type ListVelocityControlsParams struct {
	OrganizationID    string     `json:"organizationId" check:"required" doc:"Organization to read."`
	PaginationOptions Pagination `json:"paginationOptions,omitzero" doc:"Which page."`
}

// ListVelocityControlsReply is the reply of list_velocity_controls.
type ListVelocityControlsReply struct {
	VelocityControls []VelocityControl `json:"velocityControls" check:"required" doc:"Controls in the order of creation."`
	PageInfo         record.PageInfo   `json:"pageInfo" check:"required" doc:"Where the page is in the list."`
}

func listVelocityControls(_ context.Context, r activity.Reader, p *ListVelocityControlsParams) (ListVelocityControlsReply, error) {
	all, err := r.Tx.VelocityControls().List("", 0)
	if err != nil {
		return ListVelocityControlsReply{}, err
	}
	page, info := p.PaginationOptions.cut(all)
	return ListVelocityControlsReply{VelocityControls: record.Each(page, velocityControlRecord(r.Tx.Org())), PageInfo: info}, nil
}

// cut takes the page out of the whole list, which is ordered by id.
func (p Pagination) cut(all []*domain.VelocityControl) ([]*domain.VelocityControl, record.PageInfo) {
	id := func(c *domain.VelocityControl) string { return c.ID }
	from, to := 0, len(all)
	if p.After != "" {
		from = sort.Search(len(all), func(i int) bool { return id(all[i]) > p.After })
	}
	if p.Before != "" {
		to = max(from, sort.Search(len(all), func(i int) bool { return id(all[i]) >= p.Before }))
	}
	if size := p.size(); to-from > size {
		if p.Before != "" && p.After == "" {
			from = to - size
		} else {
			to = from + size
		}
	}
	info := record.PageInfo{HasNextPage: to < len(all), HasPreviousPage: from > 0}
	if from < to {
		info.StartCursor, info.EndCursor = id(all[from]), id(all[to-1])
	}
	return all[from:to], info
}

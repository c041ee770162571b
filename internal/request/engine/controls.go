package engine

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/decide"
	"latchkey/internal/request/record"
	"latchkey/internal/schema"
	"latchkey/internal/store"
	"latchkey/internal/velocity"
)

// ControlsRequest asks what velocity controls have counted.
type ControlsRequest struct {
	OrganizationID string        `json:"organizationId" check:"required" doc:"Organization to read."`
	Identifier     string        `json:"identifier,omitzero" check:"max=64" doc:"Only this control; all when absent."`
	GroupID        string        `json:"groupId,omitzero" check:"max=200,unsampled" doc:"Only this group of the control that identifier names."`
	Points         schema.Uint64 `json:"points,omitzero" check:"min=2,max=100,unsampled" doc:"Also tell what that group had at so many times, from sinceMs to now."`
	SinceMs        string        `json:"sinceMs,omitzero" check:"max=15,unsampled" doc:"Time of the first of the points, in milliseconds since the Unix epoch." example:"1794708835768"`
	Limit          schema.Uint64 `json:"limit,omitzero" check:"min=1,max=100" doc:"Most groups to return; 10 when absent."`
	After          string        `json:"after,omitzero" check:"max=200" doc:"Return what follows this cursor, the endCursor of a page."`
}

var controlsRequest = formOf[ControlsRequest]()

// ControlsReply is the answer to a [ControlsRequest].
type ControlsReply struct {
	Controls []CountedControl `json:"controls" check:"required" doc:"Controls in the order of creation; of a control whose groups fill the page the next page has more."`
	PageInfo record.PageInfo  `json:"pageInfo" check:"required" doc:"Where the page is in the list of all groups."`
}

// CountedControl is what one control has counted.
type CountedControl struct {
	VelocityControlID string         `json:"velocityControlId" check:"required,uuid" doc:"The control."`
	Identifier        string         `json:"identifier" check:"required" doc:"Its identifier."`
	Unreadable        string         `json:"unreadable" check:"required" doc:"How many activities were executed that it could not read."`
	Groups            []CountedGroup `json:"groups" check:"required" doc:"What has a sum of its own."`
}

// CountedGroup is what a control has counted in one group.
type CountedGroup struct {
	GroupID string         `json:"groupId" check:"required" doc:"The organization, a user, a wallet, or a private key without one."`
	Used    string         `json:"used" check:"required" doc:"What is in the window, as a decimal number."`
	Left    string         `json:"left,omitzero" doc:"What an upper bound leaves; absent where the control is none."`
	NextMs  string         `json:"nextMs,omitzero" doc:"When the next amount leaves the window, in milliseconds since the Unix epoch; absent if none will."`
	History []CountedPoint `json:"history,omitzero" doc:"What it had at the times that were asked for, the oldest first."`
}

// Controls says what velocity controls have counted. Every user who may read the
// organization may ask.
func (e *Engine) Controls(ctx context.Context, r Request) (*Reply, error) {
	asked, err := controlsRequest.read(r.Body)
	if err != nil {
		return nil, err
	}
	org, err := organizationID(asked.OrganizationID)
	if err != nil {
		return nil, err
	}
	var reply *ControlsReply
	err = e.readAs(ctx, r, org, activity.Access{}, func(t *attempt) (err error) {
		reply, err = countedControls(t.tx, asked)
		return err
	})
	if err != nil {
		return nil, err
	}
	body, err := schema.Encode(reply)
	return &Reply{Status: http.StatusOK, Body: body}, err
}

// countedControls reads a page of groups. A cursor is a control and a group.
func countedControls(tx *store.Tx, asked *ControlsRequest) (*ControlsReply, error) {
	controls, err := decide.ControlsOf(tx)
	if err != nil {
		return nil, err
	}
	if asked.Identifier != "" {
		controls = slices.DeleteFunc(slices.Clone(controls), func(c *velocity.Control) bool { return c.Identifier != asked.Identifier })
		if len(controls) == 0 {
			return nil, fault.Missing("no velocity control with the identifier %s in this organization", asked.Identifier)
		}
	}
	afterControl, afterGroup, _ := strings.Cut(asked.After, "/")
	limit := int(asked.Limit)
	if limit == 0 {
		limit = 10
	}
	reply := &ControlsReply{Controls: []CountedControl{}}
	reply.PageInfo.HasPreviousPage = asked.After != ""
	for _, c := range controls {
		if c.ID < afterControl {
			continue
		}
		after := ""
		if c.ID == afterControl {
			after = afterGroup
		}
		// One more than fits says whether there is a further page.
		groups, err := groupsOf(tx, c, asked, after, limit+1)
		if err != nil {
			return nil, err
		}
		counted, err := countedControl(tx, c, asked, groups[:min(limit, len(groups))])
		if err != nil {
			return nil, err
		}
		reply.Controls = append(reply.Controls, *counted)
		for _, g := range counted.Groups {
			cursor := c.ID + "/" + g.GroupID
			if reply.PageInfo.StartCursor == "" {
				reply.PageInfo.StartCursor = cursor
			}
			reply.PageInfo.EndCursor = cursor
		}
		if limit -= len(counted.Groups); len(groups) > len(counted.Groups) || limit == 0 && c != controls[len(controls)-1] {
			reply.PageInfo.HasNextPage = true
			break
		}
	}
	return reply, nil
}

func countedControl(tx *store.Tx, c *velocity.Control, asked *ControlsRequest, groups []*domain.Tally) (*CountedControl, error) {
	now, err := tx.DatabaseTime()
	if err != nil {
		return nil, err
	}
	counted := &CountedControl{VelocityControlID: c.ID, Identifier: c.Identifier, Unreadable: "0", Groups: []CountedGroup{}}
	missed, err := tx.ReadTally(store.TallyGroup{ControlID: c.ID, GroupID: domain.UnreadableGroup})
	if err != nil {
		return nil, err
	}
	if newest := missed.Newest(); newest != nil {
		counted.Unreadable = strconv.FormatInt(newest.Number, 10)
	}
	for _, g := range groups {
		book, err := tx.ReadTally(store.TallyGroup{ControlID: c.ID, GroupID: g.GroupID})
		if err != nil {
			return nil, err
		}
		sum, err := c.Sum(book, now)
		if err != nil {
			return nil, err
		}
		shown := CountedGroup{GroupID: g.GroupID, Used: c.Text(sum.Used)}
		if left, ok := c.Left(sum.Used); ok {
			shown.Left = c.Text(left)
		}
		if sum.NextMs > 0 {
			shown.NextMs = strconv.FormatInt(sum.NextMs, 10)
		}
		if shown.History, err = history(c, book, asked, now); err != nil {
			return nil, err
		}
		counted.Groups = append(counted.Groups, shown)
	}
	return counted, nil
}

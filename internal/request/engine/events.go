package engine

import (
	"cmp"
	"context"
	"net/http"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/feed"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
	"latchkey/internal/store"
)

// EventsRequest asks for events, or for a stream of them.
type EventsRequest struct {
	OrganizationID          string                  `json:"organizationId" check:"required" doc:"Organization to read."`
	After                   string                  `json:"after,omitzero" check:"max=100" doc:"Cursor of the last event that was seen, or now; from the first event when absent." example:"now"`
	Limit                   int32                   `json:"limit,omitzero" check:"min=1,max=1000" doc:"At most so many events; 100 when absent. A stream has no end." example:"100"`
	IncludeSubOrganizations bool                    `json:"includeSubOrganizations,omitzero" doc:"Events of the organization's sub-organizations too, deleted ones included."`
	Types                   []string                `json:"types,omitzero" check:"max=200,unique" doc:"Only of activities of these types." example:"ACTIVITY_TYPE_CREATE_WALLET"`
	Statuses                []domain.ActivityStatus `json:"statuses,omitzero" check:"max=10" doc:"Only of activities that came to these statuses."`
}

var eventsRequest = formOf[EventsRequest]()

// EventsReply is the answer to an [EventsRequest].
type EventsReply struct {
	Events []EventView `json:"events" check:"required" doc:"Events, in the order of the log."`
	Cursor string      `json:"cursor" check:"required" doc:"Where to go on: after the last event, and after what filters left out. There is no more for now when it is the one that was sent."`
}

// EventView is an event as a client reads it.
type EventView struct {
	Cursor         string        `json:"cursor" check:"required" doc:"Place after the event; it stays valid."`
	EventID        string        `json:"eventId" check:"required" doc:"Id of the event, the same wherever it is shown."`
	EventType      string        `json:"eventType" check:"required,enum=ACTIVITY_UPDATES" doc:"What the event is about."`
	OrganizationID string        `json:"organizationId" check:"required,uuid" doc:"Organization of the activity."`
	Activity       activity.View `json:"activity" check:"required" doc:"The activity as it stood right after the change, without texts that would serve a reader."`
}

const usualEvents = 100

// eventsAccess lets parents read what their deleted children have left.
var eventsAccess = activity.Access{Deleted: true}

// Events reads events from a place on. Every user who may read the organization may
// ask.
func (e *Engine) Events(ctx context.Context, r Request) (*Reply, error) {
	begun, err := e.beginEvents(ctx, r, e.readProof)
	if err != nil {
		return nil, err
	}
	page := &feed.Page{Next: begun.from}
	if begun.asked.After != "now" {
		limit := int(cmp.Or(begun.asked.Limit, usualEvents))
		if page, err = e.Feed.Next(ctx, begun.query, begun.from, limit); err != nil {
			return nil, err
		}
	}
	reply := EventsReply{Events: make([]EventView, len(page.Events))}
	for i := range page.Events {
		if reply.Events[i], err = e.eventView(&page.Events[i]); err != nil {
			return nil, err
		}
	}
	if reply.Cursor, err = e.Feed.Cursor(page.Next); err != nil {
		return nil, err
	}
	body, err := schema.Encode(&reply)
	return &Reply{Status: http.StatusOK, Body: body}, err
}

// eventsReading is a request for events that was admitted.
type eventsReading struct {
	asked  *EventsRequest
	caller *caller
	query  feed.Query
	from   domain.LogPlace
}

// beginEvents reads a request for events, admits its caller, who is proven as the
// interface takes it, and finds where to begin.
func (e *Engine) beginEvents(ctx context.Context, r Request, prove func(http.Header, activity.Access) (proof, error)) (*eventsReading, error) {
	asked, err := e.openEvents(r)
	if err != nil {
		return nil, err
	}
	proof, err := prove(r.Header, eventsAccess)
	if err != nil {
		return nil, err
	}
	caller, err := e.admitReader(ctx, proof, asked, r)
	if err != nil {
		return nil, err
	}
	from, err := e.eventsFrom(ctx, asked.After)
	return &eventsReading{asked, caller, asked.query(caller.target), from}, err
}

// openEvents reads the body of a request for events.
func (e *Engine) openEvents(r Request) (*EventsRequest, error) {
	asked, err := eventsRequest.read(r.Body)
	if err != nil {
		return nil, err
	}
	if asked.OrganizationID, err = organizationID(asked.OrganizationID); err != nil {
		return nil, err
	}
	for _, name := range asked.Types {
		if e.Catalog.Op(name) == nil {
			return nil, fault.Fields("", []fault.Field{{Path: "types", Description: "has one that is not the type of an activity, such as ACTIVITY_TYPE_CREATE_WALLET"}})
		}
	}
	r.Event.OrganizationID = asked.OrganizationID
	return asked, nil
}

func (asked *EventsRequest) query(org string) feed.Query {
	q := feed.Query{Organization: org, Children: asked.IncludeSubOrganizations, Types: asked.Types}
	for _, status := range asked.Statuses {
		q.Statuses = append(q.Statuses, string(status))
	}
	return q
}

// admitReader finds the caller of a request for events.
func (e *Engine) admitReader(ctx context.Context, p proof, asked *EventsRequest, r Request) (*caller, error) {
	c, err := e.admit(ctx, e.Store, p, asked.OrganizationID, r, eventsAccess)
	if err != nil {
		return nil, err
	}
	r.Event.UserID = c.found.user.ID
	// Once more, after the signature was verified, as every other read does.
	return c, e.Store.View(ctx, c.home, func(home *store.Tx) error {
		_, err := c.identify(home)
		return err
	})
}

// eventsFrom is where to begin.
func (e *Engine) eventsFrom(ctx context.Context, after string) (domain.LogPlace, error) {
	switch after {
	case "":
		return domain.LogPlace{}, nil
	case "now":
		return e.Feed.End(ctx)
	}
	return e.Feed.ParseCursor(ctx, after)
}

func (e *Engine) eventView(event *feed.Event) (EventView, error) {
	cursor, err := e.Feed.Cursor(event.Next)
	return EventView{
		Cursor: cursor, EventID: event.ID, EventType: feed.Type, OrganizationID: event.OrganizationID, Activity: event.Activity,
	}, err
}

package engine

import (
	"cmp"
	"context"

	"latchkey/internal/schema"
)

// OwnOperation is an operation that is not of the public interface but our own.
// It asks something; every user who may read the organization may ask.
type OwnOperation struct {
	Name    string
	At      string // below /latchkey/v1; empty: under its name
	Summary string
	Tag     string // under which the OpenAPI document lists it
	// Guide is the page that shows how to use it, below docs, and what it is called.
	Guide, GuideTitle string
	Request, Reply    *schema.Schema
	// Streams says that it answers with server-sent events, each of which is a Reply.
	Streams bool
	Serve   func(*Engine, context.Context, Request) (*Reply, error)
}

// Path is where the operation is served.
func (o *OwnOperation) Path() string { return "/latchkey/v1/" + cmp.Or(o.At, o.Name) }

// OwnOperations lists them all.
func OwnOperations() []OwnOperation {
	return []OwnOperation{
		{
			Name: "explain", Tag: "policies",
			Summary: "Tell what would become of an activity, and why; nothing is executed or recorded.",
			Guide:   "concepts/policies.md#try-before-you-write", GuideTitle: "Policies",
			Request: schema.Of[ExplainRequest](), Reply: schema.Of[ExplainReply](), Serve: (*Engine).Explain,
		},
		{
			Name: "receipt", Tag: "activities",
			Summary: "Prove that an activity is in the log, in a form that can be verified offline.",
			Guide:   "audit.md", GuideTitle: "The page for auditors",
			Request: schema.Of[ReceiptRequest](), Reply: schema.Of[ReceiptReply](), Serve: (*Engine).Receipt,
		},
		{
			Name: "events", Tag: "activities",
			Summary: "Read what happened to activities, in the order in which it did, from any place on.",
			Guide:   "events.md", GuideTitle: "Events",
			Request: schema.Of[EventsRequest](), Reply: schema.Of[EventsReply](), Serve: (*Engine).Events,
		},
		{
			Name: "events_stream", At: "events/stream", Tag: "activities", Streams: true,
			Summary: "Be told what happens to activities, as it happens: server-sent events, whose ids are cursors.",
			Guide:   "events.md#the-stream", GuideTitle: "Events",
			Request: schema.Of[EventsRequest](), Reply: schema.Of[EventView](), Serve: (*Engine).StreamEvents,
		},
	}
}

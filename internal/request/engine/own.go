package engine

import (
	"cmp"
	"context"

	"latchkey/internal/fault"
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

// form is what the request of an own operation looks like.
type form[T any] struct{ *schema.Schema }

func formOf[T any]() form[T] { return form[T]{schema.Of[T]()} }

func (f form[T]) read(body []byte) (*T, error) {
	request := new(T)
	if problems := f.Decode(body, request); len(problems) > 0 {
		return nil, fault.Fields("", problems)
	}
	return request, nil
}

// OwnOperations lists them all.
func OwnOperations() []OwnOperation {
	return []OwnOperation{
		{
			Name: "backtest", Tag: "policies",
			Summary: "Decide recorded activities again by other policies, and tell which would have gone another way; nothing is executed or recorded.",
			Guide:   "policies-as-code.md#back-test", GuideTitle: "Policies as code",
			Request: backtestRequest.Schema, Reply: schema.Of[BacktestReply](), Serve: (*Engine).Backtest,
		},
		{
			Name: "explain", Tag: "policies",
			Summary: "Tell what would become of an activity, and why; nothing is executed or recorded.",
			Guide:   "concepts/policies.md#try-before-you-write", GuideTitle: "Policies",
			Request: explainRequest.Schema, Reply: schema.Of[ExplainReply](), Serve: (*Engine).Explain,
		},
		{
			Name: "receipt", Tag: "activities",
			Summary: "Prove that an activity is in the log, in a form that can be verified offline.",
			Guide:   "audit.md", GuideTitle: "The page for auditors",
			Request: receiptRequest.Schema, Reply: schema.Of[ReceiptReply](), Serve: (*Engine).Receipt,
		},
		{
			Name: "events", Tag: "activities",
			Summary: "Read what happened to activities, in the order in which it did, from any place on.",
			Guide:   "events.md", GuideTitle: "Events",
			Request: eventsRequest.Schema, Reply: schema.Of[EventsReply](), Serve: (*Engine).Events,
		},
		{
			Name: "events_stream", At: "events/stream", Tag: "activities", Streams: true,
			Summary: "Be told what happens to activities, as it happens: server-sent events, whose ids are cursors.",
			Guide:   "events.md#the-stream", GuideTitle: "Events",
			Request: eventsRequest.Schema, Reply: schema.Of[EventView](), Serve: (*Engine).StreamEvents,
		},
		{
			Name: "controls", Tag: "policies",
			Summary: "Read what velocity controls have counted, and what they leave.",
			Guide:   "limits.md", GuideTitle: "Limits over time",
			Request: controlsRequest.Schema, Reply: schema.Of[ControlsReply](), Serve: (*Engine).Controls,
		},
		{
			Name: "test_webhook_endpoint", At: "webhooks/test", Tag: "webhooks",
			Summary: "Send a signed test event to a webhook endpoint now, and report what came back.",
			Guide:   "webhooks.md", GuideTitle: "Webhooks",
			Request: testWebhookRequest.Schema, Reply: schema.Of[TestWebhookReply](), Serve: (*Engine).TestWebhook,
		},
	}
}

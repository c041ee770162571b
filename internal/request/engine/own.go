package engine

import (
	"cmp"
	"context"

	"latchkey/internal/schema"
)

// OwnOperation is an operation that is not of the public interface but our own.
// It asks something; every user who may read the organization may ask.
type OwnOperation struct {
	Name string
	// At is its path below /latchkey/v1/; Name when empty.
	At      string
	Summary string
	Tag     string // under which the OpenAPI document lists it
	// Guide is the page that shows how to use it, below docs, and what it is called.
	Guide, GuideTitle string
	Request, Reply    *schema.Schema
	Serve             func(*Engine, context.Context, Request) (*Reply, error)
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
			Name: "test_webhook_endpoint", At: "webhooks/test", Tag: "webhooks",
			Summary: "Send a signed test event to a webhook endpoint now, and report what came back.",
			Guide:   "webhooks.md", GuideTitle: "Webhooks",
			Request: schema.Of[TestWebhookRequest](), Reply: schema.Of[TestWebhookReply](), Serve: (*Engine).TestWebhook,
		},
	}
}

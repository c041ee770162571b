package engine

import (
	"context"

	"latchkey/internal/schema"
)

// OwnOperation is an operation that is not of the public interface but our own.
// It asks something; every user who may read the organization may ask.
type OwnOperation struct {
	Name    string
	Summary string
	Tag     string // under which the OpenAPI document lists it
	// Guide is the page that shows how to use it, below docs, and what it is called.
	Guide, GuideTitle string
	Request, Reply    *schema.Schema
	Serve             func(*Engine, context.Context, Request) (*Reply, error)
}

// Path is where the operation is served.
func (o *OwnOperation) Path() string { return "/latchkey/v1/" + o.Name }

// OwnOperations lists them all.
func OwnOperations() []OwnOperation {
	return []OwnOperation{
		{
			Name: "backtest", Tag: "policies",
			Summary: "Decide recorded activities again by other policies, and tell which would have gone another way; nothing is executed or recorded.",
			Guide:   "policies-as-code.md#back-test", GuideTitle: "Policies as code",
			Request: schema.Of[BacktestRequest](), Reply: schema.Of[BacktestReply](), Serve: (*Engine).Backtest,
		},
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
			Name: "controls", Tag: "policies",
			Summary: "Read what velocity controls have counted, and what they leave.",
			Guide:   "limits.md", GuideTitle: "Limits over time",
			Request: schema.Of[ControlsRequest](), Reply: schema.Of[ControlsReply](), Serve: (*Engine).Controls,
		},
	}
}

package engine

import (
	"context"
	"net/http"

	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
	"latchkey/internal/store"
	"latchkey/internal/webhook"
)

// Webhooks delivers events; package webhook has it.
type Webhooks interface {
	activity.Webhooks
	// Test sends an endpoint an event that says nothing.
	Test(ctx context.Context, org, endpointID string) (webhook.Trial, error)
}

// TestWebhookRequest asks to try an endpoint.
type TestWebhookRequest struct {
	OrganizationID string `json:"organizationId" check:"required" doc:"Organization of the endpoint."`
	EndpointID     string `json:"endpointId" check:"required,uuid" doc:"The endpoint."`
}

var testWebhookRequest = formOf[TestWebhookRequest]()

// TestWebhookReply is the answer to a [TestWebhookRequest].
type TestWebhookReply struct {
	Delivered  bool   `json:"delivered" check:"required" doc:"Whether the receiver took the event, with a status from 200 to 299."`
	EventID    string `json:"eventId" check:"required" doc:"Id of the event, as the receiver has seen it."`
	Error      string `json:"error,omitzero" doc:"Why it was not delivered; absent if it was."`
	DurationMs int32  `json:"durationMs" check:"required" doc:"How long the receiver took to answer."`
}

// TestWebhook sends a signed event that says nothing to an endpoint now, and reports
// what came back. Members of the organization may ask, with a stamp: a session reads
// only, and this makes the server send something.
func (e *Engine) TestWebhook(ctx context.Context, r Request) (*Reply, error) {
	asked, err := testWebhookRequest.read(r.Body)
	if err != nil {
		return nil, err
	}
	org, err := organizationID(asked.OrganizationID)
	if err != nil {
		return nil, err
	}
	r.Event.OrganizationID = org
	proof, err := e.readStamp(r.Header, activity.Access{})
	if err != nil {
		return nil, err
	}
	caller, err := e.authenticate(ctx, e.Store, proof, org, r, activity.Access{})
	if err != nil {
		return nil, err
	}
	if err := caller.authorizeRead(activity.Access{}); err != nil {
		return nil, err
	}
	err = viewWithHome(ctx, e.Store, caller, func(home, _ *store.Tx) error {
		who, err := caller.identify(home)
		if err == nil {
			r.Event.UserID = who.user.ID
		}
		return err
	})
	if err != nil {
		return nil, caller.hideOrganization(err)
	}
	trial, err := e.Webhooks.Test(ctx, caller.target, asked.EndpointID)
	if err != nil {
		return nil, caller.hideOrganization(err)
	}
	body, err := schema.Encode(&TestWebhookReply{
		Delivered: trial.Failure == "", EventID: trial.EventID, Error: trial.Failure, DurationMs: int32(trial.Took.Milliseconds()),
	})
	return &Reply{Status: http.StatusOK, Body: body}, err
}

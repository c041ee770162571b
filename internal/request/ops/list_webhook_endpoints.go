package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
)

// ListWebhookEndpoints reads all endpoints, and how far their deliveries are.
var ListWebhookEndpoints = activity.Query[InOrganization, ListWebhookEndpointsReply]{
	Name:    "list_webhook_endpoints",
	Summary: "Read all webhook endpoints, and how far the deliveries to them are.",
	Read:    listWebhookEndpoints,
}

// ListWebhookEndpointsReply is the reply of list_webhook_endpoints.
type ListWebhookEndpointsReply struct {
	WebhookEndpoints []ListedWebhookEndpoint `json:"webhookEndpoints" check:"required" doc:"Endpoints in the order of creation; that of FEATURE_NAME_WEBHOOK has the id of the organization."`
}

// ListedWebhookEndpoint is an endpoint with the state of its deliveries.
type ListedWebhookEndpoint struct {
	WebhookEndpoint
	State           WebhookState  `json:"state" check:"required" doc:"DELIVERING: up to date, or on the way there. RETRYING: the last attempt failed. PAUSED: by isActive. SWITCHED_OFF: by a 410, or after three days of failures; isActive true resumes it."`
	LastError       string        `json:"lastError,omitzero" doc:"Why the last attempt failed; absent after one that did not."`
	LastDeliveredMs schema.Uint64 `json:"lastDeliveredMs,omitzero" doc:"When an event was last taken, in milliseconds since the Unix epoch; absent: none was."`
	Waiting         int32         `json:"waiting" check:"required" doc:"How many events were not delivered yet; counted up to 1,000."`
}

// WebhookState says what becomes of deliveries.
type WebhookState string

// What can become of deliveries.
const (
	webhookDelivering  WebhookState = "DELIVERING"
	webhookRetrying    WebhookState = "RETRYING"
	webhookPaused      WebhookState = "PAUSED"
	webhookSwitchedOff WebhookState = "SWITCHED_OFF"
)

// Enum lists the states for the schema.
func (WebhookState) Enum() []string {
	return []string{string(webhookDelivering), string(webhookRetrying), string(webhookPaused), string(webhookSwitchedOff)}
}

func listWebhookEndpoints(ctx context.Context, r activity.Reader, _ *InOrganization) (ListWebhookEndpointsReply, error) {
	reply := ListWebhookEndpointsReply{WebhookEndpoints: []ListedWebhookEndpoint{}}
	org, err := r.Tx.Organization()
	if err != nil {
		return reply, err
	}
	all, err := r.Tx.WebhookEndpoints().List("", 0)
	if err != nil || len(all) == 0 {
		return reply, err
	}
	progress, err := r.Tx.WebhookProgress()
	if err != nil {
		return reply, err
	}
	for _, e := range all {
		p := progress[e.ID]
		if p == nil { // the server that delivers has not seen it yet
			p = &domain.WebhookProgress{OrganizationID: org.ID, EndpointID: e.ID}
		}
		listed := listedEndpoint(org.ID, e, p)
		waiting, err := r.Webhooks.Waiting(ctx, e, p)
		if err != nil {
			return reply, err
		}
		listed.Waiting = int32(waiting)
		reply.WebhookEndpoints = append(reply.WebhookEndpoints, listed)
	}
	return reply, nil
}

func listedEndpoint(org string, e *domain.WebhookEndpoint, p *domain.WebhookProgress) ListedWebhookEndpoint {
	listed := ListedWebhookEndpoint{WebhookEndpoint: endpointRecord(org, e), State: webhookDelivering, LastError: p.LastError}
	if !p.Delivered.IsZero() {
		listed.LastDeliveredMs = schema.Uint64(p.Delivered.UnixMilli())
	}
	switch {
	case p.SwitchedOff != "":
		listed.State, listed.LastError, listed.IsActive = webhookSwitchedOff, p.SwitchedOff, false
	case e.Paused:
		listed.State = webhookPaused
	case p.Attempts > 0:
		listed.State = webhookRetrying
	}
	return listed
}

package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
)

// DeleteWebhookEndpoint ends the deliveries to an endpoint.
var DeleteWebhookEndpoint = activity.Op[WebhookEndpointID, WebhookEndpointID]{
	Spec: activity.Spec{
		Name: "delete_webhook_endpoint", Version: 1,
		Summary: "Delete a webhook endpoint; what it has not got yet is not delivered.",
		Govern:  activity.Govern{Resource: activity.ResourceWebhook, Action: activity.ActionDelete},
	},
	Facts: func(f activity.Facts, p *WebhookEndpointID) error {
		f.Activity.Params.EndpointID = &p.EndpointID
		return nil
	},
	Exec: deleteWebhookEndpoint,
}

// WebhookEndpointID are the parameters and the result of delete_webhook_endpoint.
type WebhookEndpointID struct {
	EndpointID string `json:"endpointId" check:"required,uuid" doc:"The endpoint."`
}

func deleteWebhookEndpoint(_ context.Context, e activity.Env, p *WebhookEndpointID) (WebhookEndpointID, error) {
	if _, err := editableEndpoint(e, p.EndpointID); err != nil {
		return WebhookEndpointID{}, err
	}
	if err := e.Tx.WebhookEndpoints().Delete(p.EndpointID); err != nil {
		return WebhookEndpointID{}, err
	}
	return *p, e.Tx.NoticeWebhook(domain.WebhookNotice{EndpointID: p.EndpointID})
}

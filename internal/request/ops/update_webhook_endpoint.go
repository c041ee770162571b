package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
)

// UpdateWebhookEndpoint changes an endpoint, pauses it or resumes it.
var UpdateWebhookEndpoint = activity.Op[UpdateWebhookEndpointParams, WebhookEndpointResult]{
	Spec: activity.Spec{
		Name: "update_webhook_endpoint", Version: 1,
		Summary: "Change, pause or resume a webhook endpoint; what is absent stays as it is. Nothing is skipped: it goes on where it was.",
		Govern:  activity.Govern{Resource: activity.ResourceWebhook, Action: activity.ActionUpdate},
	},
	Facts: func(f activity.Facts, p *UpdateWebhookEndpointParams) error {
		f.Activity.Params.EndpointID = &p.EndpointID
		return nil
	},
	Exec: updateWebhookEndpoint,
}

// UpdateWebhookEndpointParams are the parameters of update_webhook_endpoint.
type UpdateWebhookEndpointParams struct {
	EndpointID string `json:"endpointId" check:"required,uuid" doc:"Endpoint to change."`
	URL        string `json:"url,omitzero" doc:"New address." example:"https://example.com/webhooks"`
	Name       string `json:"name,omitzero" check:"label" doc:"New name."`
	IsActive   *bool  `json:"isActive,omitzero" doc:"false pauses the deliveries; true resumes them, also where they were switched off after failures."`
}

// Check reads the address.
func (p *UpdateWebhookEndpointParams) Check(problems *schema.Problems) {
	if p.URL != "" {
		checkURLForm(problems, "url", p.URL)
	}
}

func updateWebhookEndpoint(_ context.Context, e activity.Env, p *UpdateWebhookEndpointParams) (WebhookEndpointResult, error) {
	if _, err := editableEndpoint(e, p.EndpointID); err != nil {
		return WebhookEndpointResult{}, err
	}
	if p.URL != "" {
		if err := checkURL(e, "url", p.URL); err != nil {
			return WebhookEndpointResult{}, err
		}
	}
	var edited *domain.WebhookEndpoint
	err := e.Tx.WebhookEndpoints().Edit(p.EndpointID, func(w *domain.WebhookEndpoint) error {
		if p.URL != "" {
			w.URL = p.URL
		}
		if p.Name != "" {
			w.Name = p.Name
		}
		if p.IsActive != nil {
			w.Paused = !*p.IsActive
		}
		w.UpdatedAt, edited = e.Now, w
		return nil
	})
	if err != nil {
		return WebhookEndpointResult{}, err
	}
	// A receiver at another address has not failed yet.
	resume := p.URL != "" || p.IsActive != nil && *p.IsActive
	return WebhookEndpointResult{EndpointID: edited.ID, WebhookEndpoint: endpointRecord(e.Tx.Org(), edited)},
		e.Tx.NoticeWebhook(domain.WebhookNotice{EndpointID: edited.ID, Resume: resume})
}

package ops

import (
	"context"
	"strconv"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
)

// CreateWebhookEndpoint has events delivered to an address.
var CreateWebhookEndpoint = activity.Op[CreateWebhookEndpointParams, WebhookEndpointResult]{
	Spec: activity.Spec{
		Name: "create_webhook_endpoint", Version: 1,
		Summary: "Have events of the organization, and of its sub-organizations, delivered to an address, from the next one on.",
		Govern:  activity.Govern{Resource: activity.ResourceWebhook, Action: activity.ActionCreate},
	},
	Exec: createWebhookEndpoint,
}

// CreateWebhookEndpointParams are the parameters of create_webhook_endpoint.
type CreateWebhookEndpointParams struct {
	URL           string                `json:"url" check:"required" doc:"Address to which events are posted: https, and public." example:"https://example.com/webhooks"`
	Name          string                `json:"name" check:"required,label" doc:"Human-readable name."`
	Subscriptions []WebhookSubscription `json:"subscriptions" check:"required,min=1,max=10" doc:"Events that it gets."`
}

// Check reads the address and the subscriptions.
func (p *CreateWebhookEndpointParams) Check(problems *schema.Problems) {
	checkURLForm(problems, "url", p.URL)
	for i := range p.Subscriptions {
		checkSubscription(problems, "subscriptions["+strconv.Itoa(i)+"]", &p.Subscriptions[i])
	}
}

func createWebhookEndpoint(_ context.Context, e activity.Env, p *CreateWebhookEndpointParams) (WebhookEndpointResult, error) {
	if err := checkURL(e, "url", p.URL); err != nil {
		return WebhookEndpointResult{}, err
	}
	if err := checkEndpointLimit(e); err != nil {
		return WebhookEndpointResult{}, err
	}
	endpoint := &domain.WebhookEndpoint{
		ID: e.NewID(), URL: p.URL, Name: p.Name, CreatedBy: e.ActivityID, CreatedAt: e.Now, UpdatedAt: e.Now,
	}
	for i := range p.Subscriptions {
		s, err := subscription(e.Catalog, i, &p.Subscriptions[i])
		if err != nil {
			return WebhookEndpointResult{}, err
		}
		endpoint.Subscriptions = append(endpoint.Subscriptions, s)
	}
	if err := e.Tx.WebhookEndpoints().Insert(endpoint); err != nil {
		return WebhookEndpointResult{}, err
	}
	return WebhookEndpointResult{EndpointID: endpoint.ID, WebhookEndpoint: endpointRecord(e.Tx.Org(), endpoint)},
		e.Tx.NoticeWebhook(domain.WebhookNotice{EndpointID: endpoint.ID})
}

// checkEndpointLimit refuses one more endpoint than there may be. That of
// FEATURE_NAME_WEBHOOK does not count.
func checkEndpointLimit(e activity.Env) error {
	all, err := e.Tx.WebhookEndpoints().List("", 0)
	if err != nil {
		return err
	}
	count := 0
	for _, w := range all {
		if !w.Feature {
			count++
		}
	}
	if limit := e.Limits.WebhookEndpoints; limit > 0 && count >= limit {
		return fault.Exhausted("the organization has reached its maximum of %d webhook endpoints; delete one first", limit)
	}
	return nil
}

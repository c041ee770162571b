package ops

import (
	"context"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/request/activity"
	"latchkey/internal/schema"
)

// ReplayWebhookEndpoint has events delivered again.
var ReplayWebhookEndpoint = activity.Op[ReplayWebhookEndpointParams, WebhookEndpointID]{
	Spec: activity.Spec{
		Name: "replay_webhook_endpoint", Version: 1,
		Summary: "Have events delivered to a webhook endpoint again, with the same event ids, in order. It never skips what was not delivered yet.",
		Govern:  activity.Govern{Resource: activity.ResourceWebhook, Action: activity.ActionUpdate},
	},
	Facts: func(f activity.Facts, p *ReplayWebhookEndpointParams) error {
		f.Activity.Params.EndpointID = &p.EndpointID
		return nil
	},
	Exec: replayWebhookEndpoint,
}

// ReplayWebhookEndpointParams are the parameters of replay_webhook_endpoint.
type ReplayWebhookEndpointParams struct {
	EndpointID string        `json:"endpointId" check:"required,uuid" doc:"The endpoint."`
	After      string        `json:"after,omitzero" check:"max=200,unsampled" doc:"Cursor of the events feed: deliver what comes after it. This or sinceMs."`
	SinceMs    schema.Uint64 `json:"sinceMs,omitzero" check:"min=1,max=9007199254740991,sampled" doc:"Deliver what happened since this time, in milliseconds since the Unix epoch. This or after." example:"1794708835768"`
}

// Check refuses a request that does not say from where on.
func (p *ReplayWebhookEndpointParams) Check(problems *schema.Problems) {
	switch {
	case p.After == "" && p.SinceMs == 0:
		problems.Add("", "give after, a cursor of the events feed, or sinceMs, a time")
	case p.After != "" && p.SinceMs != 0:
		problems.Add("", "give after or sinceMs, not both")
	}
}

func replayWebhookEndpoint(ctx context.Context, e activity.Env, p *ReplayWebhookEndpointParams) (WebhookEndpointID, error) {
	if _, err := e.Tx.WebhookEndpoints().Get(p.EndpointID); err != nil {
		return WebhookEndpointID{}, err
	}
	notice := domain.WebhookNotice{EndpointID: p.EndpointID, Replay: true, After: p.After}
	if p.After != "" {
		if err := e.Webhooks.CheckCursor(ctx, p.After); err != nil {
			return WebhookEndpointID{}, fault.Fields("parameters", []fault.Field{{Path: "after", Description: err.Error()}})
		}
	} else {
		notice.Since = time.UnixMilli(int64(p.SinceMs))
	}
	return WebhookEndpointID{EndpointID: p.EndpointID}, e.Tx.NoticeWebhook(notice)
}

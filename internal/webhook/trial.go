package webhook

import (
	"context"
	"time"

	"github.com/go-json-experiment/json"

	"latchkey/internal/fault"
	"latchkey/internal/ids"
)

// TestEvent is the type of an event that says nothing, by which a receiver is
// tried.
const TestEvent = "WEBHOOK_TEST"

// Trial is what came of a test event.
type Trial struct {
	EventID string
	Failure string // empty: the receiver took it
	Took    time.Duration
}

// testBody is the body of a test event.
type testBody struct {
	Test           bool   `json:"test"`
	OrganizationID string `json:"organizationId"`
	EndpointID     string `json:"endpointId"`
	TimestampMs    int64  `json:"timestampMs"`
}

// Test sends an endpoint a signed event that says nothing, once, on whatever server
// it is asked, also while the endpoint is paused. It changes nothing.
func (d *Deliverer) Test(ctx context.Context, org, endpointID string) (Trial, error) {
	endpoint, err := d.endpoint(ctx, org, endpointID)
	if err != nil {
		return Trial{}, err
	}
	if endpoint == nil {
		return Trial{}, fault.Missing("no webhook endpoint with id %s in this organization", endpointID)
	}
	began := d.Now()
	body, err := json.Marshal(testBody{Test: true, OrganizationID: org, EndpointID: endpointID, TimestampMs: began.UnixMilli()})
	if err != nil {
		return Trial{}, err
	}
	v := &delivery{organization: org, address: endpoint.URL, eventType: TestEvent, eventID: ids.New(), body: body}
	failure, err := v.attempt(ctx, d.Signer, d.Poster, began)
	if err != nil {
		return Trial{}, err
	}
	trial := Trial{EventID: v.eventID, Took: d.Now().Sub(began)}
	if failure != nil {
		trial.Failure = failure.reason
	}
	return trial, nil
}

package audit

import (
	"context"
	"encoding/hex"

	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
	"latchkey/internal/store"
)

// waiting checks that activities that were left to votes, and the records by
// which votes find them, belong to each other.
type waiting struct {
	audit *Audit
}

const (
	waitingKind  = "waiting"
	activityKind = "activity"
)

func newWaiting(a *Audit) Check { return &waiting{a} }

// Item implements [Check].
func (c *waiting) Item(ctx context.Context, org, kind, id string, body []byte) error {
	if kind != waitingKind {
		return nil
	}
	record := new(domain.Waiting)
	if err := json.Unmarshal(body, record); err != nil {
		return c.audit.report(store.Finding{Org: org, Kind: kind, ID: id, What: unreadable})
	}
	a, err := c.audit.Image.Activity(ctx, org, record.ActivityID)
	if err != nil {
		return err
	}
	if a == nil {
		return c.audit.report(store.Finding{Org: org, Kind: activityKind, ID: record.ActivityID, What: "it is missing, and was left to votes"})
	}
	return nil
}

// Activity implements [Check].
func (c *waiting) Activity(ctx context.Context, a *domain.Activity) error {
	if !a.Status.Waits() {
		return nil
	}
	id := hex.EncodeToString(a.Fingerprint[:])
	stored, err := c.audit.Image.Get(ctx, a.OrganizationID, waitingKind, id)
	if err != nil || stored != nil {
		return err
	}
	return c.audit.report(store.Finding{Org: a.OrganizationID, Kind: waitingKind, ID: id, What: "it is missing for activity " + a.ID})
}

// End implements [Check].
func (*waiting) End(context.Context) error { return nil }

package webhook

import (
	"context"
	"errors"

	"latchkey/internal/domain"
)

// maxWaiting is how far the events that wait for an endpoint are counted.
const maxWaiting = 1000

// CheckURL refuses an address to which nothing is delivered. Its error is safe to
// show.
func (d *Deliverer) CheckURL(url string) error { return d.Check(url) }

// CheckCursor refuses what is not a cursor of the feed. Its error is safe to show.
func (d *Deliverer) CheckCursor(ctx context.Context, cursor string) error {
	_, err := d.Feed.Place(ctx, cursor)
	return err
}

// Waiting is how many events an endpoint has not got yet, counted up to a bound.
func (d *Deliverer) Waiting(ctx context.Context, e *domain.WebhookEndpoint, p *domain.WebhookProgress) (int, error) {
	from := p.Place
	if !p.Begun {
		var err error
		if from, err = d.Feed.After(ctx, p.OrganizationID, e.CreatedBy); errors.Is(err, ErrNotYet) {
			return 0, nil
		} else if err != nil && !errors.Is(err, ErrNoEntry) {
			return 0, err
		}
	}
	types, statuses := wanted(e)
	if types == nil && statuses == nil {
		return d.Feed.Waiting(ctx, Query{Organization: p.OrganizationID, From: from, Limit: maxWaiting})
	}
	count := 0
	for range 4 { // pages: what filters leave out is not counted without end
		page, err := d.Feed.Read(ctx, Query{Organization: p.OrganizationID, From: from, Types: types, Statuses: statuses, Limit: maxWaiting / 4})
		if err != nil {
			return 0, err
		}
		for i := range page.Events {
			if e.Wants(page.Events[i].Type, page.Events[i].Status) {
				count++
			}
		}
		if len(page.Events) == 0 {
			break
		}
		from = page.Next
	}
	return count, nil
}

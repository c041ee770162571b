package store

import (
	"context"
	"errors"

	"latchkey/internal/fault"
)

// guarded turns the failures of a driver into a fault that tells the client
// to try again, and keeps the cause for the log. Refusals of a commit and the
// end of a context stay what they are.
type guarded struct{ driver Driver }

func outage(ctx context.Context, err error) error {
	if err == nil || errors.Is(err, ErrConflict) || errors.Is(err, ErrRecorded) {
		return err
	}
	// A context that ends breaks a connection in ways that do not name it.
	if ended := ctx.Err(); ended != nil {
		return ended
	}
	return fault.New(fault.Unavailable, fault.ReasonUnspecified,
		"the database failed or could not be reached; whether the request was carried out is not known: "+
			"send the same bytes again to find out").Because(err)
}

func (g guarded) Version(ctx context.Context, org string) (int64, error) {
	version, err := g.driver.Version(ctx, org)
	return version, outage(ctx, err)
}

func (g guarded) Organizations(ctx context.Context, after string, limit int) ([]string, error) {
	list, err := g.driver.Organizations(ctx, after, limit)
	return list, outage(ctx, err)
}

func (g guarded) Get(ctx context.Context, org, kind, id string) ([]byte, error) {
	body, err := g.driver.Get(ctx, org, kind, id)
	return body, outage(ctx, err)
}

func (g guarded) Scan(ctx context.Context, org, kind string, r Range) ([]Item, error) {
	items, err := g.driver.Scan(ctx, org, kind, r)
	return items, outage(ctx, err)
}

func (g guarded) Activity(ctx context.Context, org, id string) (*ActivityRow, error) {
	a, err := g.driver.Activity(ctx, org, id)
	return a, outage(ctx, err)
}

func (g guarded) Recorded(ctx context.Context, org string, timestampMs int64, f Fingerprint) (*ActivityRow, error) {
	a, err := g.driver.Recorded(ctx, org, timestampMs, f)
	return a, outage(ctx, err)
}

func (g guarded) Activities(ctx context.Context, org string, q ActivityQuery) ([]ActivityRow, error) {
	list, err := g.driver.Activities(ctx, org, q)
	return list, outage(ctx, err)
}

func (g guarded) Commit(ctx context.Context, c *Commit) error {
	return outage(ctx, g.driver.Commit(ctx, c))
}

func (g guarded) Ready(ctx context.Context) error { return g.driver.Ready(ctx) }

func (g guarded) Close() error { return g.driver.Close() }

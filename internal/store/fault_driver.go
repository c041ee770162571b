package store

import (
	"context"
	"errors"
	"time"

	"latchkey/internal/fault"
)

// faultDriver turns the failures of a driver into a fault that tells the client
// to try again, and keeps the cause for the log. Refusals of a commit and the
// end of a context stay what they are.
type faultDriver struct{ driver Driver }

func asFault(ctx context.Context, err error) error {
	if err == nil || errors.Is(err, ErrConflict) || errors.Is(err, ErrRecorded) {
		return err
	}
	// A context that ends breaks a connection in ways that do not name it.
	if ended := ctx.Err(); ended != nil {
		return ended
	}
	return fault.New(fault.Unavailable, fault.ReasonUnspecified,
		"the database failed or could not be reached; whether the request was carried out is not known: "+
			"send the same bytes again to find out").Because(databaseFailure{err})
}

// databaseFailure is why a driver could not answer.
type databaseFailure struct{ error }

func (f databaseFailure) Unwrap() error { return f.error }

func isDatabaseFailure(err error) bool {
	_, ok := errors.AsType[databaseFailure](err)
	return ok
}

func (d faultDriver) Version(ctx context.Context, org string) (int64, error) {
	version, err := d.driver.Version(ctx, org)
	return version, asFault(ctx, err)
}

func (d faultDriver) Versions(ctx context.Context, orgs []string) (map[string]int64, error) {
	versions, err := d.driver.Versions(ctx, orgs)
	return versions, asFault(ctx, err)
}

func (d faultDriver) Remote() bool { return d.driver.Remote() }

func (d faultDriver) Organizations(ctx context.Context, after string, limit int) ([]string, error) {
	list, err := d.driver.Organizations(ctx, after, limit)
	return list, asFault(ctx, err)
}

func (d faultDriver) Now(ctx context.Context) (time.Time, error) {
	now, err := d.driver.Now(ctx)
	return now, asFault(ctx, err)
}

func (d faultDriver) Kinds(ctx context.Context, org string) ([]string, error) {
	list, err := d.driver.Kinds(ctx, org)
	return list, asFault(ctx, err)
}

func (d faultDriver) Get(ctx context.Context, org, kind, id string) ([]byte, error) {
	body, err := d.driver.Get(ctx, org, kind, id)
	return body, asFault(ctx, err)
}

func (d faultDriver) ScanIndex(ctx context.Context, org, kind string, r Range, of Reference) ([]IndexRow, error) {
	found, err := d.driver.ScanIndex(ctx, org, kind, r, of)
	return found, asFault(ctx, err)
}

func (d faultDriver) Scan(ctx context.Context, org, kind string, r Range) ([]Item, error) {
	items, err := d.driver.Scan(ctx, org, kind, r)
	return items, asFault(ctx, err)
}

func (d faultDriver) Activity(ctx context.Context, org, id string) (*ActivityRow, error) {
	a, err := d.driver.Activity(ctx, org, id)
	return a, asFault(ctx, err)
}

func (d faultDriver) Recorded(ctx context.Context, org string, timestampMs int64, f Fingerprint) (*ActivityRow, error) {
	a, err := d.driver.Recorded(ctx, org, timestampMs, f)
	return a, asFault(ctx, err)
}

func (d faultDriver) Activities(ctx context.Context, org string, q ActivityQuery) ([]ActivityRow, error) {
	list, err := d.driver.Activities(ctx, org, q)
	return list, asFault(ctx, err)
}

func (d faultDriver) Entries(ctx context.Context, q EntryQuery) ([]EntryRow, error) {
	list, err := d.driver.Entries(ctx, q)
	return list, asFault(ctx, err)
}

func (d faultDriver) Horizon(ctx context.Context) (Horizon, error) {
	h, err := d.driver.Horizon(ctx)
	return h, asFault(ctx, err)
}

func (d faultDriver) Commit(ctx context.Context, c *Commit) error {
	return asFault(ctx, d.driver.Commit(ctx, c))
}

func (d faultDriver) ReplaceBodies(ctx context.Context, org string, bodies []StoredBody) error {
	return asFault(ctx, d.driver.ReplaceBodies(ctx, org, bodies))
}

func (d faultDriver) Ready(ctx context.Context) error { return d.driver.Ready(ctx) }

func (d faultDriver) Close() error { return d.driver.Close() }

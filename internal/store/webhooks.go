package store

import (
	"context"

	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
	"latchkey/internal/ids"
)

// An endpoint belongs to its organization, and is guarded like its policies. How
// far the deliveries to it are is kept apart, in a pseudo-organization of its own
// that no head guards: it changes all the time, and no decision rests on it. What a
// commit of the organization has to tell the server that delivers is a notice
// there, which that server deletes when it has acted on it.

// webhookOrg is the pseudo-organization of the deliveries. It is no UUID, so no
// request can name it.
const webhookOrg = "webhooks"

var (
	webhookEndpoints = Kind[domain.WebhookEndpoint]{
		Name: "webhook-endpoint", Label: "webhook endpoint", Resident: true,
		ID: func(e *domain.WebhookEndpoint) string { return e.ID },
	}
	webhookProgress = Kind[domain.WebhookProgress]{
		Name: "webhook-progress", Label: "progress of a webhook endpoint", Unguarded: true,
		ID: func(p *domain.WebhookProgress) string { return webhookKey(p.OrganizationID, p.EndpointID) },
	}
	webhookNotices = Kind[domain.WebhookNotice]{
		Name: "webhook-notice", Label: "notice about a webhook endpoint", Unguarded: true,
		ID: func(n *domain.WebhookNotice) string { return n.ID },
	}
	webhookLeases = Kind[domain.WebhookLease]{
		Name: "webhook-lease", Label: "lease of webhook deliveries", Unguarded: true,
		ID: func(*domain.WebhookLease) string { return "lease" },
	}
)

func webhookKey(org, endpoint string) string { return org + separator + endpoint }

// WebhookEndpoints holds the organization's webhook endpoints.
func (tx *Tx) WebhookEndpoints() Table[domain.WebhookEndpoint] { return In(tx, &webhookEndpoints) }

// NoticeWebhook leaves a notice about an endpoint of the organization when the
// transaction commits.
func (tx *Tx) NoticeWebhook(n domain.WebhookNotice) error {
	n.ID, n.OrganizationID = ids.New(), tx.org
	change, err := webhookChange(&webhookNotices, &n)
	change.Org = webhookOrg
	tx.outside = append(tx.outside, change)
	return err
}

// WebhookProgress is how far the deliveries to the organization's endpoints are, by
// endpoint, as it is now.
func (tx *Tx) WebhookProgress() (map[string]*domain.WebhookProgress, error) {
	of := map[string]*domain.WebhookProgress{}
	list, err := scanWebhooks(tx.ctx, tx.store, &webhookProgress, Range{From: tx.org + separator, To: tx.org + "\x20"})
	for _, p := range list {
		of[p.EndpointID] = p
	}
	return of, err
}

// EachWebhookProgress shows fn how far the deliveries to every endpoint are.
func (s *Store) EachWebhookProgress(ctx context.Context, fn func(*domain.WebhookProgress)) error {
	const page = 1000
	rows, err := s.rowsOf(webhookOrg)
	if err != nil {
		return err
	}
	for in := (Range{Limit: page}); ; {
		items, err := rows.scan(ctx, webhookProgress.Name, in)
		if err != nil {
			return err
		}
		list, err := decodeWebhooks(&webhookProgress, items)
		if err != nil {
			return err
		}
		for _, p := range list {
			fn(p)
		}
		if len(items) < page {
			return nil
		}
		in.From = items[len(items)-1].ID + "\x01"
	}
}

// AnyWebhookProgress reports whether anything is known of an endpoint.
func (s *Store) AnyWebhookProgress(ctx context.Context) (bool, error) {
	rows, err := s.rowsOf(webhookOrg)
	if err != nil {
		return false, err
	}
	list, err := rows.scan(ctx, webhookProgress.Name, Range{Limit: 1})
	return len(list) > 0, err
}

// WebhookNotices lists what was left for the server that delivers, the oldest
// first.
func (s *Store) WebhookNotices(ctx context.Context, limit int) ([]*domain.WebhookNotice, error) {
	return scanWebhooks(ctx, s, &webhookNotices, Range{Limit: limit})
}

// scanWebhooks reads records of the deliveries. Those that are not ours are
// reported, and left out.
func scanWebhooks[T any](ctx context.Context, s *Store, kind *Kind[T], in Range) ([]*T, error) {
	rows, err := s.rowsOf(webhookOrg)
	if err != nil {
		return nil, err
	}
	items, err := rows.scan(ctx, kind.Name, in)
	if err != nil {
		return nil, err
	}
	return decodeWebhooks(kind, items)
}

func decodeWebhooks[T any](kind *Kind[T], items []storedRow) ([]*T, error) {
	list := make([]*T, 0, len(items))
	for _, item := range items {
		if item.Body == nil {
			continue
		}
		record := new(T)
		if err := json.Unmarshal(item.Body, record); err != nil {
			return nil, damaged(webhookOrg, kind.Name, item.ID, err)
		}
		list = append(list, record)
	}
	return list, nil
}

// Deliveries is a transaction on what belongs to the deliveries.
type Deliveries struct{ tx *Tx }

// UpdateDeliveries runs fn, and commits what it wrote if no other server did so in
// the meantime; else it runs again.
func (s *Store) UpdateDeliveries(ctx context.Context, fn func(Deliveries) error) error {
	return s.change(ctx, webhookOrg, func(tx *Tx) error { return fn(Deliveries{tx}) })
}

// Lease is the present one; the zero value: there is none.
func (d Deliveries) Lease() (lease domain.WebhookLease, err error) {
	list, err := scanWebhooks(d.tx.ctx, d.tx.store, &webhookLeases, Range{Limit: 1})
	if len(list) > 0 {
		lease = *list[0]
	}
	return lease, err
}

// SetLease replaces the lease.
func (d Deliveries) SetLease(lease domain.WebhookLease) error {
	return put(d, &webhookLeases, &lease)
}

// SetProgress writes how far an endpoint is.
func (d Deliveries) SetProgress(p *domain.WebhookProgress) error { return put(d, &webhookProgress, p) }

// DropProgress forgets an endpoint.
func (d Deliveries) DropProgress(org, endpoint string) {
	d.drop(webhookProgress.Name, webhookKey(org, endpoint))
}

// DropNotice deletes a notice that was acted on.
func (d Deliveries) DropNotice(id string) { d.drop(webhookNotices.Name, id) }

func (d Deliveries) drop(kind, id string) {
	d.tx.outside = append(d.tx.outside, Change{Kind: kind, ID: id})
}

// put writes a record without reading the one before, which may not be ours.
func put[T any](d Deliveries, kind *Kind[T], record *T) error {
	change, err := webhookChange(kind, record)
	d.tx.outside = append(d.tx.outside, change)
	return err
}

func webhookChange[T any](kind *Kind[T], record *T) (Change, error) {
	body, err := json.Marshal(record)
	return Change{Kind: kind.Name, ID: kind.ID(record), Body: body}, err
}

package server

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/feed"
	"latchkey/internal/ids"
	"latchkey/internal/keys/vault"
	"latchkey/internal/ledger"
	"latchkey/internal/outbox/notify"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/api"
	"latchkey/internal/schema"
	"latchkey/internal/server/config"
	"latchkey/internal/webhook"
	"latchkey/internal/webhook/target"
)

// newDeliverer wires what delivers events to webhook endpoints.
func (s *Server) newDeliverer(keys *vault.WebhookKeys, metrics *api.Metrics) (*webhook.Deliverer, error) {
	c := s.config
	roots, err := notify.LoadRoots(c.Webhooks.CA)
	if err != nil {
		return nil, fmt.Errorf("webhooks.ca: %w", err)
	}
	guard := webhookGuard(c)
	return webhook.New(webhook.Config{
		Store: s.store, Feed: webhookFeed{s.feed, s.ledger}, Signer: keys, Check: guard.Check,
		Poster: target.NewClient(guard, target.Options{
			Timeout: c.Webhooks.Timeout, Roots: roots, Resolver: c.Dev.Resolver, Now: time.Now,
		}),
		Log: s.log, Metrics: metrics, Busy: metrics.Busy, Now: time.Now, Node: ids.New(), Timeout: c.Webhooks.Timeout,
		Alone: strings.HasPrefix(c.Store, "sqlite:"),
	}), nil
}

func webhookGuard(c *config.Config) *target.Guard {
	allowed := c.Webhooks.Allow
	if c.Dev.LoopbackWebhooks {
		allowed = append(target.Loopback(), allowed...)
	}
	return target.NewGuard(allowed)
}

// jsonWebKey is a public key as others read it (RFC 7517, RFC 7518 section 6.2, RFC
// 8037).
type jsonWebKey struct {
	ID        string `json:"kid"`
	Type      string `json:"kty"`
	Curve     string `json:"crv"`
	Algorithm string `json:"alg"`
	Use       string `json:"use"`
	X         string `json:"x"`
	Y         string `json:"y,omitzero"`
}

// keySet is the document with the keys that sign deliveries.
func keySet(keys *vault.WebhookKeys) ([]byte, error) {
	set := struct {
		Keys []jsonWebKey `json:"keys"`
	}{}
	for _, k := range keys.Keys() {
		set.Keys = append(set.Keys, jsonWebKey{
			ID: k.ID, Type: "OKP", Curve: "Ed25519", Algorithm: "EdDSA", Use: "sig",
			X: base64.RawURLEncoding.EncodeToString([]byte(ed25519.PublicKey(k.Public))),
		})
	}
	return json.Marshal(&set)
}

// webhookFeed is the feed as deliveries read it.
type webhookFeed struct {
	events *feed.Feed
	ledger *ledger.Ledger
}

// Grown implements [webhook.Feed].
func (f webhookFeed) Grown() (domain.LogPlace, <-chan struct{}) {
	return f.ledger.Grown()
}

// Between implements [webhook.Feed].
func (f webhookFeed) Between(ctx context.Context, from, to domain.LogPlace) (map[string]bool, error) {
	lists, err := f.ledger.Between(ctx, from, to)
	orgs := map[string]bool{}
	for list := range lists {
		orgs[list.Org] = true
	}
	return orgs, err
}

// After implements [webhook.Feed].
func (f webhookFeed) After(ctx context.Context, org, activityID string) (domain.LogPlace, error) {
	at, err := f.events.After(ctx, org, activityID)
	switch {
	case errors.Is(err, ledger.ErrNotYet):
		err = webhook.ErrNotYet
	case errors.Is(err, ledger.ErrNoEntry):
		err = webhook.ErrNoEntry
	}
	return at, err
}

// Place implements [webhook.Feed].
func (f webhookFeed) Place(ctx context.Context, cursor string) (domain.LogPlace, error) {
	at, err := f.events.ParseCursor(ctx, cursor)
	if refusal, ok := fault.As(err); ok && len(refusal.Fields) > 0 {
		err = errors.New(refusal.Fields[0].Description)
	}
	return at, err
}

// Since implements [webhook.Feed].
func (f webhookFeed) Since(ctx context.Context, at time.Time) (domain.LogPlace, error) {
	return f.ledger.Since(ctx, at)
}

// Read implements [webhook.Feed].
func (f webhookFeed) Read(ctx context.Context, q webhook.Query) (webhook.Page, error) {
	end, err := f.events.End(ctx)
	if err != nil {
		return webhook.Page{}, err
	}
	found, err := f.events.Next(ctx, feedQuery(q), q.From, q.Limit)
	if err != nil {
		return webhook.Page{}, err
	}
	page := webhook.Page{Next: found.Next}
	if !found.More && found.Next.Before(end) {
		page.Next = end
	}
	for i := range found.Events {
		e, err := deliverable(&found.Events[i])
		if err != nil {
			return webhook.Page{}, err
		}
		page.Events = append(page.Events, e)
	}
	return page, nil
}

func feedQuery(q webhook.Query) feed.Query {
	return feed.Query{Organization: q.Organization, Children: true, Types: q.Types, Statuses: q.Statuses}
}

func deliverable(e *feed.Event) (webhook.Event, error) {
	body, err := schema.Encode(&e.Activity)
	if err != nil {
		return webhook.Event{}, err
	}
	at, err := timeOf(e.Activity.UpdatedAt.Seconds, e.Activity.UpdatedAt.Nanos)
	return webhook.Event{
		ID: e.ID, After: e.Next, Time: at,
		Type: e.Activity.Type, Status: string(e.Activity.Status), Body: body,
	}, err
}

func timeOf(seconds, nanos string) (time.Time, error) {
	s, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return time.Time{}, err
	}
	n, err := strconv.ParseInt(nanos, 10, 64)
	return time.Unix(s, n), err
}

// Waiting implements [webhook.Feed].
func (f webhookFeed) Waiting(ctx context.Context, q webhook.Query) (int, error) {
	return f.events.Waiting(ctx, feedQuery(q), q.From, q.Limit)
}

var _ activity.Webhooks = (*webhook.Deliverer)(nil)

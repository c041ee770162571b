package webhook

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/store"
)

// round is one turn of an endpoint: some events, one after the other, until one
// fails or the turn is over.
type round struct {
	work  *work
	class class
	until time.Time // no delivery begins later

	// What came of it.
	progress  domain.WebhookProgress
	delivered int
	read      domain.LogPlace // before this there is nothing that it has not got
	failure   *failure
	slow      bool
	gone      bool // there is no such endpoint
	paused    bool
	again     time.Duration // look again after this
	err       error         // not the receiver's
}

const (
	roundEvents = 50
	roundTime   = 5 * time.Second
	// slowAfter is when a receiver is slow enough to be kept apart from others.
	slowAfter = time.Second
)

// run does a round and reports it.
func (d *Deliverer) run(ctx context.Context, r *round) {
	defer func() {
		if p := recover(); p != nil {
			r.err = fmt.Errorf("panic of type %T\n%s", p, debug.Stack())
		}
		d.results <- r // there is room for all
	}()
	r.err = r.deliver(ctx, d)
}

func (r *round) deliver(ctx context.Context, d *Deliverer) error {
	endpoint, err := d.endpoint(ctx, r.progress.OrganizationID, r.progress.EndpointID)
	switch {
	case err != nil:
		return err
	case endpoint == nil:
		r.gone = true
		return nil
	case endpoint.Paused:
		r.paused = true
		return nil
	}
	if !r.progress.Begun {
		if begun, err := r.begin(ctx, d.Feed, endpoint); err != nil || !begun {
			return err
		}
	}
	types, statuses := wanted(endpoint)
	page, err := d.Feed.Read(ctx, Query{
		Organization: r.progress.OrganizationID, From: r.progress.Place, Types: types, Statuses: statuses, Limit: roundEvents,
	})
	if err != nil {
		return err
	}
	began := d.Now()
	for i := range page.Events {
		e := &page.Events[i]
		if endpoint.Wants(e.Type, e.Status) && !unwanted(&r.progress, e) {
			d.pace(ctx)
			if now := d.Now(); i > 0 && now.Sub(began) > roundTime || now.After(r.until) || d.ending.Load() || ctx.Err() != nil {
				return nil
			}
			if err := r.post(ctx, d, endpoint, e); err != nil || r.failure != nil {
				return err
			}
		}
		r.progress.Place = e.After
	}
	r.progress.Place, r.read = page.Next, page.Next
	return nil
}

// pace holds a delivery back while requests keep the server busy, so that they find
// it as fast as without endpoints. All deliveries together then take turns.
func (d *Deliverer) pace(ctx context.Context) {
	if !d.Busy() {
		return
	}
	d.turn.Lock()
	defer d.turn.Unlock()
	wait(ctx, busyPause)
}

// post makes one attempt.
func (r *round) post(ctx context.Context, d *Deliverer, endpoint *domain.WebhookEndpoint, e *Event) (err error) {
	v := &delivery{
		organization: r.progress.OrganizationID, address: endpoint.URL,
		eventType: string(domain.ActivityUpdates), eventID: e.ID, body: e.Body,
	}
	began := d.Now()
	r.failure, err = v.attempt(ctx, d.Signer, d.Poster, began)
	if d.Now().Sub(began) > slowAfter {
		r.slow = true
	}
	if err == nil && r.failure == nil {
		r.delivered++
		delivered(&r.progress, d.Now())
	}
	return err
}

// begin finds the place right after the activity that made the endpoint.
func (r *round) begin(ctx context.Context, f Feed, endpoint *domain.WebhookEndpoint) (begun bool, err error) {
	place, err := f.After(ctx, r.progress.OrganizationID, endpoint.CreatedBy)
	switch {
	case errors.Is(err, ErrNotYet):
		r.again = 100 * time.Millisecond
		return false, nil
	case errors.Is(err, ErrNoEntry):
		// It is in no log of this server: all that happened since is new to it.
		r.progress.ReplaySince, r.progress.ReplayUntil = endpoint.CreatedAt, domain.LogPlace{Epoch: 1 << 62}
	case err != nil:
		return false, err
	}
	r.progress.Place, r.progress.Begun = place, true
	return true, nil
}

// endpoint reads an endpoint as it is now; nil: there is none.
func (d *Deliverer) endpoint(ctx context.Context, org, id string) (found *domain.WebhookEndpoint, err error) {
	err = d.Store.View(ctx, org, func(tx *store.Tx) (err error) {
		found, err = tx.WebhookEndpoints().Lookup(id)
		return err
	})
	if errors.Is(err, store.ErrNoOrganization) {
		return nil, nil
	}
	return found, err
}

// wanted are the filters that all active subscriptions of an endpoint have in
// common: nil where one of them has none.
func wanted(e *domain.WebhookEndpoint) (types, statuses []string) {
	types, statuses = []string{}, []string{}
	for _, s := range e.Subscriptions {
		if s.Inactive {
			continue
		}
		types, statuses = join(types, s.Types), join(statuses, s.Statuses)
	}
	if len(types) == 0 {
		types = nil
	}
	if len(statuses) == 0 {
		statuses = nil
	}
	return types, statuses
}

func join(all, more []string) []string {
	if all == nil || len(more) == 0 {
		return nil
	}
	return append(slices.Clip(all), more...)
}

// finish takes over what came of a round, and says when the endpoint is next looked
// at.
func (d *Deliverer) finish(r *round) {
	w, now := r.work, d.Now()
	d.running[r.class]--
	w.at = idle
	if w.progress != r.progress {
		w.progress = r.progress
		d.dirty[w] = true
	}
	for range r.delivered {
		d.Metrics.WebhookDelivered()
	}
	switch {
	case r.slow || r.failure != nil:
		w.class = suspect
	case r.delivered > 0:
		w.class = sound
	}
	w.paused = r.paused
	switch {
	case r.gone:
		d.remove(w)
	case r.err != nil:
		d.postpone(w, r.err, now)
	case r.failure != nil:
		failed(&w.progress, r.failure, now)
		d.dirty[w] = true
		d.noteFailure(w)
		if w.progress.SwitchedOff == "" {
			d.plan(w, w.progress.NextAttempt)
		}
	case r.paused:
	case r.again > 0:
		d.plan(w, now.Add(r.again))
	case r.read == (domain.LogPlace{}) || r.read.Before(d.seen):
		d.plan(w, now)
	}
	if w.renotice {
		w.renotice, d.unheeded = false, true
	}
}

// postpone waits after something that no receiver is to blame for.
func (d *Deliverer) postpone(w *work, err error, now time.Time) {
	pause := troubleRetry
	if refusal, ok := fault.As(err); ok && refusal.Code == fault.DataLoss {
		pause = longestRetry // a stored record is not used; it was reported
	} else if d.rounds.Err() == nil {
		d.Log.Warn("webhook events could not be read or signed; they wait",
			"organization", w.progress.OrganizationID, "endpoint", w.progress.EndpointID, "error", err)
	}
	d.plan(w, now.Add(pause))
}

// noteFailure counts and logs a failed attempt: the first of several, and the last.
func (d *Deliverer) noteFailure(w *work) {
	p := &w.progress
	d.Metrics.WebhookFailed()
	fields := []any{"organization", p.OrganizationID, "endpoint", p.EndpointID, "attempts", p.Attempts, "error", p.LastError}
	switch {
	case p.SwitchedOff != "":
		d.Log.Warn("a webhook endpoint is switched off", fields...)
	case p.Attempts == 1:
		d.Log.Info("a webhook delivery failed; it will be tried again", fields...)
	}
}

// Package webhook delivers events to the endpoints of organizations.
//
// An endpoint is a place in the feed, not a queue: what it has not got yet costs
// nothing, and is read when its turn comes. One server delivers at a time, to all
// endpoints: the one that holds the lease, which it renews for as long as it works;
// what it has done is committed under the condition that the lease is still its
// own. It begins no delivery that could last longer than the lease.
//
// What always holds: an endpoint gets its events in the order of the log, each at
// least once, under the same id; one that was not taken is tried again, and nothing
// comes before it. An endpoint that fails costs a place in a schedule. Twice come
// only events whose delivery was not committed: of the last second, when a server
// dies.
package webhook

import (
	"context"
	"iter"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/store"
)

// Config is what a [Deliverer] works with.
type Config struct {
	Store  *store.Store
	Feed   Feed
	Signer Signer
	Poster Poster
	// Check refuses an address; its error is safe to show.
	Check   func(url string) error
	Log     *slog.Logger
	Metrics Metrics
	Now     func() time.Time
	Node    string        // tells servers apart
	Timeout time.Duration // of one delivery
	// Busy reports whether requests keep this server busy: they go first.
	Busy func() bool
	// Alone says that no other server has the store: a lease that is not this
	// server's is that of one that is gone.
	Alone bool
}

// Metrics counts what happens to deliveries.
type Metrics interface {
	WebhookDelivered()
	WebhookFailed()
	// WebhookEndpoints sets how many endpoints this server delivers to, by state.
	WebhookEndpoints(byState map[string]int)
}

// The states that metrics tell apart.
const (
	upToDate    = "up_to_date"
	behind      = "behind"
	retrying    = "retrying"
	switchedOff = "switched_off"
	paused      = "paused"
)

// States lists the states of endpoints in metrics.
func States() []string { return []string{upToDate, behind, retrying, switchedOff, paused} }

const (
	// standEvery is how often a server that does not deliver looks whether it should.
	standEvery = time.Second
	// commitEvery is how often progress is committed: what is delivered twice after a
	// crash.
	commitEvery = time.Second
	// troubleRetry is how long to wait when the store, not a receiver, failed.
	troubleRetry = time.Second
)

// busyPause is between two deliveries while requests keep the server busy.
const busyPause = 10 * time.Millisecond

// Deliverer delivers events. Make it with [New].
type Deliverer struct {
	Config
	results chan *round
	ending  atomic.Bool // no delivery begins any more
	turn    sync.Mutex  // of deliveries while the server is busy

	// What follows belongs to the goroutine of Run.
	lease      domain.WebhookLease // zero: not held
	stopRounds context.CancelFunc  // of the lease
	rounds     context.Context
	work       map[key]*work
	byOrg      map[string]map[*work]bool
	schedule   schedule
	waiting    [2][]*work // for a slot, by class
	running    [2]int
	// What is not committed yet: progress, endpoints that are gone, notices that
	// were acted on.
	dirty   map[*work]bool
	dropped []key
	applied map[string]bool

	seen      domain.LogPlace // how much of the feed was looked at
	unheeded  bool            // there are notices to look at
	committed time.Time
	troubled  bool // the last use of the store failed
}

// key names an endpoint.
type key struct{ org, endpoint string }

// New makes a deliverer, which does nothing before [Deliverer.Run].
func New(c Config) *Deliverer {
	d := &Deliverer{Config: c, results: make(chan *round, 2*slots)}
	d.forget()
	return d
}

// leaseFor is how long a lease lasts: long enough to begin a delivery for half of
// it.
func (d *Deliverer) leaseFor() time.Duration { return 2 * d.Timeout }

// renewEvery is how often a lease is renewed.
func (d *Deliverer) renewEvery() time.Duration { return d.leaseFor() / 8 }

// held reports whether the lease is this server's, and leaves time for a delivery.
func (d *Deliverer) held(now time.Time) bool {
	return d.lease.Holder == d.Node && d.lease.Until.Sub(now) > d.Timeout
}

// Run delivers until ctx ends. Then it begins nothing, and lets go of the lease.
func (d *Deliverer) Run(ctx context.Context) {
	for ctx.Err() == nil {
		if d.lease.Holder == "" {
			d.stand(ctx)
		} else {
			d.step(ctx)
		}
	}
	d.stop(context.WithoutCancel(ctx))
}

// stand waits until this server is to deliver.
func (d *Deliverer) stand(ctx context.Context) {
	err := d.take(ctx)
	d.trouble(ctx, err)
	if d.lease.Holder != "" {
		return
	}
	d.Metrics.WebhookEndpoints(nil)
	wait(ctx, standEvery)
}

func wait(ctx context.Context, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// step does what is to do now, and waits for the next thing.
func (d *Deliverer) step(ctx context.Context) {
	end, grown := d.Feed.Grown()
	if d.seen != end || d.unheeded {
		d.trouble(ctx, d.grow(ctx, end))
	}
	if now := d.Now(); now.Sub(d.committed) >= commitEvery && (d.changed() ||
		d.lease.Until.Sub(now) < d.leaseFor()-d.renewEvery()) {
		d.trouble(ctx, d.commit(ctx, d.leaseFor()))
	}
	if d.lease.Holder == "" {
		return // it was lost
	}
	next := d.start(d.Now())
	timer := time.NewTimer(next)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-grown:
	case <-timer.C:
	case r := <-d.results:
		d.finish(r)
		for range len(d.results) {
			d.finish(<-d.results)
		}
	}
}

// grow lets the endpoints read on that have new events, and acts on notices, which
// came with some.
func (d *Deliverer) grow(ctx context.Context, end domain.LogPlace) error {
	if err := d.heed(ctx); err != nil {
		return err
	}
	if d.anyIdle() {
		concerned, err := d.concerned(ctx, end)
		if err != nil {
			return err
		}
		for w := range concerned {
			if w.at == idle && w.progress.SwitchedOff == "" && !w.paused {
				d.plan(w, d.Now())
			}
		}
	}
	d.seen = end
	return nil
}

// maxRead bounds how many new events are looked at to find out whom they concern.
const maxRead = 4096

// concerned are the endpoints that may have new events: after more than can be
// looked at, and in a new epoch of the log, all of them.
func (d *Deliverer) concerned(ctx context.Context, end domain.LogPlace) (iter.Seq[*work], error) {
	if end.Epoch != d.seen.Epoch || end.Index-d.seen.Index > maxRead || end.Before(d.seen) {
		return maps.Values(d.work), nil
	}
	orgs, err := d.Feed.Between(ctx, d.seen, end)
	return func(yield func(*work) bool) {
		for org := range orgs {
			for w := range d.byOrg[org] {
				if !yield(w) {
					return
				}
			}
		}
	}, err
}

// stop lets the deliveries that are running end, and lets go of the lease.
func (d *Deliverer) stop(ctx context.Context) {
	if d.lease.Holder == "" {
		return
	}
	d.ending.Store(true)
	for d.running[sound]+d.running[suspect] > 0 { // for no longer than the time-out
		d.finish(<-d.results)
	}
	ctx, cancel := context.WithTimeout(ctx, d.Timeout)
	defer cancel()
	if err := d.commit(ctx, 0); err != nil {
		d.Log.Warn("the progress of the last webhook deliveries could not be kept; they may come twice", "error", err)
	}
	d.forget()
}

// trouble logs that the store fails, or does so no more, and waits a moment if it
// does.
func (d *Deliverer) trouble(ctx context.Context, err error) {
	switch {
	case err == nil && d.troubled:
		d.Log.Info("webhook events are delivered again")
	case err != nil && ctx.Err() == nil && !d.troubled:
		d.Log.Error("webhook events wait: what is stored of them cannot be read or changed", "error", err)
	}
	d.troubled = err != nil
	if d.troubled {
		wait(ctx, troubleRetry)
	}
}

package webhook

import (
	"context"
	"errors"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/store"
)

// errNotOurs says that another server delivers.
var errNotOurs = errors.New("webhook: another server delivers")

// take takes the lease if it is free and there is something to deliver, and reads
// what there is.
func (d *Deliverer) take(ctx context.Context) error {
	if some, err := d.any(ctx); err != nil || !some {
		return err
	}
	var taken domain.WebhookLease
	end, _ := d.Feed.Grown()
	err := d.Store.UpdateDeliveries(ctx, func(tx store.Deliveries) error {
		before, err := tx.Lease()
		if err != nil {
			return err
		}
		now := d.Now()
		if !d.Alone && before.Holder != "" && before.Holder != d.Node && now.Before(before.Until) {
			return errNotOurs
		}
		taken = domain.WebhookLease{Holder: d.Node, Term: before.Term + 1, Until: now.Add(d.leaseFor())}
		return tx.SetLease(taken)
	})
	if errors.Is(err, errNotOurs) {
		return nil
	}
	if err != nil {
		return err
	}
	d.forget()
	err = d.Store.EachWebhookProgress(ctx, func(p *domain.WebhookProgress) { d.add(*p) })
	if err != nil {
		return err
	}
	d.lease, d.seen, d.committed = taken, end, d.Now()
	d.rounds, d.stopRounds = context.WithCancel(context.WithoutCancel(ctx))
	return d.heed(ctx)
}

// any reports whether there is an endpoint at all.
func (d *Deliverer) any(ctx context.Context) (some bool, err error) {
	notices, err := d.Store.WebhookNotices(ctx, 1)
	if err != nil || len(notices) > 0 {
		return len(notices) > 0, err
	}
	return d.Store.AnyWebhookProgress(ctx)
}

// changed reports whether there is something to commit.
func (d *Deliverer) changed() bool { return len(d.dirty)+len(d.dropped)+len(d.applied) > 0 }

// commit makes durable what was done, and renews the lease for some time, if it is
// still this server's. Else all is forgotten: the server that has it now begins
// from what was committed before.
func (d *Deliverer) commit(ctx context.Context, lease time.Duration) error {
	now := d.Now()
	renewed := d.lease
	renewed.Until = now.Add(lease)
	if lease == 0 {
		renewed.Holder = ""
	}
	err := d.Store.UpdateDeliveries(ctx, func(tx store.Deliveries) error {
		stored, err := tx.Lease()
		if err != nil {
			return err
		}
		if stored.Holder != d.lease.Holder || stored.Term != d.lease.Term {
			return errNotOurs
		}
		for w := range d.dirty {
			if err := tx.SetProgress(&w.progress); err != nil {
				return err
			}
		}
		for _, k := range d.dropped {
			tx.DropProgress(k.org, k.endpoint)
		}
		for id := range d.applied {
			tx.DropNotice(id)
		}
		return tx.SetLease(renewed)
	})
	if errors.Is(err, errNotOurs) {
		d.Log.Warn("another server has taken over the webhook deliveries")
		d.lose()
		return nil
	}
	if err != nil {
		if d.lease.Until.Before(now) {
			d.lose()
		}
		return err
	}
	d.lease, d.committed, d.dropped = renewed, now, nil
	clear(d.dirty)
	clear(d.applied)
	d.report()
	return nil
}

// lose ends what is running, and forgets all.
func (d *Deliverer) lose() {
	d.stopRounds()
	for d.running[sound]+d.running[suspect] > 0 {
		r := <-d.results
		d.running[r.class]--
	}
	d.forget()
}

// forget is the state without the lease.
func (d *Deliverer) forget() {
	d.lease, d.work, d.byOrg = domain.WebhookLease{}, map[key]*work{}, map[string]map[*work]bool{}
	d.schedule, d.waiting, d.unheeded = nil, [2][]*work{}, false
	d.dirty, d.dropped, d.applied = map[*work]bool{}, nil, map[string]bool{}
}

// maxNotices bounds how many notices are read at once.
const maxNotices = 1000

// heed acts on the notices that commits of organizations have left. Those about an
// endpoint that is being delivered to wait until that is over.
func (d *Deliverer) heed(ctx context.Context) error {
	notices, err := d.Store.WebhookNotices(ctx, maxNotices)
	if err != nil {
		return err
	}
	for _, n := range notices {
		if d.applied[n.ID] {
			continue
		}
		w := d.work[key{n.OrganizationID, n.EndpointID}]
		if w == nil {
			w = d.add(domain.WebhookProgress{OrganizationID: n.OrganizationID, EndpointID: n.EndpointID})
		}
		if w.at == running {
			w.renotice = true
			continue
		}
		if err := d.apply(ctx, w, n); err != nil {
			return err
		}
		d.applied[n.ID] = true
	}
	d.unheeded = false
	return nil
}

// apply changes the progress of an endpoint as a notice says, and lets it be tried
// at once.
func (d *Deliverer) apply(ctx context.Context, w *work, n *domain.WebhookNotice) error {
	d.dirty[w] = true
	if n.Resume {
		resume(&w.progress)
	}
	if n.Replay && w.progress.Begun { // one that has not begun has nothing to get again
		from, err := d.rewound(ctx, n)
		if err != nil {
			return err
		}
		rewind(&w.progress, from, n.Since)
	}
	if w.progress.SwitchedOff == "" {
		d.plan(w, w.progress.NextAttempt)
	}
	return nil
}

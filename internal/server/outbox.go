package server

import (
	"context"
	"log/slog"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/keys/vault"
	"latchkey/internal/outbox/notify"
	"latchkey/internal/request/api"
	"latchkey/internal/store"
)

// outbox sends the messages that wait in the store, on every server.
//
// A server leases a message before it sends it, and renews the lease for as
// long as that takes; the version of the store's outbox makes sure that no two
// have it at once. A server that dies lets its lease end, and another one, or
// the next start, sends the message again. So each message is sent at least
// once, and twice only if a server died, or lost the database, between sending
// it and saying so; both copies have the same Message-ID.
//
// No request waits for any of this.
type outbox struct {
	store    *store.Store
	identity *vault.ServerKeys
	router   *notify.Router
	log      *slog.Logger
	metrics  *api.Metrics
	now      func() time.Time
	poll     time.Duration // between two looks at the store
	lease    time.Duration
	timeout  time.Duration // of one look

	ended chan ending
	// What follows belongs to the goroutine of run alone.
	underWay map[string]*domain.Message // being sent here, as leased
	endings  []ending                   // the store does not know of them yet
	counted  time.Time                  // when all messages were counted
	troubled bool                       // the last turn failed
}

const (
	// atOnce is how many messages one server sends at the same time.
	atOnce = 8
	// leaseFor is how long the messages of a server that died wait for another
	// one. A lease is renewed when a third of it is over, so that neither a slow
	// store nor clocks that differ by seconds make two servers send the same.
	leaseFor    = 15 * time.Second
	turnTimeout = 5 * time.Second
	// countEvery is how often all messages are counted, for the metrics.
	countEvery = 10 * time.Second
)

// ending is how the sending of a leased message ended.
type ending struct {
	*domain.Message
	err error
	// gaveUp says that this server stops, not that anything was wrong.
	gaveUp bool
}

func newOutbox(o outbox) *outbox {
	o.ended, o.underWay = make(chan ending, atOnce), map[string]*domain.Message{}
	return &o
}

// run sends messages until ctx ends. Then it takes no more, and lets those
// under way finish for as long as drain.
func (o *outbox) run(ctx context.Context, drain time.Duration) {
	if o.router.Mail == nil && o.router.SMS == nil {
		return // others may be able to
	}
	sending, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	for ctx.Err() == nil {
		began := time.Now()
		o.turn(sending, atOnce-len(o.underWay))
		// A look at a long queue must not become the server's main business,
		// nor make it late for its leases.
		o.wait(ctx, min(max(o.poll, 10*time.Since(began)), o.lease/6))
	}
	defer time.AfterFunc(drain, giveUp).Stop()
	settling := context.WithoutCancel(ctx) // also what was given up
	for len(o.underWay) > 0 {
		o.wait(settling, o.poll)
		o.turn(settling, 0)
	}
	if len(o.endings) > 0 {
		o.turn(settling, 0)
	}
}

// wait waits for some of the messages under way to end, at most for d.
func (o *outbox) wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case e := <-o.ended:
		o.finish(e)
		for range len(o.ended) { // and those that ended with it
			o.finish(<-o.ended)
		}
	}
}

// turn settles with the store, in one transaction, and sends what was taken: at
// most room messages.
func (o *outbox) turn(sending context.Context, room int) {
	ctx, cancel := context.WithTimeout(sending, o.timeout)
	defer cancel()
	t := transaction{outbox: o, now: o.now(), room: room}
	err := o.store.Outbox(ctx, t.run)
	if err != nil {
		// Which part of it was committed is not known. What has ended is told
		// again at the next turn, and what was leased comes back by itself.
		if !o.troubled {
			o.log.Error("the outbox cannot be read or changed; messages wait", "error", err)
		}
		o.troubled = true
		return
	}
	if o.troubled {
		o.log.Info("the outbox can be read and changed again")
	}
	o.troubled = false
	o.endings = nil
	for id, m := range t.renewed {
		o.underWay[id] = m
	}
	for _, d := range t.dropped {
		o.failed(d.Message, d.err)
	}
	if t.complete {
		o.counted = t.now
		o.metrics.MessagesWaiting(t.waiting)
	}
	for _, m := range t.taken {
		o.underWay[m.ID] = m
		go o.send(sending, m)
	}
}

// finish takes note of how a message ended; the next turn tells the store.
func (o *outbox) finish(e ending) {
	delete(o.underWay, e.ID)
	o.endings = append(o.endings, e)
	switch {
	case e.err == nil:
		o.metrics.MessageSent()
		o.log.Info("a message was sent", about(e.Message)...)
	case notify.IsPermanent(e.err):
		o.failed(e.Message, e.err)
	case !e.gaveUp:
		o.metrics.MessageRetried()
		o.log.Warn("a message was not sent; it will be tried again", append(about(e.Message), "error", e.err)...)
	}
}

func (o *outbox) failed(m *domain.Message, err error) {
	o.metrics.MessageFailed()
	o.log.Error("a message was not sent, and is given up", append(about(m), "error", err)...)
}

// about is all that the log may know of a message: neither to whom it goes nor
// what it says.
func about(m *domain.Message) []any {
	return []any{"message", m.ID, "organization", m.OrganizationID, "attempts", m.Attempts}
}

// Package outbox sends the messages that wait in the store. Every server runs
// one.
//
// A server leases a message before it sends it, and renews the lease for as
// long as that takes; the version of the store's outbox makes sure that no two
// servers hold a message at once. When a server dies its lease runs out, and
// another one, or the next start, sends the message again. So each message is
// sent at least once, and twice only if a server died, or lost the database,
// between sending it and recording that; both copies have the same Message-ID.
//
// No request waits for any of this, and the log shows neither the recipient of
// a message nor its text.
package outbox

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/outbox/notify"
	"latchkey/internal/store"
)

// Config is what an [Outbox] works with. All fields without a default are
// required.
type Config struct {
	Store *store.Store
	// Keys opens the sealed contents of messages.
	Keys interface {
		OpenMessage(purpose string, sealed []byte) ([]byte, error)
	}
	Router  *notify.Router
	Log     *slog.Logger
	Metrics Metrics
	Now     func() time.Time
	Poll    time.Duration // between two transactions with the store

	// Lease is how long the messages of a server that died wait for another
	// one; 15 seconds by default. A lease is renewed when a third of it is over,
	// so that neither a slow store nor clocks that differ by seconds make two
	// servers send the same message.
	Lease        time.Duration
	StoreTimeout time.Duration // of one transaction; 5 seconds by default
}

// Metrics counts what happens to messages.
type Metrics interface {
	MessageSent()
	MessageRetried()
	MessageFailed()
	// MessagesWaiting sets how many messages are in the store.
	MessagesWaiting(n int)
}

// Outbox sends messages. Make it with [New].
type Outbox struct {
	Config
	results chan result

	// What follows belongs to the goroutine of Run alone.
	inFlight     map[string]*domain.Message // being sent by this server, as leased
	unrecorded   []result                   // not in the store yet
	lastCount    time.Time                  // when all messages were counted
	storeFailing bool                       // the last transaction failed
}

const (
	// maxInFlight is how many messages one server sends at the same time.
	maxInFlight = 8
	// countEvery is how often all messages are counted, for the metrics.
	countEvery = 10 * time.Second

	defaultLease        = 15 * time.Second
	defaultStoreTimeout = 5 * time.Second
)

// result is how the sending of a leased message ended.
type result struct {
	*domain.Message
	err error
	// interrupted says that this server stops, not that anything was wrong.
	interrupted bool
}

// New makes an outbox, which does nothing before [Outbox.Run].
func New(c Config) *Outbox {
	c.Lease = cmp.Or(c.Lease, defaultLease)
	c.StoreTimeout = cmp.Or(c.StoreTimeout, defaultStoreTimeout)
	return &Outbox{Config: c, results: make(chan result, maxInFlight), inFlight: map[string]*domain.Message{}}
}

// Run sends messages until ctx ends. Then it leases no more, and lets those in
// flight finish for as long as drain.
func (o *Outbox) Run(ctx context.Context, drain time.Duration) {
	if o.Router.Mail == nil && o.Router.SMS == nil {
		return // other servers may be able to send
	}
	sending, interrupt := context.WithCancel(context.WithoutCancel(ctx))
	defer interrupt()
	for ctx.Err() == nil {
		began := time.Now()
		o.sync(sending, maxInFlight-len(o.inFlight))
		// Reading a long queue must not become the server's main business,
		// nor make it late for its leases.
		o.wait(ctx, min(max(o.Poll, 10*time.Since(began)), o.Lease/6))
	}
	defer time.AfterFunc(drain, interrupt).Stop()
	recording := context.WithoutCancel(ctx) // also of what was interrupted
	for len(o.inFlight) > 0 {
		o.wait(recording, o.Poll)
		o.sync(recording, 0)
	}
	if len(o.unrecorded) > 0 {
		o.sync(recording, 0)
	}
}

// wait waits for results of messages in flight, at most for d.
func (o *Outbox) wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case r := <-o.results:
		o.finish(r)
		for range len(o.results) { // and those that came with it
			o.finish(<-o.results)
		}
	}
}

// sync runs one [exchange] with the store, and starts sending what it leased:
// at most capacity messages.
func (o *Outbox) sync(sending context.Context, capacity int) {
	ctx, cancel := context.WithTimeout(sending, o.StoreTimeout)
	defer cancel()
	x := exchange{Outbox: o, now: o.Now(), capacity: capacity}
	err := o.Store.Outbox(ctx, x.run)
	if err != nil {
		// Which part of it was committed is not known. Results are recorded
		// again by the next exchange, and leases run out by themselves.
		if !o.storeFailing {
			o.Log.Error("the outbox cannot be read or changed; messages wait", "error", err)
		}
		o.storeFailing = true
		return
	}
	if o.storeFailing {
		o.Log.Info("the outbox can be read and changed again")
	}
	o.storeFailing = false
	o.unrecorded = nil
	for id, m := range x.renewed {
		o.inFlight[id] = m
	}
	for _, d := range x.dropped {
		o.failed(d.Message, d.err)
	}
	if x.countedAll {
		o.lastCount = x.now
		o.Metrics.MessagesWaiting(x.waiting)
	}
	for _, m := range x.leased {
		o.inFlight[m.ID] = m
		go o.send(sending, m)
	}
}

// finish logs and counts a result; the next exchange records it.
func (o *Outbox) finish(r result) {
	delete(o.inFlight, r.ID)
	o.unrecorded = append(o.unrecorded, r)
	switch {
	case r.err == nil:
		o.Metrics.MessageSent()
		o.Log.Info("a message was sent", logFields(r.Message)...)
	case notify.IsPermanent(r.err):
		o.failed(r.Message, r.err)
	case !r.interrupted:
		o.Metrics.MessageRetried()
		o.Log.Warn("a message was not sent; it will be tried again", append(logFields(r.Message), "error", r.err)...)
	}
}

func (o *Outbox) failed(m *domain.Message, err error) {
	o.Metrics.MessageFailed()
	o.Log.Error("a message was not sent, and is given up", append(logFields(m), "error", err)...)
}

// logFields is all that the log may know of a message: neither its recipient
// nor its text.
func logFields(m *domain.Message) []any {
	return []any{"message", m.ID, "organization", m.OrganizationID, "attempts", m.Attempts}
}

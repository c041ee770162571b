package outbox

import (
	"errors"
	"math/rand/v2"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/outbox/notify"
	"latchkey/internal/store"
)

// exchange is one transaction of the outbox with the store: it records results,
// renews leases, drops what cannot be sent any more, and leases what is due. It
// may run several times before it is committed; its fields say what the last
// run did.
type exchange struct {
	*Outbox
	now      time.Time
	capacity int // for messages to lease

	leased     []*domain.Message
	renewed    map[string]*domain.Message
	dropped    []result
	countedAll bool // waiting counts all messages
	waiting    int
}

const (
	// A message is tried again after firstRetry, then after twice as long
	// each time, but not more than longestRetry: codes last for minutes.
	firstRetry   = time.Second
	longestRetry = time.Minute
	// maxAttempts ends what nothing else would: a message that does not
	// expire, or one that makes servers crash.
	maxAttempts = 100
)

var errTooOften = errors.New("it was tried too often")

func (x *exchange) run(tx *store.Tx) error {
	messages := tx.Messages()
	x.leased, x.renewed, x.dropped = nil, map[string]*domain.Message{}, nil
	for _, r := range x.unrecorded {
		if err := x.record(tx, r); err != nil {
			return err
		}
	}
	for id, m := range x.inFlight {
		if m.LeasedUntil.Sub(x.now) < x.Lease*2/3 {
			if err := x.renew(messages, id, m); err != nil {
				return err
			}
		}
	}
	due, err := x.findDue(messages)
	if err != nil {
		return err
	}
	for _, d := range x.dropped {
		if err := messages.Delete(d.ID); err != nil {
			return err
		}
		if err := x.note(tx, d.Message, domain.MailBounce, d.err); err != nil {
			return err
		}
	}
	for _, m := range due {
		leased := *m
		leased.Attempts++
		leased.LeasedUntil = x.now.Add(x.Lease)
		if err := put(messages, &leased); err != nil {
			return err
		}
		x.leased = append(x.leased, &leased)
	}
	return nil
}

// record stores a result. The lease may have run out first, if the store was
// unreachable for long: then another server holds the message, but one that was
// sent is sent.
func (x *exchange) record(tx *store.Tx, r result) error {
	messages := tx.Messages()
	stored, err := messages.Lookup(r.ID)
	if err != nil || stored == nil {
		return err
	}
	ours := stored.Attempts == r.Attempts
	switch {
	case r.err == nil:
		if err := x.note(tx, r.Message, domain.MailDelivery, nil); err != nil {
			return err
		}
		return messages.Delete(r.ID)
	case !ours:
		return nil
	case notify.IsPermanent(r.err):
		if err := x.note(tx, r.Message, domain.MailBounce, r.err); err != nil {
			return err
		}
		return messages.Delete(r.ID)
	case r.Attempts == 1 && !r.interrupted:
		if err := x.note(tx, r.Message, domain.MailDeliveryDelay, r.err); err != nil {
			return err
		}
	}
	retry := *stored
	retry.LeasedUntil, retry.NextAttempt = time.Time{}, x.now
	if !r.interrupted {
		retry.NextAttempt = x.now.Add(retryAfter(r.Attempts))
	}
	return put(messages, &retry)
}

// retryAfter is how long to wait after so many attempts, with some randomness
// so that messages that failed together are not retried together.
func retryAfter(attempts int) time.Duration {
	wait := longestRetry
	if doublings := attempts - 1; doublings < 10 {
		wait = min(wait, firstRetry<<doublings)
	}
	return wait/2 + rand.N(wait/2)
}

// renew extends the lease of a message that is still being sent.
func (x *exchange) renew(messages store.Table[domain.Message], id string, m *domain.Message) error {
	stored, err := messages.Lookup(id)
	if err != nil || stored == nil || stored.Attempts != m.Attempts {
		return err // another server holds it now
	}
	renewed := *m
	renewed.LeasedUntil = x.now.Add(x.Lease)
	x.renewed[id] = &renewed
	return put(messages, &renewed)
}

// findDue finds the messages that are due, oldest first, and those to drop. It
// reads the whole queue when there is capacity for all that are due, and every
// [countEvery] to count them.
func (x *exchange) findDue(messages store.Table[domain.Message]) (due []*domain.Message, err error) {
	const page = 100
	x.waiting, x.countedAll = 0, false
	count := x.now.Sub(x.lastCount) >= countEvery
	var after string
	for len(due) < x.capacity || count {
		list, err := messages.List(after, page)
		if err != nil {
			return nil, err
		}
		for _, m := range list {
			after = m.ID
			switch reason := dropReason(m, x.now); {
			case m.LeasedUntil.After(x.now):
				x.waiting++
			case reason != nil && len(x.dropped) < page:
				x.dropped = append(x.dropped, result{Message: m, err: reason})
			default:
				x.waiting++
				if reason == nil && !m.NextAttempt.After(x.now) && len(due) < x.capacity {
					due = append(due, m)
				}
			}
		}
		if len(list) < page {
			x.countedAll = true
			break
		}
	}
	return due, nil
}

// dropReason says why a message need not be sent any more; nil if it should be.
func dropReason(m *domain.Message, now time.Time) error {
	switch {
	case !m.ExpiresAt.IsZero() && !now.Before(m.ExpiresAt):
		return notify.ErrExpired
	case m.Attempts >= maxAttempts:
		return errTooOften
	}
	return nil
}

func put(messages store.Table[domain.Message], m *domain.Message) error {
	return messages.Edit(m.ID, func(stored *domain.Message) error {
		*stored = *m
		return nil
	})
}

package server

import (
	"errors"
	"math/rand/v2"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/outbox/notify"
	"latchkey/internal/store"
)

// transaction is what the outbox does with the store in one turn. It may run
// several times before it is committed; what it says it did is what the last
// run did.
type transaction struct {
	*outbox
	now  time.Time
	room int // for messages to take

	taken    []*domain.Message
	renewed  map[string]*domain.Message
	dropped  []ending
	complete bool // waiting counts all messages
	waiting  int
}

const (
	// A message is tried again after firstRetry, then after twice as long
	// each time, but not more than longestRetry: codes last for minutes.
	firstRetry   = time.Second
	longestRetry = time.Minute
	// maxAttempts ends what nothing else would: a message that does not
	// expire, or one at which servers die.
	maxAttempts = 100
)

var errTooOften = errors.New("it was tried too often")

func (t *transaction) run(messages store.Table[domain.Message]) error {
	t.taken, t.renewed, t.dropped = nil, map[string]*domain.Message{}, nil
	for _, e := range t.endings {
		if err := t.settle(messages, e); err != nil {
			return err
		}
	}
	for id, m := range t.underWay {
		if m.LeasedUntil.Sub(t.now) < t.lease*2/3 {
			if err := t.renew(messages, id, m); err != nil {
				return err
			}
		}
	}
	due, err := t.look(messages)
	if err != nil {
		return err
	}
	for _, d := range t.dropped {
		if err := messages.Delete(d.ID); err != nil {
			return err
		}
	}
	for _, m := range due {
		leased := *m
		leased.Attempts++
		leased.LeasedUntil = t.now.Add(t.lease)
		if err := put(messages, &leased); err != nil {
			return err
		}
		t.taken = append(t.taken, &leased)
	}
	return nil
}

// settle records how a message ended. The lease may have ended first, if the
// store was away for long: then somebody else has the message, but one that
// was sent is sent.
func (t *transaction) settle(messages store.Table[domain.Message], e ending) error {
	stored, err := messages.Lookup(e.ID)
	if err != nil || stored == nil {
		return err
	}
	ours := stored.Attempts == e.Attempts
	switch {
	case e.err == nil, ours && notify.IsPermanent(e.err):
		return messages.Delete(e.ID)
	case !ours:
		return nil
	}
	again := *stored
	again.LeasedUntil, again.NextAttempt = time.Time{}, t.now
	if !e.gaveUp {
		again.NextAttempt = t.now.Add(retryAfter(e.Attempts))
	}
	return put(messages, &again)
}

// retryAfter is how long to wait after so many attempts, with some chance in it
// so that what failed together does not come back together.
func retryAfter(attempts int) time.Duration {
	wait := longestRetry
	if doublings := attempts - 1; doublings < 10 {
		wait = min(wait, firstRetry<<doublings)
	}
	return wait/2 + rand.N(wait/2)
}

// renew extends the lease of a message that is still being sent.
func (t *transaction) renew(messages store.Table[domain.Message], id string, m *domain.Message) error {
	stored, err := messages.Lookup(id)
	if err != nil || stored == nil || stored.Attempts != m.Attempts {
		return err // it is somebody else's now
	}
	renewed := *m
	renewed.LeasedUntil = t.now.Add(t.lease)
	t.renewed[id] = &renewed
	return put(messages, &renewed)
}

// look finds the messages that are due, oldest first, and those to be given up.
// It goes through all of them when there is room for all that are due, and now
// and then to count them.
func (t *transaction) look(messages store.Table[domain.Message]) (due []*domain.Message, err error) {
	const page = 100
	t.waiting, t.complete = 0, false
	count := t.now.Sub(t.counted) >= countEvery
	var after string
	for len(due) < t.room || count {
		list, err := messages.List(after, page)
		if err != nil {
			return nil, err
		}
		for _, m := range list {
			after = m.ID
			switch reason := hopeless(m, t.now); {
			case m.LeasedUntil.After(t.now):
				t.waiting++
			case reason != nil && len(t.dropped) < page:
				t.dropped = append(t.dropped, ending{Message: m, err: reason})
			default:
				t.waiting++
				if reason == nil && !m.NextAttempt.After(t.now) && len(due) < t.room {
					due = append(due, m)
				}
			}
		}
		if len(list) < page {
			t.complete = true
			break
		}
	}
	return due, nil
}

// hopeless says why it is useless to send a message, if it is.
func hopeless(m *domain.Message, now time.Time) error {
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

package oidc

import (
	"container/list"
	"context"
	"fmt"
	"sync"
	"time"
)

const (
	// maxIssuers bounds how many issuers are remembered. Strangers can name as
	// many as they like.
	maxIssuers = 1000

	// refreshEvery is how often an issuer is asked for new keys because a token
	// does not fit the known ones. The first time is free: a token signed right
	// after a rotation is valid at once.
	refreshEvery = 5 * time.Second

	// failureKept is how long an issuer that failed is left alone.
	failureKept = 5 * time.Second
)

// cache remembers the keys of issuers. It fetches those of one issuer once at a
// time, however many requests wait for them; a fetch goes on when the request
// that began it is gone. Keys older than maxAge are never returned, so that a
// key which an issuer withdraws stops working.
type cache struct {
	fetch   func(ctx context.Context, issuer string) (*keySet, error)
	now     func() time.Time
	timeout time.Duration // of a fetch
	maxAge  time.Duration

	mu      sync.Mutex
	entries map[string]*list.Element
	order   list.List // of *entry; the one used last is in front
}

// entry is what is known about an issuer.
type entry struct {
	issuer    string
	set       *keySet   // nil: none yet
	fetched   time.Time // when the fetch of set began
	refreshed time.Time // when a set was last asked for because the known one did not fit
	failure   error     // of the last fetch
	failed    time.Time
	flight    *flight // the fetch under way
}

// flight is a fetch. Its result may be read when done is closed.
type flight struct {
	done chan struct{}
	set  *keySet
	err  error
}

// get returns the keys of an issuer.
func (c *cache) get(ctx context.Context, issuer string) (*keySet, error) {
	return c.newer(ctx, issuer, nil)
}

// newer returns keys of an issuer that were fetched after those in known; nil
// if it is too early to ask for them.
func (c *cache) newer(ctx context.Context, issuer string, known *keySet) (*keySet, error) {
	f, set, err := c.join(ctx, issuer, known)
	if f == nil {
		return set, err
	}
	select {
	case <-f.done:
		return f.set, f.err
	case <-ctx.Done():
		return nil, problemf(ctx.Err(), "issuer %s did not answer in time: try again later", quote(issuer))
	}
}

// join answers from memory, or returns the fetch to wait for.
func (c *cache) join(ctx context.Context, issuer string, known *keySet) (*flight, *keySet, error) {
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entry(issuer)
	switch {
	case e.set != nil && e.set != known && within(now, e.fetched, c.maxAge):
		return nil, e.set, nil
	case e.flight != nil:
		return e.flight, nil, nil
	case known != nil && within(now, e.refreshed, refreshEvery):
		return nil, nil, nil
	case e.failure != nil && within(now, e.failed, failureKept):
		return nil, nil, e.failure
	}
	if known != nil {
		e.refreshed = now
	}
	e.flight = &flight{done: make(chan struct{})}
	go c.fly(context.WithoutCancel(ctx), e, e.flight, now)
	return e.flight, nil, nil
}

// within reports whether less than span has passed. If the clock was set back
// nothing is known, and the answer is no.
func within(now, since time.Time, span time.Duration) bool {
	age := now.Sub(since)
	return age >= 0 && age < span
}

func (c *cache) fly(ctx context.Context, e *entry, f *flight, began time.Time) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	f.set, f.err = c.fetchSafely(ctx, e.issuer)

	c.mu.Lock()
	e.flight, e.failure = nil, f.err
	if f.err == nil {
		e.set, e.fetched = f.set, began
	} else {
		e.failed = c.now()
	}
	c.mu.Unlock()
	close(f.done)
}

// fetchSafely fetches. No handler of a request would recover a panic here: one
// over a hostile document would end the server.
func (c *cache) fetchSafely(ctx context.Context, issuer string) (set *keySet, err error) {
	defer func() {
		if p := recover(); p != nil {
			set, err = nil, problemf(fmt.Errorf("panic: %v", p), "what issuer %s answers cannot be understood", quote(issuer))
		}
	}()
	return c.fetch(ctx, issuer)
}

// entry finds or makes the entry of an issuer, and marks it as used.
func (c *cache) entry(issuer string) *entry {
	if at, ok := c.entries[issuer]; ok {
		c.order.MoveToFront(at)
		return at.Value.(*entry)
	}
	if c.entries == nil {
		c.entries = make(map[string]*list.Element)
	}
	if len(c.entries) >= maxIssuers {
		c.evict()
	}
	e := &entry{issuer: issuer}
	c.entries[issuer] = c.order.PushFront(e)
	return e
}

// evict forgets the issuer that was not used for the longest time; if possible
// one whose keys are not known, so that naming issuers that do not exist does
// not push out those that do. One that is being asked stays, as it would be
// asked twice: their number is bounded by that of the requests.
func (c *cache) evict() {
	var oldest *list.Element
	for at := c.order.Back(); at != nil; at = at.Prev() {
		switch e := at.Value.(*entry); {
		case e.flight != nil:
			continue
		case e.set == nil:
			c.forget(at)
			return
		case oldest == nil:
			oldest = at
		}
	}
	if oldest != nil {
		c.forget(oldest)
	}
}

func (c *cache) forget(at *list.Element) {
	c.order.Remove(at)
	delete(c.entries, at.Value.(*entry).issuer)
}

package oidc

import (
	"context"
	"sync"
)

// Bounds of the fetches under way. One host may have many issuers, so a bound
// for each issuer would not keep strangers from turning the server against a
// host; and one slow host must not take all the places.
const (
	maxFetches     = 256
	maxHostFetches = 8
)

// fetchLimiter lets a bounded number of fetches pass at a time.
type fetchLimiter struct {
	all chan struct{}

	mu    sync.Mutex
	hosts map[string]*hostLimiter
}

type hostLimiter struct {
	places chan struct{}
	users  int // that hold or want a place
}

func newFetchLimiter() *fetchLimiter {
	return &fetchLimiter{all: make(chan struct{}, maxFetches), hosts: make(map[string]*hostLimiter)}
}

// take waits for a place at the host. The caller releases it by calling done.
func (t *fetchLimiter) take(ctx context.Context, host string) (done func(), err error) {
	h := t.enter(host)
	// First the host's place: a request that waits for a slow host holds nothing
	// that others need.
	select {
	case h.places <- struct{}{}:
	case <-ctx.Done():
		t.leave(host, h)
		return nil, ctx.Err()
	}
	select {
	case t.all <- struct{}{}:
	case <-ctx.Done():
		<-h.places
		t.leave(host, h)
		return nil, ctx.Err()
	}
	return func() {
		<-t.all
		<-h.places
		t.leave(host, h)
	}, nil
}

func (t *fetchLimiter) enter(host string) *hostLimiter {
	t.mu.Lock()
	defer t.mu.Unlock()
	h, ok := t.hosts[host]
	if !ok {
		h = &hostLimiter{places: make(chan struct{}, maxHostFetches)}
		t.hosts[host] = h
	}
	h.users++
	return h
}

func (t *fetchLimiter) leave(host string, h *hostLimiter) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if h.users--; h.users == 0 {
		delete(t.hosts, host)
	}
}

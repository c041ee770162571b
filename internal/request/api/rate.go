package api

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"latchkey/internal/fault"
	"latchkey/internal/lru"
)

// Rate bounds requests a second; 0: no bound.
type Rate struct {
	// Address is for the refused requests of one address, from which nothing is
	// answered while there are more. This machine's own has no bound.
	Address int
	User    int // for all requests of one user
}

// retryAfter is in how many seconds a client that was too fast may try again:
// some room is there after the first, whatever the bound is.
const retryAfter = "1"

// meter counts events by key. Each key has a bucket that holds as many as are
// allowed in a second and loses so many in one. Keys that were not seen lately
// are forgotten: a bucket that is full would be empty again by then, or soon.
type meter struct {
	most atomic.Int64 // 0: nothing is counted
	now  func() time.Time

	mu      sync.Mutex
	buckets lru.Map[string, bucket]
}

type bucket struct {
	level float64
	at    time.Time
}

// full reports whether the key has no room for one more.
func (m *meter) full(key string) bool {
	most := float64(m.most.Load())
	if most == 0 || key == "" {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.level(key, m.now(), most) > most-1
}

// count counts an event.
func (m *meter) count(key string) {
	most := float64(m.most.Load())
	if most == 0 || key == "" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	// Requests under way at once are counted when they end: they must not shut
	// their address out for longer than one that is full.
	m.buckets.Put(key, bucket{min(m.level(key, now, most)+1, most), now})
}

func (m *meter) level(key string, now time.Time, most float64) float64 {
	b, _ := m.buckets.Get(key)
	return max(0, b.level-max(0, now.Sub(b.at).Seconds())*most)
}

// admitAddress refuses a request from an address that was refused too often.
func (s *Server) admitAddress(address string) error {
	if !s.refusals.full(address) {
		return nil
	}
	return fault.New(fault.ResourceExhausted, fault.ReasonRateLimited,
		"too many requests from this address were refused: at most %d a second are looked at; "+
			"wait a second, and mend what the earlier replies say is wrong", s.refusals.most.Load())
}

// admitUser refuses a request of a user who has sent too many.
func (s *Server) admitUser(userID string) error {
	if s.requests.full(userID) {
		return fault.New(fault.ResourceExhausted, fault.ReasonRateLimited,
			"too many requests of this user: at most %d a second are answered; wait a second and send it again", s.requests.most.Load())
	}
	s.requests.count(userID)
	return nil
}

func isRateLimited(err error) bool {
	refusal, ok := fault.As(err)
	return ok && refusal.Reason == fault.ReasonRateLimited
}

// addressKey is what requests from an address are counted for; empty: nothing. Of
// IPv6 that is the network of 64 bits, of which one client has them all.
func addressKey(from netip.Addr) string {
	switch {
	case !from.IsValid() || from.IsLoopback():
		return ""
	case from.Is6():
		network, _ := from.Prefix(64) // it has more bits
		return network.String()
	}
	return from.String()
}

// Package meter counts events by key, so that those of one key can be bounded. It
// keeps what it counts in memory: each process counts for itself.
package meter

import (
	"sync"
	"sync/atomic"
	"time"

	"latchkey/internal/lru"
)

// Meter bounds the events of each key in a period. Each key has a bucket that
// holds as many as are allowed in a period and loses so many in one. Keys that
// were not seen lately are forgotten: a bucket that is full would be empty again
// by then, or soon. It is safe for concurrent use.
type Meter struct {
	period time.Duration
	now    func() time.Time
	most   atomic.Int64 // 0: nothing is counted

	mu      sync.Mutex
	buckets lru.Map[string, bucket]
}

type bucket struct {
	level float64
	at    time.Time
}

// New makes a meter without a bound; see [Meter.SetMost].
func New(period time.Duration, now func() time.Time) *Meter { return &Meter{period: period, now: now} }

// SetMost says how many events of one key there may be in a period; 0: as many
// as there are.
func (m *Meter) SetMost(most int) { m.most.Store(int64(most)) }

// Most is how many events of one key there may be in a period.
func (m *Meter) Most() int64 { return m.most.Load() }

// Interval is after which time a full bucket has room for one more.
func (m *Meter) Interval() time.Duration { return m.period / time.Duration(max(1, m.Most())) }

// Full reports whether the key has no room for one more. The empty key always
// has.
func (m *Meter) Full(key string) bool {
	most := float64(m.most.Load())
	if most == 0 || key == "" {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.level(key, m.now(), most) > most-1
}

// Count counts an event.
func (m *Meter) Count(key string) {
	most := float64(m.most.Load())
	if most == 0 || key == "" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	// Events under way at once are counted when they end: they must not shut
	// their key out for longer than one that is full.
	m.buckets.Put(key, bucket{min(m.level(key, now, most)+1, most), now})
}

// Take counts an event if the key has room for it, and reports whether it had.
func (m *Meter) Take(key string) bool {
	most := float64(m.most.Load())
	if most == 0 || key == "" {
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	level := m.level(key, now, most)
	if level > most-1 {
		return false
	}
	m.buckets.Put(key, bucket{level + 1, now})
	return true
}

func (m *Meter) level(key string, now time.Time, most float64) float64 {
	b, _ := m.buckets.Get(key)
	return max(0, b.level-max(0, now.Sub(b.at).Seconds())*most/m.period.Seconds())
}

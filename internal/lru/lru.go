// Package lru keeps what was used lately, in bounded memory.
package lru

import "cmp"

// Map keeps two generations. What is new or used is in the young one; when that
// is full it becomes the old one, and what the old one held is dropped. So what
// is in use stays, without the cost of keeping an order.
//
// The zero value is ready. It does not lock.
type Map[K comparable, V any] struct {
	Max        int // entries of a generation; 0: [Generation]
	young, old map[K]V
	turns      uint64
}

// Generation is the usual size: ten thousand active entries fit in one.
const Generation = 12_288

// Get returns the value of a key, and moves it to the young generation.
func (m *Map[K, V]) Get(key K) (V, bool) {
	value, ok := m.young[key]
	if ok {
		return value, true
	}
	if value, ok = m.old[key]; ok {
		m.Put(key, value)
	}
	return value, ok
}

// Put stores a value.
func (m *Map[K, V]) Put(key K, value V) {
	if m.young == nil {
		m.young = map[K]V{}
	}
	if _, ok := m.young[key]; !ok && len(m.young) >= cmp.Or(m.Max, Generation) {
		m.young, m.old = map[K]V{}, m.young
		m.turns++
	}
	m.young[key] = value
}

// Turns changes whenever an entry may have been dropped.
func (m *Map[K, V]) Turns() uint64 { return m.turns }

package store

import (
	"sync/atomic"
	"time"
)

// Pool is how the connections to the database are used.
type Pool struct {
	Used, Idle int
	Most       int           // that there can be
	Waits      int64         // how often one was not there at once
	Waited     time.Duration // for how long, in all
}

// pooled is a driver that has connections.
type pooled interface{ Pool() Pool }

// Pool says how the connections to the database are used now.
func (s *Store) Pool() Pool {
	var d any = s.driver
	if wrapped, ok := d.(faultDriver); ok {
		d = wrapped.driver
	}
	if p, ok := d.(pooled); ok {
		return p.Pool()
	}
	return Pool{}
}

// Waiting counts how often, and for how long, callers waited for a connection.
type Waiting struct{ times, nanoseconds atomic.Int64 }

// Begin is called where a connection is not there at once; what it returns, when the
// wait is over.
func (w *Waiting) Begin() (end func()) {
	start := time.Now()
	return func() {
		w.times.Add(1)
		w.nanoseconds.Add(int64(time.Since(start)))
	}
}

// Total is what was counted.
func (w *Waiting) Total() (times int64, waited time.Duration) {
	return w.times.Load(), time.Duration(w.nanoseconds.Load())
}

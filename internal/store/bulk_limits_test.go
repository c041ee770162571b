package store

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestBulkLimits: one bulk is read at a time, in a part of the time, and all that are
// held are bounded.
func TestBulkLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newBulks()
		var released atomic.Int64
		// begin reads a bulk of a size for a time, and says with how much room it began:
		// 0 if it did not.
		begin := func(size int, takes time.Duration) (room int) {
			all.begin(func(_ context.Context, most int) (int, func()) {
				room = most
				time.Sleep(takes)
				return size, func() { released.Add(1) }
			})
			synctest.Wait()
			return room
		}
		for _, step := range []struct {
			name     string
			after    time.Duration
			size     int
			takes    time.Duration
			room     int
			released int64 // before
		}{
			{"the first", 0, maxBulk / 4, time.Second / 20, maxBulk, 0},
			{"while it is read", 0, 1, 0, 0, 0},
			{"while it rests", time.Second / 2, 1, 0, 0, 0},
			{"after that", time.Second, 3 * maxBulk / 4, 0, 3 * maxBulk / 4, 0},
			{"when there is no room", time.Second, 1, 0, 0, 0},
			{"when the first was released", 8 * time.Second, 1, 0, maxBulk / 4, 1},
			{"when all were", bulkLife + time.Second, 1, 0, maxBulk, 3},
		} {
			time.Sleep(step.after)
			if room := begin(step.size, step.takes); room != step.room || released.Load() != step.released {
				t.Errorf("%s: begins with room for %d, %d released; want %d and %d", step.name, room, released.Load(), step.room, step.released)
			}
		}
		all.close()
		time.Sleep(bulkLife)
		if room := begin(1, 0); room != 0 {
			t.Error("one is read after the end")
		}
	})
}

// TestBulkReleased: a bulk is held until it is released, or another one is held.
func TestBulkReleased(t *testing.T) {
	d := newDerivations()
	one, two := &bulk{}, &bulk{}
	d.hold(one)
	d.hold(two)
	d.release(one)
	if d.bulk != two {
		t.Error("one that is not held any more is released, and the other is gone")
	}
	d.release(two)
	if d.bulk != nil {
		t.Error("it is held after it was released")
	}
}

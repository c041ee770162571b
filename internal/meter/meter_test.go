package meter

import (
	"testing"
	"time"
)

// TestMeter takes as many events as are allowed, and more as time goes by.
func TestMeter(t *testing.T) {
	now := time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	m := New(time.Hour, func() time.Time { return now })
	take := func(key string, tries, want int) {
		t.Helper()
		taken := 0
		for range tries {
			if m.Take(key) {
				taken++
			}
		}
		if taken != want {
			t.Errorf("%q: %d of %d were taken, want %d", key, taken, tries, want)
		}
	}
	take("a", 100, 100) // there is no bound yet
	m.SetMost(30)
	take("a", 10000, 30)
	take("b", 31, 30)
	take("", 31, 31) // no one knows whose they are
	if !m.Full("a") || m.Full("c") || m.Interval() != 2*time.Minute {
		t.Errorf("full: %v, %v; interval %v", m.Full("a"), m.Full("c"), m.Interval())
	}
	now = now.Add(10 * time.Minute)
	take("a", 100, 5)
	now = now.Add(time.Hour)
	take("a", 100, 30)
	m.Count("c")
	take("c", 100, 29)
}

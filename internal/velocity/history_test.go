package velocity_test

import (
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"latchkey/internal/domain"
)

// TestHistory compares what was in the window at each point with a naive sum.
func TestHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seconds := rapid.Int64Range(1, 50).Draw(t, "seconds")
		window := rolling(big.NewInt(seconds).String())
		infinite := rapid.Bool().Draw(t, "infinite")
		if infinite {
			window = domain.VelocityWindow{Infinite: &domain.Nothing{}}
		}
		c := control(quiet{}, "1", window, "18")
		var all entries
		amounts := map[int64]int64{} // by time
		clock := int64(1_000_000)
		for i := range rapid.IntRange(0, 60).Draw(t, "events") {
			clock += rapid.Int64Range(0, 30_000).Draw(t, "pause")
			s, err := c.Sum(all, time.UnixMilli(clock))
			if err != nil {
				t.Fatal(err)
			}
			amounts[clock] += int64(i)
			all = append(all, c.Next(s, "g", "a", big.NewInt(int64(i))))
		}
		n := rapid.IntRange(2, 20).Draw(t, "points")
		since := rapid.Int64Range(900_000, clock+10_000).Draw(t, "since")
		now := max(clock, rapid.Int64Range(1_000_000, clock+10_000).Draw(t, "now"))
		points, err := c.History(all, time.UnixMilli(since), time.UnixMilli(now), n)
		if err != nil || len(points) != n {
			t.Fatalf("%d points, want %d: %v", len(points), n, err)
		}
		if points[0].AtMs != min(since, now) || points[n-1].AtMs != now {
			t.Errorf("from %d to %d, want %d to %d", points[0].AtMs, points[n-1].AtMs, min(since, now), now)
		}
		for _, p := range points {
			want := int64(0)
			for at, amount := range amounts {
				if at <= p.AtMs && (infinite || at > p.AtMs-seconds*1000) {
					want += amount
				}
			}
			if p.Used.Cmp(big.NewInt(want)) != 0 {
				t.Errorf("at %d %s was used, want %d", p.AtMs, p.Used, want)
			}
		}
		if now, err := c.Sum(all, time.UnixMilli(now)); err != nil || now.Used.Cmp(points[n-1].Used) != 0 {
			t.Errorf("the last point has %s, the sum %s: %v", points[n-1].Used, now.Used, err)
		}
	})
}

package policy

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func instantOf(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// slowly is covers without its jumps.
func slowly(s *cronSpan, now time.Time) bool {
	for minute := now.Truncate(time.Minute); now.Sub(minute) < s.open; minute = minute.Add(-time.Minute) {
		local := minute.In(s.zone)
		if s.day(local) && s.hours>>local.Hour()&1 != 0 && s.minutes>>local.Minute()&1 != 0 {
			return true
		}
	}
	return false
}

// TestCronJumps compares the walk with one that visits every minute, near the
// changes of clocks of zones that do odd things.
func TestCronJumps(t *testing.T) {
	changes := map[string][]time.Time{
		"America/New_York":    {instantOf(t, "2026-03-08T07:00:00Z"), instantOf(t, "2026-11-01T06:00:00Z")},
		"Australia/Lord_Howe": {instantOf(t, "2026-10-03T15:30:00Z"), instantOf(t, "2026-04-04T15:00:00Z")},
		"Africa/Casablanca":   {instantOf(t, "2026-02-15T02:00:00Z"), instantOf(t, "2026-03-22T02:00:00Z")},
		"Asia/Kathmandu":      {instantOf(t, "2026-01-01T00:00:00Z")},
		"Pacific/Apia":        {instantOf(t, "2011-12-30T10:00:00Z")}, // a whole day was skipped
	}
	rapid.Check(t, func(r *rapid.T) {
		zone := rapid.SampledFrom([]string{"America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Kathmandu", "Pacific/Apia"}).Draw(r, "zone")
		location, err := time.LoadLocation(zone)
		if err != nil {
			r.Fatal(err)
		}
		some := func(name string, least, most int) uint64 {
			if rapid.Bool().Draw(r, name+" is any") {
				set, _ := cronField("*", least, most)
				return set
			}
			var set uint64
			for range rapid.IntRange(1, 3).Draw(r, name) {
				set |= 1 << rapid.IntRange(least, most).Draw(r, name)
			}
			return set
		}
		s := &cronSpan{
			minutes: some("minute", 0, 59), hours: some("hour", 0, 23), days: some("day", 1, 31), months: some("month", 1, 12),
			weekdays: some("weekday", 0, 6), eitherDay: rapid.Bool().Draw(r, "either"), zone: location,
			open: time.Duration(rapid.IntRange(1, 60*24*7).Draw(r, "open")) * time.Minute,
		}
		now := rapid.SampledFrom(changes[zone]).Draw(r, "change").Add(time.Duration(rapid.IntRange(-100_000, 400_000).Draw(r, "seconds")) * time.Second)
		if got, want := s.covers(now), slowly(s, now); got != want {
			r.Fatalf("at %s: %v, minute by minute %v", now.In(location), got, want)
		}
	})
}

func BenchmarkCronWorst(b *testing.B) {
	e := compiled(b, Time, "CronSpan('0 0 31 2 *', '7d', 'America/New_York')")
	env := &Env{Now: noon}
	for b.Loop() {
		if _, err := e.Eval(env); err != nil {
			b.Fatal(err)
		}
	}
}

package velocity

import (
	"errors"
	"strconv"
	"time"

	"latchkey/internal/domain"
)

var errNoZone = errors.New("there is no such time zone")

// window says what is out of it: all up to a time in milliseconds; false: nothing
// ever is. And it says when what was counted at a time will be out.
func window(w *domain.VelocityWindow) (cutoff func(time.Time) (int64, bool), leaves func(at, now int64) int64) {
	switch {
	case w.Rolling != nil:
		seconds, _ := strconv.ParseInt(w.Rolling.Duration, 10, 64)
		length := seconds * 1000
		return func(now time.Time) (int64, bool) { return now.UnixMilli() - length, true },
			func(at, _ int64) int64 { return at + length }
	case w.Calendar != nil:
		location, err := zone(w.Calendar.Timezone)
		if err != nil { // Check has refused it
			location = time.UTC
		}
		unit := w.Calendar.Unit
		return func(now time.Time) (int64, bool) { return begin(now.In(location), unit, 0).UnixMilli() - 1, true },
			func(_, now int64) int64 { return begin(time.UnixMilli(now).In(location), unit, 1).UnixMilli() }
	}
	return func(time.Time) (int64, bool) { return 0, false }, nil
}

// begin is the local midnight at which the unit of a time begins, or a later one
// that is so many units further on.
func begin(t time.Time, unit domain.VelocityUnit, further int) time.Time {
	year, month, day := t.Date()
	switch unit {
	case domain.VelocityWeek:
		day += 7*further - (int(t.Weekday())+6)%7 // from Monday
	case domain.VelocityMonth:
		month, day = month+time.Month(further), 1
	default:
		day += further
	}
	return midnight(year, month, day, t.Location())
}

// midnight is the first moment of a day. A change of the clock may let midnight
// come twice, then the first counts, or skip it, then the day begins with the
// change.
func midnight(year int, month time.Month, day int, in *time.Location) time.Time {
	const aDay = 24 * time.Hour
	utc := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	_, before := utc.Add(-aDay).In(in).Zone()
	_, after := utc.Add(aDay).In(in).Zone()
	earlier := utc.Add(-time.Duration(max(before, after)) * time.Second).In(in)
	later := utc.Add(-time.Duration(min(before, after)) * time.Second).In(in)
	for _, t := range []time.Time{earlier, later} {
		if t.Day() == utc.Day() && t.Hour() == 0 && t.Minute() == 0 {
			return t
		}
	}
	_, change := earlier.ZoneBounds()
	return change
}

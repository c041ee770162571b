package policy

import (
	"math/bits"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // so that a container without a zone database knows the zones
)

// timestamp reads RFC 3339 with a zero offset. time.Parse alone would accept
// more: single digits, a comma.
func timestamp(n *node) (time.Time, *Error) {
	wrong := refuse(n, "write it as 2026-01-31T12:00:00Z", "this is not a timestamp in UTC")
	text := n.text
	clock, found := strings.CutSuffix(text, "Z")
	for _, zero := range []string{"z", "+00:00", "-00:00"} {
		if !found {
			clock, found = strings.CutSuffix(text, zero)
		}
	}
	const shape = "0000-00-00T00:00:00"
	if !found || len(clock) < len(shape) {
		return time.Time{}, wrong
	}
	fraction := clock[len(shape):]
	if fraction != "" && (fraction[0] != '.' || len(fraction) == 1 || strings.Trim(fraction[1:], "0123456789") != "") {
		return time.Time{}, wrong
	}
	for i := range shape {
		if digit := shape[i] == '0'; digit != isDigit(clock[i]) {
			return time.Time{}, wrong
		}
	}
	t, err := time.Parse("2006-01-02T15:04:05", strings.Replace(clock, "t", "T", 1))
	if err != nil {
		return time.Time{}, wrong
	}
	return t, nil
}

// maxSpan is the longest window.
const maxSpan = 7 * 24 * time.Hour

// cronSpan is a set of windows: one of length open begins at every minute that
// fits the fields, in the zone's own time.
type cronSpan struct {
	minutes, hours, days, months, weekdays uint64 // a bit for each value
	// Days of the month and of the week: either will do when both are
	// restricted, as in every cron.
	eitherDay bool
	open      time.Duration
	zone      *time.Location
}

func newCronSpan(cron, open, zone *node) (*cronSpan, *Error) {
	s := &cronSpan{}
	fields := strings.Fields(cron.text)
	if len(fields) != 5 {
		return nil, refuse(cron, "write minute, hour, day of month, month and day of week, such as 0 9 * * 1-5", "expected 5 fields, not %d", len(fields))
	}
	for i, f := range []struct {
		name     string
		min, max int
		set      *uint64
	}{
		{"minute", 0, 59, &s.minutes},
		{"hour", 0, 23, &s.hours},
		{"day of month", 1, 31, &s.days},
		{"month", 1, 12, &s.months},
		{"day of week", 0, 6, &s.weekdays},
	} {
		set, ok := cronField(fields[i], f.min, f.max)
		if !ok {
			return nil, refuse(cron, "write *, numbers, ranges such as 1-5, or a list of those with commas",
				"%s is not a set of values from %d to %d for the %s", fields[i], f.min, f.max, f.name)
		}
		*f.set = set
	}
	s.eitherDay = fields[2] != "*" && fields[4] != "*"
	var ok bool
	if s.open, ok = duration(open.text); !ok {
		return nil, refuse(open, "write days, hours and minutes, such as 8h, 90m or 1d12h, of at most 7d together", "this is not a duration")
	}
	// LoadLocation would take "" and Local for the zone of the server.
	location, err := time.LoadLocation(zone.text)
	if err != nil || zone.text == "" || zone.text == "Local" {
		return nil, refuse(zone, "write a name such as America/New_York or UTC", "this is not a time zone")
	}
	s.zone = location
	return s, nil
}

func cronField(text string, least, most int) (set uint64, ok bool) {
	if text == "*" {
		return (1<<(most+1) - 1) &^ (1<<least - 1), true
	}
	for part := range strings.SplitSeq(text, ",") {
		first, last, ranged := strings.Cut(part, "-")
		if !ranged {
			last = first
		}
		from, ok1 := small(first)
		to, ok2 := small(last)
		if !ok1 || !ok2 || from < least || to > most || from > to {
			return 0, false
		}
		set |= (1<<(to+1) - 1) &^ (1<<from - 1)
	}
	return set, true
}

// small reads one to five digits.
func small(text string) (int, bool) {
	if text == "" || len(text) > 5 || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}

// duration reads days, hours and minutes, each at most once and in this order.
func duration(text string) (time.Duration, bool) {
	var sum time.Duration
	for _, u := range []struct {
		letter string
		length time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}} {
		digits, rest, found := strings.Cut(text, u.letter)
		if !found {
			continue
		}
		n, ok := small(digits)
		if !ok {
			return 0, false
		}
		sum += time.Duration(n) * u.length
		text = rest
	}
	return sum, text == "" && sum > 0 && sum <= maxSpan
}

// covers says whether now is in a window: whether a minute that fits began less
// than open ago. It walks back through the minutes of elapsed time, so a local
// minute that a change of clocks skips does not occur and one that is repeated
// occurs twice.
func (s *cronSpan) covers(now time.Time) bool {
	local := now.In(s.zone)
	into := time.Duration(local.Second())*time.Second + time.Duration(local.Nanosecond())
	for minute := local.Add(-into); now.Sub(minute) < s.open; {
		earlier := minute.Minute() + 1 // to the end of the hour before
		if s.day(minute) && s.hours>>minute.Hour()&1 != 0 {
			fits := s.minutes & (1<<earlier - 1)
			if fits>>minute.Minute()&1 != 0 {
				return true
			}
			earlier = minute.Minute() - (bits.Len64(fits) - 1) // to the one that fits, if any
		}
		next := minute.Add(-time.Duration(earlier) * time.Minute)
		// The jump is sound only where the clock runs evenly.
		if !sameOffset(minute, next) {
			next = minute.Add(-time.Minute)
		}
		minute = next
	}
	return false
}

func sameOffset(a, b time.Time) bool {
	_, x := a.Zone()
	_, y := b.Zone()
	return x == y
}

func (s *cronSpan) day(t time.Time) bool {
	if s.months>>int(t.Month())&1 == 0 {
		return false
	}
	inMonth, inWeek := s.days>>t.Day()&1 != 0, s.weekdays>>int(t.Weekday())&1 != 0
	if s.eitherDay {
		return inMonth || inWeek
	}
	return inMonth && inWeek
}

package webhook

import (
	"strings"
	"testing"
	"time"

	"latchkey/internal/domain"
)

func TestRetryIn(t *testing.T) {
	for attempts, longest := range map[int]time.Duration{
		1: time.Second, 2: 2 * time.Second, 3: 4 * time.Second, 10: 512 * time.Second, 11: 15 * time.Minute, 1000: 15 * time.Minute,
	} {
		for range 100 {
			if got := retryIn(attempts, 0); got < longest/2 || got > longest {
				t.Fatalf("after %d attempts %v, want from half of %v to all of it", attempts, got, longest)
			}
		}
	}
	if got := retryIn(1, 2*time.Minute); got != 2*time.Minute {
		t.Errorf("a receiver that asks for two minutes gets %v", got)
	}
	if got := retryIn(1, 100*time.Hour); got != time.Hour {
		t.Errorf("a receiver that asks for 100 hours gets %v", got)
	}
	if got := retryIn(20, time.Second); got < 7*time.Minute {
		t.Errorf("a receiver that asks for a second after 20 failures gets %v", got)
	}
}

// TestThreeDays lets an endpoint fail on a clock of its own until it is switched
// off.
func TestThreeDays(t *testing.T) {
	began := time.UnixMilli(1794708835768)
	now, attempts := began, 0
	p := new(domain.WebhookProgress)
	p.Place = domain.LogPlace{Epoch: 1, Index: 7}
	for p.SwitchedOff == "" {
		failed(p, &failure{reason: "the receiver answered with HTTP 503"}, now)
		attempts++
		if wait := p.NextAttempt.Sub(now); p.SwitchedOff == "" && (wait <= 0 || wait > longestRetry) {
			t.Fatalf("attempt %d is followed by one after %v", attempts, wait)
		}
		now = p.NextAttempt
	}
	if lasted := now.Sub(began); lasted < givesUpAfter || lasted > givesUpAfter+longestRetry {
		t.Errorf("it was switched off after %v", lasted)
	}
	if attempts < 280 || attempts > 600 || p.Attempts != attempts {
		t.Errorf("%d attempts in three days, %d counted", attempts, p.Attempts)
	}
	if !strings.Contains(p.SwitchedOff, "three days") || !strings.Contains(p.SwitchedOff, "HTTP 503") || p.Place.Index != 7 {
		t.Errorf("it is now %+v", p)
	}
	resume(p)
	if p.SwitchedOff != "" || p.Attempts != 0 || p.LastError != "" || p.Place.Index != 7 {
		t.Errorf("resumed it is %+v", p)
	}
	failed(p, &failure{reason: "the receiver answered with HTTP 410", gone: true}, now)
	if p.SwitchedOff == "" {
		t.Error("a 410 does not switch it off")
	}
}

// TestRewind never skips what was not delivered.
func TestRewind(t *testing.T) {
	place := func(index int64) domain.LogPlace { return domain.LogPlace{Epoch: 1, Index: index} }
	at := func(minute int) time.Time { return time.Unix(1794700000, 0).Add(time.Duration(minute) * time.Minute) }
	event := func(index int64, minute int) *Event { return &Event{After: place(index + 1), Time: at(minute)} }

	p := &domain.WebhookProgress{Begun: true, Place: place(100)}
	rewind(p, place(200), time.Time{})
	if p.Place != place(100) {
		t.Errorf("a replay of what is to come moved it to %v", p.Place)
	}
	rewind(p, place(10), at(50))
	for _, test := range []struct {
		event *Event
		left  bool
	}{
		{event(10, 40), true},
		{event(60, 50), false},
		{event(99, 40), true},
		{event(100, 40), false}, // not delivered before: wanted, whatever its time
	} {
		if got := unwanted(p, test.event); got != test.left {
			t.Errorf("an event at %v of %v is left out: %v", test.event.After, test.event.Time, got)
		}
	}
	// A second one while the first goes on.
	p.Place = place(50)
	rewind(p, place(5), at(60))
	if p.Place != place(5) || p.ReplaySince != at(50) || p.ReplayUntil != place(100) {
		t.Errorf("two replays made %+v", p)
	}
	rewind(p, domain.LogPlace{}, time.Time{})
	if p.Place != (domain.LogPlace{}) || unwanted(p, event(1, 0)) {
		t.Errorf("a replay of everything made %+v", p)
	}
}

func TestWanted(t *testing.T) {
	e := &domain.WebhookEndpoint{Subscriptions: []domain.WebhookSubscription{
		{EventType: domain.ActivityUpdates, Types: []string{"A"}, Statuses: []string{"DONE"}},
		{EventType: domain.ActivityUpdates, Types: []string{"B"}},
		{EventType: domain.ActivityUpdates, Inactive: true},
	}}
	types, statuses := wanted(e)
	if strings.Join(types, " ") != "A B" || statuses != nil {
		t.Errorf("wanted %v and %v", types, statuses)
	}
	for activity, want := range map[[2]string]bool{
		{"A", "DONE"}: true, {"A", "FAILED"}: false, {"B", "FAILED"}: true, {"C", "DONE"}: false,
	} {
		if got := e.Wants(activity[0], activity[1]); got != want {
			t.Errorf("%v is wanted: %v", activity, got)
		}
	}
}

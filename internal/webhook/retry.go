package webhook

import (
	"fmt"
	"math/rand/v2"
	"time"

	"latchkey/internal/domain"
)

const (
	firstRetry   = time.Second
	longestRetry = 15 * time.Minute
	// longestRetryAfter bounds what a receiver can ask for.
	longestRetryAfter = time.Hour
	// givesUpAfter is how long an endpoint may fail before it is switched off.
	givesUpAfter = 3 * 24 * time.Hour
)

// retryIn is how long to wait after so many failed attempts, with some randomness
// so that what failed together is not tried again together.
func retryIn(attempts int, asked time.Duration) time.Duration {
	wait := longestRetry
	if doublings := attempts - 1; doublings < 10 {
		wait = min(wait, firstRetry<<doublings)
	}
	return max(wait/2+rand.N(wait/2), min(asked, longestRetryAfter))
}

// failed notes a failed attempt.
func failed(p *domain.WebhookProgress, f *failure, now time.Time) {
	p.Attempts++
	p.LastError = f.reason
	if p.FailingSince.IsZero() {
		p.FailingSince = now
	}
	switch {
	case f.gone:
		p.SwitchedOff = "switched off: " + f.reason + ", which means that it wants no more"
	case now.Sub(p.FailingSince) >= givesUpAfter:
		p.SwitchedOff = fmt.Sprintf("switched off after three days of failures, %d in a row; the last one: %s", p.Attempts, f.reason)
	default:
		p.NextAttempt = now.Add(retryIn(p.Attempts, f.retryAfter))
	}
}

// delivered notes an event that was taken.
func delivered(p *domain.WebhookProgress, now time.Time) {
	p.Delivered = now
	resume(p)
}

// resume forgets the failures so far.
func resume(p *domain.WebhookProgress) {
	p.Attempts, p.FailingSince, p.NextAttempt, p.LastError, p.SwitchedOff = 0, time.Time{}, time.Time{}, "", ""
}

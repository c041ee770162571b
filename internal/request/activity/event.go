package activity

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/domain"
	"latchkey/internal/translog"
)

// AsOf is an activity as it stood right after the change that a record of the log
// is about. Nothing is kept twice for that: votes are only ever added, and what an
// activity has come to does not change. It is nil when the record has other votes
// than the activity.
func AsOf(a *domain.Activity, r *translog.Record) *domain.Activity {
	then := *a
	then.Votes = nil
	for n := len(a.Votes); n > 0; n-- { // most have one
		then.Votes = slices.Clone(a.Votes[:n])
		if digest(votesText(&then)) == r.VotesDigest {
			break
		}
		then.Votes = nil
	}
	if then.Votes == nil {
		return nil
	}
	then.Status, then.UpdatedAt = domain.ActivityStatus(r.Status), time.UnixMilli(r.TimeMs)
	if then.Status != domain.StatusCompleted {
		then.Result = nil
	}
	if then.Status != domain.StatusFailed {
		then.Failure = nil
		return &then
	}
	counts := func(v domain.Vote) bool { return !v.Powerless }
	if before := a.Overruled; before != nil && !slices.ContainsFunc(then.Votes, counts) {
		then.Failure = before.Failure
		if then.Omitted = before.Omitted; then.Omitted > 0 {
			then.Body, then.Intent = "", jsontext.Value("{}")
		}
	}
	return &then
}

// RenderEvent makes the view of an activity for an event: the same for every
// reader and at every time. So it has no secret of the submitter, says of voters
// what the vote says, and lets no one vote. A vote whose message is not shown goes
// without its signature, by which a short code in the message could be guessed.
func (c *Catalog) RenderEvent(then *domain.Activity) (View, error) {
	shown, err := c.Redact(then)
	if err != nil {
		return View{}, err
	}
	if shown.Body == "" {
		shown.Votes = slices.Clone(shown.Votes)
		for i := range shown.Votes {
			if v := &shown.Votes[i]; v.Message == "" {
				v.Signature = ""
			}
		}
	}
	view, err := c.Render(shown, func(string) (*domain.User, error) { return nil, nil })
	view.CanReject = false
	return view, err
}

// EventID is the id of the event that an entry of the log is: the same wherever
// and however often the event is shown. It follows from the salt, which no other
// entry has, and does not tell it.
func EventID(salt [32]byte) string {
	sum := sha256.Sum256(append([]byte("latchkey event 1\x00"), salt[:]...))
	id := [16]byte(sum[:16])
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80 // RFC 9562 section 5.8: version 8, of our own making
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

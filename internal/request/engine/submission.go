package engine

import (
	"crypto/sha256"
	"strconv"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/ids"
	"latchkey/internal/keys/vault"
	"latchkey/internal/request/activity"
	"latchkey/internal/store"
)

// submission is what a submit request claims: an intent, at a time.
type submission struct {
	caller      *caller
	activityID  string // chosen before the first attempt, so that all attempts mean the same activity
	voteID      string
	timestampMs int64
	fingerprint store.Fingerprint
	body        []byte
	intent      *activity.Intent
	claims      map[string]domain.Claims // of the tokens in it
	tokenErr    error                    // why one of them is no good
	fresh       bool
	warrant     *vault.Warrant // once the intent was allowed
}

// How far a request's time may be from ours.
const (
	maxAge   = time.Hour
	maxAhead = 5 * time.Minute
)

func (e *Engine) newSubmission(caller *caller, envelope *Envelope, body []byte, intent *activity.Intent) (*submission, error) {
	ms, err := strconv.ParseUint(envelope.TimestampMs, 10, 52)
	if err != nil {
		return nil, fault.Fields("", []fault.Field{{
			Path: "timestampMs", Description: "must be the time in milliseconds since the Unix epoch, as a string of digits",
		}})
	}
	c := &submission{
		caller: caller, activityID: ids.New(), voteID: ids.New(),
		timestampMs: int64(ms), fingerprint: sha256.Sum256(body), body: body, intent: intent,
	}
	c.fresh = c.checkFresh(e.Now()) == nil
	return c, nil
}

// checkFresh refuses a request that is too old or comes from the future.
func (c *submission) checkFresh(now time.Time) error {
	age := now.Sub(time.UnixMilli(c.timestampMs))
	if age <= maxAge && age >= -maxAhead {
		return nil
	}
	what := "is more than one hour old"
	if age < 0 {
		what = "is more than five minutes in the future"
	}
	err := fault.New(fault.InvalidArgument, fault.ReasonInvalidTime,
		"timestampMs %s; the server's time is %d: check the clock and sign the request again", what, now.UnixMilli())
	err.Fields = []fault.Field{{Path: "timestampMs", Description: what}}
	return err
}

// record starts the activity, with the submission as its first vote.
func (c *submission) record(vote domain.Vote) *domain.Activity {
	a := &domain.Activity{
		ID: c.activityID, OrganizationID: c.caller.target, Type: c.intent.Op.Type,
		TimestampMs: c.timestampMs, Fingerprint: c.fingerprint,
		Body: string(c.body), Intent: c.intent.JSON, Claims: c.claims,
		Votes:     []domain.Vote{vote},
		CreatedAt: vote.CreatedAt, UpdatedAt: vote.CreatedAt,
	}
	if c.caller.home != c.caller.target {
		a.DecidedBy = c.caller.home
	}
	return a
}

// vote is what the request says on an activity.
func (c *submission) vote(who *principal, s domain.Selection, now time.Time) domain.Vote {
	return domain.Vote{
		ID: c.voteID, UserID: who.user.ID, UserName: who.user.Name, Selection: s,
		PublicKey: c.caller.publicKey, Signature: c.caller.stamp.Signature, Scheme: string(c.caller.stamp.Scheme),
		CredentialID: who.credentialID, CreatedAt: now,
	}
}

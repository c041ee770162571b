package engine

import (
	"crypto/sha256"
	"strconv"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/ids"
	"latchkey/internal/request/activity"
	"latchkey/internal/store"
)

// submission is what a submit request asks for: an intent, at a time.
type submission struct {
	endpoint *activity.Endpoint
	version  *activity.CompiledOp
	envelope *Envelope
	proof    proof

	caller      *caller
	activityID  string // chosen before the first attempt, so that all attempts mean the same activity
	voteID      string
	timestampMs int64
	fingerprint store.Fingerprint
	body        []byte
	intent      *activity.Intent
	claims      map[string]domain.Claims // of the tokens in it
	tokenErr    error                    // why one of them is invalid
	fresh       bool
	look        bool                 // whether it may be recorded already
	exchanges   map[string]*exchange // that this request has joined
	leave       []func()             // ends that
}

// How far a request's time may be from ours.
const (
	maxAge   = time.Hour
	maxAhead = 5 * time.Minute
)

// parse reads the intent. It is called once, also if the request runs again.
func (s *submission) parse(body []byte, now time.Time) error {
	intent, err := s.endpoint.Parse(s.version, s.envelope.Parameters)
	if err != nil {
		return err
	}
	ms, err := strconv.ParseUint(s.envelope.TimestampMs, 10, 52)
	if err != nil {
		return fault.Fields("", []fault.Field{{
			Path: "timestampMs", Description: "must be the time in milliseconds since the Unix epoch, as a string of digits",
		}})
	}
	s.activityID, s.voteID = ids.New(), ids.New()
	s.timestampMs, s.fingerprint, s.body, s.intent = int64(ms), sha256.Sum256(body), body, intent
	s.fresh = s.checkFresh(now) == nil
	return nil
}

// checkFresh refuses a request that is too old or comes from the future.
func (s *submission) checkFresh(now time.Time) error {
	age := now.Sub(time.UnixMilli(s.timestampMs))
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
func (s *submission) record(vote domain.Vote) *domain.Activity {
	a := &domain.Activity{
		ID: s.activityID, OrganizationID: s.caller.target, Type: s.intent.Op.Type,
		TimestampMs: s.timestampMs, Fingerprint: s.fingerprint,
		Body: string(s.body), Intent: s.intent.JSON, Claims: s.claims,
		Votes:     []domain.Vote{vote},
		CreatedAt: vote.CreatedAt, UpdatedAt: vote.CreatedAt,
	}
	if s.caller.home != s.caller.target {
		a.DecidedBy = s.caller.home
	}
	return a
}

// vote is what the request says on an activity.
func (s *submission) vote(who *principal, selection domain.Selection, now time.Time) domain.Vote {
	signed := s.caller.signature()
	return domain.Vote{
		ID: s.voteID, UserID: who.user.ID, UserName: who.user.Name, Selection: selection,
		PublicKey: signed.publicKey, Signature: signed.text, Scheme: string(signed.scheme),
		CredentialID: who.credentialID, VerifiedBy: who.verifiedBy, Method: who.method, CreatedAt: now,
	}
}

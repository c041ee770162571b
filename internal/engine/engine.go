// Package engine is the spine: the one way by which a request becomes a reply.
//
// Nothing else may execute an operation. What the spine guarantees to all of
// them: the request was signed by a credential that is valid at the moment of
// the commit, it was decided on, it is executed once however often and however
// simultaneously it arrives, and it is recorded with everything that it
// changed, or leaves no trace.
package engine

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/activity"
	"latchkey/internal/decide"
	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/ids"
	"latchkey/internal/schema"
	"latchkey/internal/stamp"
	"latchkey/internal/store"
	"latchkey/internal/vault"
)

// Engine serves requests. Make it with New.
type Engine struct {
	store    *store.Store
	catalog  *activity.Catalog
	verifier *stamp.Verifier
	keys     Keys
	limits   domain.Limits
	now      func() time.Time
	envelope *schema.Schema
}

// Keys is the vault, the one who writes warrants for it, and what the server
// signs with itself.
type Keys struct {
	Vault    *vault.Vault
	Clerk    *vault.Clerk
	Identity *vault.Identity
}

// New makes an engine.
func New(s *store.Store, c *activity.Catalog, keys Keys, limits domain.Limits, now func() time.Time) *Engine {
	return &Engine{
		store: s, catalog: c, verifier: new(stamp.Verifier), keys: keys, limits: limits, now: now,
		envelope: schema.Of[Envelope](),
	}
}

// Request is one request as it came in. Body is kept exactly as received: it
// is what was signed.
type Request struct {
	Header http.Header
	Body   []byte
	// Event collects what the log says about the request.
	Event *Event
}

// Event is what the log may say about a request: never a body, never a secret.
type Event struct {
	OrganizationID string
	UserID         string
	ActivityID     string
	Status         domain.ActivityStatus
}

// Envelope is what every submit request has around its parameters.
type Envelope struct {
	Type           string         `json:"type" check:"required" doc:"Activity type; one that the path serves."`
	TimestampMs    string         `json:"timestampMs" check:"required,max=16" doc:"Time of the request in milliseconds since the Unix epoch: at most one hour old." example:"1794708835768"`
	OrganizationID string         `json:"organizationId" check:"required" doc:"Organization to act in." example:"f9a31c64-d604-42e4-9bef-a773096afad7"`
	Parameters     jsontext.Value `json:"parameters" check:"required,object" doc:"Parameters of the operation." example:"{}"`
}

// Submit runs one activity, in this order: envelope, stamp, parameters; then,
// in one transaction, idempotency, freshness, decision, execution, record.
// What fails before the transaction leaves nothing behind.
func (e *Engine) Submit(ctx context.Context, path *activity.Path, r Request) (*Reply, error) {
	envelope, version, err := e.open(path, r.Body)
	if err != nil {
		return nil, err
	}
	r.Event.OrganizationID = envelope.OrganizationID
	caller, err := e.authenticate(ctx, envelope.OrganizationID, r)
	if err != nil {
		return nil, err
	}
	intent, err := path.Parse(version, envelope.Parameters)
	if err != nil {
		return nil, err
	}
	claim, err := e.newClaim(envelope, r.Body, intent)
	if err != nil {
		return nil, err
	}

	var reply *Reply
	// Looking the fingerprint up costs a read, and almost no fresh request was
	// seen before: a commit that finds it taken comes back here.
	look := !claim.fresh
	err = e.store.Update(ctx, envelope.OrganizationID, func(tx *store.Tx) error {
		defer func() { look = true }()
		user, err := e.identify(tx, caller)
		if err != nil {
			return err
		}
		if look {
			recorded, err := tx.Recorded(claim.timestampMs, claim.fingerprint)
			if err != nil {
				return err
			}
			if recorded != nil {
				reply, err = e.reply(tx, r.Event, recorded)
				return err
			}
		}
		if err := claim.checkFresh(e.now()); err != nil {
			return err
		}
		record, err := e.perform(ctx, tx, claim, caller, user)
		if err != nil {
			return err
		}
		if err := tx.Record(record); err != nil {
			return err
		}
		reply, err = e.reply(tx, r.Event, record)
		return err
	})
	if err != nil {
		return nil, hideOrganization(err, caller.stamp)
	}
	if claim.warrant != nil {
		// Spending it twice would mean that it was executed twice.
		if err := claim.warrant.Spend(); err != nil {
			return nil, err
		}
	}
	return reply, nil
}

// Query answers one question: envelope and parameters, stamp, read.
func (e *Engine) Query(ctx context.Context, q *activity.CompiledQuery, r Request) (*Reply, error) {
	question, problems := q.Parse(r.Body)
	if len(problems) > 0 {
		return nil, fault.Fields("", problems)
	}
	org, err := organizationID(question.OrganizationID)
	if err != nil {
		return nil, err
	}
	r.Event.OrganizationID = org
	caller, err := e.authenticate(ctx, org, r)
	if err != nil {
		return nil, err
	}
	var body jsontext.Value
	err = e.store.View(ctx, org, func(tx *store.Tx) error {
		user, err := e.identify(tx, caller)
		if err != nil {
			return err
		}
		body, err = question.Read(ctx, activity.Reader{
			Tx: tx, UserID: user.ID, Now: e.now(),
			Activity: func(a *domain.Activity) (activity.View, error) { return e.catalog.Render(a, userOf(tx)) },
		})
		return err
	})
	if err != nil {
		return nil, hideOrganization(err, caller.stamp)
	}
	return &Reply{Status: http.StatusOK, Body: body}, nil
}

// open reads the envelope and finds the version that it names.
func (e *Engine) open(path *activity.Path, body []byte) (*Envelope, *activity.Activity, error) {
	envelope := new(Envelope)
	if problems := e.envelope.Decode(body, envelope); len(problems) > 0 {
		return nil, nil, fault.Fields("", problems)
	}
	org, err := organizationID(envelope.OrganizationID)
	if err != nil {
		return nil, nil, err
	}
	envelope.OrganizationID = org
	version, err := path.Version(envelope.Type)
	return envelope, version, err
}

func organizationID(text string) (string, error) {
	id, ok := ids.Normal(text)
	if !ok {
		err := fault.New(fault.InvalidArgument, fault.ReasonInvalidOrganization,
			"malformed organization ID provided: organizationId must be a UUID")
		err.Fields = []fault.Field{{Path: "organizationId", Description: "must be a UUID"}}
		return "", err
	}
	return id, nil
}

// perform decides on the intent and executes it. A refusal by the decision or
// by the executor becomes a FAILED activity; any other error is returned, and
// nothing is recorded.
func (e *Engine) perform(ctx context.Context, tx *store.Tx, c *claim, caller *caller, user *domain.User) (*domain.Activity, error) {
	record := c.record(caller, user, e.now())
	org, err := tx.Organization()
	if err != nil {
		return nil, err
	}
	refusal := decide.Decide(decide.Case{Organization: org, SubmitterID: user.ID, OwnUser: c.intent.OwnUser})
	if refusal == nil {
		if record.Result, err = e.execute(ctx, tx, c, user, record.CreatedAt); err == nil {
			record.Status = domain.StatusCompleted
			return record, nil
		}
		var refused bool
		if refusal, refused = fault.As(err); !refused || refusal.Code == fault.Unavailable {
			return nil, err
		}
		tx.Discard()
	}
	record.Status = domain.StatusFailed
	record.Failure, err = json.Marshal(refusal.Body())
	return record, err
}

// execute runs the operation, with a warrant for the keys that it may use.
func (e *Engine) execute(ctx context.Context, tx *store.Tx, c *claim, user *domain.User, now time.Time) (jsontext.Value, error) {
	if c.warrant == nil { // the same one for all attempts
		c.warrant = e.keys.Clerk.Warrant(c.organizationID, c.activityID, c.fingerprint)
	}
	session, err := e.keys.Vault.Begin(c.warrant, tx.Shelf())
	if err != nil {
		return nil, err
	}
	return c.intent.Exec(ctx, activity.Env{
		Tx: tx, Keys: session, Identity: e.keys.Identity,
		UserID: user.ID, Now: now, NewID: ids.New, Limits: e.limits,
	})
}

// claim is what a submit request claims: an intent, at a time.
type claim struct {
	organizationID string
	activityID     string // chosen before the first attempt, so that all attempts mean the same activity
	voteID         string
	timestampMs    int64
	fingerprint    store.Fingerprint
	body           []byte
	intent         *activity.Intent
	fresh          bool
	warrant        *vault.Warrant // once the intent was allowed
}

// How far a request's time may be from ours.
const (
	maxAge   = time.Hour
	maxAhead = 5 * time.Minute
)

func (e *Engine) newClaim(envelope *Envelope, body []byte, intent *activity.Intent) (*claim, error) {
	ms, err := strconv.ParseUint(envelope.TimestampMs, 10, 52)
	if err != nil {
		return nil, fault.Fields("", []fault.Field{{
			Path: "timestampMs", Description: "must be the time in milliseconds since the Unix epoch, as a string of digits",
		}})
	}
	c := &claim{
		organizationID: envelope.OrganizationID, activityID: ids.New(), voteID: ids.New(),
		timestampMs: int64(ms), fingerprint: sha256.Sum256(body), body: body, intent: intent,
	}
	c.fresh = c.checkFresh(e.now()) == nil
	return c, nil
}

// checkFresh refuses a request that is too old or comes from the future.
func (c *claim) checkFresh(now time.Time) error {
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

// record starts the activity with its submitter's vote.
func (c *claim) record(caller *caller, user *domain.User, now time.Time) *domain.Activity {
	return &domain.Activity{
		ID: c.activityID, OrganizationID: c.organizationID, Type: c.intent.Activity.Type,
		TimestampMs: c.timestampMs, Fingerprint: c.fingerprint,
		Body: string(c.body), Intent: c.intent.JSON,
		Votes: []domain.Vote{{
			ID: c.voteID, UserID: user.ID, UserName: user.Name, Selection: domain.VoteApproved,
			PublicKey: caller.publicKey, Signature: caller.stamp.Signature, Scheme: string(caller.stamp.Scheme),
			CreatedAt: now,
		}},
		CreatedAt: now, UpdatedAt: now,
	}
}

// hideOrganization keeps the existence of organizations to those who may read
// them: a missing one looks like one in which the key is unknown.
func hideOrganization(err error, s *stamp.Stamp) error {
	if errors.Is(err, store.ErrNoOrganization) {
		return unknownCredential(s)
	}
	return err
}

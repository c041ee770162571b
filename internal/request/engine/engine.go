// Package engine is the spine: the one way in which a request becomes a reply.
//
// Nothing else may execute an operation. What the spine guarantees to all of
// them: the request was signed by a credential that is valid at the moment of
// the commit, it was decided on, it is executed once however often and however
// simultaneously it arrives, and it is recorded with everything that it
// changed, or leaves no trace.
package engine

import (
	"context"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/feed"
	"latchkey/internal/ids"
	"latchkey/internal/keys/vault"
	"latchkey/internal/outbox/notify"
	"latchkey/internal/proof/stamp"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/decide"
	"latchkey/internal/schema"
	"latchkey/internal/store"
	"latchkey/internal/tracing"
)

// Config is everything that an engine works with.
type Config struct {
	Store   *store.Store
	Catalog *activity.Catalog
	// Decider rules on activities: nothing is executed without it.
	Decider *decide.Decider
	// ServerKeys sign what clients must be able to trust.
	ServerKeys *vault.ServerKeys
	Limits     domain.Limits // at first; see SetLimits
	Now        func() time.Time
	// After waits, as [time.After] does, which nil stands for.
	After func(time.Duration) <-chan time.Time
	// Tokens verifies the tokens of OpenID Connect issuers. nil: none are
	// accepted.
	Tokens TokenVerifier
	// Outbox says which messages can be sent. nil: none.
	Outbox activity.Outbox
	// Webhooks delivers events.
	Webhooks Webhooks
	// OAuth2 asks providers of OAuth 2.0 who a user is. nil: none are asked.
	OAuth2 activity.OAuth2
	// Receipts proves that activities are in the log.
	Receipts Receipts
	// Feed has the events.
	Feed *feed.Feed
	// ConsoleOrigin is the page of the console, whose passkeys every organization
	// accepts; empty: not known.
	ConsoleOrigin string
	// ConsoleURL is where the console is; empty: not known.
	ConsoleURL string
}

// TokenVerifier verifies tokens of OpenID Connect issuers. An invalid token is
// a fault.
type TokenVerifier interface {
	Verify(ctx context.Context, token string) (*domain.Claims, error)
	// Unverified is whom the token names, without proof.
	Unverified(token string) (domain.OIDCSubject, error)
}

// Engine serves requests. Make it with New.
type Engine struct {
	Config
	verifier *stamp.Verifier
	envelope *schema.Schema
	limits   atomic.Pointer[domain.Limits]
	streams  streams
	// exchanges are the codes that providers are asked about now.
	exchanges exchanges
}

// New makes an engine.
func New(c Config) *Engine {
	if c.Outbox == nil {
		c.Outbox = new(notify.Router)
	}
	if c.After == nil {
		c.After = time.After
	}
	e := &Engine{Config: c, verifier: new(stamp.Verifier), envelope: schema.Of[Envelope]()}
	e.SetLimits(c.Limits)
	return e
}

// SetLimits changes what one organization may have, from the next activity on.
func (e *Engine) SetLimits(l domain.Limits) { e.limits.Store(&l) }

// Request is one request as it came in. Body is kept exactly as received: it
// is what was signed.
type Request struct {
	Header http.Header
	Body   []byte
	// Address is where it came from; not valid: that is not known.
	Address netip.Addr
	// Network is what requests of one client are counted by: its address, of IPv6
	// the network that one client has; empty: that is not known.
	Network string
	// ReplyHeader is the header of the reply, to which a handler may add.
	ReplyHeader http.Header
	// Admit, if not nil, is asked once it is proven who sends the request, and
	// may refuse it.
	Admit func(userID string) error
	// NewID, if not nil, makes the ids of what the activity creates.
	NewID func() string
	// Event collects what the log says about the request.
	Event *Event
	// Trace is its span; nil: it has none.
	Trace *tracing.Request
}

// Event is what the log may say about a request: never a body, never a secret.
type Event struct {
	OrganizationID string
	UserID         string
	ActivityID     string
	Status         domain.ActivityStatus
	// Warning is what an operator should look into.
	Warning string
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
func (e *Engine) Submit(ctx context.Context, endpoint *activity.Endpoint, r Request) (*Reply, error) {
	envelope, version, err := e.open(endpoint, r.Body)
	if err != nil {
		return nil, err
	}
	r.Event.OrganizationID = envelope.OrganizationID
	proof, err := e.readStamp(r.Header, version.Access)
	if err != nil {
		return nil, err
	}
	return e.submit(ctx, endpoint, version, envelope, proof, r)
}

// submit is [Engine.Submit] once the envelope and the proof are read. What may run
// several times runs on the versions at hand at first (see [store.Store.Write]).
func (e *Engine) submit(ctx context.Context, endpoint *activity.Endpoint, version *activity.CompiledOp, envelope *Envelope, proof proof, r Request) (*Reply, error) {
	submission := &submission{endpoint: endpoint, version: version, envelope: envelope, proof: proof}
	defer submission.leaveExchanges()
	if !repeatable(proof) {
		return e.submitTo(ctx, e.Store, submission, r)
	}
	var reply *Reply
	runs := repeat(r)
	certain, err := e.Store.Write(ctx, envelope.OrganizationID, func(to store.Changes) (err error) {
		reply, err = e.submitTo(ctx, to, submission, runs.next(to == e.Store))
		return err
	})
	runs.end(certain)
	if err != nil {
		return nil, err
	}
	return reply, nil
}

// submitTo is one run of a request that submits an activity.
func (e *Engine) submitTo(ctx context.Context, to store.Changes, submission *submission, r Request) (*Reply, error) {
	access := submission.version.Access
	caller, err := e.authenticate(ctx, to, submission.proof, submission.envelope.OrganizationID, r, access)
	if err != nil {
		return nil, err
	}
	if err := caller.authorizeSubmit(access); err != nil {
		return nil, err
	}
	r.Event.OrganizationID = caller.target
	if submission.intent == nil {
		if err := submission.parse(r.Body, e.Now()); err != nil {
			return nil, err
		}
	}
	intent := submission.intent
	if to != e.Store && len(intent.Tokens) > 0 {
		return nil, store.ErrNotAtHand // issuers would be asked for a user who may be gone
	}
	submission.caller = caller
	// A token may have expired since the same request was recorded: that one
	// is still answered.
	submission.claims, submission.tokenErr = e.verifyTokens(ctx, intent.Tokens)

	var reply *Reply
	// Looking the fingerprint up costs a read, and almost no fresh request was
	// seen before: a commit that finds it taken comes back here.
	submission.look = submission.look || !submission.fresh || submission.tokenErr != nil || intent.Once
	err = updateWithHome(ctx, to, caller, func(home, tx *store.Tx) error {
		look := submission.look
		submission.look = true
		t := &attempt{Engine: e, ctx: ctx, event: r.Event, trace: r.Trace, address: r.Address, newID: r.NewID, home: home, tx: tx, submission: submission}
		if t.who, err = caller.identify(home); err != nil {
			return err
		}
		r.Event.UserID = t.who.user.ID
		if intent.Ballot != nil {
			reply, err = t.vote()
		} else {
			reply, err = t.submitOrReplay(look)
		}
		if err == nil {
			r.Trace.Enter("commit")
		}
		return err
	})
	r.Trace.Leave()
	if err != nil {
		return nil, caller.hideOrganization(err)
	}
	return reply, nil
}

// updateWithHome runs fn in a transaction of the organization that is acted in, with
// a view of the caller's own. Mostly they are the same.
//
// A view of the parent is as new as the request: what was acknowledged before
// the request began is in it.
func updateWithHome(ctx context.Context, to store.Changes, c *caller, fn func(home, tx *store.Tx) error) error {
	if c.home == c.target {
		return to.Update(ctx, c.target, func(tx *store.Tx) error { return fn(tx, tx) })
	}
	return to.View(ctx, c.home, func(home *store.Tx) error {
		return to.Update(ctx, c.target, func(tx *store.Tx) error { return fn(home, tx) })
	})
}

// verifyTokens verifies the tokens that an operation lists.
func (e *Engine) verifyTokens(ctx context.Context, tokens []string) (map[string]domain.Claims, error) {
	if len(tokens) == 0 {
		return nil, nil
	}
	if e.Tokens == nil {
		return nil, fault.New(fault.InvalidArgument, fault.ReasonInvalidOIDCToken,
			"invalid OIDC token: this server accepts no tokens of other issuers")
	}
	all := make(map[string]domain.Claims, len(tokens))
	for _, token := range tokens {
		claims, err := e.Tokens.Verify(ctx, token)
		if err != nil {
			return nil, err
		}
		all[token] = *claims
	}
	return all, nil
}

// open reads the envelope and finds the version that it names.
func (e *Engine) open(endpoint *activity.Endpoint, body []byte) (*Envelope, *activity.CompiledOp, error) {
	envelope := new(Envelope)
	if problems := e.envelope.Decode(body, envelope); len(problems) > 0 {
		return nil, nil, fault.Fields("", problems)
	}
	org, err := organizationID(envelope.OrganizationID)
	if err != nil {
		return nil, nil, err
	}
	envelope.OrganizationID = org
	version, err := endpoint.Version(envelope.Type)
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

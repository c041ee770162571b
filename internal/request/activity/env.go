package activity

import (
	"context"
	"net/netip"
	"time"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/keys/vault"
	"latchkey/internal/outbox/notify"
	"latchkey/internal/policy/fact"
	"latchkey/internal/store"
)

// Env is all that an executor can reach: no clock, no other organization, no key
// bytes, and no network, but for OAuth2.
type Env struct {
	Tx *store.Tx
	// Vault is where the organization's keys are used, until the executor
	// returns. [Intent.Exec] opens it.
	Vault      *vault.Session
	ServerKeys *vault.ServerKeys // sign what clients must be able to trust
	ActivityID string
	UserID     string // who submitted the activity
	// CredentialType is what it was submitted with, and Credential the key by
	// which the credential is found; both empty for a login by a token.
	CredentialType domain.CredentialType
	Credential     string
	// Address is where the request came from; not valid: that is not known.
	Address netip.Addr
	// VerifiedBy is the verification token that stood for the submitter's
	// credential; nil: none did.
	VerifiedBy *domain.VerifiedBy
	// Home is the organization of the submitter, where it is not the one that
	// the transaction is bound to: its parent.
	Home   string
	Now    time.Time
	NewID  func() string
	Limits domain.Limits
	// Claims are what the tokens that the operation listed say, by token. They
	// were verified when the activity was submitted.
	Claims map[string]domain.Claims
	// Origins lists the pages whose passkeys the organization accepts; nil: all.
	Origins func() ([]string, error)
	// Outbox says which messages the server can send.
	Outbox Outbox
	// Webhooks says to which addresses events are delivered.
	Webhooks Webhooks
	// OAuth2 asks providers who a user is; nil: this server is no issuer of tokens
	// that would say so.
	OAuth2 OAuth2
	// ConsoleURL is where the console is; empty: that is not known.
	ConsoleURL string
	// Catalog is the whole interface: what there is to decide on.
	Catalog *Catalog
}

// CreateChild creates a child of the organization in the same transaction, and
// returns what can be reached in it.
func (e Env) CreateChild(org string) (Env, error) {
	tx := e.Tx.CreateOrganization(org)
	session, err := e.Vault.NewOrganization(org, tx.Ciphertexts())
	e.Tx, e.Vault = tx, session
	return e, err
}

// Outbox says which messages the server can send.
type Outbox interface {
	// Enabled reports whether messages of the kind can be sent at all.
	Enabled(notify.Kind) bool
	// Check refuses a message that could not be sent. Its error is safe to
	// show.
	Check(*notify.Message) error
	// From is the address that a mail would come from; empty: it is no mail.
	From(*notify.Message) string
}

// Webhooks says to which addresses events are delivered, and how far that is.
type Webhooks interface {
	// CheckURL refuses an address to which nothing is delivered. Its error is
	// safe to show.
	CheckURL(url string) error
	// CheckCursor refuses what is not a cursor of the events. Its error is safe
	// to show.
	CheckCursor(ctx context.Context, cursor string) error
	// Waiting is how many events an endpoint has not got yet, counted up to a bound.
	Waiting(ctx context.Context, e *domain.WebhookEndpoint, p *domain.WebhookProgress) (int, error)
}

// OAuth2 asks providers of OAuth 2.0 who a user is. It is the one thing outside
// that an executor can reach, and only an operation that says so (Op.Once).
type OAuth2 interface {
	// Issuer is the issuer of the tokens that tell what a provider said.
	Issuer() string
	// Exchange gives a code to its provider. A code is good once: an executor that
	// runs again gets the answer to its first call.
	Exchange(context.Context, domain.OAuth2Code) (*domain.OAuth2Identity, error)
}

// Facts is what an operation says policies may know about it.
type Facts struct {
	Tx *store.Tx
	*fact.Request
}

// RefusalWithWrites is a refusal that leaves a trace: what an executor wrote is
// discarded, but what Keep writes is committed with the failure, such as the
// count of wrong codes.
type RefusalWithWrites struct {
	Refusal *fault.Error
	Keep    func(*store.Tx) error
}

func (r *RefusalWithWrites) Error() string { return r.Refusal.Error() }

// Unwrap shows the refusal.
func (r *RefusalWithWrites) Unwrap() error { return r.Refusal }

// Reader is all that a query can reach.
type Reader struct {
	Tx     *store.Tx
	UserID string // who asks
	// AttestedKey is the key of a stamp where a token stands for their credential:
	// they have not logged in, and may read what that key began alone; else empty.
	AttestedKey string
	// User finds a user of the organization or of the asker's own, nil when there
	// is none.
	User func(id string) (*domain.User, error)
	Now  time.Time
	// Activity renders an activity the way its asker may see it, and
	// ListedActivity as a part of a list, which has no secrets, not even the
	// asker's own.
	Activity, ListedActivity func(*domain.Activity) (View, error)
	// Exhausted reports whether what the query may do for that is used up: the
	// view that was rendered last may say too little then.
	Exhausted func() bool
	// Children lists the organization's children by a key of its directory,
	// after one of them; see [store.Store.Children].
	Children func(key, after string, limit int) ([]string, error)
	Webhooks Webhooks
	// Claims are what the tokens that the query listed say, by token.
	Claims map[string]domain.Claims
}

package activity

import (
	"context"
	"crypto/sha256"
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/keys/vault"
	"latchkey/internal/policy/fact"
	"latchkey/internal/request/decide"
	"latchkey/internal/schema"
	"latchkey/internal/store"
)

// Op declares one version of one activity: its parameters, its result and its
// executor.
type Op[P, R any] struct {
	Spec
	// OwnUser returns the user whose credentials the activity manages, or
	// Submitter. Users may manage their own without a policy. nil: it manages
	// none.
	OwnUser func(*P) string
	// FindOwnUser is OwnUser where the user must be looked up; empty: there is
	// no such user.
	FindOwnUser func(*store.Tx, *P) (string, error)
	// Adds says how long the credentials last that the activity adds, or changes
	// that come to the same. nil: it adds none, or only for a user who proves
	// anew who they are.
	Adds func(*P) decide.Added
	// Facts says what policies may know about the activity beside its type:
	// its targets, its transaction, its parameters. nil: nothing.
	Facts func(Facts, *P) error
	// Tokens lists the OpenID Connect tokens among the parameters. They are
	// verified before the activity is decided on: their issuers' keys may have
	// to be fetched, which an executor cannot do. nil: there are none.
	Tokens func(*P) []string
	// Once says that the activity uses up something outside, which executing it
	// twice would ask for twice: whether it is recorded is looked up first.
	Once bool
	// Nested is the intent as the interface's document shows it inside the
	// result, where that differs from the intent that clients read. The result
	// is that of the activity, the zero value until it is completed.
	Nested func(*P, *R) (key string, intent any)
	// Ballot, for an operation that votes, says on what: the fingerprint of
	// the activity. It has no Exec, and the activity voted on is its result.
	Ballot func(*P) (fingerprint string, s domain.Selection)
	Exec   func(context.Context, Env, *P) (R, error)
}

// Submitter stands for the user who submitted the activity.
const Submitter = "submitter"

// Older declares a superseded version, which is served by the newer one:
// up translates its parameters. Both have the same result.
func Older[P0, P, R any](s Spec, newer Op[P, R], up func(*P0) *P) Op[P0, R] {
	s.Govern, s.Summary, s.Access = newer.Govern, newer.Summary, newer.Access
	older := Op[P0, R]{
		Spec: s,
		Once: newer.Once,
		Exec: func(ctx context.Context, e Env, p *P0) (R, error) { return newer.Exec(ctx, e, up(p)) },
	}
	if newer.OwnUser != nil {
		older.OwnUser = func(p *P0) string { return newer.OwnUser(up(p)) }
	}
	if newer.FindOwnUser != nil {
		older.FindOwnUser = func(tx *store.Tx, p *P0) (string, error) { return newer.FindOwnUser(tx, up(p)) }
	}
	if newer.Adds != nil {
		older.Adds = func(p *P0) decide.Added { return newer.Adds(up(p)) }
	}
	if newer.Facts != nil {
		older.Facts = func(f Facts, p *P0) error { return newer.Facts(f, up(p)) }
	}
	if newer.Tokens != nil {
		older.Tokens = func(p *P0) []string { return newer.Tokens(up(p)) }
	}
	if newer.Nested != nil {
		older.Nested = func(p *P0, r *R) (string, any) { return newer.Nested(up(p), r) }
	}
	return older
}

// CompiledOp is an Op with its types erased: what the spine and the generators
// see.
type CompiledOp struct {
	Spec
	Params, Result *schema.Schema
	parse          func(raw []byte) (*Intent, []fault.Field)
	nested         func(intent, result jsontext.Value) (string, jsontext.Value, error)
}

// Intent is what one request asks for: typed, valid, ready to be decided on
// and executed.
type Intent struct {
	Op      *CompiledOp
	JSON    jsontext.Value // the parameters as they were understood
	OwnUser string         // whose credentials it manages; empty: no user's, or see Owner
	Adds    decide.Added   // the credentials that it adds
	Tokens  []string       // to be verified before it is decided on
	Once    bool           // it uses up something outside
	Ballot  *Ballot        // what it votes on; nil: it is no vote
	owner   func(*store.Tx) (string, error)
	facts   func(Facts) error
	exec    func(context.Context, Env) (jsontext.Value, error)
}

// Owner returns the user whose credentials the intent manages, or Submitter;
// empty: no user's.
func (i *Intent) Owner(tx *store.Tx) (string, error) {
	if i.owner == nil {
		return i.OwnUser, nil
	}
	return i.owner(tx)
}

// Describe returns what policies may know about the intent.
func (i *Intent) Describe(tx *store.Tx) (*fact.Request, error) {
	f := &fact.Request{Activity: fact.Activity{
		Type: i.Op.Type, Kind: i.Op.Kind(),
		Resource: string(i.Op.Govern.Resource), Action: string(i.Op.Govern.Action),
	}}
	return f, i.facts(Facts{Tx: tx, Request: f})
}

// Digest is the SHA-256 of the intent: of its type and its parameters.
func (i *Intent) Digest() [32]byte {
	h := sha256.New()
	h.Write([]byte(i.Op.Type))
	h.Write([]byte{0})
	h.Write(i.JSON)
	return [32]byte(h.Sum(nil))
}

// Exec executes the intent, if it is what was ruled on. The ruling is compared
// with the organization of the transaction, the activity and this intent, also
// for an operation that uses no keys, and can be used once.
func (i *Intent) Exec(ctx context.Context, r *decide.Ruling, e Env) (jsontext.Value, error) {
	session, err := r.Begin(vault.Scope{Organization: e.Tx.Org(), Activity: e.ActivityID, Intent: i.Digest()}, e.Tx.Ciphertexts())
	if err != nil {
		return nil, err
	}
	defer session.End()
	e.Vault = session
	return i.exec(ctx, e)
}

// Ballot is a vote on another activity.
type Ballot struct {
	Fingerprint string // of the activity, as clients write it
	Selection   domain.Selection
}

// Compile erases the types. It panics on a bad declaration: a programmer's
// mistake dies at start-up, not at a customer.
func (o Op[P, R]) Compile() *CompiledOp {
	if o.Name == "" || o.Version < 1 || o.Summary == "" || (o.Exec == nil) != (o.Ballot != nil) ||
		(o.Govern.By == decide.Policies && (o.Govern.Resource == "" || o.Govern.Action == "")) {
		panic(fmt.Sprintf("activity: the declaration of %s version %d is incomplete", o.Name, o.Version))
	}
	a := &CompiledOp{Spec: o.named(), Params: schema.Of[P](), Result: schema.Of[R]()}
	a.parse = func(raw []byte) (*Intent, []fault.Field) {
		p := new(P)
		echo, problems := a.Params.DecodeEcho(raw, p)
		if len(problems) > 0 {
			return nil, problems
		}
		return o.intent(a, p, echo), nil
	}
	a.nested = func(intent, result jsontext.Value) (string, jsontext.Value, error) {
		if o.Nested == nil {
			return a.IntentKey, intent, nil
		}
		p := new(P)
		if err := json.Unmarshal(intent, p); err != nil {
			return "", nil, fmt.Errorf("reading the intent of a %s: %w", a.Type, err)
		}
		r := new(R)
		if len(result) > 0 {
			if err := json.Unmarshal(result, r); err != nil {
				return "", nil, fmt.Errorf("reading the result of a %s: %w", a.Type, err)
			}
		}
		key, nested := o.Nested(p, r)
		encoded, err := schema.Encode(nested)
		return key, encoded, err
	}
	return a
}

func (o Op[P, R]) intent(a *CompiledOp, p *P, echo jsontext.Value) *Intent {
	intent := &Intent{Op: a, JSON: echo, Once: o.Once}
	if o.OwnUser != nil {
		intent.OwnUser = o.OwnUser(p)
	}
	if o.FindOwnUser != nil {
		intent.owner = func(tx *store.Tx) (string, error) { return o.FindOwnUser(tx, p) }
	}
	if o.Adds != nil {
		intent.Adds = o.Adds(p)
	}
	if o.Ballot != nil {
		fingerprint, selection := o.Ballot(p)
		intent.Ballot = &Ballot{fingerprint, selection}
	}
	intent.facts = func(f Facts) error {
		if o.Facts == nil {
			return nil
		}
		return o.Facts(f, p)
	}
	if o.Tokens != nil {
		intent.Tokens = o.Tokens(p)
	}
	intent.exec = func(ctx context.Context, e Env) (jsontext.Value, error) {
		result, err := o.Exec(ctx, e, p)
		if err != nil {
			return nil, err
		}
		return schema.Encode(result)
	}
	return intent
}

// NestedIntent renders a stored intent as the interface's document shows it.
func (a *CompiledOp) NestedIntent(intent, result jsontext.Value) (key string, nested jsontext.Value, err error) {
	return a.nested(intent, result)
}

// Query declares one read operation. P has a member organizationId.
type Query[P, R any] struct {
	Name    string
	Summary string
	Access
	Tokens func(*P) []string // as of an Op
	Read   func(context.Context, Reader, *P) (R, error)
}

// CompiledQuery is a Query with its types erased.
type CompiledQuery struct {
	Name, Summary string
	Access
	Params, Reply *schema.Schema
	Parse         func(raw []byte) (*Question, []fault.Field)
}

// Question is what one request asks to know.
type Question struct {
	OrganizationID string
	Tokens         []string
	Read           func(context.Context, Reader) (jsontext.Value, error)
}

// Compile erases the types. It panics on a bad declaration.
func (q Query[P, R]) Compile() *CompiledQuery {
	field, ok := reflect.TypeFor[P]().FieldByName("OrganizationID")
	if !ok || q.Name == "" || q.Summary == "" || q.Read == nil {
		panic(fmt.Sprintf("activity: the declaration of query %q is incomplete", q.Name))
	}
	c := &CompiledQuery{Name: q.Name, Summary: q.Summary, Access: q.Access, Params: schema.Of[P](), Reply: schema.Of[R]()}
	c.Parse = func(raw []byte) (*Question, []fault.Field) {
		p := new(P)
		if problems := c.Params.Decode(raw, p); len(problems) > 0 {
			return nil, problems
		}
		question := &Question{
			OrganizationID: reflect.ValueOf(p).Elem().FieldByIndex(field.Index).String(),
			Read: func(ctx context.Context, r Reader) (jsontext.Value, error) {
				reply, err := q.Read(ctx, r, p)
				if err != nil {
					return nil, err
				}
				return schema.Encode(reply)
			},
		}
		if q.Tokens != nil {
			question.Tokens = q.Tokens(p)
		}
		return question, nil
	}
	return c
}

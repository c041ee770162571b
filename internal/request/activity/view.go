package activity

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"latchkey/internal/domain"
	"latchkey/internal/request/record"
	"latchkey/internal/schema"
)

// View is an activity as a client reads it.
//
// It carries two views at once: the one that published clients read, and,
// inside result, the one of the interface's document.
type View struct {
	ID             string                `json:"id" check:"required,uuid" doc:"Id of the activity."`
	OrganizationID string                `json:"organizationId" check:"required,uuid" doc:"Organization that the activity belongs to."`
	Status         domain.ActivityStatus `json:"status" check:"required" doc:"How far the activity got."`
	Type           string                `json:"type" check:"required" doc:"Activity type."`
	TimestampMs    string                `json:"timestampMs" check:"required" doc:"Time of the request in milliseconds, as the request gave it."`
	Intent         jsontext.Value        `json:"intent" check:"required,object" doc:"One member, named after the intent, with the parameters."`
	Result         jsontext.Value        `json:"result" check:"required,object" doc:"One member named after the result, and activity with the same once more; empty unless completed."`
	Votes          []VoteView            `json:"votes" check:"required" doc:"Signed votes; the submission is the first."`
	AppProofs      []jsontext.Value      `json:"appProofs" check:"required" doc:"Always empty: there is no enclave to prove anything."`
	Fingerprint    string                `json:"fingerprint" check:"required" doc:"sha256: and the hex SHA-256 of the request body."`
	CanApprove     bool                  `json:"canApprove" check:"required" doc:"Whether the caller may approve the activity."`
	CanReject      bool                  `json:"canReject" check:"required" doc:"Whether the caller may reject the activity; true also for completed ones, as clients expect."`
	CreatedAt      record.Timestamp      `json:"createdAt" check:"required" doc:"When the activity was recorded."`
	UpdatedAt      record.Timestamp      `json:"updatedAt" check:"required" doc:"When the activity last changed."`
	Failure        jsontext.Value        `json:"failure" doc:"Why the activity failed; null unless it did."`
}

// VoteView is a vote as a client reads it.
type VoteView struct {
	ID         string           `json:"id" check:"required,uuid" doc:"Id of the vote."`
	UserID     string           `json:"userId" check:"required,uuid" doc:"User who voted."`
	User       record.User      `json:"user" check:"required" doc:"The user as they are now; of a user who is gone, the id and the name at the time of the vote."`
	ActivityID string           `json:"activityId" check:"required,uuid" doc:"Activity voted on."`
	Selection  domain.Selection `json:"selection" check:"required" doc:"Approval or rejection."`
	Message    string           `json:"message" check:"required,allowempty" doc:"The request body that was signed; empty where it holds a secret of the submitter that is not shown."`
	PublicKey  string           `json:"publicKey" check:"required" doc:"Key that signed it."`
	Signature  string           `json:"signature" check:"required,allowempty" doc:"Signature over the message; empty in an event whose message is not shown."`
	Scheme     string           `json:"scheme" check:"required" doc:"Scheme of the signature."`
	CreatedAt  record.Timestamp `json:"createdAt" check:"required" doc:"When the vote was recorded."`
}

// Size is about how many bytes the view has on the wire.
func (v *View) Size() int {
	const fixed, credential = 1 << 10, 1 << 9
	size := fixed + len(v.Intent) + len(v.Result) + len(v.Failure)
	for i := range v.Votes {
		vote, user := &v.Votes[i], &v.Votes[i].User
		size += fixed + len(vote.Message) + len(vote.Signature) +
			credential*(len(user.APIKeys)+len(user.Authenticators)+len(user.OauthProviders)+len(user.UserTags))
		for _, escaped := range []string{`"`, `\`, "\n", "\r", "\t"} {
			size += strings.Count(vote.Message, escaped)
		}
	}
	return size
}

// Render makes the view of a stored activity. user finds users as they are now
// and returns nil for those that are gone.
func (c *Catalog) Render(a *domain.Activity, user func(id string) (*domain.User, error)) (View, error) {
	view := View{
		ID: a.ID, OrganizationID: a.OrganizationID, Status: a.Status, Type: a.Type,
		TimestampMs: strconv.FormatInt(a.TimestampMs, 10),
		Fingerprint: FingerprintText(a.Fingerprint),
		// Clients show what the hosted service answers for a finished one.
		CanReject: a.Status == domain.StatusCompleted,
		CreatedAt: record.Time(a.CreatedAt), UpdatedAt: record.Time(a.UpdatedAt),
		Failure: a.Failure, Result: jsontext.Value("{}"),
	}
	if view.Failure == nil {
		view.Failure = jsontext.Value("null")
	}
	for i := range a.Votes {
		vote, err := renderVote(a, &a.Votes[i], user)
		if err != nil {
			return View{}, err
		}
		view.Votes = append(view.Votes, vote)
	}
	names, nestedKey, nested, err := c.names(a)
	if err != nil {
		return View{}, err
	}
	view.Intent = object(member{names.IntentKey, a.Intent})
	if a.Status == domain.StatusCompleted {
		view.Result = renderResult(a, names.ResultKey, nestedKey, nested)
	}
	return view, nil
}

// Redact returns the activity without the secrets of its submitter: texts that
// would serve any reader. A body that holds one is left out whole, for without
// it the signatures say nothing. Of a type that is not in the catalog it is not
// known what is secret, so all of it is left out.
func (c *Catalog) Redact(a *domain.Activity) (*domain.Activity, error) {
	redacted := *a
	declared := c.Op(a.Type)
	if declared == nil {
		redacted.Body, redacted.Intent, redacted.Result = "", jsontext.Value("{}"), jsontext.Value("{}")
		return &redacted, nil
	}
	var hid bool
	var err error
	if redacted.Intent, hid, err = declared.Params.Redact(a.Intent); err != nil {
		return nil, fmt.Errorf("reading the intent of activity %s: %w", a.ID, err)
	}
	if hid {
		redacted.Body = ""
	}
	if redacted.Result, _, err = declared.Result.Redact(a.Result); err != nil {
		return nil, fmt.Errorf("reading the result of activity %s: %w", a.ID, err)
	}
	return &redacted, nil
}

// names finds what the members of an activity's view are called. A type that
// is not in the catalog was recorded by a newer node: its names follow from
// the rule, which all but a few types obey.
func (c *Catalog) names(a *domain.Activity) (names Spec, nestedKey string, nested jsontext.Value, err error) {
	if declared := c.Op(a.Type); declared != nil {
		nestedKey, nested, err = declared.NestedIntent(a.Intent, a.Result)
		return declared.Spec, nestedKey, nested, err
	}
	names = ofType(a.Type).named()
	return names, names.IntentKey, a.Intent, nil
}

func renderVote(a *domain.Activity, v *domain.Vote, user func(id string) (*domain.User, error)) (VoteView, error) {
	voter, err := user(v.UserID)
	if err != nil {
		return VoteView{}, err
	}
	if voter == nil {
		voter = &domain.User{ID: v.UserID, Name: v.UserName, CreatedAt: v.CreatedAt, UpdatedAt: v.CreatedAt}
	}
	message := v.Message
	if message == "" {
		message = a.Body
	}
	if message == "" && a.Omitted > 0 {
		message = fmt.Sprintf("(a body of %d bytes that was not kept: its user had too many refused requests on that day; "+
			"the activity's fingerprint is its SHA-256)", a.Omitted)
	}
	return VoteView{
		ID: v.ID, UserID: v.UserID, User: record.OfUser(voter), ActivityID: a.ID, Selection: v.Selection,
		Message: message, PublicKey: v.PublicKey, Signature: v.Signature, Scheme: v.Scheme,
		CreatedAt: record.Time(v.CreatedAt),
	}, nil
}

// FingerprintText is how clients write a fingerprint.
func FingerprintText(f [32]byte) string { return "sha256:" + hexOf(f) }

// Reply is what a client gets for an activity: the view and nothing beside it,
// because clients spread the reply over the result.
type Reply struct {
	Activity View `json:"activity" check:"required" doc:"The activity."`
}

// ReplySchema is the schema of every submit path's reply.
func ReplySchema() *schema.Schema { return schema.Of[Reply]() }

type member struct {
	name  string
	value jsontext.Value
}

func object(m member) jsontext.Value {
	return appendObject(make(jsontext.Value, 0, len(`{"":}`)+len(m.name)+len(m.value)), m)
}

func appendObject(dst jsontext.Value, m member) jsontext.Value {
	return append(appendMember(append(dst, '{'), m), '}')
}

// appendMember appends a member. The names are our own and hold nothing that JSON must
// escape.
func appendMember(dst jsontext.Value, m member) jsontext.Value {
	return append(append(strconv.AppendQuote(dst, m.name), ':'), m.value...)
}

// renderResult makes the two views of a completed activity's result.
func renderResult(a *domain.Activity, key, nestedKey string, nested jsontext.Value) jsontext.Value {
	const names = `{"":,"activity":{"type":"","intent":{"":},"result":{"":}}}`
	text := make(jsontext.Value, 0, len(names)+2*(len(key)+len(a.Result))+len(a.Type)+len(nestedKey)+len(nested))
	text = appendMember(append(text, '{'), member{key, a.Result})
	text = strconv.AppendQuote(append(text, `,"activity":{"type":`...), a.Type)
	text = appendObject(append(text, `,"intent":`...), member{nestedKey, nested})
	text = appendObject(append(text, `,"result":`...), member{key, a.Result})
	return append(text, "}}"...)
}

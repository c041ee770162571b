package domain

import (
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Activity is the durable record of one request to change something: what was
// asked, by whom, and with what result.
type Activity struct {
	ID             string         `json:"-"`
	OrganizationID string         `json:"-"`
	Type           string         `json:"-"`
	Status         ActivityStatus `json:"-"`
	TimestampMs    int64          `json:"-"` // as the request claimed it
	Fingerprint    [32]byte       `json:"-"` // SHA-256 of Body

	Body    string         `json:"body"`             // the request, exactly as it was signed
	Intent  jsontext.Value `json:"intent"`           // its parameters, as they were understood
	Result  jsontext.Value `json:"result,omitzero"`  // present when completed
	Failure jsontext.Value `json:"failure,omitzero"` // present when failed: the error body of the reply
	Votes   []Vote         `json:"votes"`
	// DecidedBy is the organization whose quorum and policies decide, where it
	// is not the activity's own: a parent that logs users of its child in.
	DecidedBy string `json:"decidedBy,omitzero"`
	// Refused says that it failed because it was not allowed, and not because
	// it could not be done.
	Refused bool `json:"refused,omitzero"`
	// Omitted is the size of a body that was not kept: the activity failed, and
	// the user's refused bodies of the day were too many. Body is empty then,
	// and Intent is an empty object.
	Omitted int `json:"omitted,omitzero"`
	// Overruled is what another user's request with the same bytes has replaced; nil:
	// nothing. The votes that it had are powerless now.
	Overruled *OverruledRefusal `json:"overruled,omitzero"`
	// Demands are the multi-factor policies that the activity met, or still has to.
	Demands []MFADemand `json:"demands,omitzero"`
	// Claims are what the tokens in the request said when they were verified,
	// by token.
	Claims    map[string]Claims `json:"claims,omitzero"`
	CreatedAt time.Time         `json:"createdAt"`
	UpdatedAt time.Time         `json:"updatedAt"`
}

// OverruledRefusal is what an activity said while it was refused.
type OverruledRefusal struct {
	Failure jsontext.Value `json:"failure"`
	Omitted int            `json:"omitted,omitzero"`
}

// MFADemand is a multi-factor policy that applies to an activity.
type MFADemand struct {
	UserID   string `json:"userId"`
	PolicyID string `json:"policyId"`
	Missing  bool   `json:"missing,omitzero"` // factors, when the activity was last decided on
}

// Awaits reports whether the activity waits for factors of the user.
func (a *Activity) Awaits(userID string) bool {
	return a.Status == StatusAuthenticatorsNeeded &&
		slices.ContainsFunc(a.Demands, func(d MFADemand) bool { return d.Missing && d.UserID == userID })
}

// Waits reports whether further stamps may bring the activity on.
func (s ActivityStatus) Waits() bool {
	return s == StatusConsensusNeeded || s == StatusAuthenticatorsNeeded
}

// ActivityStatus is how far an activity got.
type ActivityStatus string

// The statuses of the interface.
const (
	StatusCreated              ActivityStatus = "ACTIVITY_STATUS_CREATED"
	StatusPending              ActivityStatus = "ACTIVITY_STATUS_PENDING"
	StatusCompleted            ActivityStatus = "ACTIVITY_STATUS_COMPLETED"
	StatusFailed               ActivityStatus = "ACTIVITY_STATUS_FAILED"
	StatusConsensusNeeded      ActivityStatus = "ACTIVITY_STATUS_CONSENSUS_NEEDED"
	StatusRejected             ActivityStatus = "ACTIVITY_STATUS_REJECTED"
	StatusAuthenticatorsNeeded ActivityStatus = "ACTIVITY_STATUS_AUTHENTICATORS_NEEDED"
)

// Enum lists the statuses for the schema.
func (ActivityStatus) Enum() []string {
	return []string{
		string(StatusCreated), string(StatusPending), string(StatusCompleted), string(StatusFailed),
		string(StatusConsensusNeeded), string(StatusRejected), string(StatusAuthenticatorsNeeded),
	}
}

// Word is the status as a sentence has it: completed.
func (s ActivityStatus) Word() string {
	return strings.ToLower(strings.TrimPrefix(string(s), "ACTIVITY_STATUS_"))
}

// Vote is one user's signed decision on an activity. The submission is the first.
// It keeps what was signed and the signature, so that anyone can check it
// later, even when the user or the key is gone.
type Vote struct {
	ID        string    `json:"id"`
	UserID    string    `json:"userId"`
	UserName  string    `json:"userName"` // at the time of the vote
	Selection Selection `json:"selection"`
	Message   string    `json:"message,omitzero"` // what was signed; empty: the activity's body
	PublicKey string    `json:"publicKey"`
	Signature string    `json:"signature"`
	Scheme    string    `json:"scheme"`
	CreatedAt time.Time `json:"createdAt"`
	// CredentialID is the id of the key or passkey that signed it. The vote
	// counts for as long as the user has it.
	CredentialID string `json:"credentialId,omitzero"`
	// VerifiedBy is the verification token that stood for the credential, if one
	// did.
	VerifiedBy *VerifiedBy `json:"verifiedBy,omitzero"`
	// Method is what the stamp proves, for the multi-factor policies of its user;
	// nil: nothing.
	Method *AuthenticationMethod `json:"method,omitzero"`
	// Powerless is set on the submission of a user who had no right to decide, and
	// on a stamp that was given as a further factor alone. It is kept, and never
	// counts as a vote.
	Powerless bool `json:"powerless,omitzero"`
	// Evaluations are the outcomes of the policies when the vote was cast; none
	// when they were not evaluated.
	Evaluations []Evaluation `json:"evaluations,omitzero"`
	// Controls are what the velocity controls had that policies read, and those
	// that count the activity.
	Controls []ControlEvaluation `json:"controls,omitzero"`
}

// ControlEvaluation is what a velocity control had before an activity, and would
// have after it, as decimal numbers.
type ControlEvaluation struct {
	ControlID  string `json:"controlId"`
	Identifier string `json:"identifier"`
	GroupID    string `json:"groupId,omitzero"`
	Used       string `json:"used"`
	After      string `json:"after"`
	Left       string `json:"left,omitzero"`
	Holds      bool   `json:"holds,omitzero"`
	Unreadable string `json:"unreadable,omitzero"`
	// Entry is the number of the entry that counts the activity; 0: none does. It
	// is set on the vote by which the activity was completed.
	Entry int64 `json:"entry,omitzero"`
}

// voteLifetime is how long a vote counts.
const voteLifetime = 24 * time.Hour

// Evaluation is the outcome of one policy.
type Evaluation struct {
	PolicyID string `json:"policyId"`
	Outcome  string `json:"outcome"`
	Reason   string `json:"reason,omitzero"` // of an error
	Denies   bool   `json:"denies,omitzero"` // an error by which a policy denies
}

// Stale reports whether the vote is too old to count.
func (v *Vote) Stale(now time.Time) bool { return now.Sub(v.CreatedAt) >= voteLifetime }

// Submitter is the vote of the user for whom the activity is executed: the first
// that is not powerless, else the first.
func (a *Activity) Submitter() *Vote {
	for i := range a.Votes {
		if !a.Votes[i].Powerless {
			return &a.Votes[i]
		}
	}
	return &a.Votes[0]
}

// Selection is what a vote says.
type Selection string

// What a vote can say.
const (
	VoteApproved Selection = "VOTE_SELECTION_APPROVED"
	VoteRejected Selection = "VOTE_SELECTION_REJECTED"
)

// Waiting finds an activity that was left to votes by its fingerprint.
type Waiting struct {
	Fingerprint string `json:"fingerprint"` // hex
	ActivityID  string `json:"activityId"`
}

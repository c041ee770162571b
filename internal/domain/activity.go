package domain

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Activity is the durable record of one request to change something: what was
// asked, by whom, and what came of it.
type Activity struct {
	ID             string         `json:"-"`
	OrganizationID string         `json:"-"`
	Type           string         `json:"-"`
	Status         ActivityStatus `json:"-"`
	TimestampMs    int64          `json:"-"` // as the request claimed it
	Fingerprint    [32]byte       `json:"-"` // SHA-256 of Body

	Body      string         `json:"body"`             // the request, exactly as it was signed
	Intent    jsontext.Value `json:"intent"`           // its parameters, as they were understood
	Result    jsontext.Value `json:"result,omitzero"`  // present when completed
	Failure   jsontext.Value `json:"failure,omitzero"` // present when failed: the error body of the reply
	Votes     []Vote         `json:"votes"`
	CreatedAt time.Time      `json:"createdAt"`
	UpdatedAt time.Time      `json:"updatedAt"`
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

// Vote is one user's signed word on an activity. The submission is the first.
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
}

// Selection is what a vote says.
type Selection string

// VoteApproved approves the activity.
const VoteApproved Selection = "VOTE_SELECTION_APPROVED"

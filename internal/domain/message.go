package domain

import "time"

// OutboxPurpose is what the contents of messages are sealed for.
const OutboxPurpose = "outbox"

// Message is something that has to be sent to somebody. Sealed holds what to
// send: it carries one-time codes, and the outbox lies in the database.
type Message struct {
	ID             string    `json:"id"`
	OrganizationID string    `json:"organizationId"`
	Sealed         []byte    `json:"sealed"`
	CreatedAt      time.Time `json:"createdAt"`
	ExpiresAt      time.Time `json:"expiresAt"` // nobody has a use for it later
	// Attempts is how often somebody began to send it, the last time until
	// LeasedUntil at the longest.
	Attempts    int       `json:"attempts,omitzero"`
	LeasedUntil time.Time `json:"leasedUntil,omitzero"`
	NextAttempt time.Time `json:"nextAttempt,omitzero"`
}

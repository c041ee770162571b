package domain

import "time"

// OutboxPurpose is what the contents of messages are sealed for.
const OutboxPurpose = "outbox"

// Message is an e-mail or SMS that has to be sent. Sealed holds what to send: it
// carries one-time codes, and the outbox is stored in the database.
type Message struct {
	ID             string    `json:"id"`
	OrganizationID string    `json:"organizationId"`
	Recipient      string    `json:"recipient,omitzero"` // of a mail, see [MailRecipient]; empty: no mail
	From           string    `json:"from,omitzero"`      // of a mail
	Sealed         []byte    `json:"sealed"`
	CreatedAt      time.Time `json:"createdAt"`
	ExpiresAt      time.Time `json:"expiresAt"` // it is useless later
	// Attempts is how often sending it began, the last time until LeasedUntil
	// at the longest.
	Attempts    int       `json:"attempts,omitzero"`
	LeasedUntil time.Time `json:"leasedUntil,omitzero"`
	NextAttempt time.Time `json:"nextAttempt,omitzero"`
}

// Event is something that happened to the message, without an id yet.
func (m *Message) Event(t MailEventType, at time.Time) *MailEvent {
	return &MailEvent{OrganizationID: m.OrganizationID, Recipient: m.Recipient, MessageID: m.ID, Type: t, From: m.From, At: at}
}

package domain

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// MailEvent is something that happened to a mail. It holds neither the recipient
// nor anything of the contents.
type MailEvent struct {
	ID             string        `json:"id"`
	OrganizationID string        `json:"organizationId"`
	Recipient      string        `json:"recipient"` // see [MailRecipient]
	MessageID      string        `json:"messageId"`
	Type           MailEventType `json:"type"`
	From           string        `json:"from,omitzero"`
	Reason         string        `json:"reason,omitzero"` // why it was not sent
	At             time.Time     `json:"at"`
}

// MailEventType says what happened, in the words of the interface.
type MailEventType string

// What can happen to a mail. It is sent for at most one of the last two.
const (
	MailSend          MailEventType = "Send"          // it was put into the outbox
	MailDeliveryDelay MailEventType = "DeliveryDelay" // the first attempt failed
	MailDelivery      MailEventType = "Delivery"      // the operator's mail server took it
	MailBounce        MailEventType = "Bounce"        // it was given up
)

// MailEventDays is how many days events are kept, today among them.
const MailEventDays = 7

// Day is the day of the event, in UTC.
func (e *MailEvent) Day() string { return MailDay(e.At) }

// MailDay is the day by which events are kept.
func MailDay(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// MailRecipient is what the events of an address are found by.
func MailRecipient(email string) string {
	sum := sha256.Sum256([]byte(NormalEmail(email)))
	return hex.EncodeToString(sum[:])
}

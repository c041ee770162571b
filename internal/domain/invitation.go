package domain

import "time"

// Invitation is a link that was mailed to a new user, with which they register a
// first passkey. It holds a key of that user which can do nothing else, once.
type Invitation struct {
	ID         string    `json:"id"`
	UserID     string    `json:"userId"` // who is invited
	KeyID      string    `json:"keyId"`  // of the key in the link
	SenderID   string    `json:"senderId"`
	AccessType string    `json:"accessType"`
	CreatedAt  time.Time `json:"createdAt"`
}

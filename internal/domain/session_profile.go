package domain

import "time"

// SessionProfile is a kind of session that may do less than its user. It never
// changes.
type SessionProfile struct {
	ID                string    `json:"id"`
	Name              string    `json:"name"`
	Scope             string    `json:"scope"`                      // a condition, as in policies
	ExpirationSeconds uint64    `json:"expirationSeconds,omitzero"` // how long its sessions last at most; 0: as a login says
	Notes             string    `json:"notes,omitzero"`
	CreatedAt         time.Time `json:"createdAt"`
}

// SessionScope is what a login with a profile may do. It is kept with the key of
// the login: profiles never change, and may belong to another organization.
type SessionScope struct {
	ProfileID string `json:"profileId"`
	Scope     string `json:"scope"`
}

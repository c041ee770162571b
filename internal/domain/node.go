package domain

import "time"

// Node is a server, as it tells the others of itself. It is written every few seconds,
// and deleted when the server ends.
type Node struct {
	ID      string `json:"id"` // of this run of the server
	Version string `json:"version"`
	// Generation is that of the seal that its master key came from; 0: it came from
	// none.
	Generation int       `json:"generation"`
	Host       string    `json:"host"`
	Address    string    `json:"address"` // at which it answers on its host
	Process    int       `json:"process"`
	StartedAt  time.Time `json:"startedAt"`
	SeenAt     time.Time `json:"seenAt"`
	// Refusal is why it carries out nothing; empty: it does.
	Refusal string `json:"refusal,omitzero"`
}

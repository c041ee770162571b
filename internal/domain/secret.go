package domain

import "time"

// Secret is what is known of a stored secret. Its content is in the vault, under
// the same id.
type Secret struct {
	ID   string `json:"id"`
	Name string `json:"name,omitzero"` // several may have the same
	// StaticProperties were set when it was imported, and never change. Policies
	// see them.
	StaticProperties []Property `json:"staticProperties,omitzero"`
	CreatedAt        time.Time  `json:"createdAt"`
}

// Property is a named text.
type Property struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

package store

import "latchkey/internal/domain"

var invitations = Kind[domain.Invitation]{
	Name: "invitation", Label: "invitation",
	ID: func(i *domain.Invitation) string { return i.ID },
}

// Invitations holds the organization's invitations.
func (tx *Tx) Invitations() Table[domain.Invitation] { return In(tx, &invitations) }

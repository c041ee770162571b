package ops

import (
	"cmp"
	"slices"

	"latchkey/internal/request/decide"
	"latchkey/internal/schema"
)

// This file holds what operations say about the credentials that they add, by
// which a session could outlive itself.

// lastingAccess is what does not end by itself.
var lastingAccess = decide.Added{Forever: true}

func addedKeys(keys []APIKeyParamsV2) decide.Added {
	var added decide.Added
	for _, k := range keys {
		added.Forever = added.Forever || k.ExpirationSeconds == 0
		added.Seconds = max(added.Seconds, uint64(k.ExpirationSeconds))
	}
	return added
}

func addedLogin(seconds schema.Uint64) decide.Added {
	return decide.Added{Seconds: uint64(cmp.Or(seconds, loginSeconds))}
}

// addedContacts: codes and keys are sent to a contact, which serve to log in.
// Removing one, by an empty text, adds nothing.
func addedContacts(contacts ...*string) decide.Added {
	given := func(contact *string) bool { return contact != nil && *contact != "" }
	return decide.Added{Forever: slices.ContainsFunc(contacts, given)}
}

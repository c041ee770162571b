package ops

import (
	"slices"

	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/request/activity"
)

// This file holds what API keys, passkeys and OpenID identities have in common.

// deleteCredentials takes the elements with these ids out of the user's list of credentials,
// all or none.
func deleteCredentials[T any](u *domain.User, list *[]T, label string, idOf func(T) string, ids []string) error {
	for _, id := range ids {
		i := slices.IndexFunc(*list, func(c T) bool { return idOf(c) == id })
		if i < 0 {
			return fault.Missing("no %s with id %s on user %s", label, id, u.ID)
		}
		*list = slices.Delete(*list, i, i+1)
	}
	return nil
}

// findCredential finds a credential of any user by its id.
func findCredential[T any](r activity.Reader, label, id string, of func(*domain.User) []T, idOf func(T) string) (found T, err error) {
	users, err := r.Tx.Users().List("", 0)
	if err != nil {
		return found, err
	}
	for _, u := range users {
		for _, c := range of(u) {
			if idOf(c) == id {
				return c, nil
			}
		}
	}
	return found, fault.Missing("no %s with id %s in this organization", label, id)
}

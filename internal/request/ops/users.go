package ops

import (
	"latchkey/internal/domain"
	"latchkey/internal/fault"
	"latchkey/internal/request/activity"
)

// This file holds what the operations on users have in common.

// UpdateUserResult is the result of the operations that change a user.
type UpdateUserResult struct {
	UserID string `json:"userId" check:"required,uuid" doc:"Id of the user."`
}

// editUser changes a user. It refuses a change that removes the last lasting way
// to log in. A user who has none any more (the organization may have switched it
// off) can still be changed: the keys must remain revocable.
func editUser(e activity.Env, id string, change func(*domain.User) error) error {
	org, err := e.Tx.Organization()
	if err != nil {
		return err
	}
	return e.Tx.Users().Edit(id, func(u *domain.User) error {
		could := u.CanLogIn(org)
		if err := change(u); err != nil {
			return err
		}
		if could && !u.CanLogIn(org) {
			return noLogin(u)
		}
		u.UpdatedAt = e.Now
		return nil
	})
}

// noLogin refuses to leave a user without a lasting way to log in.
func noLogin(u *domain.User) error {
	return fault.Invalid("user missing valid credential: %q needs an API key that does not expire, a passkey, an OAuth provider, "+
		"or an e-mail address or phone number with which the organization lets users log in", u.Name)
}

// setEmail sets the address, or removes it. That the former one was verified
// says nothing about the new one.
func setEmail(u *domain.User, email string, verified bool) {
	same := domain.NormalEmail(u.Email) == domain.NormalEmail(email)
	u.Email, u.EmailVerified = email, verified || same && u.EmailVerified
}

// setPhoneNumber is [setEmail] for phone numbers.
func setPhoneNumber(u *domain.User, number string, verified bool) {
	same := u.PhoneNumber == number
	u.PhoneNumber, u.PhoneVerified = number, verified || same && u.PhoneVerified
}

// usersNamed returns the user with this id, or all users when it is empty.
func usersNamed(r activity.Reader, id string) ([]*domain.User, error) {
	if id == "" {
		return r.Tx.Users().List("", 0)
	}
	user, err := r.Tx.Users().Get(id)
	return []*domain.User{user}, err
}

package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/decide"
)

// UpdateUserEmail changes or removes the e-mail address of a user.
var UpdateUserEmail = activity.Op[UpdateUserEmailParams, UpdateUserResult]{
	Spec: activity.Spec{
		Name: "update_user_email", Version: 1,
		Summary: "Change the e-mail address of a user, or remove it.",
		Govern:  activity.Govern{Resource: activity.ResourceUser, Action: activity.ActionUpdate},
	},
	Adds: func(p *UpdateUserEmailParams) decide.Added { return addedContacts(&p.UserEmail) },
	Exec: updateUserEmail,
}

// UpdateUserEmailParams are the parameters of update_user_email.
type UpdateUserEmailParams struct {
	UserID            string `json:"userId" check:"required,uuid" doc:"User to change."`
	UserEmail         string `json:"userEmail" check:"required,allowempty,email" doc:"New e-mail address; empty to remove it."`
	VerificationToken string `json:"verificationToken,omitzero" check:"max=4096,secret" doc:"Proof that a code sent to the address was read."`
}

func updateUserEmail(_ context.Context, e activity.Env, p *UpdateUserEmailParams) (UpdateUserResult, error) {
	verified, err := verifyContact(e, p.VerificationToken, domain.OTPEmail, p.UserEmail)
	if err != nil {
		return UpdateUserResult{}, err
	}
	err = editUser(e, p.UserID, func(u *domain.User) error {
		setEmail(u, p.UserEmail, verified)
		return nil
	})
	return UpdateUserResult{UserID: p.UserID}, err
}

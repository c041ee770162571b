package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
	"latchkey/internal/request/decide"
)

// UpdateUserPhoneNumber changes or removes the phone number of a user.
var UpdateUserPhoneNumber = activity.Op[UpdateUserPhoneNumberParams, UpdateUserResult]{
	Spec: activity.Spec{
		Name: "update_user_phone_number", Version: 1,
		Summary: "Change the phone number of a user, or remove it.",
		Govern:  activity.Govern{Resource: activity.ResourceUser, Action: activity.ActionUpdate},
	},
	Adds: func(p *UpdateUserPhoneNumberParams) decide.Added { return addedContacts(&p.UserPhoneNumber) },
	Exec: updateUserPhoneNumber,
}

// UpdateUserPhoneNumberParams are the parameters of update_user_phone_number.
type UpdateUserPhoneNumberParams struct {
	UserID            string `json:"userId" check:"required,uuid" doc:"User to change."`
	UserPhoneNumber   string `json:"userPhoneNumber" check:"required,allowempty,e164" doc:"New phone number in E.164 form; empty to remove it."`
	VerificationToken string `json:"verificationToken,omitzero" check:"max=4096,secret" doc:"Proof that a code sent to the number was read."`
}

func updateUserPhoneNumber(_ context.Context, e activity.Env, p *UpdateUserPhoneNumberParams) (UpdateUserResult, error) {
	verified, err := verifyContact(e, p.VerificationToken, domain.OTPSMS, p.UserPhoneNumber)
	if err != nil {
		return UpdateUserResult{}, err
	}
	err = editUser(e, p.UserID, func(u *domain.User) error {
		setPhoneNumber(u, p.UserPhoneNumber, verified)
		return nil
	})
	return UpdateUserResult{UserID: p.UserID}, err
}

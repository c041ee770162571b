package ops

import (
	"context"

	"latchkey/internal/domain"
	"latchkey/internal/request/activity"
)

// UpdateUserName renames a user.
var UpdateUserName = activity.Op[UpdateUserNameParams, UpdateUserResult]{
	Spec: activity.Spec{
		Name: "update_user_name", Version: 1,
		Summary: "Rename a user.",
		Govern:  activity.Govern{Resource: activity.ResourceUser, Action: activity.ActionUpdate},
	},
	Exec: updateUserName,
}

// UpdateUserNameParams are the parameters of update_user_name.
type UpdateUserNameParams struct {
	UserID   string `json:"userId" check:"required,uuid" doc:"User to rename."`
	UserName string `json:"userName" check:"required,label" doc:"New name, unique in the organization."`
}

func updateUserName(_ context.Context, e activity.Env, p *UpdateUserNameParams) (UpdateUserResult, error) {
	err := editUser(e, p.UserID, func(u *domain.User) error {
		u.Name = p.UserName
		return nil
	})
	return UpdateUserResult{UserID: p.UserID}, err
}

package ops

import (
	"context"

	"latchkey/internal/request/activity"
	"latchkey/internal/request/record"
)

// GetUser reads one user.
var GetUser = activity.Query[GetUserParams, GetUserReply]{
	Name:    "get_user",
	Summary: "Read one user with all credentials.",
	Read:    getUser,
}

// GetUserParams are the parameters of get_user.
type GetUserParams struct {
	OrganizationID string `json:"organizationId" check:"required" doc:"Organization to read."`
	UserID         string `json:"userId" check:"required,uuid" doc:"User to read."`
}

// GetUserReply is the reply of get_user.
type GetUserReply struct {
	User record.User `json:"user" check:"required" doc:"The user."`
}

func getUser(_ context.Context, r activity.Reader, p *GetUserParams) (GetUserReply, error) {
	user, err := r.Tx.Users().Get(p.UserID)
	if err != nil {
		return GetUserReply{}, err
	}
	return GetUserReply{User: record.OfUser(user)}, nil
}
